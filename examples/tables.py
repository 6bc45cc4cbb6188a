"""Three tables of measurements.

The tables come with scikit-learn: iris flowers, wines and tumours. Columns have different units, so
they are scaled first. `PSKC` and HDBSCAN run with their defaults; k-means is given the number of
classes. The clusters are compared with the classes, which are not used for clustering. `PSKC` is
best on the tumours. On the other two tables k-means is better: on iris, `PSKC` and HDBSCAN join two
species that overlap into one cluster. The picture shows the clusters of `PSKC` along the first two
principal axes; a cross is noise.
"""

import argparse

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from pskclust import PSKC
from pskclust.plotting import cluster_colours

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="tables.png")
options = parser.parse_args()

TABLES = {"iris": load_iris, "wine": load_wine, "tumours": load_breast_cancer}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.5), layout="constrained")
for each, (name, load) in zip(axes, TABLES.items(), strict=True):
    values, classes = load(return_X_y=True)
    X = StandardScaler().fit_transform(values)
    n_classes = len(set(classes))
    model = PSKC(random_state=0).fit(X)
    found = {
        "PSKC": model.labels_,
        "HDBSCAN": HDBSCAN(copy=True).fit_predict(X),
        "k-means": KMeans(n_classes, n_init=10, random_state=0).fit_predict(X),
    }
    print(f"{name}: {len(X)} rows, {X.shape[1]} columns, {n_classes} classes")
    for method, labels in found.items():
        noise, score = (labels < 0).mean(), adjusted_rand_score(classes, labels)
        print(f"  {method:7} {labels.max() + 1} clusters, {noise:3.0%} noise, ARI {score:.2f}")
    points, is_noise = PCA(2).fit_transform(X), model.labels_ < 0
    colours = cluster_colours(model.n_clusters_)[model.labels_]
    each.scatter(*points[~is_noise].T, s=9, c=colours[~is_noise], linewidths=0)
    each.scatter(*points[is_noise].T, s=24, c="0.3", marker="x", linewidths=1)
    each.set_title(f"{name}: {model.n_clusters_} clusters", fontsize=10)
    each.set(xticks=[], yticks=[])
figure.savefig(options.picture, dpi=100)
