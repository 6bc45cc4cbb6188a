"""The folder of benchmark data: ``--data DIR`` or the environment variable PSKCLUST_DATA."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def data_folder(description: str) -> Path:
    """Return the data folder; exit with a message if it does not exist."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=os.environ.get("PSKCLUST_DATA"))
    folder = parser.parse_args().data
    if folder is None or not Path(folder).is_dir():
        sys.exit(
            f"There is no data folder {str(folder)!r}. Name one with --data DIR or PSKCLUST_DATA."
        )
    return Path(folder)
