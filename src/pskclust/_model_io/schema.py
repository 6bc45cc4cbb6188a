"""Schema of a model file: the type, shape and range of every value in it.

`ARRAYS` declares the arrays, and `HEADER` the numbers, texts and lists. A file is checked against
both, and for consistency of its parts, before any object is made from it. A new field of a model
needs a line in one of the two tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data.checks import check_overflow
from .._data.distance_metrics import n_point_columns
from .._data.scaling import SCALINGS
from .._data.weights import LARGEST_EXACT

Header = Mapping[str, Any]
Arrays = Mapping[str, NDArray[Any]]
Check = Callable[[Any], bool]

_INF = math.inf
_FLOAT, _INT, _INT32 = ("f8",), ("i8",), ("i4",)
_INDEX = ("i4", "i8")
_UNSIGNED = ("u1", "u2", "u4", "u8")


@dataclass(frozen=True)
class Array:
    """The type, shape and range of an array.

    Sizes in `shape` and `below` have names: the same name means the same size. Values are from
    `low` to `high` or, if `below` names a size, less than this size. NaN is not allowed.
    """

    kinds: tuple[str, ...]
    shape: tuple[str | int, ...]
    low: float = -_INF
    high: float = _INF
    below: str | None = None

    def check(self, name: str, array: NDArray[Any], sizes: dict[str, int]) -> None:
        """Raise ValueError for an array that does not conform; record sizes that were unknown."""
        fits = array.dtype in [np.dtype(kind) for kind in self.kinds]
        fits = fits and array.ndim == len(self.shape)
        for size, length in zip(self.shape, array.shape, strict=False):
            known = size if isinstance(size, int) else sizes.setdefault(size, length)
            fits = fits and known == length
        if not fits:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}")
        high = self.high if self.below is None else sizes[self.below] - 1
        if not ((array >= self.low) & (array <= high)).all():
            raise ValueError(f"{name} has values outside {self.low:g} to {high:g}")


_FINITE = np.finfo(np.float64).max
# Shares that are sums or quotients of floats can exceed 1 by rounding.
_ONE = 1 + 1e-9


def _finite(*shape: str | int) -> Array:
    return Array(_FLOAT, shape, -_FINITE, _FINITE)


def _tables(
    name: str, number: str | int = "clusters", ends: str | int = "ends"
) -> dict[str, Array]:
    """Return the declarations of the arrays of sparse count tables."""
    least = 1 if number == "clusters" else 0
    return {
        f"{name}_counts": Array(_INT, (f"{name} entries",), 0, LARGEST_EXACT),
        f"{name}_cells": Array(_INDEX, (f"{name} entries",), 0, below="cells"),
        f"{name}_ends": Array(_INDEX, (ends,), 0),
        f"{name}_masses": Array(_INT, (number,), least, LARGEST_EXACT),
    }


# Arrays by the part of a model that they belong to; "?" marks names that may be absent.
ARRAYS: dict[str, dict[str, Array]] = {
    "result": {
        "labels": Array(_INT, ("rows",), -1, below="clusters"),
        "similarities": Array(_FLOAT, ("rows",), 0, 1),
        "?growth_steps": Array(_INT32, ("rows",), -1),
        "seeds": Array(_INT, ("clusters",), 0, below="row numbers"),
        "?n_steps": Array(_INT, ("clusters",), 0),
        "sizes": Array(_INT, ("clusters",), 0),
        **_tables("clusters"),
    },
    "references": _tables("references"),
    "linkage": {
        "tree_pairs": Array(_INT, ("joins", 2), 0, below="nodes of tree"),
        "tree_similarities": _finite("joins"),
        "tree_masses": Array(_INT, ("parts",), 0),
        "links": Array(_INT, ("parts",), -1, below="clusters"),
        "?confidences": Array(_FLOAT, ("rows",), 0, _ONE),
        "?parts": Array(_UNSIGNED, ("rows",), 0),
    },
    "whole": {
        "whole_peaks": Array(_FLOAT, ("clusters",), 0, _ONE),
        "whole_scores": _finite("rows"),
        **_tables("whole_noise", 1, 2),
    },
    "voronoi": {
        "partition_points": _finite("points", "point columns"),
        "partition_centres": Array(_INT, ("partitionings", "psi"), 0, below="points"),
    },
    "hypersphere": {
        "partition_points": _finite("points", "point columns"),
        "partition_centres": Array(_INT, ("partitionings", "psi"), 0, below="points"),
        "partition_radius2": Array(_FLOAT, ("partitionings", "psi"), 0),
    },
    "tree": {
        "partition_feature": Array(_INT32, ("partitionings", "nodes"), -1, below="point columns"),
        "partition_threshold": _finite("partitionings", "nodes"),
        "partition_target": Array(_INT32, ("partitionings", "nodes"), 0, below="nodes"),
    },
    "noise": {
        "noise_sample": _finite("sample", "point columns"),
        "noise_low": _finite("point columns"),
        "noise_high": _finite("point columns"),
    },
    "preparation": {
        "preparation_offset": _finite("columns"),
        "preparation_scale": Array(_FLOAT, ("columns",), np.finfo(np.float64).tiny, _FINITE),
        "preparation_means": _finite("columns"),
    },
}


def _whole(low: int, high: float = 2**63 - 1) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def _number(low: float = -_FINITE, high: float = _FINITE) -> Check:
    return lambda value: type(value) in (int, float) and low <= value <= high


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_none(value: object) -> bool:
    return value is None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


_LEAST = np.finfo(np.float64).tiny
_BELOW_ONE = math.nextafter(1, 0)
_SHARE = _or_none(_number(-_ONE, _ONE))
_OPTION: dict[str, Check] = {
    "kind": _is_text,
    "psi": _whole(1),
    "n_clusters": _whole(1),
    "score": _number(-_INF, _INF),
    "odds": _number(0, _ONE),
    "stability": _SHARE,
    "least_stability": _SHARE,
    "agreement": _SHARE,
    "separation": _SHARE,
    "overlap": _SHARE,
}

# Fields of each part of the header; parts that are not in `_REQUIRED` may be absent or null.
HEADER: dict[str, dict[str, Check]] = {
    "fit": {
        "psi": _whole(2),
        "tau": _or_none(_number(_LEAST, _BELOW_ONE)),
        "engine": _is_text,
        "backend": _is_text,
        "n_columns": _whole(1),
        "column_names": _or_none(_are_names),
    },
    "result": {
        "table_shape": lambda value: isinstance(value, list) and len(value) == 2,
        "resolution": _whole(1),
        "objective": _number(0),
        "objective_before_refinement": _number(0),
        "n_reassigned": _whole(0),
        "threshold": _number(0, _BELOW_ONE),
        # Null if the model has no such array.
        "?growth_steps": _is_none,
        "?n_steps": _is_none,
    },
    "linkage": {
        "choice": lambda value: value is None or _is_choice(value),
        "?n_parts": _whole(0),
    },
    "noise": {
        "threshold": _number(0, _INF),
        "few": _whole(1),
        "reach": _number(0, _INF),  # 0 if most rows are equal
    },
    "preparation": {"columns": _are_names, "scaling": lambda value: value in SCALINGS},
}
_REQUIRED = ("fit", "result")


def _are_options(value: object) -> bool:
    return isinstance(value, list) and all(_has(option, _OPTION) for option in value)


_CHOICE: dict[str, Check] = {
    "chosen": lambda value: _has(value, _OPTION),
    "candidates": _are_options,
    "?layers": _are_options,
    "reason": _is_text,
    "n_rows": _whole(1),
}


def _is_choice(value: object) -> bool:
    return _has(value, _CHOICE)


def _has(value: object, fields: Mapping[str, Check]) -> bool:
    if not isinstance(value, dict):
        return False
    fields = _present(fields, value)
    return set(value) == set(fields) and all(check(value[name]) for name, check in fields.items())


def check_model(header: Header, arrays: Arrays, parameters: Mapping[str, Any]) -> None:
    """Raise ValueError or KeyError if a model file does not conform to the schema."""
    for part, fields in HEADER.items():
        if part in _REQUIRED or header.get(part) is not None:
            _check_part(part, header[part], fields)
    random_state = parameters["random_state"]
    if not _or_none(_whole(0, 2**32 - 1))(random_state):
        raise ValueError(f"random_state is {random_state!r}")
    expected = _expected(header, arrays, parameters["method"])
    unknown = sorted(set(arrays) - {name.removeprefix("?") for name in expected})
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not an array that this kind of model has")
    sizes = _known_sizes(header, arrays, parameters["metric"])
    for name, array in _present(expected, arrays).items():
        array.check(name, arrays[name], sizes)
    _check_relations(header, arrays)


def _present(fields: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields by name, without optional fields that are absent."""
    return {
        name.removeprefix("?"): field
        for name, field in fields.items()
        if not name.startswith("?") or name.removeprefix("?") in found
    }


def _check_part(part: str, values: Any, fields: Mapping[str, Check]) -> None:
    if not isinstance(values, dict):
        raise ValueError(f"{part} is {values!r:.80}")
    fields = _present(fields, values)
    odd = sorted(set(values) ^ set(fields))
    if odd:
        raise ValueError(f"{odd[0]!r} is missing from {part}, or not expected there")
    for name, check in fields.items():
        if not check(values[name]):
            raise ValueError(f"{name} of {part} is {values[name]!r:.80}")


def _expected(header: Header, arrays: Arrays, method: str) -> dict[str, Array]:
    """Return the arrays that a model with this header has."""
    there = ["result", method]
    there += [part for part in ("linkage", "noise", "preparation") if header.get(part) is not None]
    there += ["references"] if "references_masses" in arrays else []
    there += ["whole"] if "whole_peaks" in arrays else []
    return {name: array for part in there for name, array in ARRAYS[part].items()}


def _known_sizes(header: Header, arrays: Arrays, metric: str) -> dict[str, int]:
    """Return the sizes that follow from the header and from other arrays."""
    fit, shape = header["fit"], header["result"]["table_shape"]
    if not all(map(_whole(1), shape)) or shape[1] - fit["psi"] not in (0, 1):
        raise ValueError(f"table_shape is {shape}")
    n_clusters, n_rows = len(arrays["clusters_masses"]), len(arrays["labels"])
    n_parts = len(arrays.get("tree_masses", ()))
    return {
        "clusters": n_clusters,
        "ends": n_clusters + 1,
        "rows": n_rows,
        # A model may be saved without its rows, but seeds still are row numbers.
        "row numbers": n_rows or 2**63,
        "parts": n_parts,
        "joins": max(0, n_parts - 1),
        "nodes of tree": max(0, 2 * n_parts - 1),
        "psi": fit["psi"],
        "nodes": 2 * fit["psi"] - 1,
        "partitionings": shape[0],
        "cells": shape[0] * shape[1],
        "columns": fit["n_columns"],
        "point columns": n_point_columns(fit["n_columns"], metric),
    }


def _check_relations(header: Header, arrays: Arrays) -> None:
    result, fit = header["result"], header["fit"]
    if result["resolution"] != result["table_shape"][0]:
        raise ValueError(f"resolution is {result['resolution']}")
    for names in (fit["column_names"], (header.get("preparation") or {}).get("columns")):
        if names is not None and len(names) != fit["n_columns"]:
            raise ValueError(f"{len(names)} names for {fit['n_columns']} columns")
    for name in ("clusters", "references", "whole_noise"):
        if f"{name}_ends" in arrays:
            _check_table(name, arrays, result["resolution"])
    if "tree_pairs" in arrays:
        _check_tree(arrays["tree_pairs"], len(arrays["tree_masses"]))
        _check_parts(header["linkage"].get("n_parts", 0), arrays)
    if "noise_low" in arrays and not (arrays["noise_low"] <= arrays["noise_high"]).all():
        raise ValueError("the box of the noise rule is empty")
    if "noise_sample" in arrays and not len(arrays["noise_sample"]):
        raise ValueError("the noise rule has no sample")
    for name in ("partition_points", "noise_sample"):
        if len(arrays.get(name, ())):
            check_overflow(arrays[name])
    _check_sizes(arrays["labels"], arrays["sizes"])


def _check_sizes(labels: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
    """Raise ValueError if sizes do not match labels; a model may be saved without labels."""
    counted = np.bincount(labels[labels >= 0], minlength=len(sizes))
    if len(labels) and not np.array_equal(counted, sizes):
        raise ValueError("sizes do not match the clusters in labels")


def _check_table(name: str, arrays: Arrays, resolution: int) -> None:
    """Raise ValueError if ends do not rise from 0 to the number of entries, or scores overflow."""
    ends = arrays[f"{name}_ends"]
    if ends[0] != 0 or ends[-1] != len(arrays[f"{name}_cells"]) or (np.diff(ends) < 0).any():
        raise ValueError(f"{name}_ends do not rise from 0 to the number of entries")
    most = LARGEST_EXACT // resolution
    for part in ("counts", "masses"):
        if (arrays[f"{name}_{part}"] > most).any():
            raise ValueError(f"{name}_{part} are more than {most}")


def _check_tree(pairs: NDArray[np.int64], n_parts: int) -> None:
    """Raise ValueError unless each join is of two existing sets, and no set is joined twice."""
    made = n_parts + np.arange(len(pairs))
    if (pairs >= made[:, np.newaxis]).any() or len(np.unique(pairs)) != pairs.size:
        raise ValueError("tree_pairs is not a tree")


def _check_parts(n_parts: int, arrays: Arrays) -> None:
    """Raise ValueError unless each row is in a part of the tree, and each part has one label.

    Noise rows have the number of parts in place of a part.
    """
    if n_parts > len(arrays["tree_masses"]):
        raise ValueError(
            f"n_parts is {n_parts}, but the tree has {len(arrays['tree_masses'])} leaves"
        )
    if "parts" not in arrays:
        return
    parts, labels = arrays["parts"], arrays["labels"]
    if parts.max(initial=0) > n_parts:
        raise ValueError(f"parts has values outside 0 to {n_parts}")
    label_of = np.full(n_parts + 1, -1)
    label_of[parts] = labels
    if not np.array_equal(label_of[parts], labels) or ((parts == n_parts) != (labels < 0)).any():
        raise ValueError("parts do not agree with labels")
