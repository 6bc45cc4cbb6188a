"""Errors and warnings of pskclust that a caller may want to catch."""

from __future__ import annotations


class InsufficientMemoryError(MemoryError):
    """Error for a computation that does not fit into the available memory.

    It is raised before anything large is allocated. The message states the bytes needed and
    available, and names a parameter to change.

    See Also
    --------
    InsufficientDiskError : The same for files on disk.
    RowBlocks : Rows that are read block by block and need little memory.

    Examples
    --------
    >>> from pskclust import InsufficientMemoryError, IsolationKernel
    >>> try:
    ...     IsolationKernel(psi=10**12, replace=True).fit([[0.0], [1.0]])
    ... except InsufficientMemoryError as error:
    ...     print(error)
    Drawing 100 partitionings of psi=1000000000000 cells needs about 4,800 TB ...
    """


class InsufficientDiskError(OSError):
    """Error for a fit whose temporary files do not fit on the disk.

    Only a fit with `scratch_dir` writes such files. The message states the bytes needed and the
    bytes that are free.

    See Also
    --------
    InsufficientMemoryError : The same for memory.
    PSKC : Its parameter `scratch_dir` names the folder for the files.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pskclust import PSKC, InsufficientDiskError
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> with TemporaryDirectory() as folder:
    ...     try:
    ...         model = PSKC(psi=2, tau=0.1, scratch_dir=folder).fit(X)
    ...     except InsufficientDiskError:
    ...         model = PSKC(psi=2, tau=0.1).fit(X)
    >>> model.labels_.shape
    (4,)
    """


class CheckpointError(ValueError):
    """Error for a checkpoint that is damaged or belongs to another fit.

    See Also
    --------
    PSKC : Its parameter `checkpoint` names the folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pskclust import PSKC, CheckpointError
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "fit.json").write_text("cut sh")
    ...     try:
    ...         PSKC(psi=2, tau=0.1, checkpoint=folder).fit([[0.0], [1.0]])
    ...     except CheckpointError as error:
    ...         print(error)
    checkpoint='...' is damaged: fit.json cannot be read ...
    """


class ModelFileError(ValueError):
    """Error for a file that this version of pskclust cannot read as a model.

    See Also
    --------
    load : Read a model from a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pskclust import ModelFileError, load
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.npz")
    ...     _ = path.write_text("not a model")
    ...     try:
    ...         load(path)
    ...     except ModelFileError as error:
    ...         print(error)
    '...model.npz' is not a model file, or it is damaged ...
    """


class ColumnsWarning(UserWarning):
    """Warning of a column that is almost certainly not meant to be clustered as it is.

    :meth:`PSKC.fit` warns if a few columns, at most three and at most one in four, account for 99%
    of the variance of X. If X has two or three columns, it warns if one varies a thousand times as
    much as another one and accounts for 99%. It also warns if a column of a table numbers the rows,
    and if a column of at most 31 distinct values, such as a rating or a flag, splits the clusters:
    nearly every cluster holds only one of the values, and the other columns do not tell which. If
    all columns have so few values, it warns if at most one row in ten is distinct.

    Further warnings of this category: values of metric="haversine" within the range of radians, and
    a square, symmetric X with zeros on the diagonal, which looks like a matrix of distances.

    Of rows that are read block by block, such as files, only a sample is examined. There, a row
    number is found only if it increases from row to row. A column of few values is found only if
    clusters are chosen, not if they grow.

    See Also
    --------
    PSKC : Clusters the rows of a table.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> from pskclust import PSKC, ColumnsWarning
    >>> from pskclust.datasets import make_shapes
    >>> table = pd.DataFrame(make_shapes(200, random_state=0)[0], columns=["east", "north"])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ColumnsWarning)
    ...     try:
    ...         PSKC(random_state=0).fit(table.reset_index())
    ...     except ColumnsWarning as warning:
    ...         print(warning)
    Column 'index' has a different whole number in every row, so it is probably a row number. ...
    """
