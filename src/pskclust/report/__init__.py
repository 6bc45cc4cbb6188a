"""Report on a clustering, as one HTML page that needs no other file."""

from ._write import write_report

__all__ = ["write_report"]
