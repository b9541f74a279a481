#!/bin/sh
vwlite vw -d t.vw --audit --quiet -q ab --ignore_linear a
