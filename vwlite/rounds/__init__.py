"""Solving in rounds over shards: the driver, what a shard is asked for, and processes on one machine."""
