"""The solvers of `vwlite solve`: their table and their pages."""
