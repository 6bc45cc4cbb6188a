"""Anomalies have low similarities.

A row that is similar to no cluster is an anomaly, and `similarity` says how similar each row is.
Bounded cells, `method="hypersphere"`, leave places far from all rows with no similarity at all.
Here 3 % of the rows are spread evenly over rings, spirals and blobs. The score is compared with
two methods made for the purpose. They are at their defaults, and psi was chosen with the stray rows
known, so this shows what can be reached. ROC AUC is 1 if every stray row scores worse than every
other one, 0.5 for chance.
"""

import argparse

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from pskclust import PSKC
from pskclust.datasets import make_shapes

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="anomalies.png")
options = parser.parse_args()

X, y = make_shapes(4_000, noise=0.03, random_state=0)
is_stray = y < 0

model = PSKC(psi=512, tau=0.0012, method="hypersphere", random_state=0).fit(X)
# Members of a large cluster are less similar to it than those of a small one are to theirs.
usual = [np.median(model.similarities_[model.labels_ == c]) for c in range(model.n_clusters_)]
similarity = (model.similarity(X) / usual).max(axis=1)

scores = {
    "psKC, low similarity": -similarity,
    "isolation forest": -IsolationForest(random_state=0).fit(X).score_samples(X),
    "local outlier factor": -LocalOutlierFactor().fit(X).negative_outlier_factor_,
}
for name, score in scores.items():
    print(f"{name:22} ROC AUC {roc_auc_score(is_stray, score):.3f}")

worst = np.argsort(similarity, kind="stable")[: is_stray.sum()]
print(f"of the {len(worst)} least similar rows, {is_stray[worst].sum()} are stray")

figure, axes = plt.subplots(figsize=(7, 5.6), layout="constrained")
shown = axes.scatter(*X.T, s=5, c=similarity, cmap="viridis", vmin=0, vmax=1.5, linewidths=0)
axes.scatter(*X[worst].T, s=34, facecolors="none", edgecolors="#d55e00", linewidths=0.8)
axes.set(aspect="equal", xticks=[], yticks=[])
axes.set_title(
    f"Circled: the {len(worst)} least similar rows, {is_stray[worst].sum()} of them stray"
)
figure.colorbar(shown, label="similarity, 1 is usual for the cluster", extend="max", shrink=0.8)
figure.savefig(options.picture, dpi=100)
