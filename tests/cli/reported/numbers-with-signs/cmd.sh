#!/bin/sh
vwlite train m.csv --label sold -m m 2>&1 | grep -E 'columns|note|chosen'
vwlite describe m.csv --label sold | tail -2
