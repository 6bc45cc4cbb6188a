"""Polars lazy frames.

Fit on a sample; `map_batches` then labels the lazy frame batch by batch, when it is collected or
written.
"""

import numpy as np
import polars as pl

from pskclust import PSKC
from pskclust.datasets import make_shapes

X, _ = make_shapes(50_000, random_state=0)
pl.DataFrame({"east": X[:, 0], "north": X[:, 1]}).write_parquet("rows.parquet")

lazy = pl.scan_parquet("rows.parquet")
sample = lazy.collect().sample(4_000, seed=0)
model = PSKC(random_state=0).fit(sample)


def label(batch: pl.DataFrame) -> pl.DataFrame:
    return batch.with_columns(cluster=pl.Series(model.predict(batch), dtype=pl.Int64))


schema = {**lazy.collect_schema(), "cluster": pl.Int64}
labelled = lazy.map_batches(label, streamable=True, schema=schema)
labelled.sink_parquet("labelled.parquet")

found = pl.read_parquet("labelled.parquet")["cluster"]
assert np.array_equal(found, model.predict(lazy.collect()))
print(f"{len(found)} rows labelled, {model.n_clusters_} clusters, as predict has them")
