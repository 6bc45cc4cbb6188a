"""Files that are no files, and headers that announce what is not there, end at once."""

from __future__ import annotations

import contextlib
import io
import os
import re
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from pskclust import PSKC
from pskclust.explorer.subject import TableSubject
from pskclust.tables import opening, read_table, stream_table
from pskclust.tables.errors import TableError
from tests.helpers.cli import start


def a_pipe(folder):
    os.mkfifo(folder / "pipe")
    return folder / "pipe", "a pipe"


def a_socket(folder):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "s"))
    return folder / "s", "a socket"


def an_endless_device(folder):
    return Path("/dev/zero"), "a device"


@pytest.mark.parametrize("special", [a_pipe, a_socket, an_endless_device])
def test_special_files_are_refused_before_they_are_read(special, command, scattered, tmp_path):
    path, words = special(tmp_path)
    fitted = PSKC(psi=16, tau=0.05).fit(scattered)
    started = time.perf_counter()
    for read in (PSKC().fit, fitted.predict, read_table, stream_table, TableSubject.from_file):
        with pytest.raises(ValueError, match=f"{path} is {words}, not a file. Save its content"):
            read(str(path))
    for name in ("fit", "sweep", "explore"):
        line = command.refused(3, name, path)
        assert line.startswith(f"{path} is {words}, not a file.")
        way_out = f"Or read it from standard input: pskclust {name} - < {path}"
        assert line.endswith(way_out) == (words == "a pipe")
    assert time.perf_counter() - started < 5


def test_a_folder_without_parquet_is_refused(command, tmp_path):
    (tmp_path / "folder/inner").mkdir(parents=True)
    (tmp_path / "folder/inner/t.parquet").touch()
    line = "folder is a folder without Parquet files. Name a file in it."
    assert command.refused(3, "fit", "folder") == line
    with pytest.raises(ValueError, match="is a folder without Parquet files"):
        PSKC().fit(tmp_path / "folder")


def test_an_endless_device_as_standard_input_ends_at_once(tmp_path):
    with open("/dev/zero", "rb") as zeros, start("fit", "-", folder=tmp_path, stdin=zeros) as run:
        out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (3, "")
    assert err.startswith("Error: standard input is a device, not a file. Save its content")


def test_zeros_without_end_through_a_pipe_end_at_once(tmp_path):
    with (
        start("fit", "-", folder=tmp_path, stdin=subprocess.PIPE, text=False) as run,
        contextlib.suppress(BrokenPipeError),
    ):
        while True:
            run.stdin.write(bytes(1 << 20))
    assert run.returncode == 3


def test_standard_input_leaves_room_on_the_disk(command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1,2\n" * 1000)))
    monkeypatch.setattr(opening.shutil, "disk_usage", lambda folder: mock.Mock(free=1000))
    line = command.refused(3, "fit", "-")
    assert "standard input is larger than 4 kB, but " in line
    assert line.endswith("Name the file itself, or set TMPDIR to a larger folder.")


def _npy(path, shape, content=b""):
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    with open(path, "wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(content)


@pytest.mark.parametrize("shape", [(10**12, 2), (2, 10**12), (10, 2), (3, 5_000_000)])
def test_a_header_that_announces_more_than_the_file_holds_is_refused(shape, tmp_path):
    _npy(tmp_path / "t.npy", shape, bytes(100))
    started = time.perf_counter()
    for read in (PSKC().fit, read_table):
        with pytest.raises(
            ValueError, match="is damaged: its header declares .* bytes, but it has 100"
        ):
            read(tmp_path / "t.npy")
    assert time.perf_counter() - started < 2


def test_millions_of_columns_are_refused(tmp_path):
    _npy(tmp_path / "t.npy", (1, 2_000_000), bytes(16_000_000))
    with pytest.raises(TableError, match="has 2,000,000 columns, more than the limit of 1,000,000"):
        PSKC().fit(tmp_path / "t.npy")


def test_a_single_number_is_no_table(tmp_path):
    np.save(tmp_path / "t.npy", np.float64(3))
    with pytest.raises(TableError, match="contains no array with rows"):
        PSKC().fit(tmp_path / "t.npy")


def test_spreadsheets_and_other_archives_are_not_taken_for_npz(tmp_path):
    members = {
        "is a spreadsheet. Save the sheet as CSV": ["[Content_Types].xml", "xl/workbook.xml"],
        "is a zip archive of rows.csv. Unpack it first.": ["rows.csv"],
        "is a zip archive of a.csv and others. Unpack it first.": ["a.csv", "b.csv"],
    }
    for message, names in members.items():
        for file in ("t.csv", "t.zip", "t"):
            with zipfile.ZipFile(tmp_path / file, "w") as archive:
                for name in names:
                    archive.writestr(name, "x,y\n1,2\n")
            with pytest.raises(TableError, match=re.escape(f"{file} {message}")):
                read_table(tmp_path / file)
    np.savez(tmp_path / "t.npz", X=np.eye(3))
    (tmp_path / "t.npz").rename(tmp_path / "t.csv")
    with pytest.raises(TableError, match="it looks like NPZ"):
        read_table(tmp_path / "t.csv")
