"""`vwlite predict` and `vwlite calibrate`."""
