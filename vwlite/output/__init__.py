"""Output: atomic files, and the standard streams."""
