"""What the rest stands on: arrays, vectors, functions with the same bits everywhere."""
