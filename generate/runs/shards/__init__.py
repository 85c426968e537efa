"""A run played by several workers: each journals its share in a shard, and the shards merge into the one run."""
