"""`vwlite cv`: cross-validation."""
