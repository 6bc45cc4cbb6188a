"""scikit-learn: pipelines, set_output, metadata routing, clone, GridSearchCV.

`separation` and `objective` of `pskclust.metrics` need no classes and have the signature of
scorers, so a grid search accepts them directly.
"""

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pskclust import PSKC
from pskclust.datasets import make_shapes
from pskclust.metrics import separation

X, _ = make_shapes(3_000, random_state=0)

pipeline = make_pipeline(StandardScaler(), PSKC(psi=64, tau=0.02, random_state=0))
labels = pipeline.fit_predict(X)
assert np.array_equal(clone(pipeline).fit_predict(X), labels)

similarities = pipeline.set_output(transform="pandas").fit(X).transform(X)
assert similarities.shape == (len(X), labels.max() + 1)
assert similarities.columns[0] == "pskc0"

weights = np.where(X[:, 0] > 4, 2, 1)
with config_context(enable_metadata_routing=True):
    weighted = PSKC(psi=64, tau=0.02, random_state=0).set_fit_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    routed = make_pipeline(scaler, weighted).fit(X, sample_weight=weights)
direct = clone(weighted).fit(routed[0].transform(X), sample_weight=weights)
assert np.array_equal(routed[-1].labels_, direct.labels_)

grid = {"psi": [16, 32, 64], "tau": [0.02, 0.05]}
search = GridSearchCV(PSKC(min_cluster_size=20, random_state=0), grid, scoring=separation, cv=3)
search.fit(X)
best = search.best_estimator_
print(f"{labels.max() + 1} clusters; best of the grid: psi {best.psi}, tau {best.tau:g}")
