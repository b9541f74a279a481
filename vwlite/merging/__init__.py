"""Merging models that were trained from one start: what each algorithm keeps, and how the weights are found."""
