"""Every kind of table gives the labels of the plain array."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC

NAMES = ["width", "height"]


def strided(X):
    wide = np.zeros((2 * len(X), 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


KINDS = {
    "list": lambda X: X.tolist(),
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "read-only": read_only,
    "objects": lambda X: X.astype(object),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, nullable": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table({name: X[:, i] for i, name in enumerate(NAMES)}),
}


@pytest.mark.parametrize("convert", KINDS.values(), ids=KINDS)
def test_the_kind_of_table_does_not_matter(convert, scattered):
    plain = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    X = convert(scattered)
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(X)
    assert_array_equal(model.labels_, plain.labels_)
    assert_array_equal(model.predict(X), plain.predict(scattered))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "bool", "float16"])
def test_whole_numbers_are_numbers(dtype, scattered):
    X = np.clip(np.rint(scattered), 0, 4).astype(dtype)
    model = PSKC(psi=8, tau=0.05, random_state=0).fit(X)
    assert_array_equal(
        model.labels_, PSKC(psi=8, tau=0.05, random_state=0).fit(X.astype(float)).labels_
    )
    assert_array_equal(model.predict(X), model.predict(X.astype(float)))


def test_dates_in_an_array_are_no_numbers():
    days = np.array([["2020-01-01"], ["2021-01-01"]], dtype="datetime64[D]")
    with pytest.raises(TypeError, match="X has the type datetime64.*not numbers"):
        PSKC().fit(days)


def test_text_in_a_pyarrow_table_is_no_number():
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    with pytest.raises((TypeError, ValueError), match="'x'.*not a number|not numbers"):
        PSKC().fit(table)


def test_memory_maps_are_read_in_place(scattered, tmp_path):
    np.save(tmp_path / "X.npy", scattered)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(mapped)
    assert_array_equal(model.labels_, PSKC(psi=32, tau=0.05, random_state=0).fit(scattered).labels_)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_column_names_are_kept_and_checked(kind, scattered):
    X = KINDS[kind](scattered)
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(X)
    assert list(model.feature_names_in_) == NAMES
    assert_array_equal(model.kernel_.cells(X), model.kernel_._cells(scattered))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[["height", "width"]] if kind != "pyarrow" else X.select([1, 0]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_gives_data_frames(library, scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    expected = model.transform(scattered)
    frame = model.set_output(transform=library).transform(scattered)
    assert isinstance(frame, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library])
    assert list(frame.columns) == list(model.get_feature_names_out())
    assert_array_equal(frame.to_numpy(), expected)
