"""The algorithms and solvers: their tables, settings, checks and pages."""
