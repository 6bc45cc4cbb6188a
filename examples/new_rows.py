"""New rows: save a model, load it, predict.

`predict` returns the cluster of each new row, or -1 for noise. The model file contains arrays and
JSON, and no pickle. `PSKC()` labels rows far from all fitted rows as noise. With psi and tau given,
such rows get the label of a cluster near the border of the data, because cells are unbounded,
unless `method="hypersphere"` bounds them. The picture shows the prediction for every point of the
plane.
"""

import argparse
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

import pskclust
from pskclust import PSKC
from pskclust.datasets import make_shapes
from pskclust.plotting import cluster_colours

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="new_rows.png")
options = parser.parse_args()

MODELS = {
    "PSKC, defaults": PSKC(random_state=0),
    "PSKC, psi 96, tau 0.012": PSKC(psi=96, tau=0.012, min_cluster_size=25, random_state=0),
}
X, _ = make_shapes(4_000, random_state=0)
new, shape = make_shapes(4_000, random_state=1)
known = shape >= 0
x, y = np.meshgrid(np.linspace(-2, 20, 320), np.linspace(-3, 16.5, 280))

figure, axes = plt.subplots(1, 2, figsize=(9, 4.1), layout="constrained")
for each, (name, estimator) in zip(axes, MODELS.items(), strict=True):
    with tempfile.TemporaryDirectory() as folder:
        estimator.fit(X).save(Path(folder) / "model.npz")
        model = pskclust.load(Path(folder) / "model.npz")
    labels = model.predict(new)
    score = adjusted_rand_score(shape[known], labels[known])
    print(
        f"{name}: {model.n_clusters_} clusters; {np.sum(labels < 0)} of 4,000 new rows noise, "
        f"ARI with the shapes {score:.2f}; a row far away: {model.predict([[60.0, 60.0]])[0]}"
    )
    colours = cluster_colours(model.n_clusters_)
    plane = model.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    each.imshow(
        colours[plane], origin="lower", extent=(-2, 20, -3, 16.5), alpha=0.35, aspect="equal"
    )
    each.scatter(*new.T, s=2, c=colours[labels], linewidths=0)
    each.set(title=name, xticks=[], yticks=[])
figure.savefig(options.picture, dpi=100)
