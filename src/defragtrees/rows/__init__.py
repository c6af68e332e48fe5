"""Rows that are kept as small codes, in shards that stand side by side.

A shard is all that is kept of some rows: their bin numbers, what the ensemble answers
for them, their labels and their weights. Whatever is asked of all rows is asked of
every shard and added up, so shards may live in memory or on the workers of a cluster.
"""
