"""Reading models from files."""

from __future__ import annotations

import os

from ._estimator import PSKC
from ._model_io.container import read_model
from ._model_io.state import from_parts


def load(path: str | os.PathLike[str]) -> PSKC:
    """Read a model that :meth:`PSKC.save` or ``pskclust fit --model`` wrote.

    The file is not a pickle: reading it runs no code, whatever it contains.

    Parameters
    ----------
    path : str or path-like
        The model file.

    Returns
    -------
    model : PSKC
        Fitted model with the same predictions as the saved one.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a newer version.
    FileNotFoundError
        If there is no such file.

    See Also
    --------
    PSKC.save : Write a fitted model to a file.
    ModelFileError : Error for a file that is not a model.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pskclust import PSKC, load
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> model = PSKC(psi=2, tau=0.5, random_state=0).fit(X)
    >>> with TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "model.npz"))
    ...     again = load(Path(folder, "model.npz"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"load takes the path of a model file, not an object of type {type(path).__name__}. "
            "PSKC.save writes such a file."
        )
    try:
        saved = from_parts(*read_model(path), PSKC().get_params(deep=False))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {os.fspath(path)!r}.") from error
    model = PSKC.of_fitted(saved.parameters, saved.fitted)
    if saved.preparation is not None:
        model.preparation_ = saved.preparation
    return model
