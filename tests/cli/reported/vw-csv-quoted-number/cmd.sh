#!/bin/sh
vwlite vw -d t.csv --csv --audit --quiet
