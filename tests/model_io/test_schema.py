"""Model files that are valid archives with wrong contents are refused before a model exists."""

from __future__ import annotations

import io
import itertools
import json
import zipfile

import numpy as np
import pytest

import pskclust
from pskclust import PSKC, ModelFileError
from pskclust._model_io.schema import ARRAYS, HEADER
from tools.attack import models as attack


@pytest.fixture
def parts(scattered, tmp_path):
    """A function that returns header and arrays of a model."""

    def saved(**parameters):
        PSKC(random_state=0, **parameters).fit(scattered).save(tmp_path / "model.npz")
        with zipfile.ZipFile(tmp_path / "model.npz") as archive:
            header = json.loads(archive.read("model.json"))
            names = [name.removesuffix(".npy") for name in header["sha256"]]
            content = {name: io.BytesIO(archive.read(f"{name}.npy")) for name in names}
        return header, {name: np.load(stream) for name, stream in content.items()}

    return saved


@pytest.fixture
def refused(tmp_path):
    """A function that returns why a file with these contents is refused."""

    def reason(header, arrays):
        (tmp_path / "changed.npz").write_bytes(attack.pack(header, arrays))
        with pytest.raises(ModelFileError) as refusal:
            pskclust.load(tmp_path / "changed.npz")
        return str(refusal.value)

    return reason


WRONG_ARRAYS = {
    "pairs out of range": ("tree_pairs", lambda pairs: pairs + 1000, "tree_pairs has values"),
    "pairs of texts": ("tree_pairs", lambda pairs: pairs.astype("U3"), "tree_pairs is <U3"),
    "a set joined twice": ("tree_pairs", lambda pairs: pairs * 0, "tree_pairs is not a tree"),
    "a join of later ones": ("tree_pairs", lambda pairs: pairs[::-1], "tree_pairs is not a tree"),
    "links to nowhere": ("links", lambda links: links + 9, "links has values"),
    "infinite similarities": ("tree_similarities", lambda s: s + np.inf, "tree_similarities has"),
    "confidence 7": ("confidences", lambda confidences: confidences + 7, "confidences has values"),
    "no number": ("similarities", lambda s: s * np.nan, "similarities has values"),
    "seeds beyond the rows": ("seeds", lambda seeds: seeds + 10**6, "seeds has values"),
    "huge counts": ("clusters_counts", lambda counts: counts + 2**52, "clusters_counts are more"),
    "falling ends": ("clusters_ends", lambda ends: ends[::-1], "clusters_ends do not rise"),
    "sizes of others": ("sizes", lambda sizes: sizes + 1, "sizes do not match the clusters"),
    "all rows in one part": ("parts", lambda parts: parts * 0, "parts do not agree with labels"),
    "all rows in the last part": (
        "parts",
        lambda parts: parts * 0 + parts.max(),
        "parts do not agree",
    ),
    "an empty box": ("noise_low", lambda low: low + 1e9, "box of the noise rule is empty"),
}


@pytest.mark.parametrize(("name", "change", "reason"), WRONG_ARRAYS.values(), ids=WRONG_ARRAYS)
def test_an_array_that_could_not_be_is_refused(name, change, reason, parts, refused):
    header, arrays = parts()
    arrays[name] = change(arrays[name])
    assert reason in refused(header, arrays)


def test_points_whose_distances_overflow_are_refused_for_any_metric(parts, refused):
    header, arrays = parts(metric="cosine", psi=16, tau=0.2)
    arrays["partition_points"][0] *= 1e200
    assert "squared distances overflow" in refused(header, arrays)


WRONG_NUMBERS = {
    "infinite objective": (("result", "objective"), float("inf")),
    "a number too large for a float": (("result", "objective"), 10**400),
    "a huge resolution": (("result", "resolution"), 2**63),
    "part of a column": (("fit", "n_columns"), 2.5),
    "True cells": (("fit", "psi"), True),
    "no list of names": (("fit", "column_names"), "ab"),
    "a choice of nothing": (("linkage", "choice"), {}),
    "a choice without odds": (("linkage", "choice", "chosen", "odds"), None),
    "numbers of clusters that are no list": (("linkage", "choice", "numbers"), 3),
    "a linkage that is a list": (("linkage",), [1]),
    "few is text": (("noise", "few"), "2"),
    "a state of text": (("parameters", "random_state"), "x"),
    "a version that is true": (("version",), True),
    "a surprise": (("fit", "surprise"), 1),
}


@pytest.mark.parametrize(("place", "value"), WRONG_NUMBERS.values(), ids=WRONG_NUMBERS)
def test_a_number_that_could_not_be_is_refused(place, value, parts, refused):
    header, arrays = parts()
    inner = header
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    refused(header, arrays)


def test_shares_that_exceed_one_by_rounding_are_loaded(parts, tmp_path):
    header, arrays = parts()
    arrays["confidences"] = np.full_like(arrays["confidences"], 1 + 2**-50)
    (tmp_path / "rounded.npz").write_bytes(attack.pack(header, arrays))
    assert pskclust.load(tmp_path / "rounded.npz").confidences_.max() > 1


def test_an_array_that_nobody_asked_for_is_refused(parts, refused):
    header, arrays = parts(psi=16, tau=0.05)
    reason = refused(header, {**arrays, "surprise": arrays["labels"]})
    assert "'surprise' is not an array that this kind of model has" in reason


def test_the_tables_declare_all_that_models_hold(parts):
    declared = {name.removeprefix("?") for part in ARRAYS.values() for name in part}
    for parameters in ({}, {"psi": 16, "tau": 0.05, "method": "tree"}, {"tau": 0.1, "psi": 8}):
        header, arrays = parts(**parameters)
        assert set(arrays) <= declared
        assert set(header) <= {*HEADER, "format", "version", "sha256", "written_by", "parameters"}


@pytest.mark.slow
def test_generated_archives_with_wrong_contents_are_refused_or_work(tmp_path):
    found = []
    for case in itertools.islice(attack.cases(np.random.RandomState(1), tmp_path), 400):
        try:
            case.run()
        except Exception as error:
            found.append((case.description, error))
    assert found == []
