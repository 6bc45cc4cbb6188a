"""Outliers: a digit that is rare.

Each of ten trials makes one digit rare: of 899 handwritten digits of scikit-learn, it keeps only
ten images of that digit, and all images of the others. The task is to find the ten. `PSKC`, an
isolation forest and the local outlier factor, all at their defaults, rank the images by outlier
scores. ROC AUC is 1 if every image of the rare digit has a higher score than all others, and about
0.5 if the ranking is random. No method is best for every digit. The picture shows the images with
the highest scores of `PSKC` in each trial; the rare digit is framed. Many of the others are badly
written, so they are outliers, too.
"""

import argparse

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from pskclust import PSKC

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--picture", default="outliers.png")
options = parser.parse_args()

N_RARE, N_SHOWN = 10, 18
METHODS = ("PSKC", "isolation forest", "local outlier factor")
digits, y = load_digits(return_X_y=True)
digits, y = digits[::2], y[::2]

figure, axes = plt.subplots(10, N_SHOWN, figsize=(9, 5.2))
areas = []
for rare, line in enumerate(axes):
    kept = np.sort(np.append(np.flatnonzero(y != rare), np.flatnonzero(y == rare)[:N_RARE]))
    X, is_rare = digits[kept], y[kept] == rare
    scores = PSKC(random_state=0).fit(X).outlier_scores_
    forest = IsolationForest(random_state=0).fit(X)
    factor = LocalOutlierFactor().fit(X)
    others = (-forest.score_samples(X), -factor.negative_outlier_factor_)
    areas.append([roc_auc_score(is_rare, each) for each in (scores, *others)])
    print(f"{rare} is rare:", ", ".join(map("{} {:.2f}".format, METHODS, areas[-1])))
    for each, row in zip(line, np.argsort(-scores, kind="stable"), strict=False):
        each.imshow(X[row].reshape(8, 8), cmap="gray_r")
        each.set(xticks=[], yticks=[])
        each.spines[:].set(visible=bool(is_rare[row]), color="#d55e00", linewidth=2)
    line[0].set_ylabel(str(rare), rotation=0, ha="right", va="center")
print("mean:", ", ".join(map("{} {:.2f}".format, METHODS, np.mean(areas, axis=0))))
figure.suptitle("The rows with the highest outlier scores; framed: the digit that is rare")
figure.subplots_adjust(0.03, 0.01, 0.99, 0.93, wspace=0.15, hspace=0.15)
figure.savefig(options.picture, dpi=100)
