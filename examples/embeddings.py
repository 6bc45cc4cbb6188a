"""From texts to named clusters.

The texts are the docstrings of more than two thousand functions and classes of NumPy, SciPy and
scikit-learn. TF-IDF and a truncated SVD turn each text into a vector of 64 numbers (latent semantic
analysis). The direction of such a vector matters more than its length, so `metric="cosine"`
compares directions. `PSKC` runs with its defaults. A cluster is named by words that are frequent in
it and rare in the others. Embeddings from a language model can replace these vectors without other
changes.

Modules are not used for clustering. The defaults find more clusters than there are modules. The
picture shows the next coarser layer of the same fit. Functions with the same purpose are in one
cluster even if they are in different packages, such as the Fourier transforms of NumPy and SciPy,
so the agreement with the modules stays far from 1. Texts, and therefore figures, change with the
versions of the packages.
"""

import argparse
import importlib
import inspect

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from pskclust import PSKC

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="embeddings.png")
options = parser.parse_args()

MODULES = """
numpy numpy.fft numpy.linalg numpy.ma numpy.polynomial numpy.random numpy.strings
scipy.cluster.hierarchy scipy.fft scipy.integrate scipy.interpolate scipy.io scipy.linalg
scipy.ndimage scipy.optimize scipy.signal scipy.sparse scipy.sparse.csgraph scipy.sparse.linalg
scipy.spatial scipy.spatial.distance scipy.special scipy.stats
sklearn.cluster sklearn.covariance sklearn.datasets sklearn.decomposition sklearn.ensemble
sklearn.feature_selection sklearn.linear_model sklearn.manifold sklearn.metrics
sklearn.model_selection sklearn.neighbors sklearn.preprocessing sklearn.svm sklearn.tree
"""


def read_texts() -> dict[str, str]:
    """Return the module of each text; if two modules share a text, the first one counts."""
    module_of = {}
    for name in MODULES.split():
        module = importlib.import_module(name)
        for member in sorted(module.__all__):
            # Experimental names of scikit-learn are in __all__, but not in the module.
            text = inspect.getdoc(module.__dict__.get(member)) or ""
            if len(text) > 200:
                module_of.setdefault(text, name)
    return module_of


def name_clusters(counts, labels: np.ndarray, words: np.ndarray) -> list[str]:
    """Return a name for each cluster: its three words with the largest class-based TF-IDF."""
    of_clusters = np.array([counts[labels == k].sum(axis=0) for k in range(labels.max() + 1)])
    of_clusters = of_clusters.reshape(len(of_clusters), -1)
    frequency = of_clusters / of_clusters.sum(axis=1, keepdims=True)
    rarity = np.log1p(of_clusters.sum() / len(of_clusters) / of_clusters.sum(axis=0))
    best = np.argsort(-frequency * rarity, axis=1, kind="stable")[:, :3]
    return [", ".join(words[each]) for each in best]


module_of = read_texts()
texts, modules = list(module_of), np.array(list(module_of.values()))
counter = CountVectorizer(
    stop_words="english", min_df=3, max_df=0.2, token_pattern="[a-zA-Z]{3,}", dtype=np.float64
)
counts = counter.fit_transform(texts)
vectors = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
X = TruncatedSVD(64, random_state=0).fit_transform(vectors)

model = PSKC(metric="cosine", random_state=0).fit(X)
labels = model.relabel(layer=-2)
directions = normalize(X)
found = {
    "PSKC, defaults": model.labels_,
    "PSKC, the next coarser layer": labels,
    "HDBSCAN, defaults": HDBSCAN(copy=True).fit_predict(directions),
    "k-means, number of modules given": KMeans(
        len(set(modules)), n_init=3, random_state=0
    ).fit_predict(directions),
}
print(f"{len(texts)} texts of {len(set(modules))} modules in {X.shape[1]} columns")
for name, each in found.items():
    score = adjusted_rand_score(modules, each)
    print(f"{name:32} {each.max() + 1:3} clusters, {np.mean(each < 0):3.0%} noise, ARI {score:.2f}")

names = name_clusters(counts, labels, counter.get_feature_names_out())
sizes, shares, largest = [], [], []
for cluster, name in enumerate(names):
    of_module, members = np.unique(modules[labels == cluster], return_counts=True)
    sizes.append(members.sum())
    shares.append(members.max())
    largest.append(of_module[members.argmax()])
    print(f"{sizes[-1]:4} texts: {name}; {shares[-1] / sizes[-1]:.0%} of {largest[-1]}")

order = np.argsort(sizes, kind="stable")
sizes, shares = np.array(sizes)[order], np.array(shares)[order]
figure, axes = plt.subplots(figsize=(9, 0.26 * len(names) + 0.9), layout="constrained")
axes.barh(range(len(names)), sizes, color="#b8d4e8", label="other modules")
axes.barh(range(len(names)), shares, color="#0072b2", label="the module most of them are from")
for place, cluster in enumerate(order):
    axes.text(sizes[place] + 2, place, largest[cluster], va="center", fontsize=8, color="0.35")
axes.set_yticks(range(len(names)), [names[cluster] for cluster in order], fontsize=9)
axes.set(xlabel="texts", ylim=(-0.6, len(names) - 0.4), xlim=(0, 1.2 * sizes.max()))
axes.set_title(f"{len(texts)} texts in {len(names)} named clusters", fontsize=11)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, loc="lower right")
figure.savefig(options.picture, dpi=100)
