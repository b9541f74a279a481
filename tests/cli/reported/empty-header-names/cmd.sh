#!/bin/sh
vwlite convert spam.csv --label v1 --text v2; echo "rc $?"
vwlite convert spam.csv --label v1 --text v2 --drop "''"; echo "rc $?"
