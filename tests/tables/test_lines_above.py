"""Lines above a table: empty lines, comments and titles are skipped, and errors name lines."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust.tables import read_table
from pskclust.tables.errors import TableError
from pskclust.tables.opening import open_table

ROWS = [[1.5, 2], [3, 4.5], [5, 6]]
LINES = "1.5;2\n3;4.5\n5;6\n"


def written(folder, content):
    path = folder / "t.csv"
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize(
    "above",
    ["\n", "\n\n\n", " \t\n\n", "\r\n", "\n# made today\n\n", "# made today\n\n# by hand\n"],
)
def test_empty_lines_and_comments_above_a_table_are_skipped(above, tmp_path):
    path = written(tmp_path, f"{above}x;y\n{LINES}")
    table = open_table(path, "t.csv")
    assert table.columns == ("x", "y")
    assert not table.notes
    assert_array_equal(read_table(path), ROWS)
    assert_array_equal(read_table(written(tmp_path, above + LINES)), ROWS)


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("Sales\n", 2),
        ("Sales of 2024, north\n\n", 3),
        ("\nSales\nby Ann\n", 4),
        ("Sales;\n;\n", 3),
        ('"Sales\nby Ann"\n', 3),
    ],
)
def test_a_title_above_a_header_is_skipped(above, line, tmp_path):
    path = written(tmp_path, f"{above}x;y\n{LINES}")
    table = open_table(path, "t.csv")
    assert table.columns == ("x", "y")
    (note,) = table.notes
    assert note.startswith('"Sales')
    assert note.endswith(f"looks like a title, so the table starts in line {line}.")
    assert_array_equal(read_table(path), ROWS)


def test_a_title_above_rows_without_a_header_is_skipped(tmp_path):
    assert_array_equal(
        read_table(written(tmp_path, "Sales\n1,2,3\n4,5,6\n")), [[1, 2, 3], [4, 5, 6]]
    )


@pytest.mark.parametrize(
    "content",
    [
        "x\n1;2\n3;4\n",  # a header that lacks the name of the row names, as in R
        "only\n1\n2\n",
        "x;\n1;2\n3;4\n",
        "kind;\nb;c\nd;e\n",
    ],
)
def test_a_header_is_not_a_title(content, tmp_path):
    assert not open_table(written(tmp_path, content), "t.csv").notes


def test_a_header_that_the_caller_names_is_not_a_title(tmp_path):
    path = written(tmp_path, "Sales;\nx;y\n1;2\n")
    assert open_table(path, "t.csv").notes
    assert not open_table(path, "t.csv", has_header=True).notes


def test_lines_are_counted_from_the_top_of_the_file(tmp_path):
    path = written(tmp_path, "\nSales\n\nx;y;z\n1;2;3\n" + "1;2;3\n" * 300 + "1;n/k;3\n")
    with pytest.raises(TableError, match='line 306: "n/k"'):
        read_table(path)


def test_a_cell_with_digits_of_another_script_is_named(tmp_path):
    path = written(tmp_path, "x;y\n1;2\n3;\u0663\n5;6\n")
    with pytest.raises(TableError, match='not a number \\(line 3: "\u0663"\\)'):
        read_table(path)


def test_a_row_with_a_wrong_value_is_named_by_its_line(tmp_path):
    path = written(tmp_path, 'Sales\n\nx;y;z\n1;2;"a\nb"\n\n3;inf;c\n')
    with pytest.raises(TableError, match='column "y" of .* is infinite in line 7'):
        read_table(path, drop=["z"])
    np.save(tmp_path / "t.npy", [[0.0, 1], [2, np.inf]])
    with pytest.raises(TableError, match=r"infinite in row 1 \(counted from 0\)"):
        read_table(tmp_path / "t.npy")
