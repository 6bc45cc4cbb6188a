"""A pipeline of scaling, PCA and psKC.

`PSKC` is a scikit-learn estimator, so it can be the last step of a pipeline. Without scaling, one
column of the wine data with large numbers (proline) dominates all distances. The picture shows the
clusters along the first two principal axes.
"""

import argparse

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pskclust import PSKC
from pskclust.plotting import cluster_colours

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="pipeline.png")
options = parser.parse_args()

wine = load_wine(as_frame=True)
clustering = PSKC(random_state=0)
pipelines = {
    "as it is": make_pipeline(PCA(2), clustering),
    "scaled first": make_pipeline(StandardScaler(), PCA(2), clustering),
}

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for each, (name, pipeline) in zip(axes, pipelines.items(), strict=True):
    labels = pipeline.fit_predict(wine.data)
    score = adjusted_rand_score(wine.target, labels)
    n_clusters = labels.max() + 1
    noun = "cluster" if n_clusters == 1 else "clusters"
    title = f"{name}: {n_clusters} {noun}, ARI {score:.2f}"
    print(title)
    points = pipeline[:-1].transform(wine.data)
    each.scatter(*points.T, s=20, c=cluster_colours(n_clusters)[labels])
    each.set_title(title, fontsize=9)
    each.set(xlabel="first principal axis", ylabel="second principal axis")
figure.savefig(options.picture, dpi=100)
