"""One file for a model: arrays and a JSON header in a zip archive, no pickle anywhere.

The archive is what `numpy.load` calls npz, with a member `model.json` besides: format, version,
and the SHA-256 of every array. Members are stored, not compressed, so that a file can claim no
more than it holds.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._exceptions import ModelFileError

FORMAT = "pskclust model"
VERSION = 1

_HEADER = "model.json"
# The date of every member, so that equal models are equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_model(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a model beside `path`, then rename it, so that no half-written file is ever there."""
    members = {f"{name}.npy": _array_bytes(array) for name, array in arrays.items()}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    text = json.dumps({"format": FORMAT, "version": VERSION, "sha256": digests, **header})
    target = Path(path)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(zipfile.ZipInfo(_HEADER, _EPOCH), text)
                for name, content in members.items():
                    archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _usual_mode())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a model file, or raise ModelFileError."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = _read_header(archive, path)
            arrays = {
                name.removesuffix(".npy"): _read_array(archive, name, digest, path)
                for name, digest in header["sha256"].items()
            }
    except (zipfile.BadZipFile, EOFError, KeyError) as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} is no model file, or it is damaged ({error}). "
            "Save the model again with PSKC.save."
        ) from error
    return header, arrays


def _read_header(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> dict[str, Any]:
    if _HEADER not in archive.namelist():
        raise ModelFileError(
            f"{os.fspath(path)!r} is no pskclust model: it has no {_HEADER}. "
            "Pass a file that PSKC.save wrote."
        )
    try:
        header = json.loads(_read_member(archive, _HEADER, path))
    except ValueError as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} is damaged: {_HEADER} cannot be read ({error}). "
            "Save the model again with PSKC.save."
        ) from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(
            f"{os.fspath(path)!r} is no pskclust model. Pass a file that PSKC.save wrote."
        )
    if header["version"] > VERSION:
        raise ModelFileError(
            f"{os.fspath(path)!r} has format version {header['version']}, and this pskclust "
            f"reads up to {VERSION}. Update it with: pip install -U pskclust"
        )
    return header


def _read_array(
    archive: zipfile.ZipFile, name: str, digest: str, path: str | os.PathLike[str]
) -> NDArray[Any]:
    content = _read_member(archive, name, path)
    if hashlib.sha256(content).hexdigest() != digest:
        raise ModelFileError(
            f"{os.fspath(path)!r} is damaged: {name} does not match its checksum. "
            "Save the model again with PSKC.save."
        )
    try:
        return np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except ValueError as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} is damaged: {name} cannot be read ({error}). "
            "Save the model again with PSKC.save."
        ) from error


def _read_member(archive: zipfile.ZipFile, name: str, path: str | os.PathLike[str]) -> bytes:
    if archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
        raise ModelFileError(
            f"{os.fspath(path)!r} is no file that PSKC.save wrote: {name} is compressed. "
            "Pass the file as it was saved."
        )
    return archive.read(name)


def _array_bytes(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def _usual_mode() -> int:
    """Return the permissions that a new file gets here; temporary files are private."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
