"""A fit that does not fit into memory says so before it starts."""

from __future__ import annotations

import resource
import subprocess
import sys

import numpy as np
import pytest

from pskclust import PSKC, InsufficientMemoryError, IsolationKernel
from pskclust._utils import memory as _memory

MEGABYTE = 1 << 20


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: MEGABYTE)


@pytest.mark.numba
def test_a_fit_that_cannot_fit_names_the_bytes_and_the_way_out(little_memory):
    X = np.arange(20_000.0)[:, np.newaxis]
    message = (
        r"Fitting 20000 rows with n_partitions=100 and psi=64 needs about 3.24 MB \(\d+ bytes: "
        r"cells 2 MB, rows 720 kB, tables 205 kB, points 320 kB\), but only 1.05 MB of memory is "
        r"available. Pass scratch_dir to keep cells on disk, use a smaller n_partitions"
    )
    with pytest.raises(InsufficientMemoryError, match=message):
        PSKC(psi=64, tau=0.01).fit(X)


def test_what_fits_is_not_refused(blobs, monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 40 * MEGABYTE)
    assert PSKC(random_state=0).fit(blobs).n_clusters_ == 3


def test_large_answers_are_refused_too(blobs, monkeypatch):
    model, kernel = PSKC(random_state=0).fit(blobs), IsolationKernel().fit(blobs)
    monkeypatch.setattr(_memory, "available_bytes", lambda: 1000)
    with pytest.raises(InsufficientMemoryError, match="300 rows to 3 clusters.*top_k"):
        model.similarity(blobs)
    with pytest.raises(InsufficientMemoryError, match="300 rows with 300 rows.*fewer rows"):
        kernel.similarity(blobs)


@pytest.mark.parametrize("method", ["voronoi", "hypersphere", "tree"])
def test_centres_that_cannot_fit_are_refused_before_they_are_drawn(method):
    X = np.random.RandomState(0).rand(100, 2)
    for psi, n_partitions in ((10**12, 10), (10**9, 100_000)):
        cells = {"psi": psi, "n_partitions": n_partitions, "replace": True, "method": method}
        message = f"Drawing {n_partitions:,} partitionings of psi={psi} cells needs about .* TB"
        for estimator in (PSKC(tau=0.1, **cells), IsolationKernel(**cells)):
            with pytest.raises(InsufficientMemoryError, match=message):
                estimator.fit(X)


def test_a_choice_that_cannot_fit_is_refused(little_memory):
    X = np.random.RandomState(0).rand(2000, 2)
    with pytest.raises(InsufficientMemoryError, match="Choosing clusters on 2000 rows with n_p"):
        PSKC().fit(X)


def test_the_error_is_a_memory_error():
    assert issubclass(InsufficientMemoryError, MemoryError)


def test_available_memory_is_told():
    assert 100 * MEGABYTE < _memory.available_bytes() < 1 << 50


def test_a_limit_on_the_address_space_is_seen():
    code = (
        "from pskclust._utils.memory import available_bytes; import resource;"
        f"resource.setrlimit(resource.RLIMIT_AS, ({4096 * MEGABYTE}, resource.RLIM_INFINITY));"
        "print(available_bytes())"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert 0 < int(answer.stdout) < 4096 * MEGABYTE
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY


@pytest.mark.parametrize(
    "files",
    [
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ],
)
def test_a_container_limit_is_seen(files, tmp_path, monkeypatch):
    (tmp_path / "memory").mkdir()
    for name, content in zip(files, ("1000000\n", "400000\n"), strict=True):
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(_memory, "_CONTROL_GROUPS", tmp_path)
    assert _memory.available_bytes() == 600_000
    (tmp_path / files[0]).write_text("max\n")
    assert _memory.available_bytes() > 600_000


@pytest.mark.parametrize(
    ("line", "limit", "used", "cached"),
    [
        ("0::/a/b", "memory.max", "memory.current", "inactive_file"),
        (
            "4:memory:/a/b",
            "memory/memory.limit_in_bytes",
            "memory/memory.usage_in_bytes",
            "total_inactive_file",
        ),
    ],
)
def test_limits_of_groups_within_groups_are_seen(line, limit, used, cached, tmp_path, monkeypatch):
    """The narrowest counts, and files that were read can be forgotten again."""
    root, _, limit = limit.rpartition("/")
    used = used.rpartition("/")[2]
    monkeypatch.setattr(_memory, "_CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(_memory, "_OWN_GROUPS", tmp_path / "own")
    (tmp_path / "own").write_text(f"9:cpu:/\n{line}\n")
    for inner, size in (("", 900_000), ("a", 700_000), ("a/b", 800_000)):
        folder = tmp_path / root / inner
        folder.mkdir(parents=True, exist_ok=True)
        (folder / limit).write_text(f"{size}\n")
        (folder / used).write_text("400000\n")
        (folder / "memory.stat").write_text(f"cache 300000\n{cached} 100000\n")
    assert _memory.available_bytes() == 400_000


def test_unknown_memory_refuses_nothing(monkeypatch, blobs):
    monkeypatch.setattr(_memory, "available_bytes", lambda: None)
    assert PSKC(random_state=0).fit(blobs).n_clusters_ == 3
