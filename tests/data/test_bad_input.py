"""Bad input gets an error that names the thing, the value and the way out."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from pskclust import PSKC, ColumnsWarning, IsolationKernel

GOOD = np.arange(20.0).reshape(10, 2)


def with_entry(value):
    X = GOOD.copy()
    X[3, 1] = value
    return X


BAD_ROWS = {
    "empty": (np.empty((0, 2)), ValueError, r"0 sample\(s\).*minimum of 2 is required"),
    "one row": (GOOD[:1], ValueError, r"1 sample\(s\).*minimum of 2 is required"),
    "no columns": (np.empty((10, 0)), ValueError, r"0 feature\(s\).*minimum of 1 is required"),
    "NaN": (
        with_entry(np.nan),
        ValueError,
        r"X\[3, 1\] is NaN.*such rows out\. To fill.*SimpleImputer",
    ),
    "infinity": (with_entry(np.inf), ValueError, r"X\[3, 1\] is inf.*leave such rows out"),
    "text": ([["1", "a"], ["2", "b"]], ValueError, r"X\[0, 1\] is .*'a'.*not a number.*encode"),
    "text column": (
        pd.DataFrame({"size": [1, 2], "city": ["Oslo", "Bonn"]}),
        ValueError,
        r"Column 'city' of X does not hold numbers.*Leave it out, or encode it.*OneHotEncoder, "
        "only if its categories should affect the clusters",
    ),
    "dates as text": (
        pd.DataFrame({"size": [1, 2, 3], "day": ["2020-01-31", None, "2021-12-01 10:30"]}),
        ValueError,
        r"Column 'day' of X .*Convert it to numbers, such as \(pd.to_datetime\(X\['day'\]\) - "
        r"pd.Timestamp\('2000-01-01'\)\).dt.days, or leave it out",
    ),
    "dates with the year last": (
        pd.DataFrame({"size": [1, 2], "day": ["31/1/2020", "1/12/21"]}),
        ValueError,
        r"Column 'day' of X .*pd.to_datetime",
    ),
    "versions": (
        pd.DataFrame({"size": [1, 2], "version": ["1.2.3", "10.12.2021-a"]}),
        ValueError,
        r"Column 'version' of X .*OneHotEncoder",
    ),
    "decimal commas": (
        pd.DataFrame({"size": [1, 2, 3], "height": ["1.200,5", "3", None]}),
        ValueError,
        r"Column 'height' of X does not hold numbers.*decimal point instead of the comma",
    ),
    "semicolons": (
        pd.DataFrame({"size;height": ["1;2", "3;4"]}),
        ValueError,
        r"Its name holds ';': if X was read from a file, .*pandas.read_csv\(path, sep=';'\)",
    ),
    "equal names": (
        pd.DataFrame([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], columns=["size", "height", "size"]),
        ValueError,
        r"X has 2 columns named 'size'\. Rename them",
    ),
    "date column": (
        pd.DataFrame({"size": [1, 2], "day": pd.to_datetime(["2020-01-01", "2021-01-01"])}),
        ValueError,
        r"Column 'day' of X does not hold numbers \(datetime64.*days since a date, or leave it out",
    ),
    "NaN in a named column": (
        pd.DataFrame({"size": [1, 2], "height": [3.0, np.nan]}),
        ValueError,
        r"X\[1, 1\] \(column 'height'\) is NaN",
    ),
    "object": (
        np.array([[1.0, {"a": 1}], [2.0, 3.0]], dtype=object),
        TypeError,
        r"X\[0, 1\] is \{'a': 1\}.*not a number",
    ),
    "a table without columns": (pd.DataFrame(), ValueError, "X is a table without columns. Pass"),
    "complex": (
        GOOD * 1j,
        ValueError,
        r"^Complex data not supported: pass the real and imaginary parts as columns[\w ]*\.$",
    ),
    "1-D": (
        GOOD[:, 0],
        ValueError,
        r"^Expected 2D array, got 1D array instead\. Reshape your data.*array\.reshape\(-1, 1\)",
    ),
    "3-D": (
        GOOD.reshape(5, 2, 2),
        ValueError,
        "Found array with dim 3.*<= 2",
    ),
    "sparse": (sparse.csr_array(GOOD), TypeError, "X is sparse.*not supported.*TruncatedSVD"),
    "too large": (with_entry(1e200), ValueError, "Column 1.*1e\\+200.*overflow.*StandardScaler"),
    "too small": (GOOD * 1e-170, ValueError, "range above .*e-169.*underflow.*StandardScaler"),
}


@pytest.mark.parametrize(
    "estimator", [PSKC(psi=2, tau=0.1), IsolationKernel(psi=2)], ids=["PSKC", "kernel"]
)
@pytest.mark.parametrize(("X", "error", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_bad_rows_are_refused(estimator, X, error, message):
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        estimator.fit(X)


BAD_PARAMETERS = {
    "psi below 2": ({"psi": 1}, "psi=1 is not allowed. Use a whole number of 2 or more"),
    "psi no number": ({"psi": 2.5}, "psi=2.5 is not allowed. Use a whole number"),
    "psi above n": (
        {"psi": 512},
        r"psi=512 is more than the 10 rows (of X|that the choice is made on). Use psi <= 10\b",
    ),
    "no partitions": ({"n_partitions": 0}, "n_partitions=0 is not allowed.*from 1 to"),
    "metric": ({"metric": "manhattan"}, "metric='manhattan'.*'euclidean', 'cosine', 'haversine'"),
    "distances": (
        {"metric": "precomputed"},
        "metric='precomputed' is not allowed.*'haversine'. Cells need coordinates.*manifold.MDS",
    ),
    "method": ({"method": "grid"}, "method='grid'.*'voronoi', 'hypersphere', 'tree'"),
    "replace": ({"replace": "yes"}, "replace='yes' is not allowed. Use True or False"),
    "n_jobs": ({"n_jobs": 0}, "n_jobs=0 is not allowed.*-1 means all processors"),
}
BAD_PSKC_PARAMETERS = {
    "tau 0": ({"tau": 0}, "tau=0 is not allowed. Use a number above 0 and below 1"),
    "tau 1": ({"tau": 1.0}, "tau=1.0 is not allowed. Use a number above 0 and below 1"),
    "tau NaN": ({"tau": float("nan")}, "tau=nan is not allowed"),
    "tau None": ({"tau": None}, "tau=None is not allowed.*or 'auto'"),
    "growth_rate 0": ({"growth_rate": 0.0}, "growth_rate=0.0 .*above 0 and below 1"),
    "growth_rate 1": ({"growth_rate": 1}, "growth_rate=1 is not .*above 0 and below 1"),
    "growth_rate tiny": ({"growth_rate": 1e-17}, "growth_rate=1e-17 .*threshold to fall"),
    "noise": ({"noise": "drop"}, "noise='drop'.*'keep', 'nearest'"),
    "size": ({"min_cluster_size": 0}, "min_cluster_size=0 is not allowed.*or None"),
    "refine": ({"refine": None}, "refine=None is not allowed. Use True or False"),
    "callback": ({"callback": "print"}, "callback='print' is not allowed. Use a function"),
}


@pytest.mark.parametrize("kind", [PSKC, IsolationKernel])
@pytest.mark.parametrize(("wrong", "message"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_kernel_parameters_are_refused(kind, wrong, message):
    with pytest.raises(ValueError, match=message):
        kind(**{"psi": 2, **wrong}).fit(GOOD)


@pytest.mark.parametrize(
    ("wrong", "message"), BAD_PSKC_PARAMETERS.values(), ids=BAD_PSKC_PARAMETERS
)
def test_bad_clustering_parameters_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        PSKC(**{"psi": 2, **wrong}).fit(GOOD)


BAD_WEIGHTS = {
    "negative": ([1] * 9 + [-2], r"sample_weight\[9\] is -2.0.*not negative; use 0"),
    "NaN": ([np.nan] + [1] * 9, r"sample_weight\[0\] is nan. Weights must be finite"),
    "all zero": (np.zeros(10), "sample_weight is zero for every row"),
    "too few": ([1, 2, 3], r"shape \(3,\), but X has 10 rows. Pass one weight for each row"),
    "2-D": (np.ones((10, 1)), r"shape \(10, 1\), but X has 10 rows"),
    "text": (["a"] * 10, "sample_weight must contain only numbers"),
    "one row left": ([1] + [0] * 9, "leaves only 1 sample.*two rows or more"),
    "too large": ([1e15] * 10, "sums to 1e\\+16, but sums are exact .*Divide all weights"),
}


@pytest.mark.parametrize(("weights", "message"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        PSKC(psi=2, tau=0.1).fit(GOOD, sample_weight=weights)


def test_psi_above_the_total_weight_is_refused():
    with pytest.raises(ValueError, match="psi=16 is more than the 15 total weight"):
        PSKC(psi=16, tau=0.1).fit(GOOD, sample_weight=[6] + [1] * 9)


@pytest.mark.parametrize("verb", ["predict", "similarity", "transform", "save"])
def test_an_estimator_that_is_not_fitted_says_so(verb):
    with pytest.raises(NotFittedError, match="This PSKC instance is not fitted yet. Call 'fit'"):
        getattr(PSKC(), verb)(GOOD)


@pytest.mark.parametrize("verb", ["cells", "transform", "similarity"])
def test_a_kernel_that_is_not_fitted_says_so(verb):
    with pytest.raises(NotFittedError, match="This IsolationKernel instance is not fitted yet"):
        getattr(IsolationKernel(), verb)(GOOD)


@pytest.mark.parametrize("verb", ["predict", "similarity", "transform"])
def test_new_rows_must_have_the_columns_of_the_fit(verb):
    model = PSKC(psi=2, tau=0.1).fit(GOOD)
    with pytest.raises(ValueError, match="X has 1 features, but PSKC is expecting 2 features"):
        getattr(model, verb)(GOOD[:, :1])


def test_new_rows_too_far_away_are_refused():
    with pytest.raises(ValueError, match="Column 0 of X runs from.*overflow"):
        PSKC(psi=2, tau=0.1).fit(GOOD).predict([[1e200, 0]])


def test_top_k_must_be_positive():
    with pytest.raises(ValueError, match="top_k=0 is not allowed. Use a whole number of 1 or more"):
        PSKC(psi=2, tau=0.1).fit(GOOD).similarity(GOOD, top_k=0)


def test_a_bad_set_is_named():
    kernel = IsolationKernel(psi=2).fit(GOOD)
    with pytest.raises(ValueError, match=r"sets\[1\]: X has 1 features"):
        kernel.point_set_similarity(GOOD, [GOOD, GOOD[:, :1]])


def test_cosine_needs_directions():
    words = r"Row 0 of X is all zeros.*cosine.*such rows out, or fit with metric='euclidean'"
    with pytest.raises(ValueError, match=words):
        PSKC(psi=2, tau=0.1, metric="cosine").fit(GOOD - GOOD[0])


def test_text_beside_the_columns_of_the_fit_is_left_out_of_new_rows():
    table = pd.DataFrame(GOOD, columns=["size", "height"])
    model = PSKC(psi=2, tau=0.1, random_state=0).fit(table)
    more = table.assign(city="Oslo", day=pd.Timestamp("2026-01-01"))
    with pytest.raises(ValueError, match="Column 'city' .*not in the fit: pass X.model.feature_na"):
        model.predict(more)
    assert_array_equal(model.predict(more[model.feature_names_in_]), model.predict(table))
    with pytest.raises(ValueError, match="Column 'size' .*Leave it out"):
        model.predict(table.assign(size="large"))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((5, 3)), "needs 2 columns.*X has 3"),
        ([[10, 20], [95, 20]], "Row 1 of X has latitude 95, but.*\\[-90, 90\\], latitude first"),
        ([[10, 20], [5, -400]], "Row 1 of X has longitude -400"),
    ],
)
def test_haversine_needs_degrees(X, message):
    with pytest.raises(ValueError, match=message):
        PSKC(psi=2, tau=0.1, metric="haversine").fit(X)


def test_radians_are_suspected():
    with pytest.warns(ColumnsWarning, match="takes degrees. Pass numpy.degrees") as caught:
        PSKC(psi=2, tau=0.1, metric="haversine").fit_predict(np.radians(GOOD))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("names", [("lon", "lat"), ("Longitude", "Latitude"), ("lng", "lat_deg")])
def test_the_longitude_first_is_refused(names, tmp_path):
    table = pd.DataFrame(GOOD, columns=names)
    table.to_csv(tmp_path / "t.csv", index=False)
    model = PSKC(psi=2, tau=0.1, metric="haversine", random_state=0)
    for X in (table, tmp_path / "t.csv"):
        with pytest.raises(ValueError, match=f"in the order '{names[1]}', '{names[0]}'"):
            model.fit(X)
    model.fit(table[list(names[::-1])])
    model.fit(table.set_axis(["x", "y"], axis=1))


def test_a_matrix_of_distances_is_suspected():
    points = np.random.RandomState(0).randn(30, 2)
    distances = np.linalg.norm(points[:, np.newaxis] - points, axis=2)
    with pytest.warns(ColumnsWarning, match="looks like a matrix of distances") as caught:
        PSKC(random_state=0).fit(distances)
    assert caught[0].filename == __file__
    PSKC(random_state=0).fit(points[:30] @ points[:30].T)


def test_a_table_is_no_list_of_sets():
    kernel = IsolationKernel(psi=2).fit(GOOD)
    with pytest.raises(TypeError, match="sets has type DataFrame. Pass a list with the rows"):
        kernel.point_set_similarity(GOOD, pd.DataFrame(GOOD))


def test_saving_into_no_folder_names_the_folder(tmp_path):
    model = PSKC(psi=2, tau=0.1).fit(GOOD)
    with pytest.raises(FileNotFoundError, match="There is no folder .*nowhere"):
        model.save(tmp_path / "nowhere" / "model.npz")


def test_a_failed_fit_does_not_change_parameters():
    model = PSKC(psi=512, tau=0.1)
    with pytest.raises(ValueError, match="psi=512"):
        model.fit(GOOD)
    assert model.get_params() == PSKC(psi=512, tau=0.1).get_params()


def test_weights_beyond_the_largest_float_are_refused():
    weights = np.full(len(GOOD), 1e308)
    with pytest.raises(ValueError, match="sums to more than the largest float, but sums are exact"):
        PSKC(psi=2, tau=0.1).fit(GOOD, sample_weight=weights)


@pytest.mark.parametrize("width", [1e-155, 1e-154, 1.4e-154, 1.6e-154, 1e-153])
def test_narrow_rows_are_refused_alike_with_weights_and_repeated(width):
    """A row of weight 0 is not there, however far away."""
    rng = np.random.RandomState(0)
    X = np.vstack([width * rng.rand(40, 2), [[1, 1]]])
    weights = np.append(rng.randint(1, 4, 40), 0)
    outcomes = []
    for rows, given in ((np.repeat(X, weights, axis=0), None), (X, weights)):
        for parameters in ({"psi": 8, "tau": 0.1}, {}):
            try:
                model = PSKC(random_state=0, **parameters).fit(rows, sample_weight=given)
                outcomes.append(model.labels_[: None if given is None else 40].max())
            except ValueError as error:
                outcomes.append(str(error))
    assert outcomes[:2] == outcomes[2:]


def test_columns_without_numbers_are_named_whatever_their_names_are():
    days = pd.to_datetime(["2026-01-01", "2026-01-02"])
    X = pd.DataFrame({0: ["a", "b"], 1: [1.0, 2.0], 2: days})
    with pytest.raises(ValueError, match=r"Column '0' of X .* Other columns without numbers: '2'"):
        PSKC().fit(X)
