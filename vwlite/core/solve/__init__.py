"""The batch solvers."""
