"""The base of the rest: arrays, vectors, functions with the same bits everywhere."""
