#!/bin/sh
vwlite convert t.tsv --label sentiment --text review --drop id; echo "rc $?"
