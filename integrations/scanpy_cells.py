"""scanpy and AnnData: cells by their principal components, clusters in `.obs`.

scanpy finds the components, `PSKC` clusters them, and the labels become a category of the cells
that scanpy's plots and tests by group take.
"""

import anndata
import numpy as np
import scanpy as sc
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC

# Counts of 300 genes in 900 cells of three types, each with 30 genes of its own.
rng = np.random.RandomState(0)
types = rng.randint(3, size=900)
rates = np.full((3, 300), 0.5)
for number in range(3):
    rates[number, 30 * number : 30 * number + 30] = 4
cells = anndata.AnnData(rng.poisson(rates[types]).astype(np.float32))

sc.pp.normalize_total(cells)
sc.pp.log1p(cells)
sc.pp.pca(cells, n_comps=20, random_state=0)
model = PSKC(random_state=0).fit(cells.obsm["X_pca"])
cells.obs["pskclust"] = model.labels_.astype(str)
cells.obs["pskclust"] = cells.obs["pskclust"].astype("category")
sc.tl.rank_genes_groups(cells, "pskclust", method="t-test")

assert adjusted_rand_score(types, model.labels_) > 0.9
names = cells.uns["rank_genes_groups"]["names"]
print(f"{model.n_clusters_} types of cells; first genes: {', '.join(names[0])}")
