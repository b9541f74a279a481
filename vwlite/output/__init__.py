"""Output: files that are there whole or not at all, and the standard streams."""
