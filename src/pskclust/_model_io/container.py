"""Model file: arrays and a JSON header in a zip archive, without pickle.

The archive is an npz file, as `numpy.load` reads it, with an additional member `model.json`. This
header has the format, the version, the SHA-256 of every array, and all values that are not arrays.
Members are not compressed, so that a small file cannot expand to large contents.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import struct
import tokenize
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.exceptions import ModelFileError
from .._utils.files import replacing

FORMAT = "pskclust model"
VERSION = 3

_HEADER = "model.json"
# Errors that zipfile, json and numpy raise for bytes that they cannot read.
_NOT_A_MODEL = (
    zipfile.BadZipFile,
    AttributeError,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
)
# The date of every member, so that equal models are equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_model(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a model file; the old one stays until the new one is complete."""
    members = {f"{name}.npy": _array_bytes(array) for name, array in arrays.items()}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    text = json.dumps({"format": FORMAT, "version": VERSION, "sha256": digests, **header})
    with replacing(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_HEADER, _EPOCH), text)
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a model file, or raise ModelFileError."""
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            header = _read_header(archive, name)
            arrays = {
                member.removesuffix(".npy"): _read_array(archive, member, digest, name)
                for member, digest in header["sha256"].items()
            }
    except (FileNotFoundError, ModelFileError):
        raise
    except _NOT_A_MODEL as error:
        raise ModelFileError(
            f"{name!r} is not a model file, or it is damaged ({error}). "
            "Save the model again with PSKC.save."
        ) from error
    return header, arrays


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file has the header of a model."""
    # Reading from a pipe could wait forever.
    if not os.path.isfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            _read_header(archive, os.fspath(path))
    except (*_NOT_A_MODEL, ModelFileError):
        return False
    return True


def _read_header(archive: zipfile.ZipFile, path: str) -> dict[str, Any]:
    if _HEADER not in archive.namelist():
        raise _foreign(path, f"it has no {_HEADER}")
    try:
        header = json.loads(_read_member(archive, _HEADER, path))
    except ValueError as error:
        raise _damaged(path, f"{_HEADER} cannot be read ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _foreign(path, f"its format is not {FORMAT!r}")
    if type(header["version"]) is not int or header["version"] < 1:
        raise _damaged(path, f"its version is {header['version']!r:.40}")
    if header["version"] > VERSION:
        raise ModelFileError(
            f"{path!r} has format version {header['version']}, but this pskclust reads only "
            f"versions up to {VERSION}. Update it with: pip install -U pskclust"
        )
    return header


def _read_array(archive: zipfile.ZipFile, member: str, digest: str, path: str) -> NDArray[Any]:
    content = _read_member(archive, member, path)
    if hashlib.sha256(content).hexdigest() != digest:
        raise _damaged(path, f"{member} does not match its checksum")
    try:
        return _array_of(content)
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        raise _damaged(path, f"{member} cannot be read ({error})") from error


def _read_member(archive: zipfile.ZipFile, member: str, path: str) -> bytes:
    if archive.getinfo(member).compress_type != zipfile.ZIP_STORED:
        raise _foreign(path, f"{member} is compressed")
    return archive.read(member)


def _foreign(path: str, reason: str) -> ModelFileError:
    return ModelFileError(
        f"{path!r} is not a pskclust model: {reason}. Pass a file that PSKC.save wrote."
    )


def _damaged(path: str, reason: str) -> ModelFileError:
    return ModelFileError(f"{path!r} is damaged: {reason}. Save the model again with PSKC.save.")


def _array_of(content: bytes) -> NDArray[Any]:
    """Return the array in an npy file; the number of its bytes must match its header."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"array format {version} is not supported")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("its size does not match its header")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def _array_bytes(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()
