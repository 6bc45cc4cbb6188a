"""A clustering explained on one HTML page that needs nothing else."""

from ._write import write_report

__all__ = ["write_report"]
