"""Known classes in a report: scores with their meaning, and clusters against classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._html import prose, table, text
from ._summary import MAX_CLUSTERS

MAX_CLASSES = 12
_MEANINGS = {
    "F1": "F1 matches each class to one cluster and measures how well they agree, averaged over "
    "classes: 1 is a perfect match.",
    "ARI": "ARI (adjusted Rand index) compares all pairs of rows: 1 if clusters and classes are "
    "equal, about 0 if they agree only by chance.",
    "NMI": "NMI (normalized mutual information) measures how well clusters predict classes and "
    "classes predict clusters: 1 if they are equal, 0 if they are independent.",
}


class KnownClasses(NamedTuple):
    """Contingency table of clusters and known classes; rows without a class are left out."""

    column: str
    names: Sequence[str]  # of the largest classes in order, and "others" if there are more
    counts: Mapping[str, NDArray[np.int64]]  # number of rows of each class, by cluster
    n_unknown: int

    @classmethod
    def of(cls, column: str, classes: Sequence[Any], labels: NDArray[np.int64]) -> KnownClasses:
        known = np.array([value is not None and value == value for value in classes], dtype=bool)
        sizes = Counter(value for value, is_known in zip(classes, known, strict=True) if is_known)
        largest = _in_order([value for value, _ in sizes.most_common(MAX_CLASSES)])
        places = {value: place for place, value in enumerate(largest)}
        names = [str(value) for value in largest]
        if len(sizes) > len(largest):
            names.append("others")
        numbers = np.array([places.get(value, len(largest)) for value in classes])
        counts = {
            name: np.bincount(numbers[known & chosen], minlength=len(names))
            for name, chosen in _groups(labels).items()
        }
        return cls(column, names, counts, int(np.count_nonzero(~known)))


def known_classes(classes: KnownClasses | None, scores: Mapping[str, float]) -> list[str]:
    """Return the table of clusters by known classes, if any, and the meaning of the scores."""
    meanings = [f"<li>{prose(_MEANINGS[name])}</li>" for name in scores if name in _MEANINGS]
    listed = f"<ul>{''.join(meanings)}</ul>" if meanings else ""
    if classes is None:
        return [listed]
    words = f"Rows of each cluster by their class in the column &quot;{text(classes.column)}&quot;."
    if classes.n_unknown:
        words += f" Rows without a class ({classes.n_unknown:,}) are left out."
    body = [[name, *(f"{count:,}" for count in row)] for name, row in classes.counts.items()]
    return [f"<p>{words}</p>", table(["cluster", *map(text, classes.names)], body), listed]


def _in_order(classes: list[Any]) -> list[Any]:
    """Return classes in ascending order, or sorted by name if they cannot be compared."""
    try:
        return sorted(classes)
    except TypeError:
        return sorted(classes, key=str)


def _groups(labels: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
    """Return the rows of the largest clusters, of all smaller ones together, and of noise."""
    sizes = np.bincount(labels[labels >= 0])
    largest = np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLUSTERS])
    groups = {str(cluster): labels == cluster for cluster in largest}
    if len(sizes) > len(largest):
        groups["smaller clusters"] = (labels >= 0) & ~np.isin(labels, largest)
    if (labels < 0).any():
        groups["noise"] = labels < 0
    return groups
