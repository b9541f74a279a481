"""The solvers of `vwlite solve`: the table of them, and their pages."""
