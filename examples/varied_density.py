"""Clusters of very different density.

A DBSCAN radius that suits the two dense clusters turns the sparse one into noise, and a radius that
suits the sparse one joins the two dense ones. The cells of psKC are small where rows are dense, so
`PSKC()` finds all three. DBSCAN uses the best of twenty radii, picked with the true classes.
"""

import argparse

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs

from pskclust import PSKC
from pskclust.metrics import matched_f1
from pskclust.plotting import cluster_colours

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="varied_density.png")
options = parser.parse_args()

X, y = make_blobs(
    [600, 600, 300],
    centers=[(0, 0), (1.2, 0), (6, 1)],
    cluster_std=[0.2, 0.2, 1.5],
    random_state=0,
)

radii = np.geomspace(0.05, 1.0, 20)
dbscan = max(
    (DBSCAN(eps=radius).fit_predict(X) for radius in radii),
    key=lambda labels: matched_f1(y, labels),
)
found = {
    "DBSCAN, the best radius": dbscan,
    "PSKC, defaults": PSKC(random_state=0).fit_predict(X),
}

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for each, (name, labels) in zip(axes, found.items(), strict=True):
    each.scatter(*X.T, s=4, c=cluster_colours(labels.max() + 1)[labels], linewidths=0)
    score = matched_f1(y, labels)
    title = f"{name}: {labels.max() + 1} clusters, {np.sum(labels < 0)} noise, F1 {score:.2f}"
    each.set_title(title, fontsize=9)
    each.set(aspect="equal", xticks=[], yticks=[])
    print(title)
figure.savefig(options.picture, dpi=100)
