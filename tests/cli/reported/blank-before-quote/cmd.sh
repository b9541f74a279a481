#!/bin/sh
vwlite convert t.csv --label 'Weight(Pounds)'; echo "rc $?"
