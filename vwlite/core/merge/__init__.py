"""Merging models."""
