"""Sparse online linear learning from text streams."""

__version__ = "0.1.0"
