"""Models from files."""

from __future__ import annotations

import os
import warnings

from ._estimator import PSKC
from ._model_io.container import read_model
from ._model_io.state import from_parts


def load(path: str | os.PathLike[str]) -> PSKC:
    """Return the model that :meth:`PSKC.save` wrote to a file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    model : PSKC
        Fitted: predicts exactly what the saved one did.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a newer version.

    Warns
    -----
    UserWarning
        If ``pskclust fit`` scaled the columns: new rows are to be scaled, too.
    """
    model = read_fitted(path)
    scaling = model.preparation_.scaling if hasattr(model, "preparation_") else "none"
    if scaling != "none":
        warnings.warn(
            f"{os.fspath(path)!r} was fitted to scaled columns ({scaling}). Tables with these "
            "columns are scaled in the same way; scale arrays with model.preparation_.apply(X).",
            UserWarning,
            stacklevel=2,
        )
    return model


def read_fitted(path: str | os.PathLike[str]) -> PSKC:
    """Return the model in a file, without a warning about scaled columns."""
    saved = from_parts(*read_model(path), PSKC().get_params(deep=False))
    model = PSKC.of_fitted(saved.parameters, saved.fitted)
    if saved.preparation is not None:
        model.preparation_ = saved.preparation
    return model
