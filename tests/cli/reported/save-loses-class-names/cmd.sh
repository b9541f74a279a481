#!/bin/sh
python -P t.py
