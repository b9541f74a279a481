"""`vwlite solve` and `vwlite certify`: batch problems, exactly, with a bound of what is missing."""
