"""Results of a fit as JSON for the page."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data.agreement import adjusted_rand
from .._estimator import PSKC
from .._provenance import has_confidences, is_refined, mean_confidences
from ..tables.number_texts import is_number
from .colours import N_COLOURS, THEMES, palette, to_hex
from .control_names import as_controls
from .fits import Fit
from .planes import Plane
from .subject import ImageSubject, Subject

# Limits on the rows and values that describe clusters, and on the clusters that are listed.
_ROWS_TO_DESCRIBE = 100_000
_VALUES_TO_DESCRIBE = 5_000_000
MAX_CLUSTERS_LISTED = 200
MAX_CLASSES_LISTED = 24
_COLUMNS_APART = 3
_LEAST_APART = 0.25
_HOVER_COLUMNS = 12


def summary(
    fit: Fit,
    colours: NDArray[np.int64],
    subject: Subject,
    found: Fit | None = None,
) -> dict[str, Any]:
    """Return the facts of a fit that the page shows first.

    `found` is the fit that chose the number of clusters, with otherwise equal settings; None if it
    is not known.
    """
    model = fit.model
    total = float(fit.sizes.sum() + fit.n_noise)
    return {
        "id": fit.id,
        "settings": asdict(fit.settings),
        "clusters": fit.n_clusters,
        "noise": fit.n_noise,
        "noise_share": fit.n_noise / total,
        "objective": float(model.objective_),
        "refinement": _refinement(model),
        "steps": fit.n_steps,
        "stability": _stability(fit),
        "has_confidences": has_confidences(model),
        "fit_clusters": int(fit.of_model.n_clusters_),
        "layers": [] if subject.is_image else [asdict(layer) for layer in fit.of_model.layers_],
        "reason": None if model.auto_ is None else as_controls(model.auto_.reason),
        "found": None if found is None else _found(found),
        "agreement": _agreement(fit, subject),
        "seconds": asdict(fit.seconds),
        "colours": {theme: _point_colours(colours, theme) for theme in THEMES},
        "mean_colours": _mean_colours(fit, subject),
    }


def _stability(fit: Fit) -> float | None:
    """Return the stability of chosen clusters or of the shown layer; None if clusters grew."""
    if fit.source is not None:
        known = {layer.n_clusters: layer.stability for layer in fit.of_model.layers_}
        return known.get(fit.n_clusters)
    return None if fit.model.auto_ is None else fit.model.auto_.chosen.stability


def _found(fit: Fit) -> dict[str, Any]:
    """Return the chosen number of clusters, the reason, and the candidates."""
    choice = fit.model.auto_
    assert choice is not None
    return {
        "clusters": fit.n_clusters,
        "reason": as_controls(choice.reason),
        "rows": choice.n_rows,
        "options": [asdict(option) for option in choice.numbers],
    }


def _agreement(fit: Fit, subject: Subject) -> float | None:
    """Return the adjusted Rand index with known classes; None if no class is known."""
    if subject.classes is None:
        return None
    step = max(1, len(fit.labels) // _ROWS_TO_DESCRIBE)
    classes, labels = subject.classes[::step], fit.labels[::step]
    known = classes >= 0
    return adjusted_rand(classes[known], labels[known]) if known.any() else None


def _refinement(model: PSKC) -> dict[str, Any] | None:
    """Return the gain of refinement and the number of rows it moved; None if not applied."""
    if not is_refined(model):
        return None
    gained = model.objective_ - model.objective_before_refinement_
    return {"gained": float(gained), "moved": int(model.n_reassigned_)}


def clusters(fit: Fit, subject: Subject, plane: Plane) -> list[dict[str, Any]]:
    """Return the entries of the table of clusters, the largest cluster first."""
    total = max(float(fit.sizes.sum() + fit.n_noise), 1.0)
    largest = np.argsort(-fit.sizes, kind="stable")[:MAX_CLUSTERS_LISTED]
    quartiles = _similarity_quartiles(fit)
    apart = _what_sets_apart(fit, subject)
    seeds = fit.model.seeds_[fit.order]
    confidences = mean_confidences(fit.model)
    return [
        {
            "cluster": int(cluster),
            "size": float(fit.sizes[cluster]),
            "share": float(fit.sizes[cluster]) / total,
            "similarity": quartiles[cluster],
            "apart": apart[cluster],
            "seed": int(seeds[cluster]),
            "seed_at": plane.position(int(seeds[cluster])),
            "confidence": None if confidences is None else confidences[fit.order[cluster]],
        }
        for cluster in largest
    ]


def row_answer(fit: Fit, subject: Subject, plane: Plane, row: int) -> dict[str, Any]:
    """Return the values, the cluster and the similarities of a row."""
    number = row if subject.sample is None else int(subject.sample[row])
    if isinstance(subject, ImageSubject):
        names: tuple[str, ...] = ("red", "green", "blue")
    else:
        names = subject.columns
    values = subject.values[row]
    model = fit.model
    confidences = model.confidences_ if has_confidences(model) else None
    return {
        "row": number,
        "cluster": int(fit.labels[row]),
        "similarity": float(model.similarities_[row]),
        "step": None if model.growth_step_ is None else int(model.growth_step_[row]),
        "confidence": None if confidences is None else float(confidences[row]),
        "class": _class_of(subject, row),
        "values": [
            {"column": name, "value": float(value)}
            for name, value in zip(names[:_HOVER_COLUMNS], values, strict=False)
        ],
        "more": max(0, len(names) - _HOVER_COLUMNS),
        "at": plane.position(row),
    }


def known_classes(subject: Subject) -> dict[str, Any] | None:
    """Return the names and colours of the known classes, sorted; None without classes."""
    if subject.classes is None:
        return None
    names = subject.class_names
    numbers = np.array(sorted(range(len(names)), key=lambda code: _sorting_key(names[code])))
    numbers = numbers[:MAX_CLASSES_LISTED]
    return {
        "number": len(names),
        "names": [names[code] for code in numbers],
        "colours": {theme: _point_colours(numbers, theme) for theme in THEMES},
    }


def _sorting_key(name: str) -> tuple[bool, float, str]:
    """Return a key that sorts numbers by their value, before all other names."""
    value = float(name) if is_number(name, missing=()) else math.nan
    return (True, 0.0, name) if math.isnan(value) else (False, value, name)


def _class_of(subject: Subject, row: int) -> str | None:
    """Return the known class of a row; None if it is unknown."""
    if subject.classes is None or subject.classes[row] < 0:
        return None
    number = int(subject.classes[row])
    return subject.class_names[number]


def comparison(one: Fit, other: Fit) -> dict[str, Any]:
    """Return the agreement of two fits."""
    step = max(1, len(one.labels) // _ROWS_TO_DESCRIBE)
    first, second = one.labels[::step], other.labels[::step]
    return {"agreement": adjusted_rand(first, second), "rows": len(first)}


def _mean_colours(fit: Fit, subject: Subject) -> list[str] | None:
    """Return the mean colour of each segment of an image; None for a table."""
    if not isinstance(subject, ImageSubject):
        return None
    return [to_hex(mean) for mean in subject.segments(fit.model).colours[:MAX_CLUSTERS_LISTED]]


def _point_colours(colours: NDArray[np.int64], theme: str) -> list[str]:
    """Return the colours in which the points of each cluster are drawn."""
    named = [to_hex(colour) for colour in palette(theme)]
    return [named[number % N_COLOURS] for number in colours.tolist()]


def _similarity_quartiles(fit: Fit) -> dict[int, list[float]]:
    step = max(1, len(fit.labels) // _ROWS_TO_DESCRIBE)
    labels, values = fit.labels[::step], fit.model.similarities_[::step]
    by_label = np.lexsort([values, labels])
    sorted_labels, sorted_values = labels[by_label], values[by_label]
    starts = np.searchsorted(sorted_labels, np.arange(fit.n_clusters + 1))
    quartiles = {}
    for cluster in range(fit.n_clusters):
        members = sorted_values[starts[cluster] : starts[cluster + 1]]
        if not len(members):
            # No row of this cluster was sampled, so its seed represents it.
            seed = fit.model.seeds_[fit.order[cluster]]
            members = fit.model.similarities_[[seed]]
        places = (np.array([0.25, 0.5, 0.75]) * (len(members) - 1)).round().astype(int)
        quartiles[cluster] = [float(value) for value in members[places]]
    return quartiles


def _what_sets_apart(fit: Fit, subject: Subject) -> dict[int, list[dict[str, Any]]]:
    """Return the columns in which each cluster differs most from all rows.

    The difference is between means, in standard deviations of the column.
    """
    if isinstance(subject, ImageSubject):
        rows, names = subject.rows(fit.settings), subject.column_names(fit.settings)
    else:
        rows, names = subject.values, subject.columns
    most = min(_ROWS_TO_DESCRIBE, max(1000, _VALUES_TO_DESCRIBE // rows.shape[1]))
    step = max(1, len(rows) // most)
    some, labels = rows[::step].astype(np.float64), fit.labels[::step]
    weights = np.ones(len(some)) if subject.weights is None else subject.weights[::step]
    mean = np.average(some, axis=0, weights=weights)
    spread = np.sqrt(np.average((some - mean) ** 2, axis=0, weights=weights))
    spread[~(spread > 0)] = 1.0
    member = labels >= 0
    totals = np.bincount(labels[member], weights=weights[member], minlength=fit.n_clusters)
    sums = np.stack(
        [
            np.bincount(labels[member], weights=weights[member] * column, minlength=fit.n_clusters)
            for column in some[member].T
        ],
        axis=1,
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / totals[:, np.newaxis]
    apart = np.nan_to_num((means - mean) / spread)
    return {
        cluster: [
            {
                "column": names[column],
                "difference": float(apart[cluster, column]),
                "mean": float(means[cluster, column]),
            }
            for column in np.argsort(-np.abs(apart[cluster]), kind="stable")[:_COLUMNS_APART]
            if abs(apart[cluster, column]) >= _LEAST_APART
        ]
        for cluster in range(fit.n_clusters)
    }
