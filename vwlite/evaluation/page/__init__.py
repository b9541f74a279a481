"""The page of `vwlite report`."""
