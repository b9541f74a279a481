"""`vwlite tune`: searches for the best options of `vwlite train`."""
