"""Vowpal Wabbit's ways of writing examples and labels."""
