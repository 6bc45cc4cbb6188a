"""Attack: on a full disk, a command must say so in one sentence and keep old files."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

import pskclust
from tools.attack.cases import Case, require
from tools.attack.commands import Command, left_behind

DISK_BYTES = 1 << 20
_PAGE = 4096
_OLD = b"the file that was there before"
_FAST = ("--psi", "8", "--tau", "0.05", "--n-partitions", "20", "--force")
_LABELS = ("labels.csv", "labels.tsv", "labels.parquet", "labels.arrow")
# Constants of <sched.h> and <sys/mount.h>.
_NEW_MOUNTS, _PRIVATE = 0x20000, (1 << 18) | (1 << 14)
_SENTENCES = (
    "could not be written: ",
    "has no room for more",
    "of disk, but",
    "cannot take another",
)


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield cases of commands that write to a disk with little free space."""
    X = make_blobs(3_000, centers=3, random_state=0)[0]
    np.savetxt(folder / "table.csv", X, delimiter=",", header="x,y", comments="")
    disk = folder / "disk"
    disk.mkdir()
    mounted = mount_small_disk(disk)
    pskclust.PSKC(psi=8, tau=0.05, n_partitions=20, n_jobs=1).fit(X).save(folder / "fitted.npz")
    while True:
        arguments = _command(rng, folder)
        # Most output files are smaller than 200 kB.
        room = int(rng.choice([0, rng.randint(_PAGE), rng.randint(200_000)]))
        yield Case(
            f"{' '.join(arguments[:2])} with {room} bytes of room",
            lambda a=arguments, r=room: _full(disk, folder / "table.csv", a, r, mounted),
        )


def mount_small_disk(place: Path) -> bool:
    """Mount a small disk visible only to this process; return whether that was possible."""
    system = ctypes.CDLL(None, use_errno=True)
    if not hasattr(system, "unshare") or system.unshare(_NEW_MOUNTS):
        return False
    # Private, so that the mount disappears with this process.
    if system.mount(b"none", b"/", None, _PRIVATE, None):
        return False
    options = f"size={DISK_BYTES}".encode()
    return not system.mount(b"tmpfs", os.fsencode(place), b"tmpfs", 0, options)


def _command(rng: np.random.RandomState, folder: Path) -> list[str]:
    labels = str(rng.choice(_LABELS))
    source = str(rng.choice([str(folder / "table.csv"), "-"]))
    if rng.rand() < 0.3:
        return ["predict", str(folder / "fitted.npz"), source, "-o", labels, "--force"]
    arguments = ["fit", source, *_FAST, "-o", labels, "--model", "model.npz"]
    return arguments + _EXTRAS[rng.randint(len(_EXTRAS))]


_EXTRAS: tuple[list[str], ...] = (
    [],
    ["--report", "report.html"],
    ["--scratch-dir", "tmp"],
    ["--checkpoint", "checkpoint"],
)


def _full(disk: Path, table: Path, arguments: list[str], room: int, mounted: bool) -> int:
    """Run a command with little free space; check its error, its files and what is left."""
    outputs = [name for name in arguments if name.split(".")[0] in ("labels", "model", "report")]
    # This removes all files; a mounted disk itself stays.
    shutil.rmtree(disk, ignore_errors=True)
    (disk / "tmp").mkdir(parents=True)
    for name in outputs:
        (disk / name).write_bytes(_OLD)
    with _little_room(disk, room, mounted) as prepare:
        code, said = Command.forked(disk, arguments, table, prepare).wait()
    found = {name: (disk / name).read_bytes() for name in outputs}
    require("Traceback" not in said and "--debug shows" not in said, said[-500:])
    # After a failure, the checkpoint stays, so that the next fit can continue.
    allowed = {"tmp", "ballast", "checkpoint", *outputs}
    left = left_behind(disk / "tmp") + sorted(set(os.listdir(disk)) - allowed)
    require(not left, f"temporary files were left: {left}")
    if code == 0:
        require(
            all(content != _OLD for content in found.values()),
            "the command succeeded, but a file is still the old one",
        )
        return len(found)
    lines = [line for line in said.splitlines() if line.startswith("Error: ")]
    require(code in (1, 3, 4) and len(lines) == 1, f"exit code {code}: {said[-500:]}")
    require(any(words in lines[0] for words in _SENTENCES), lines[0])
    require(_OLD in found.values(), "the command failed, but all files are new")
    return len(found)


@contextlib.contextmanager
def _little_room(disk: Path, room: int, mounted: bool) -> Iterator[Callable[[], object]]:
    """Leave `room` bytes free; yield a function that the limited process must call."""
    if not mounted:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        return
    ballast = disk / "ballast"
    free = os.statvfs(disk).f_bavail * _PAGE
    ballast.write_bytes(bytes(max(0, free - room // _PAGE * _PAGE)))
    yield lambda: None
