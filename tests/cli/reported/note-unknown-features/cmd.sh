#!/bin/sh
vwlite train noise.csv --label y -m m 2>&1 | grep chosen
vwlite predict -m m noise.csv -p /dev/null 2>&1 | grep note
