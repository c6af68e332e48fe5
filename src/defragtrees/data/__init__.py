"""Sources of rows, and the row store with all rows of a fit as small codes.

`sources` reads rows in parts; `encoding` turns each part into a shard: bin numbers,
predictions of the model, labels and weights. A `RowStore` holds the shards. Sums
over all rows are sums over shards, so shards may be in memory or on the workers of a
cluster. A table in memory is one shard.
"""
