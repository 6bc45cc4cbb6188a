"""Spark: fit on a sample, label all rows by `mapInPandas`.

Spark sends the model to the workers together with the function. Spark needs Java; the script ran in
local mode. For an exact fit to all rows on several machines, use `pskclust.dask`.
"""

import os
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

from pskclust import PSKC
from pskclust.datasets import make_shapes

X, _ = make_shapes(20_000, random_state=0)
table = pd.DataFrame(X, columns=["east", "north"])
table["row"] = np.arange(len(table))

# Workers need pskclust, too: here they run the same Python.
os.environ["PYSPARK_PYTHON"] = sys.executable
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
rows = spark.createDataFrame(table).repartition(4)

columns = ["east", "north"]
sample = rows.sample(fraction=0.2, seed=0).toPandas()
model = PSKC(random_state=0, n_jobs=1).fit(sample[columns])


def label(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        yield batch.assign(cluster=model.predict(batch[columns]))


labelled = rows.mapInPandas(label, "east double, north double, row long, cluster long")
found = labelled.toPandas().sort_values("row")["cluster"]
spark.stop()
assert np.array_equal(found, model.predict(table[columns]))
print(f"{len(found)} rows labelled, {model.n_clusters_} clusters, as predict has them")
