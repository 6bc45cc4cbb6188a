"""What to try next, by the paper's two rules and by what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._data.scaling import unequal_columns
from ._summary import Summary

_MUCH_NOISE = 0.1
# A cluster of a tenth of the usual size is rather a fragment.
_FRAGMENT = 0.1


class Advice(NamedTuple):
    """When it applies, what to do then, and the setting."""

    situation: str
    action: str
    setting: str


def advice_for(
    model: Any, summary: Summary, names: Sequence[str], scaled: bool
) -> tuple[list[Advice], list[str]]:
    """Return the two rules with numbers for this model, and what its result suggests."""
    return [_split(model), _join(model)], [
        *_on_clusters(model, summary),
        *_on_noise(summary, len(model.labels_)),
        *([] if scaled else _on_columns(summary, names)),
    ]


def _split(model: Any) -> Advice:
    situation = "Clusters are joined that should be split"
    if model.merge_tree_ is not None:
        most = len(model.merge_tree_)
        return Advice(situation, "ask for more", f"n_clusters={min(model.n_clusters_ + 1, most)}")
    psi = 2 * model.psi_ if model.replace else min(2 * model.psi_, len(model.labels_))
    return Advice(situation, "raise psi", f"psi={psi}")


def _join(model: Any) -> Advice:
    situation = "Clusters are split that should be joined"
    if model.merge_tree_ is not None:
        return Advice(situation, "ask for fewer", f"n_clusters={max(1, model.n_clusters_ - 1)}")
    return Advice(situation, "lower tau", f"tau={model.tau_ / 2:.4g}")


def _on_clusters(model: Any, summary: Summary) -> list[str]:
    if not model.n_clusters_:
        return ["No cluster was found: no two rows left are more similar than tau. Lower tau."]
    if model.n_clusters_ == 1:
        more = "raise psi first" if model.merge_tree_ is None else "ask for them by n_clusters"
        return [f"There is one cluster only. If you expect more, {more}."]
    usual = float(np.median(summary.sizes))
    n_fragments = int(np.count_nonzero(summary.sizes < _FRAGMENT * usual))
    if not n_fragments:
        return []
    size = max(2, int(_FRAGMENT * usual))
    are = "cluster is" if n_fragments == 1 else "clusters are"
    return [
        f"{n_fragments:,} {are} much smaller than the others. min_cluster_size={size} gives the "
        "rows of such fragments to the clusters around them."
    ]


def _on_noise(summary: Summary, n_rows: int) -> list[str]:
    share = summary.n_noise / n_rows
    if share < _MUCH_NOISE or not len(summary.sizes):
        return []
    return [
        f"{share:.0%} of the rows are noise. A lower tau takes more of them in; noise='nearest' "
        "gives each to the cluster it is most similar to."
    ]


def _on_columns(summary: Summary, names: Sequence[str]) -> list[str]:
    unequal = unequal_columns(summary.columns.spreads)
    if unequal is None:
        return []
    widest, narrowest, ratio = unequal
    return [
        f"Columns differ in spread: {names[widest]} varies {ratio:,.0f} times as much as "
        f"{names[narrowest]}, and counts for as much more. If that is only a matter of units, "
        "scale the columns before the fit."
    ]
