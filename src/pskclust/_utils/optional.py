"""Optional packages: imported on use, with an error that says how to install them."""

from __future__ import annotations

import importlib
from typing import Any


def optional(module: str, user: str, extra: str) -> Any:
    """Import an optional module; if it is missing, raise an error that says how to install it.

    >>> optional("no_such_module", "pskclust.image", "image")
    Traceback (most recent call last):
    ...
    ImportError: pskclust.image needs no_such_module. Install it with: pip install "pskclust[image]"
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        known = {"PIL": "pillow", "skimage": "scikit-image"}.get(package, package)
        raise ImportError(
            f'{user} needs {known}. Install it with: pip install "pskclust[{extra}]"'
        ) from error
