"""Formats of table files, detected from the extension and checked against the first bytes."""

from __future__ import annotations

import zipfile
from pathlib import Path

from .errors import ImageGivenError, TableError, WrongFormatError

TEXT = ("csv", "tsv", "libsvm")
FORMATS = (*TEXT, "parquet", "arrow", "npy", "npz")
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}

_ENDINGS = {
    ".csv": "csv",
    ".txt": "csv",
    ".dat": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
    ".npz": "npz",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".svm": "libsvm",
}
_WORDS = {
    "csv": "CSV",
    "tsv": "TSV",
    "libsvm": "LibSVM",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "npy": "NPY",
    "npz": "NPZ",
}
_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream of Arrow batches
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",  # an empty archive
}
_IMAGES = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
}
_OTHERS = {
    **_IMAGES,
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"FEA1": "Feather version 1; save it as version 2",
    b"%PDF": "PDF",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "HDF5",
}
_SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
_MEMBERS_OF_SHEETS = ("[Content_Types].xml", "content.xml")
_JSON = (".json", ".jsonl", ".ndjson", ".geojson")
_JSON_STARTS = (b'{"', b"[{", b"[[")
_HTML = (b"<!doctype html", b"<html")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def format_of(path: Path, name: str, claimed: str | None = None) -> str:
    """Return the format of a file that is not empty; raise TableError if it is not supported.

    The format is `claimed` by the caller, or follows from the extension or, if that is unknown,
    from the first bytes.
    """
    if claimed is None and path.suffix.lower() in _SHEETS:
        raise TableError(f"{name} is a spreadsheet. Save the sheet as CSV, and use that.")
    head = first_bytes(path)
    if head.lstrip().lower().startswith(_HTML):
        raise TableError(f"{name} is an HTML page, not a table.")
    if claimed is None and (path.suffix.lower() in _JSON or _looks_like_json(head)):
        raise TableError(
            f"{name} is JSON. Save it as CSV or Parquet, and use that: pandas.read_json reads it, "
            "to_csv writes it."
        )
    ending = claimed or format_of_ending(path)
    found = _format_of_bytes(head)
    if found == "npz":
        _refuse_other_archives(path, name)
    if ending in TEXT and path.suffix.lower() in COMPRESSIONS:
        return ending
    if found in _IMAGES.values():
        raise ImageGivenError(f"{name} is {found}, not a table.")
    if ending is None:
        if found == "text":
            return "libsvm" if _looks_like_libsvm(head) else "csv"
        if found in FORMATS:
            return found
        words = _described(found) or "binary, without a known signature"
        raise TableError(f"the format of {name} is not supported ({words}).")
    if found != ("text" if ending in TEXT else ending):
        raise WrongFormatError(name, _WORDS[ending], _described(found))
    return ending


def format_of_ending(path: Path) -> str | None:
    """Return the format for a file extension; None if the extension is unknown."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return _ENDINGS.get(suffixes[-1]) if suffixes else None


def first_bytes(path: Path, size: int = 4096) -> bytes:
    """Return the first `size` bytes of a file."""
    with open(path, "rb") as stream:
        return stream.read(size)


def _format_of_bytes(head: bytes) -> str | None:
    for signature, found in {**_MAGIC, **_OTHERS}.items():
        if head.startswith(signature):
            return found
    if head.startswith(_UTF16):
        return "text"
    return None if b"\0" in head else "text"


def _refuse_other_archives(path: Path, name: str) -> None:
    """Raise TableError for a spreadsheet, or a zip archive without arrays.

    A damaged archive, and the beginning of one, pass: their content is not known.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError):
        return
    if any(member.endswith(".npy") for member in members) or not members:
        return
    if any(member in _MEMBERS_OF_SHEETS for member in members):
        raise TableError(f"{name} is a spreadsheet. Save the sheet as CSV, and use that.")
    first = members[0] if len(members) == 1 else f"{members[0]} and others"
    raise TableError(f"{name} is a zip archive of {first}. Unpack it first.")


def _described(found: str | None) -> str | None:
    return _WORDS.get(found, found) if found else None


def _looks_like_json(head: bytes) -> bool:
    """Return whether the bytes start a JSON object, or a list of objects or lists."""
    return b"".join(head[:200].split()).startswith(_JSON_STARTS)


def _looks_like_libsvm(head: bytes) -> bool:
    lines = [line.split() for line in head.splitlines()[:-1] if line.strip()][:20]
    return bool(lines) and all(
        len(cells) > 1 and all(cell.count(b":") == 1 for cell in cells[1:]) for cells in lines
    )
