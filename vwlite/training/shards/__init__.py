"""The default on shards: the features of a sample's default, whose weights are fitted to exact sums over all shards."""
