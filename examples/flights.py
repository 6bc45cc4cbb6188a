"""Flights, by where they start and end.

The data are 60,000 generated flights between twelve airports. With `--data FOLDER`, where FOLDER
contains `flights_3m.npz`, they are three million flights in the United States. The columns are the
longitude and latitude of origin and destination. Each panel of the picture shows up to 300 flights
of a cluster of the generated flights; black dots are destinations. The defaults find many clusters,
most of them flights between two airports; psi and tau are set here to join the airports of a
region.
"""

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from pskclust import PSKC
from pskclust.plotting import cluster_colours

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--data", type=Path, help="folder with flights_3m.npz")
parser.add_argument("--picture", default="flights.png")
options = parser.parse_args()

WEST = [(-118.4, 33.9), (-122.4, 37.6), (-122.3, 47.4), (-112.0, 33.4)]
MIDDLE = [(-104.7, 39.9), (-97.0, 32.9), (-95.3, 30.0), (-87.9, 42.0)]
EAST = [(-84.4, 33.6), (-80.3, 25.8), (-73.8, 40.6), (-71.0, 42.4)]
# Regions of origin and destination, and the share of all flights between them.
ROUTES = [
    *((WEST, WEST, 0.25), (EAST, EAST, 0.25), (MIDDLE, MIDDLE, 0.2)),
    *((WEST, EAST, 0.15), (EAST, WEST, 0.15)),
]


def make_flights(n_flights: int) -> np.ndarray:
    """Return the origin and destination of each flight, each near an airport, (n_flights, 4)."""
    rng = np.random.RandomState(0)
    flights = []
    for start, end, share in ROUTES:
        n = int(share * n_flights)
        ends = [np.array(airports)[rng.randint(4, size=n)] for airports in (start, end)]
        flights.append(np.hstack(ends) + rng.normal(0, 0.5, (n, 4)))
    return np.concatenate(flights)


X = np.load(options.data / "flights_3m.npz")["X"][:, 4:] if options.data else make_flights(60_000)
model = PSKC(psi=24, tau=0.06, min_cluster_size=len(X) // 50, random_state=0).fit(X)

print(f"{model.n_clusters_} clusters of {len(X):,} flights, {np.sum(model.labels_ < 0)} in none")
colours = cluster_colours(model.n_clusters_)
n_rows = -(-model.n_clusters_ // 3)
figure, axes = plt.subplots(
    n_rows, 3, figsize=(9, 2.5 * n_rows), layout="constrained", sharex=True, sharey=True
)
for each in axes.flat:
    each.set_axis_off()
for cluster, each in enumerate(axes.flat[: model.n_clusters_]):
    members = X[model.labels_ == cluster]
    means = "{:.0f} {:.0f} to {:.0f} {:.0f}".format(*members.mean(axis=0))
    print(f"{len(members):9,} flights, on average from {means}")
    shown = members[np.random.RandomState(0).permutation(len(members))[:300]]
    lines = LineCollection(shown.reshape(-1, 2, 2), colors=[colours[cluster]], alpha=0.12)
    each.add_collection(lines)
    each.plot(*shown[:, 2:].T, ".", color="black", markersize=2)
    each.set_title(f"cluster {cluster}: {len(members):,} flights", fontsize=9)
    each.autoscale()
figure.savefig(options.picture, dpi=100)
