"""Row numbers, and columns that outweigh all others, give a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline

from pskclust import PSKC, ColumnsWarning, RowBlocks
from pskclust._data.odd_columns import hint_on_units, odd_columns, unequal_columns


@pytest.fixture
def table():
    X, _ = make_blobs(100, centers=3, random_state=0)
    return pd.DataFrame(X, columns=["east", "north"])


def found(table, **parameters):
    """Return the warnings of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PSKC(psi=8, tau=0.1, random_state=0, **parameters).fit(table)
    assert all(each.category is ColumnsWarning for each in caught)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("start", [0, 1, 1000])
def test_a_row_number_is_named(table, start):
    table.insert(1, "id", range(start, start + len(table)))
    (message,) = found(table)
    assert message.startswith("Column 'id' has a different whole number in every row")
    assert message.endswith("X.drop(columns=['id']).")


@pytest.mark.parametrize(
    "order",
    [
        lambda n: np.random.RandomState(0).permutation(n),
        lambda n: np.delete(np.arange(n + 40), np.arange(40) * 3),
        lambda n: np.arange(n)[::-1],
    ],
    ids=["shuffled", "with gaps", "descending"],
)
def test_a_row_number_is_named_in_any_order(table, order):
    (message,) = found(table.assign(id=order(len(table))))
    assert message.startswith("Column 'id' has")


def test_a_column_that_outweighs_all_others_is_named(table):
    table["north"] *= 1e5
    (message,) = found(table)
    assert message.startswith("Column 'north' accounts for ")
    assert "StandardScaler" in message


def test_a_column_of_an_array_that_outweighs_all_others_is_named(table):
    (message,) = found(table.to_numpy() * [1, 10_000])
    assert message.startswith("Column 1 accounts for more than 99% of the variance of X")


def test_several_columns_that_outweigh_all_others_are_named():
    rows = np.random.RandomState(0).normal(size=(100, 12))
    rows[:, [3, 7]] *= [2000, 1000]
    (message,) = found(rows)
    assert message.startswith("Columns 3 and 7 account for ")


@pytest.mark.parametrize("verb", ["fit", "fit_predict", "fit_transform"])
@pytest.mark.parametrize("wrapped", [lambda model: model, make_pipeline], ids=["alone", "pipeline"])
def test_the_warning_points_to_the_line_that_fits(table, wrapped, verb):
    fit = getattr(wrapped(PSKC(psi=8, tau=0.1, random_state=0)), verb)
    with pytest.warns(ColumnsWarning) as caught:
        fit(table.reset_index())
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.assign(constant=1.0),
        lambda table: table.assign(north=100 * table["north"]),
        lambda table: table.assign(count=np.random.RandomState(0).randint(0, 150, len(table))),
        lambda table: table.assign(half=np.arange(len(table)) + np.arange(len(table)) % 2 / 2),
        lambda table: (20 * table).assign(code=np.arange(len(table)) * 7),
        lambda table: table.assign(year=np.arange(len(table)) // 5),
        lambda table: table[["east"]].assign(east=range(len(table))),
        lambda table: table.reset_index().to_numpy(),
        lambda table: table.reset_index().iloc[:10],
    ],
    ids=["constant", "wide", "count", "half", "code", "repeated", "alone", "an array", "few rows"],
)
def test_there_is_no_warning_of(table, change):
    assert found(change(table)) == []


def test_directions_may_have_any_length(table):
    table["north"] *= 1e5
    assert found(table, metric="cosine") == []


class TestFiles:
    def test_a_file_gets_the_warnings_of_a_table(self, table, tmp_path):
        path = tmp_path / "t.csv"
        table.assign(north=1e5 * table["north"]).to_csv(path, index_label="id")
        number, dominant = found(str(path))
        assert number.startswith("Column 'id' has a different whole number in every row")
        assert "stream_table(path, drop=['id'])" in number
        assert dominant.startswith("Column 'north' accounts for ")
        pipeline = "fit make_pipeline(StandardScaler(), PSKC()) to pskclust.tables.read_table(path)"
        assert dominant.endswith(f"{pipeline}, or run pskclust fit --scale standard.")

    def test_blocks_are_scaled_by_those_who_read_them(self, table):
        rows = table.to_numpy() * [1, 1e5]
        (message,) = found(RowBlocks(100, 2, lambda: [rows]))
        assert "If this is only due to units, yield scaled blocks, or fit make_pipeline(" in message

    def test_row_numbers_are_found_across_blocks(self, table):
        rows = table.reset_index().to_numpy()
        for second, n_found in ((rows[40:], 1), (rows[39:99], 0)):
            blocks = [rows[:40], second]
            read = RowBlocks(100, 3, lambda blocks=blocks: blocks, names=["id", "x", "y"])
            assert len(found(read)) == n_found

    def test_rows_in_memory_are_not_examined_twice(self, table, tmp_path):
        table["north"] *= 1e5
        assert len(found(table, scratch_dir=tmp_path)) == 1


def test_values_too_large_to_square_are_left_to_other_checks():
    rows = np.random.RandomState(0).normal(size=(100, 2)) * [1e250, 1]
    with pytest.raises(ValueError, match="overflow"):
        PSKC(random_state=0).fit(rows)


@pytest.mark.parametrize(
    ("name", "dominant"),
    [
        ("iris", []),
        ("wine", ["Column 'proline' accounts for "]),
        ("breast_cancer", ["Columns 'worst area' and 'mean area' account for "]),
        ("digits", []),
        ("diabetes", []),
        ("linnerud", []),
    ],
)
def test_tables_of_scikit_learn(name, dominant):
    scaled = {"scaled": False} if name == "diabetes" else {}
    messages = found(getattr(datasets, f"load_{name}")(as_frame=True, **scaled).data)
    assert [message.split("more than")[0] for message in messages] == dominant


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(size=(200, 2)) * [10_000, 50],  # coordinates along a road
        lambda rng: rng.normal(size=(200, 3)) * [1000, 1000, 10],  # a survey of flat land
        lambda rng: rng.poisson(np.geomspace(0.01, 100, 200), size=(200, 200)),  # counts of words
        lambda rng: rng.normal(size=(200, 64)) * np.linspace(0.01, 1, 64),  # pixels
        lambda rng: rng.normal(size=(200, 20)) * np.geomspace(10, 0.1, 20),  # principal components
    ],
    ids=["road", "land", "counts", "pixels", "components"],
)
def test_columns_in_one_unit_give_no_warning(make):
    assert found(make(np.random.RandomState(0))) == []


@pytest.mark.parametrize(
    ("spreads", "widest"),
    [([1, 40], 1), ([40, 10, 1], 0), ([1, 20], None), ([0, 5], None), ([], None)],
)
def test_the_hint_names_the_widest_column(spreads, widest):
    unequal = unequal_columns(np.array(spreads, dtype=float))
    assert (None if unequal is None else unequal.widest) == widest


def test_many_columns_get_a_hint_only_if_a_few_are_dominant():
    spreads = np.linspace(0.01, 1, 64)
    assert unequal_columns(spreads) is None
    assert unequal_columns(spreads[:32]) is not None
    spreads[5] = 1000
    assert unequal_columns(spreads).dominant == (5,)


class TestHintsByNamesAndValues:
    RANDOM = np.random.RandomState(0)
    N_ROWS = 600

    def kinds(self, **columns):
        rows = np.column_stack(
            [np.asarray(values, dtype=np.float64) for values in columns.values()]
        )
        return {odd.name: odd.kind for odd in odd_columns(rows, list(columns))}

    @pytest.mark.parametrize(
        ("name", "values", "kind"),
        [
            ("customer_id", RANDOM.randint(0, 200, N_ROWS), "id"),
            ("UserID", RANDOM.randint(0, 200, N_ROWS), "id"),
            ("number", np.arange(N_ROWS), "row number"),
            ("ts", 1_600_000_000 + 60 * np.arange(N_ROWS), "row number or a time"),
            ("shuffled", RANDOM.permutation(N_ROWS), "id"),
            ("account", RANDOM.permutation(900_000)[:N_ROWS] + 100_000, "id"),
            ("invoice no", 7 * RANDOM.permutation(N_ROWS), "id"),
            ("class", RANDOM.randint(0, 3, N_ROWS), "classes"),
            ("cluster", RANDOM.randint(-1, 4, N_ROWS), "classes"),
            ("Species", RANDOM.randint(1, 4, N_ROWS), "classes"),
            ("y", RANDOM.randint(0, 2, N_ROWS), "classes"),
            ("country", np.full(N_ROWS, 7), "constant"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_a_column_is_told_by_its_name_or_its_values(self, name, values, kind):
        assert self.kinds(height=self.RANDOM.randn(self.N_ROWS), **{name: values}) == {name: kind}

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("income", RANDOM.normal(40_000, 9_000, N_ROWS).round()),
            ("price", RANDOM.randint(100, 900, N_ROWS) * 1_000.0),
            ("population", RANDOM.lognormal(11, 1, N_ROWS).round()),
            ("no", RANDOM.poisson(40, N_ROWS)),
            ("key", RANDOM.randint(0, 12, N_ROWS)),
            ("visits", RANDOM.poisson(5, N_ROWS)),
            ("humid", RANDOM.randint(0, 100, N_ROWS)),
            ("age", RANDOM.randint(18, 90, N_ROWS)),
            ("class", RANDOM.randn(N_ROWS)),
            ("timestamp", RANDOM.permutation(10**6)[:N_ROWS] + 1_600_000_000),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_measured_columns_raise_no_alarm(self, name, values):
        assert self.kinds(height=self.RANDOM.randn(self.N_ROWS), **{name: values}) == {}

    def test_y_beside_x_is_a_coordinate(self):
        whole = self.RANDOM.randint(0, 9, (2, self.N_ROWS))
        assert self.kinds(x=whole[0], y=whole[1]) == {}

    @pytest.mark.parametrize(
        "load",
        [
            datasets.load_wine,
            datasets.load_diabetes,
            datasets.load_iris,
            datasets.load_breast_cancer,
        ],
    )
    def test_tables_that_people_try_first_raise_no_alarm(self, load):
        data = load()
        assert odd_columns(np.asarray(data.data), list(data.feature_names)) == ()

    def test_an_id_and_classes_do_not_count_among_units(self):
        rows = np.column_stack(
            [self.RANDOM.permutation(10**6)[: self.N_ROWS], self.RANDOM.randn(2, self.N_ROWS).T]
        )
        names = ["customer_id", "height", "weight"]
        spreads = rows.std(axis=0)
        assert hint_on_units(names, spreads) is not None
        assert hint_on_units(names, spreads, odd_columns(rows, names)) is None
