"""Attack: odd and damaged tables of every format must be read, or refused with a clear error."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import feather
from pyarrow import parquet as pq

from pskclust import PSKC
from pskclust._utils.files import ENDING
from pskclust.cli.app import run
from pskclust.tables import read_table, stream_table
from tools.attack.cases import Case, require

_NAMES = ("a", "b", "", "a", "\x1b[31m", "\u202ename", "x" * 3000, 'q"q', "n\nl", "nan", "1", "cls")
_CELLS = (
    "1", "-2.5", "1e300", "1e-300", "1e999", "inf", "nan", "", "NA", "?", "x", '"quoted"', '"open',
    "1,5", "0x10", "1_000", "\0", "\x1b]0;t\x07", "\u0661", "9" * 400, "1" * 140_000, "True", " 3 ",
)  # fmt: skip
# A folder in memory for temporary files, if the system has one.
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
_CODES = (0, 1, 2, 3, 4, 5)


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield cases of table files that have odd contents or changed bytes."""
    while True:
        ending = list(FORMATS)[rng.randint(len(FORMATS))]
        path = folder / f"table{ending}"
        with contextlib.suppress(pa.ArrowException, ValueError, TypeError, UnicodeError):
            FORMATS[ending](path, rng)
        if not path.exists():
            continue
        words = "odd"
        if rng.rand() < 0.6:
            content, words = _damaged(path.read_bytes(), rng)
            path.write_bytes(content)
        seed = rng.randint(1 << 31)
        yield Case(f"{ending} {words} {seed}", lambda p=path, s=seed: _read(p, s))
        path.unlink()


def _read(path: Path, seed: int) -> int:
    """Read a table in every way; only errors that explain a refusal are allowed."""
    rng = np.random.RandomState(seed)
    missing = str(rng.choice(["refuse", "drop", "mean"]))
    for read in (
        lambda: read_table(path, missing=missing),
        lambda: list(stream_table(path, missing=missing)),
        lambda: PSKC(psi=2, tau=0.2, n_partitions=3, random_state=0).fit(path),
    ):
        try:
            read()
        except Exception as error:
            if not is_refusal(error):
                raise
    _command("fit", path, "--missing", missing, "--psi", "2", "--tau", "0.2", "--n-partitions", "3")
    role = str(rng.choice(["--label", "--id", "--weight", "--drop"]))
    name = str(rng.choice(["a", "cls", "column_1", "1", "class"]))
    fast = ("--psi", "2", "--tau", "0.2", "--n-partitions", "3", "--force")
    _command("fit", path, role, name, *fast, "-o", path.with_name("labels.csv"))
    left = [name for name in os.listdir(path.parent) if name.endswith(ENDING)]
    require(not left, f"temporary files were left: {left}")
    return 5


def is_refusal(error: Exception) -> bool:
    """Return whether an error is of a type that explains what is wrong with an input."""
    kind = type(error)
    return kind.__module__.startswith("pskclust") or kind in (ValueError, TypeError)


def _command(*arguments: object) -> None:
    """Run a command; require a documented exit code and, on failure, one printable error line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    said = err.getvalue()
    require(code in _CODES, f"exit code {code}")
    require("--debug shows where" not in said and "Traceback" not in said, said[-500:])
    lines = said.splitlines()
    require(all(line.isprintable() for line in lines), f"control characters: {said[-300:]!r}")
    if code:
        errors = [line for line in lines if line.startswith("Error: ")]
        require(len(errors) == 1, f"{len(errors)} error lines instead of one: {said[-500:]}")


def _damaged(content: bytes, rng: np.random.RandomState) -> tuple[bytes, str]:
    changed = bytearray(content)
    if not changed:
        return content, "empty"
    way = rng.randint(4)
    if way == 0:
        return bytes(changed[: rng.randint(len(changed))]), "cut off"
    if way == 1:
        place = rng.randint(len(changed))
        return bytes(changed[:place] + rng.bytes(rng.randint(1, 40)) + changed[place:]), "grown"
    places = rng.randint(len(changed), size=rng.randint(1, 6))
    for place in places:
        changed[place] = rng.randint(256)
    return bytes(changed), f"changed at {places.tolist()}"


def _shape(rng: np.random.RandomState) -> tuple[int, int]:
    return int(rng.choice([0, 1, 2, 5, 40])), int(rng.choice([1, 2, 3, 5]))


def _text(rng: np.random.RandomState, delimiter: str) -> bytes:
    n_rows, n_columns = _shape(rng)
    odd = rng.choice([0.0, 0.02, 0.3])

    def cell() -> str:
        return str(rng.choice(_CELLS)) if rng.rand() < odd else f"{rng.randn():.4g}"

    width = lambda: n_columns if rng.rand() > odd / 4 else rng.randint(1, 8)  # noqa: E731
    lines = [delimiter.join(cell() for _ in range(width())) for _ in range(n_rows)]
    if rng.rand() < 0.7:
        names = [f"c{number}" for number in range(n_columns)]
        if rng.rand() < 0.5:
            names = [str(rng.choice(_NAMES)) for _ in names]
        lines.insert(0, delimiter.join(names))
    text = str(rng.choice(["\n", "\r\n", "\r"])).join(lines) + str(rng.choice(["", "\n", "\n\n"]))
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    return text.encode(encoding, errors="replace")


def _libsvm(rng: np.random.RandomState) -> bytes:
    values = ("1:2", "2:0.5", "3:nan", "0:1", "999999999:1", "-1:3", "x:1", "1:x", "2:1e999", "5")
    n_rows = _shape(rng)[0]
    return "".join(
        f"{rng.choice(['1', '-1', 'x', '1.5'], p=[0.6, 0.3, 0.05, 0.05])} "
        + " ".join(sorted(rng.choice(values[:2] if rng.rand() < 0.8 else values, 2)))
        + "\n"
        for _ in range(n_rows)
    ).encode()


def _column(rng: np.random.RandomState, n_rows: int) -> pa.Array:
    """Return a column of numbers, or of another type of Arrow."""
    numbers = rng.randn(n_rows)
    with_gaps = [None if rng.rand() < 0.3 else value for value in numbers.tolist()]
    makers: list[Callable[[], pa.Array]] = [
        lambda: pa.array(numbers),
        lambda: pa.array(numbers),
        lambda: pa.array(numbers.astype(np.float32)),
        lambda: pa.array(with_gaps, pa.float64()),
        lambda: pa.array((numbers * 1e3).astype(np.int64)),
        lambda: pa.array(numbers > 0),
        lambda: pa.array([f"text {value:.1f}" for value in numbers]),
        lambda: pa.array([f"text {value:.0f}" for value in numbers]).dictionary_encode(),
        lambda: pa.array(numbers.round()).dictionary_encode(),
        lambda: pa.array((numbers * 1e9).astype("M8[s]")),
        lambda: pa.array([[1, 2]] * n_rows),
        lambda: pa.array([{"a": 1}] * n_rows),
        lambda: pa.array([b"bytes"] * n_rows),
        lambda: pa.nulls(n_rows),
        lambda: pa.array(numbers * np.inf),
        lambda: pa.array(numbers * 1e200),
    ]
    return makers[rng.randint(len(makers))]()


def _arrow_table(rng: np.random.RandomState) -> pa.Table:
    n_rows, n_columns = _shape(rng)
    names = [str(rng.choice(_NAMES)) for _ in range(n_columns)]
    return pa.Table.from_arrays([_column(rng, n_rows) for _ in names], names=names)


def _numpy_array(rng: np.random.RandomState) -> np.ndarray:
    n_rows, n_columns = _shape(rng)
    array = rng.randn(n_rows, n_columns)
    kinds = ["f8", "f8", "f4", "f2", ">f8", "i8", "u1", "?", "c16", "U5", "S3", "M8[s]", "V4", "g"]
    with np.errstate(all="ignore"):
        array = array.astype(kinds[rng.randint(len(kinds))])
    shapes = (array, array, array[:, 0], array.T, array[np.newaxis], array.ravel()[:1].reshape(()))
    return np.asfortranarray(array) if rng.rand() < 0.2 else shapes[rng.randint(len(shapes))]


def _npz(path: Path, rng: np.random.RandomState) -> None:
    names = rng.choice(["X", "cls", "a", "y"], size=rng.randint(1, 4), replace=False)
    save = np.savez if rng.rand() < 0.5 else np.savez_compressed
    save(path, **{str(name): _numpy_array(rng) for name in names})


Write = Callable[[Path, np.random.RandomState], object]

FORMATS: dict[str, Write] = {
    ".csv": lambda path, rng: path.write_bytes(_text(rng, str(rng.choice([",", ";", " "])))),
    ".tsv": lambda path, rng: path.write_bytes(_text(rng, "\t")),
    ".csv.gz": lambda path, rng: path.write_bytes(gzip.compress(_text(rng, ","))),
    ".csv.bz2": lambda path, rng: path.write_bytes(bz2.compress(_text(rng, ","))),
    ".libsvm": lambda path, rng: path.write_bytes(_libsvm(rng)),
    ".parquet": lambda path, rng: pq.write_table(_arrow_table(rng), path),
    ".feather": lambda path, rng: feather.write_feather(
        _arrow_table(rng), str(path), compression=str(rng.choice(["uncompressed", "lz4", "zstd"]))
    ),
    ".npy": lambda path, rng: np.save(path, _numpy_array(rng)),
    ".npz": _npz,
}
