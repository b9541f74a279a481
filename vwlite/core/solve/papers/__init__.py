"""Solvers that are here for the figures of papers; `vwlite.core.solve` has better ones."""
