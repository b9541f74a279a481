"""Merging models that were trained from one start: the state of each algorithm, and the search of the weights."""
