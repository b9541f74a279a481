#!/bin/sh
vwlite convert hi.csv --label y --text text 2>/dev/null | head -2
vwlite convert more.csv --label y --text text 2>/dev/null
