"""Solving in rounds over shards: the driver, the sums of a shard, and processes on one machine."""
