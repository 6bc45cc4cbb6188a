"""The same labels on a Dask cluster.

`pskclust.dask.PSKC` clusters Dask arrays on the workers that hold them. Here the Dask cluster has
two workers on this machine; to use another Dask cluster, pass the address of its scheduler to
`Client`. Labels are equal to those of a fit in one process, bit for bit. The picture colours rows
by their block, and by their cluster.
"""

import argparse

import dask.array as da
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

import pskclust
from pskclust.dask import PSKC
from pskclust.datasets import make_shapes
from pskclust.plotting import cluster_colours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", default="on_dask.png")
    options = parser.parse_args()

    rows, _ = make_shapes(20_000, random_state=0)
    rows = rows[np.argsort(rows[:, 0])]  # so that each block is a stripe of the plane
    with Client(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"):
        X = da.from_array(rows, chunks=(5_000, 2))
        model = PSKC(random_state=0).fit(X)
        labels = model.labels_.compute()

    here = pskclust.PSKC(random_state=0).fit(rows)
    print(f"{model.n_clusters_} clusters of {len(rows):,} rows in {X.numblocks[0]} blocks")
    print(f"labels equal to those of one process: {np.array_equal(labels, here.labels_)}")

    blocks = np.repeat(np.arange(X.numblocks[0]), X.chunks[0])
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.1), layout="constrained")
    for each, parts, title in zip(axes, (blocks, labels), ("blocks", "clusters"), strict=True):
        each.scatter(*rows.T, s=1, c=cluster_colours(parts.max() + 1)[parts], linewidths=0)
        each.set(title=title, aspect="equal", xticks=[], yticks=[])
    figure.savefig(options.picture, dpi=100)


# Dask starts its workers as new processes, which import this file: they must not run main again.
if __name__ == "__main__":
    main()
