"""The row store: all rows of a fit, kept as small codes.

`sources` says where rows come from and gives them in parts; `encoding` makes a shard of
each part: bin numbers, what the ensemble answers, labels and weights. A `RowStore` has
the shards. Whatever is asked of all rows is asked of every shard and added up, so
shards may live in memory or on the workers of a cluster. A table in memory is one.
"""
