"""The algorithms: their table, their pages, their classes."""
