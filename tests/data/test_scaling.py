"""What is done to columns before a fit, and done again to new rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import pskclust
from pskclust import PSKC, ModelFileError
from pskclust._data.scaling import Preparation
from tests.helpers.model_files import rewrite


def prepared(rows, scaling, weight=None):
    names = [f"c{number}" for number in range(rows.shape[1])]
    return Preparation.of(rows, names, scaling, rows.mean(axis=0), weight)


@pytest.fixture
def rows():
    return np.random.RandomState(0).randn(300, 3) * [1, 100, 1e-3] + [0, 1e6, 5]


@pytest.mark.parametrize(
    ("scaling", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())]
)
def test_scaling_is_that_of_scikit_learn(scaling, scaler, rows):
    assert_allclose(
        prepared(rows, scaling).apply(rows), scaler.fit_transform(rows), rtol=1e-7, atol=1e-8
    )


def test_no_scaling_changes_nothing(rows):
    assert prepared(rows, "none").apply(rows) is rows


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_a_row_is_scaled_to_the_same_bits_alone_and_among_others(scaling, rows):
    preparation = prepared(rows, scaling)
    whole = preparation.apply(rows)
    assert_array_equal(whole, np.vstack([preparation.apply(rows[i : i + 1]) for i in range(300)]))


def test_weights_count_as_repeated_rows(rows):
    weight = np.arange(300) % 3
    repeated = np.repeat(rows, weight, axis=0)
    for scaling in ("standard", "minmax"):
        assert_allclose(
            prepared(rows, scaling, weight.astype(float)).apply(rows),
            prepared(repeated, scaling).apply(rows),
            rtol=1e-9,
            atol=1e-9,
        )


def test_a_column_of_one_value_stays_finite():
    preparation = prepared(np.array([[1.0, 5.0], [2.0, 5.0]]), "standard")
    assert_array_equal(preparation.apply([[1, 5], [2, 6]]), [[-1, 0], [1, 1]])


def test_numbers_too_large_to_scale_are_refused():
    with pytest.raises(ValueError, match="scaling='minmax' overflows"):
        prepared(np.array([[-1e308], [1e308]]), "minmax")


def test_tables_are_taken_by_name(rows):
    preparation = prepared(rows, "standard")
    frame = pd.DataFrame(rows, columns=["c0", "c1", "c2"]).assign(other="x")
    assert_array_equal(
        preparation.apply(frame[["other", "c2", "c0", "c1"]]), preparation.apply(rows)
    )
    with pytest.raises(ValueError, match=r"shape \(300, 2\).*3 columns of the fit"):
        preparation.apply(rows[:, :2])


@pytest.fixture
def saved(rows, tmp_path):
    preparation = prepared(rows, "standard")
    model = PSKC(psi=16, tau=0.05, random_state=0).fit(preparation.apply(rows))
    model.preparation_ = preparation
    model.save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_a_model_file_keeps_the_preparation_to_the_bit(saved, rows):
    loaded = pskclust.load(saved)
    assert loaded.preparation_.columns == ("c0", "c1", "c2")
    assert_array_equal(loaded.preparation_.apply(rows), prepared(rows, "standard").apply(rows))


def test_rows_that_are_not_scaled_give_a_warning_where_they_are_passed(saved, rows):
    loaded = pskclust.load(saved)
    scaled = loaded.preparation_.apply(rows)
    table = pd.DataFrame(rows, columns=["c0", "c1", "c2"])
    assert_array_equal(loaded.predict(table), loaded.predict(scaled))
    with pytest.warns(UserWarning, match="scaled columns.*preparation_.apply") as caught:
        loaded.predict(rows)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="scaled columns") as caught:
        loaded.similarity(rows)
    assert caught[0].filename == __file__


def test_a_missing_value_is_named_by_its_column(saved, rows):
    table = pd.DataFrame(rows, columns=["c0", "c1", "c2"])
    table.loc[4, "c1"] = np.nan
    with pytest.raises(ValueError, match=r"X\[4, 1\] \(column 'c1'\) is NaN"):
        pskclust.load(saved).predict(table)


@pytest.fixture
def fitted_with_gaps(rows):
    """Return a function that fits a model with a treatment of missing values and a scaling."""

    def fit(missing, scaling="standard"):
        names = ["c0", "c1", "c2"]
        means = rows.mean(axis=0)
        preparation = Preparation.of(rows, names, scaling, means, missing=missing)
        model = PSKC(psi=16, tau=0.05, random_state=0).fit(preparation.apply(rows))
        model.preparation_ = preparation
        return model

    return fit


def table_with_gaps(rows):
    table = pd.DataFrame(rows, columns=["c0", "c1", "c2"])
    table.loc[[4, 7], "c1"] = np.nan
    table.loc[7, "c2"] = np.nan
    return table


@pytest.mark.filterwarnings("ignore:Column 1 accounts for")
@pytest.mark.parametrize("scaling", ["none", "standard", "minmax"])
def test_missing_values_take_the_means_of_the_fit(scaling, rows, fitted_with_gaps, tmp_path):
    model, table = fitted_with_gaps("mean", scaling), table_with_gaps(rows)
    filled = table.fillna(dict(zip(table.columns, rows.mean(axis=0), strict=True)))
    prepared_rows = model.preparation_.apply(filled.to_numpy())
    expected = model.predict(prepared_rows)
    assert_array_equal(model.preparation_.apply(table), prepared_rows)
    assert_array_equal(model.preparation_.apply(table.convert_dtypes()), prepared_rows)
    assert_array_equal(model.preparation_.apply(table.to_numpy()), prepared_rows)
    assert_array_equal(model.predict(table), expected)
    table.to_parquet(tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.parquet", "t.csv"):
        assert_array_equal(model.predict(tmp_path / name), expected)
    way_out = r"X\[4, 1\] \(column 'c1'\) is NaN.*table with the columns.*preparation_\.apply\(X\)"
    with pytest.raises(ValueError, match=way_out):
        model.predict(table.to_numpy())


def test_rows_are_not_dropped_by_a_preparation(rows, fitted_with_gaps):
    model, table = fitted_with_gaps("drop"), table_with_gaps(rows)
    assert np.isnan(model.preparation_.apply(table)).sum() == 3
    with pytest.raises(ValueError, match="is NaN.*leave such rows out, as the fit did"):
        model.predict(table)
    model.predict(table.dropna())


def test_a_file_without_rows_is_refused_by_a_model_with_means(fitted_with_gaps, tmp_path):
    (tmp_path / "t.csv").write_text("c0,c1,c2\n")
    with pytest.raises(ValueError, match="has a header but no rows"):
        fitted_with_gaps("mean").predict(tmp_path / "t.csv")


def test_a_refit_forgets_the_preparation(saved, blobs, tmp_path):
    model = pskclust.load(saved)
    model.fit(blobs).save(tmp_path / "again.npz")
    assert not hasattr(pskclust.load(tmp_path / "again.npz"), "preparation_")


@pytest.mark.parametrize(
    "change",
    [
        {"scaling": "log"},
        {"columns": ["a", "b"]},
        {"columns": ["a", "b", "b"]},
        {"columns": ["a", "b", 3]},
        {"columns": "abc"},
    ],
)
def test_a_preparation_that_makes_no_sense_is_refused(saved, change):
    rewrite(saved, lambda header, members: header["preparation"].update(change))
    with pytest.raises(ModelFileError):
        pskclust.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"preparation_scale": [1.0, 0.0, 1.0]},
        {"preparation_scale": [1.0, -1.0, 1.0]},
        {"preparation_offset": [1.0, np.nan, 1.0]},
        {"preparation_means": [1.0, 1.0]},
        {"preparation_means": None},
    ],
)
def test_arrays_of_a_preparation_that_make_no_sense_are_refused(saved, change, tmp_path):
    from pskclust._model_io.container import read_model, write_model

    header, arrays = read_model(saved)
    for name in ("format", "version", "sha256"):
        header.pop(name)
    for name, values in change.items():
        arrays.pop(name)
        if values is not None:
            arrays[name] = np.array(values)
    write_model(tmp_path / "changed.npz", header, arrays)
    with pytest.raises(ModelFileError):
        pskclust.load(tmp_path / "changed.npz")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_table_is_prepared_before_it_is_placed(kind):
    X = np.random.RandomState(0).normal(size=(60, 2)) * [1, 1000]
    preparation = Preparation.of(X, ("a", "b"), "standard", X.mean(axis=0))
    model = PSKC(psi=8, tau=0.1, random_state=0).fit(preparation.apply(X))
    model.preparation_ = preparation
    columns = {"b": X[:, 1], "other": np.zeros(60), "a": X[:, 0]}
    module = pytest.importorskip(kind)
    table = module.table(columns) if kind == "pyarrow" else module.DataFrame(columns)
    assert_array_equal(model.predict(table), model.predict(preparation.apply(X)))
    assert_array_equal(model.similarity(table), model.similarity(preparation.apply(X)))
    assert len(set(model.predict(table))) > 1


def test_a_file_with_names_is_prepared_before_it_is_placed(tmp_path):
    X = np.random.RandomState(0).normal(size=(60, 2)) * [1, 1000]
    preparation = Preparation.of(X, ("a", "b"), "standard", X.mean(axis=0))
    model = PSKC(psi=8, tau=0.1, random_state=0).fit(preparation.apply(X))
    model.preparation_ = preparation
    pd.DataFrame({"b": X[:, 1], "a": X[:, 0]}).to_parquet(tmp_path / "rows.parquet")
    expected = model.predict(preparation.apply(X))
    assert_array_equal(model.predict(tmp_path / "rows.parquet"), expected)
    with pytest.warns(UserWarning, match="X does not seem to be scaled"):
        assert not np.array_equal(model.predict(X), expected)
    pd.DataFrame({"b": X[:, 1], "c": X[:, 0]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(ValueError, match='lacks "a", which the model was fitted to. It has "b"'):
        model.predict(tmp_path / "other.parquet")
