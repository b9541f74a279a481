#!/bin/sh
vwlite train t.csv --label y --algorithm gd --loss logistic --labels 0,1 --passes 20 -m m --quiet
vwlite evaluate -m m t.csv | sed -n '1,7p'
