#!/bin/sh
vwlite train t.csv --label y --tag order --algorithm gd --loss logistic --labels 0,1 -m m --quiet
vwlite predict -m m t.csv --output-format csv 2>/dev/null
