"""Batches of examples, and their features."""
