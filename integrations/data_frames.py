"""pandas, polars and pyarrow.

`fit` and `predict` take data frames of pandas and polars; here, the pyarrow table is converted to
pandas first. Labels are in the order of the rows, so they can be added as a column. A model that
was fitted to named columns needs the same columns to predict.
"""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from pskclust import PSKC
from pskclust.datasets import make_shapes

X, _ = make_shapes(3_000, random_state=0)
expected = PSKC(random_state=0).fit(X)

table = pd.DataFrame(X, columns=["east", "north"])
model = PSKC(random_state=0).fit(table)
table["cluster"] = model.labels_
assert np.array_equal(table["cluster"], expected.labels_)

frame = pl.DataFrame({"east": X[:, 0], "north": X[:, 1]})
frame = frame.with_columns(cluster=pl.Series(model.predict(frame)))
assert np.array_equal(frame["cluster"], expected.predict(X))

arrow = pa.table({"east": X[:, 0], "north": X[:, 1]})
arrow = arrow.append_column("cluster", pa.array(model.predict(arrow.to_pandas())))
assert np.array_equal(arrow["cluster"], expected.predict(X))
print(f"{model.n_clusters_} clusters of columns {', '.join(model.feature_names_in_)}, in all three")
