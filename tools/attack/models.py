"""Attack: a model file with damage or wrong contents must be refused, or else work."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

import pskclust
from pskclust import PSKC, ModelFileError
from tools.attack.cases import Case, require

KINDS = {
    "voronoi": {"psi": 8, "tau": 0.05, "n_partitions": 12},
    "hypersphere": {"psi": 8, "tau": 0.05, "n_partitions": 12, "method": "hypersphere"},
    "tree": {"psi": 8, "tau": 0.05, "n_partitions": 12, "method": "tree"},
    "cosine": {"psi": 8, "tau": 0.05, "n_partitions": 12, "metric": "cosine"},
    "chosen": {"n_partitions": 12},
    "linked": {"psi": 16, "tau": 0.1, "n_partitions": 12, "n_clusters": 3},
}
_MOST_CHANGES = 3
_VALUES = (
    None, True, False, -1, 0, 1, 2, 3, 1000, 2**31, 2**63, -(2**63), 10**30, 10**400, 0.5, -0.5,
    1e-320, 1e308, float("inf"), float("-inf"), float("nan"), "", "x", "voronoi", "\0", [], [1],
    [0, 0], ["x", "x"], {}, {"choice": None}, {"x": 1}, [[[[]]]],
)  # fmt: skip


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield cases of model files, each changed in another way."""
    X = np.vstack([make_blobs(90, centers=3, cluster_std=0.6, random_state=1)[0], rng.rand(9, 2)])
    files = {}
    for kind, parameters in KINDS.items():
        PSKC(random_state=0, **parameters).fit(X).save(folder / "model.npz")
        files[kind] = ModelFile((folder / "model.npz").read_bytes())
    # Few rows, but some of every cluster, so that most of the time is spent on files.
    X = X[::4]
    path = folder / "changed.npz"
    while True:
        kind = list(files)[rng.randint(len(files))]
        if rng.rand() < 0.2:
            content, words = _damaged(files[kind].content, rng)
        else:
            try:
                content, words = _repacked(files[kind], rng)
            except (TypeError, ValueError):  # some changes are impossible, such as negative text
                continue
        path.write_bytes(content)
        yield Case(f"{kind}: {words}", lambda: _survives(path, X))


class ModelFile:
    """A model file, with its header and arrays."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            self.header = archive.read("model.json")
            self.members = {
                name.removesuffix(".npy"): archive.read(name)
                for name in archive.namelist()
                if name.endswith(".npy")
            }
        self.arrays = {name: np.load(io.BytesIO(member)) for name, member in self.members.items()}

    def member(self, name: str, array: np.ndarray) -> bytes:
        """Return an array as bytes; those of unchanged arrays are kept."""
        if array is self.arrays.get(name):
            return self.members[name]
        return _array_bytes(name, array)


def _survives(path: Path, X: np.ndarray) -> int:
    """Load a file; if it is not refused, everything that a model does must work."""
    try:
        model = pskclust.load(path)
    except ModelFileError:
        return 1
    except UserWarning:
        return 1
    try:
        labels = model.predict(X)
    except ValueError as error:
        # Allowed: coordinates in the file that are so far apart that distances overflow, and trees
        # with more columns in the file than they use.
        is_other = model.n_features_in_ != X.shape[1]
        require(is_other or "overflow" in str(error), f"predict: {error}")
        return 1
    require(labels.shape == (len(X),), "the shape of predict is wrong")
    n_clusters = model.n_clusters_
    require(bool((labels < n_clusters).all() and (labels >= -1).all()), "labels out of range")
    require(model.similarity(X).shape == (len(X), n_clusters), "the shape of similarity is wrong")
    model.similarity(X, top_k=2)
    model.transform(X)
    model.kernel_.cells(X)
    if model.merge_tree_ is not None:
        model.merge_tree_.cut(2)
        model.merge_tree_.to_scipy()
    str(model.auto_)
    model.score_samples(X)
    model.membership(X)
    require(
        len(model.probabilities_) == len(model.outlier_scores_),
        "probabilities_ and outlier_scores_ differ in length",
    )
    for number in (1, len(model.layers_)):
        model.relabel(n_clusters=number)
    again = path.with_name("again.npz")
    model.save(again)
    require(
        bool((pskclust.load(again).predict(X) == labels).all()),
        "a saved copy predicts other labels",
    )
    return 1


def _damaged(content: bytes, rng: np.random.RandomState) -> tuple[bytes, str]:
    """Return a file with changed, lost or added bytes, and a description of the change."""
    changed = bytearray(content)
    way = rng.choice(["bytes", "cut", "grow", "swap"])
    if way == "cut":
        return bytes(changed[: rng.randint(len(changed))]), "cut off"
    if way == "grow":
        place = rng.randint(len(changed))
        return bytes(changed[:place] + rng.bytes(rng.randint(1, 99)) + changed[place:]), "grown"
    if way == "swap":
        one, other = sorted(rng.randint(len(changed), size=2))
        return bytes(changed[other:] + changed[one:other] + changed[:one]), "swapped"
    places = rng.randint(len(changed), size=rng.randint(1, 9))
    for place in places:
        changed[place] = rng.randint(256)
    return bytes(changed), f"bytes at {places.tolist()}"


def _repacked(file: ModelFile, rng: np.random.RandomState) -> tuple[bytes, str]:
    """Return a valid archive with changed contents and right checksums, and a description."""
    header, arrays = json.loads(file.header), dict(file.arrays)
    words = [
        _change_header(header, rng) if rng.rand() < 0.4 else _change_arrays(arrays, rng)
        for _ in range(rng.randint(1, _MOST_CHANGES + 1))
    ]
    return pack(header, arrays, file), "; ".join(words)


def pack(header: dict, arrays: dict[str, np.ndarray], original: ModelFile | None = None) -> bytes:
    """Return a model file with these contents and right checksums, as bytes.

    The bytes of unchanged arrays are taken from `original`.
    """
    member = _array_bytes if original is None else original.member
    members = {f"{name}.npy": member(name, array) for name, array in arrays.items()}
    if isinstance(header.get("sha256"), dict):
        header["sha256"] = {
            name: hashlib.sha256(content).hexdigest() for name, content in members.items()
        }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("model.json", json.dumps(header))
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _array_bytes(name: str, array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


def _change_header(header: dict, rng: np.random.RandomState) -> str:
    """Change, remove or add a value somewhere in a header; return a description."""
    place, path = header, []
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return "nothing"
        key = keys[rng.randint(len(keys))]
        path.append(str(key))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or rng.rand() < 0.2:
            break
        place = inner
    value = _VALUES[rng.randint(len(_VALUES))]
    way = rng.choice(["set", "set", "set", "remove", "add"])
    if way == "remove":
        del place[key]
    elif way == "add" and isinstance(place, dict):
        place["surprise"] = value
    else:
        place[key] = value
    return f"{way} {'.'.join(path)} {str(value)[:40]}"


def _change_arrays(arrays: dict[str, np.ndarray], rng: np.random.RandomState) -> str:
    """Change, remove, add or exchange an array; return a description."""
    names = list(arrays)
    if not names:
        return "nothing"
    name, other = names[rng.randint(len(names))], names[rng.randint(len(names))]
    way = list(_WAYS)[rng.randint(len(_WAYS))]
    array = arrays[name]
    if way == "remove":
        del arrays[name]
    elif way == "exchange":
        arrays[name], arrays[other] = arrays[other], array
    elif way == "add":
        arrays["surprise"] = array
    else:
        with np.errstate(all="ignore"):
            # An earlier change may have made it a scalar.
            arrays[name] = _WAYS[way](np.atleast_1d(array), rng)
    return f"{name} {way}"


def _entry(array: np.ndarray, rng: np.random.RandomState, value: float) -> np.ndarray:
    changed = array.copy()
    if changed.size:
        place = rng.randint(changed.size)
        if changed.dtype.kind in "iu":
            value = np.clip(value, np.iinfo(changed.dtype).min, np.iinfo(changed.dtype).max / 2)
        changed.ravel()[place] = value
    return changed


def _odd(array: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    values = [-1, -2, 0, 1, 2, 7, 1e6, 2**31, 2.0**62, -(2.0**63)]
    if array.dtype.kind == "f":
        values += [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320]
    return _entry(array, rng, values[rng.randint(len(values))])


_WAYS = {
    "remove": None,
    "add": None,
    "exchange": None,
    "odd entry": _odd,
    "odd entries": lambda array, rng: _odd(_odd(_odd(array, rng), rng), rng),
    "neighbour": lambda array, rng: _entry(array, rng, array.ravel()[-1] if array.size else 0),
    "shuffled": lambda array, rng: rng.permutation(array.ravel()).reshape(array.shape),
    "reversed": lambda array, rng: array[::-1].copy(),
    "shorter": lambda array, rng: array[:-1],
    "longer": lambda array, rng: np.concatenate([array, array[:1]]),
    "empty": lambda array, rng: array[:0],
    "zeros": lambda array, rng: np.zeros_like(array),
    "ones": lambda array, rng: np.ones_like(array),
    "shifted": lambda array, rng: array + array.dtype.type(1),
    "larger": lambda array, rng: array * array.dtype.type(100),
    "negative": lambda array, rng: -array,
    "float32": lambda array, rng: array.astype(np.float32),
    "int16": lambda array, rng: array.astype(np.int16),
    "uint64": lambda array, rng: array.astype(np.uint64),
    "swapped bytes": lambda array, rng: array.astype(array.dtype.newbyteorder(">")),
    "complex": lambda array, rng: array.astype(np.complex128),
    "text": lambda array, rng: array.astype("U5"),
    "scalar": lambda array, rng: np.array(array.ravel()[:1].sum()),
    "column": lambda array, rng: array.reshape(-1, 1),
    "flat": lambda array, rng: array.ravel(),
    "transposed": lambda array, rng: array.T,
}
