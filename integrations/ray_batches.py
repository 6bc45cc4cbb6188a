"""Ray: fit on a sample, label all rows by `map_batches`.

Ray sends the model to the workers together with the function.
"""

import numpy as np
import pandas as pd
import ray

from pskclust import PSKC
from pskclust.datasets import make_shapes

X, _ = make_shapes(20_000, random_state=0)
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
table = pd.DataFrame({"row": np.arange(len(X)), "east": X[:, 0], "north": X[:, 1]})
rows = ray.data.from_pandas(table).repartition(4)

model = PSKC(random_state=0, n_jobs=1).fit(X[:4_000])


def label(batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    points = np.column_stack([batch["east"], batch["north"]])
    return {**batch, "cluster": model.predict(points)}


labelled = rows.map_batches(label).to_pandas().sort_values("row")
ray.shutdown()
assert np.array_equal(labelled["cluster"], model.predict(X))
print(f"{len(labelled)} rows labelled, {model.n_clusters_} clusters, as predict has them")
