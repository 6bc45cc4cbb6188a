"""Model files on the command line: reading, columns and scaling."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from .._utils.exceptions import ModelFileError
from .failures import CommandError, ExitCode

if TYPE_CHECKING:
    from .._data.scaling import Preparation
    from .._estimator import PSKC


def loaded_model(path: str) -> PSKC:
    """Return the model in a file."""
    from .._loading import load

    try:
        return load(path)
    except FileNotFoundError as error:
        raise CommandError(f"there is no file {path}.", ExitCode.INPUT) from error
    except ModelFileError as error:
        if zipfile.is_zipfile(path):
            raise
        raise ModelFileError(
            f"{path} is not a model file, or it is damaged. Pass a file that pskclust fit --model "
            "wrote."
        ) from error


def preparation_of(model: PSKC) -> Preparation | None:
    """Return the columns, scaling and means of a model; None if it was fitted in Python."""
    return getattr(model, "preparation_", None)


def known_columns(model: PSKC) -> tuple[str, ...] | None:
    """Return the names of a model's columns; None if they have no names."""
    preparation = preparation_of(model)
    if preparation is not None:
        return preparation.columns
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(names)
