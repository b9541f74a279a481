#!/bin/sh
vwlite train t.csv --label y --importance n --algorithm gd --loss logistic --labels 0,1 -m m --quiet
vwlite evaluate -m m t.csv | sed -n '1,3p'
