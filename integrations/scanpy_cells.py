"""scanpy and AnnData: cells by their principal components, clusters in `.obs`.

The data are 700 blood cells that come with scanpy, a subset of 68,000 cells of 10x Genomics, with
their known types. `PSKC` clusters the principal components, and the labels become a category of the
cells, which scanpy's plots and tests by group accept. Agreement with the types is far from 1, as it
is for the Louvain clusters in the data: the kinds of T cells resemble each other.
"""

import scanpy as sc
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC

cells = sc.datasets.pbmc68k_reduced()
model = PSKC(random_state=0).fit(cells.obsm["X_pca"])
cells.obs["pskclust"] = model.labels_.astype(str)
cells.obs["pskclust"] = cells.obs["pskclust"].astype("category")
sc.tl.rank_genes_groups(cells, "pskclust", method="t-test", use_raw=True)

types = cells.obs["bulk_labels"]
ours, scanpys = (adjusted_rand_score(types, cells.obs[name]) for name in ("pskclust", "louvain"))
first = cells.uns["rank_genes_groups"]["names"][0]
print(
    f"{model.n_clusters_} clusters of {cells.n_obs} cells, ARI with {types.nunique()} types "
    f"{ours:.2f}; scanpy's Louvain clusters {scanpys:.2f}; first genes: {', '.join(first)}"
)
