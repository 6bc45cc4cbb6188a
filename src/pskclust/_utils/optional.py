"""Packages that only some parts need: imported when used, named when missing."""

from __future__ import annotations

import importlib
from typing import Any


def optional(module: str, user: str, extra: str) -> Any:
    """Import a module that the core does without; say how to get it where it is missing.

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
