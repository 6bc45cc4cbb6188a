"""Handwritten digits.

The data are the 1,797 digits of scikit-learn, 8 x 8 pixels each. With `--data FOLDER`, where FOLDER
contains `mnist70k.npz`, they are the 70,000 digits of MNIST. Clustering uses no labels. Each row of
the picture shows the 15 most similar members of a cluster, then the 5 least similar ones.
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC
from pskclust.datasets import load_mnist

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--data", type=Path, help="folder with mnist70k.npz")
parser.add_argument("--picture", default="digits.png")
options = parser.parse_args()

if options.data:
    X, y = load_mnist(options.data)
    model = PSKC(psi=5000, tau=0.001, min_cluster_size=20, random_state=0)
else:
    X, y = load_digits(return_X_y=True)
    model = PSKC(random_state=0)
model.fit(X)

score = adjusted_rand_score(y, model.labels_)
print(f"{model.n_clusters_} clusters of {len(X):,} digits, ARI {score:.2f}")
largest = np.argsort(-model.cluster_sizes_)[:14]
for cluster in largest:
    counts = np.bincount(y[model.labels_ == cluster], minlength=10)
    digit = counts.argmax()
    print(f"{counts.sum():6,} digits, {counts[digit] / counts.sum():4.0%} of them {digit}")

side = int(X.shape[1] ** 0.5)
figure, axes = plt.subplots(len(largest), 20, figsize=(8, 0.42 * len(largest)))
for row, cluster in zip(axes, largest, strict=True):
    members = np.flatnonzero(model.labels_ == cluster)
    members = members[np.argsort(-model.similarities_[members], kind="stable")]
    # A small cluster leaves some places empty.
    for each, digit in zip(row, [*members[:15], *members[15:][-5:]], strict=False):
        each.imshow(X[digit].reshape(side, side), cmap="gray_r")
for each in axes.ravel():
    each.set_axis_off()
figure.subplots_adjust(0.01, 0.01, 0.99, 0.99, wspace=0.1, hspace=0.1)
figure.savefig(options.picture, dpi=100)
