#!/bin/sh
vwlite check t.tsv --label y
vwlite convert t.tsv --label y --text text --drop id 2>/dev/null
