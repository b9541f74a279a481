#!/bin/sh
vwlite train t.csv --label mood --text text --oaa 3 --classes auto -m m 2>&1 | tail -4
vwlite predict -m m t.csv --output-format csv 2>/dev/null | sed -n '1,4p'
vwlite train t.csv --label mood --text text --labels 'very good,bad' -m n 2>&1 | tail -1
