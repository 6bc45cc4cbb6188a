"""Groups of rows: trajectories of five kinds.

Each trajectory is a group of positions, and `GroupPSKC` clusters the trajectories, not the
positions. All five kinds have the same mean and the same spread, so k-means on means and spreads
cannot tell them apart. The mean map of a trajectory shows which places it visits. The picture shows
six trajectories of each cluster, and every trajectory as one point along the first two principal
components of the mean maps.
"""

import argparse

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from pskclust import GroupPSKC
from pskclust.datasets import make_trajectories
from pskclust.plotting import cluster_colours

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="trajectories.png")
options = parser.parse_args()

X, groups, kinds = make_trajectories(200, random_state=0)
parts = [X[groups == group] for group in range(200)]
features = [[*part.mean(axis=0), *part.std(axis=0)] for part in parts]
by_features = KMeans(5, n_init=10, random_state=0).fit_predict(features)
print(f"k-means on means and spreads: ARI {adjusted_rand_score(kinds, by_features):.2f}")

model = GroupPSKC(random_state=0).fit(X, groups=groups)
score = adjusted_rand_score(kinds, model.labels_)
print(f"GroupPSKC: {model.n_clusters_} clusters of {len(X)} positions, ARI {score:.2f}")

rows, new_groups, new_kinds = make_trajectories(200, random_state=1)
new_score = adjusted_rand_score(new_kinds, model.predict(rows, new_groups))
print(f"new trajectories: ARI {new_score:.2f}")

colours = cluster_colours(model.n_clusters_)
figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
for cluster, each in enumerate(axes.flat[:-1]):
    members = np.flatnonzero(model.labels_ == cluster)
    for group in members[:6]:
        each.plot(*parts[group].T, color=colours[cluster], alpha=0.6, linewidth=0.8)
    each.set(title=f"cluster {cluster}: {len(members)} trajectories", xlim=(-3, 3), ylim=(-3, 3))
axes.flat[-1].scatter(*model.embedding_[:, :2].T, s=9, c=colours[model.labels_], linewidths=0)
axes.flat[-1].set(title="each trajectory as a point")
for each in axes.flat:
    each.set(xticks=[], yticks=[])
    each.set_aspect("equal", "datalim" if each is axes.flat[-1] else "box")
figure.savefig(options.picture, dpi=100)
