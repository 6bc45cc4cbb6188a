"""Text embeddings, with the cosine metric.

The help texts of some hundred functions of SciPy become vectors: words by TF-IDF, reduced to 40
dimensions. The length of such a vector means little, its direction much, so they are compared by
`metric="cosine"`. Clusters are then compared with the modules that functions are from, which
clustering does not see. Vectors of a language model are used in just the same way. Texts change
with the version of SciPy, and figures with them.
"""

import argparse
import importlib
import inspect

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="embeddings.png")
options = parser.parse_args()

MODULES = (
    "fft",
    "interpolate",
    "linalg",
    "ndimage",
    "signal",
    "spatial.distance",
    "special",
    "stats",
)
texts, names, y = [], [], []
for number, name in enumerate(MODULES):
    module = importlib.import_module(f"scipy.{name}")
    for member in sorted(module.__all__):
        text = inspect.getdoc(getattr(module, member)) or ""
        if len(text) > 400:
            texts.append(text)
            names.append(member)
            y.append(number)
y = np.array(y)

words = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=5, max_df=0.3)
X = TruncatedSVD(40, random_state=0).fit_transform(words.fit_transform(texts))
# PSKC(metric="cosine") finds 44 clusters, down to single kinds of functions; the table has room
# for 14.
model = PSKC(n_clusters=14, metric="cosine", random_state=0).fit(X)

score = adjusted_rand_score(y, model.labels_)
print(f"{model.n_clusters_} clusters of {len(X)} texts, ARI with the modules {score:.2f}")
table = np.zeros((model.n_clusters_, len(MODULES)), dtype=int)
for cluster in range(model.n_clusters_):
    members = np.flatnonzero(model.labels_ == cluster)
    table[cluster] = np.bincount(y[members], minlength=len(MODULES))
    typical = members[np.argsort(-model.similarities_[members], kind="stable")[:4]]
    print(f"{len(members):4} texts, such as {', '.join(names[text] for text in typical)}")

figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
axes.imshow(table, cmap="Blues", aspect="auto", vmax=table.max() * 1.3)
for (row, column), count in np.ndenumerate(table):
    if count:
        axes.text(column, row, count, ha="center", va="center", fontsize=8)
axes.set_xticks(range(len(MODULES)), MODULES, rotation=30, ha="right")
axes.set_yticks(range(model.n_clusters_))
axes.set(ylabel="cluster", title="How many functions of each module are in each cluster")
figure.savefig(options.picture, dpi=100)
