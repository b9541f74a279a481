"""Solving in rounds over shards: gradients and states as files, the driver's half, and processes on one machine."""
