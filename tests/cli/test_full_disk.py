"""A disk that is full while a command writes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from pskclust import PSKC
from tools.attack import run as attack

resource = pytest.importorskip("resource", reason="limits of processes are of Unix")

OLD = b"the file that was there before"
SMALL = ("--psi", "8", "--tau", "0.05", "--n-partitions", "5", "--force")
LIMITED = (
    "import resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)\n"
    "del sys.argv[1]\n"
    "from pskclust.__main__ import main\n"
    "main()\n"
)


@pytest.fixture
def table(tmp_path):
    X = np.random.RandomState(0).randn(500, 2)
    np.savetxt(tmp_path / "table.csv", X, delimiter=",", header="x,y", comments="")
    return tmp_path / "table.csv"


def run_with_room(n_bytes, folder, *arguments, stdin=None):
    """Run a command none of whose files may be larger."""
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "NUMBA_CACHE_DIR": str(folder)}
    (folder / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(n_bytes), *arguments],
        cwd=folder,
        env=environment,
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert os.listdir(folder / "tmp") == []
    assert not [name for name in os.listdir(folder) if name.endswith(".pskclust-part")]
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", ["labels.csv", "labels.parquet", "labels.arrow", "model.npz"])
def test_a_full_disk_is_named_and_the_old_file_stays(name, table):
    (table.parent / name).write_bytes(OLD)
    option = "--model" if name == "model.npz" else "-o"
    code, said = run_with_room(1000, table.parent, "fit", "table.csv", *SMALL, option, name)
    assert (code, said) == (4, f"Error: {name} could not be written: File too large.\n")
    assert (table.parent / name).read_bytes() == OLD


def test_a_checkpoint_on_a_full_disk_is_named(table):
    options = ("--checkpoint", "noted", "-o", "labels.csv")
    code, said = run_with_room(1000, table.parent, "fit", "table.csv", *SMALL, *options)
    expected = os.path.join("noted", "partition.npz")
    assert (code, said) == (4, f"Error: {expected} could not be written: File too large.\n")
    assert not (table.parent / "labels.csv").exists()


def test_a_copy_of_standard_input_on_a_full_disk_is_named(table):
    with open(table) as stream:
        code, said = run_with_room(1000, table.parent, "fit", "-", *SMALL, stdin=stream)
    assert code == 3
    assert "has no room for more. Name the file itself, or set TMPDIR" in said
    assert said.count("\n") == 1


def test_saving_a_model_to_a_full_disk_names_the_file(tmp_path):
    model = PSKC(psi=4, tau=0.1, n_partitions=5).fit(np.random.RandomState(0).randn(50, 2))
    (tmp_path / "model.npz").write_bytes(OLD)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with pytest.raises(OSError, match=r"File too large: '.*model.npz'"):
            model.save(tmp_path / "model.npz")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(tmp_path) == ["model.npz"]
    assert (tmp_path / "model.npz").read_bytes() == OLD


@pytest.mark.slow
def test_a_slice_of_the_attack_by_full_disks_finds_nothing():
    """In a process that may mount a small disk of its own."""
    outcome = attack._attack("disk", 3, budget=20, limit=60)
    assert outcome.findings == []
    assert outcome.cases > 0
