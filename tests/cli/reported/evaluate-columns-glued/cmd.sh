#!/bin/sh
vwlite train homes.csv --label price --algorithm gd --loss squared --passes 3 -m m --quiet
vwlite evaluate -m m homes.csv
