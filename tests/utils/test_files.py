"""Files are there whole or not at all, and nothing stays of processes that were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading

import pytest

from pskclust._utils import files
from pskclust._utils.files import ENDING, remove_leftovers, replacing
from tests.helpers.cli import SOURCE

WAYS = {
    "replacing": "replacing('out.csv')",
    "a file": "temporary_file()",
    "a folder": "temporary_folder()",
}


def _killed_within(way, folder):
    """Start a process that is killed while it has a temporary file."""
    code = (
        "import time\nfrom pskclust._utils.files import *\n"
        f"with {way}: print(1, flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TMPDIR": str(folder)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, env=environment, stdout=subprocess.PIPE
    )
    process.stdout.readline()
    return process


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_leftovers_of_a_killed_process_are_removed_by_the_next(way, tmp_path):
    with _killed_within(way, tmp_path) as process:
        (name,) = os.listdir(tmp_path)
        assert name.endswith(ENDING)
        remove_leftovers(tmp_path)
        assert os.listdir(tmp_path) == [name], "it is in use"
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
    assert os.listdir(tmp_path) == [name]
    with replacing(tmp_path / "other.txt") as stream:
        stream.write(b"whole")
    assert os.listdir(tmp_path) == ["other.txt"]


def test_what_is_not_ours_stays(tmp_path):
    (tmp_path / "data.csv").write_text("1,2")
    (tmp_path / ".out.csv.abc").write_text("of somebody else")
    os.symlink(tmp_path / "data.csv", tmp_path / f"link{ENDING}")
    remove_leftovers(tmp_path)
    remove_leftovers(tmp_path / "nowhere")
    assert len(os.listdir(tmp_path)) == 3


def test_many_threads_that_clean_up_take_nothing_from_each_other(tmp_path):
    errors = []

    def write(number):
        try:
            for _ in range(30):
                with replacing(tmp_path / f"{number}.txt") as stream:
                    stream.write(b"whole")
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"whole"}
    assert len(os.listdir(tmp_path)) == 8


def test_without_locks_nothing_is_taken_for_a_leftover(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "fcntl", None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"old{ENDING}").touch()
    with replacing(tmp_path / "new.txt") as stream:
        stream.write(b"whole")
    with files.temporary_folder() as folder, files.temporary_file() as (stream, path):
        assert folder.is_dir()
        assert path.exists()
    assert sorted(os.listdir(tmp_path)) == ["new.txt", f"old{ENDING}"]


def _interrupted_at(instruction, way, folder):
    """Raise an interrupt at an instruction of `files`; return whether there was such a one."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        if frame.f_code.co_filename != files.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            count += 1
            if count == instruction:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        with eval(way, vars(files)):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return count >= instruction


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_an_interrupt_at_any_instruction_leaves_nothing(way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "out.csv").write_bytes(b"old")
    instruction = 1
    while _interrupted_at(instruction, way, tmp_path):
        files.remove_own()
        assert os.listdir(tmp_path) == ["out.csv"], instruction
        assert (tmp_path / "out.csv").read_bytes() in (b"old", b"")
        instruction += 1
    assert instruction > 100


def test_a_forked_process_leaves_the_files_of_its_parent(tmp_path):
    with replacing(tmp_path / "out.csv") as stream:
        process = os.fork()
        if process == 0:
            files.remove_own()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
        stream.write(b"whole")
    assert (tmp_path / "out.csv").read_bytes() == b"whole"
