"""IsolationKernel: a kernel that adapts to the density of the data, as a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._cells.count_tables import CountTable, TableStack
from ._cells.mean_maps import mean_maps
from ._cells.methods import draw_for_fit
from ._cells.on_device import on_device
from ._cells.partition import Partition
from ._data.checks import check_method_of_device
from ._data.groups import check_groups
from ._data.parameters import KERNEL_RULES, check_parameters
from ._data.rows import Data, check_columns, check_rows
from ._data.weights import uniform_weights
from ._engines.select import cells_of_rows
from ._kernels import reference
from ._kernels.reference import one_hot
from ._utils.memory import require_memory
from ._utils.parallel import map_chunks, rows_per_chunk
from ._utils.torch_device import open_device
from ._utils.whole_fits import all_or_nothing


class IsolationKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Isolation kernel: the fraction of partitionings in which two rows share a cell.

    Each partitioning has `psi` cells around centres drawn from the rows. Cells are small where
    data is dense and large where it is sparse. So two rows in a sparse region are more similar
    than two rows at the same distance in a dense region. The kernel has a finite, exact feature
    map: a one for the cell of the row in each partitioning, zeros for the other cells.

    Parameters
    ----------
    psi : int or "auto", default="auto"
        Number of cells of each partitioning, 2 or more. Increase it for a sharper kernel that
        shows finer detail. "auto" is 64, or a quarter of the number of rows if that is less.
    n_partitions : int, default=100
        Number of partitionings, t in the paper, 1 to 100,000. Increase it for similarities that
        vary less with `random_state`; time and memory are proportional to it.
    method : {"voronoi", "hypersphere", "tree"}, default="voronoi"
        Shape of the cells. "voronoi": all places nearest to the same centre (aNNE).
        "hypersphere": balls that reach to the nearest other centre (iNNE); a row outside all
        balls has no cell, and similarity 0 even to itself. "tree": leaves of random isolation
        trees, which are faster and split along columns.
    replace : bool, default=False
        Draw centres with replacement. Set it to allow more cells than rows.
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        Distance between rows and centres. "cosine" compares directions, as for embeddings;
        "haversine" compares places on the sphere, given latitude and longitude in degrees.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all processors. Results do not depend on it.
    device : str or None, default=None
        PyTorch device that finds the cells, with method "voronoi": "cuda", "cuda:1", "mps" or
        "cpu". Results do not depend on it. None uses NumPy and compiled code. Set it for many
        rows with many columns on a machine with a GPU; needs ``pip install "pskclust[torch]"``.
    random_state : int, RandomState instance or None, default=None
        Source of the centres. Pass an int for the same kernel every time.

    Attributes
    ----------
    psi_ : int
        Number of cells of each partitioning.
    metric_ : str
        The metric of the fit.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of str
        Names of the columns. Only present if all columns of X have names that are strings.

    See Also
    --------
    PSKC : Cluster rows with this kernel; `kernel_` of a fitted model is an IsolationKernel.
    GroupPSKC : Cluster groups of rows by their mean maps.

    References
    ----------
    K. M. Ting, Y. Zhu, Z.-H. Zhou, "Isolation Kernel and Its Effect on SVM", KDD 2018.
    X. Qin, K. M. Ting, Y. Zhu, V. C. S. Lee, "Nearest-Neighbour-Induced Isolation Similarity and
    Its Impact on Density-Based Clustering", AAAI 2019.

    Examples
    --------
    >>> from pskclust import IsolationKernel
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> kernel = IsolationKernel(psi=2, random_state=0).fit(X)
    >>> kernel.similarity(X)
    array([[1.  , 0.8 , 0.12, 0.  ],
           [0.8 , 1.  , 0.32, 0.2 ],
           [0.12, 0.32, 1.  , 0.88],
           [0.  , 0.2 , 0.88, 1.  ]])
    """

    _partition: Partition

    def __init__(
        self,
        *,
        psi: int | Literal["auto"] = "auto",
        n_partitions: int = 100,
        method: Literal["voronoi", "hypersphere", "tree"] = "voronoi",
        replace: bool = False,
        metric: Literal["euclidean", "cosine", "haversine"] = "euclidean",
        n_jobs: int | None = None,
        device: str | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.psi = psi
        self.n_partitions = n_partitions
        self.method = method
        self.replace = replace
        self.metric = metric
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state

    @all_or_nothing("_partition")
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Draw the partitionings from the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two rows, all finite.
        y : None
            Ignored.

        Returns
        -------
        self : IsolationKernel
            The fitted kernel.

        Examples
        --------
        >>> from pskclust import IsolationKernel
        >>> IsolationKernel(psi=2).fit([[0.0], [0.1], [5.0], [5.1]]).psi_
        2
        """
        check_parameters(self.get_params(deep=False), KERNEL_RULES)
        if self.device is not None:
            check_method_of_device(self.device, self.method)
            open_device(self.device)
        rows = check_rows(self, X, self.metric, reset=True, min_samples=2)
        partition = draw_for_fit(
            Data(rows, self.metric, uniform_weights(len(rows))),
            psi=None if self.psi == "auto" else int(self.psi),
            n_partitions=int(self.n_partitions),
            method=self.method,
            replace=bool(self.replace),
            random_state=self.random_state,
        )
        return self._use(partition, self.metric)

    @classmethod
    def of_partition(
        cls, partition: Partition, metric: str, n_columns: int, names: Sequence[str] | None = None
    ) -> Self:
        """Return a fitted kernel with existing partitionings.

        Parameters
        ----------
        partition : Partition
            The partitionings, such as `partition_` of another kernel.
        metric : {"euclidean", "cosine", "haversine"}
            The metric that the partitionings were drawn for.
        n_columns : int
            Number of columns of the data.
        names : sequence of str or None, default=None
            Names of the columns.

        Returns
        -------
        kernel : IsolationKernel
            The fitted kernel.

        Examples
        --------
        >>> from pskclust import IsolationKernel
        >>> X = [[0.0], [0.1], [5.0], [5.1]]
        >>> kernel = IsolationKernel(psi=2, n_partitions=3, random_state=0).fit(X)
        >>> IsolationKernel.of_partition(kernel.partition_, "euclidean", 1).psi_
        2
        """
        kernel = cls(
            psi=partition.psi,
            n_partitions=partition.n_partitions,
            method=cast(Literal["voronoi", "hypersphere", "tree"], partition.method),
            metric=cast(Literal["euclidean", "cosine", "haversine"], metric),
        )
        check_columns(kernel, n_columns, names, reset=True)
        return kernel._use(partition, metric)

    def _use(self, partition: Partition, metric: str) -> Self:
        self.psi_ = partition.psi
        self.metric_ = metric
        self._partition = partition
        return self

    @property
    def partition_(self) -> Partition:
        """The partitionings that were drawn."""
        check_is_fitted(self)
        return self._partition

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_partition")

    @property
    def _n_features_out(self) -> int:
        return self._partition.n_partitions * self._partition.psi

    def cells(self, X: ArrayLike) -> NDArray[np.unsignedinteger[Any]]:
        """Return the cell of each row in each partitioning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, all finite.

        Returns
        -------
        cells : ndarray of shape (n_samples, n_partitions)
            Cell numbers, from 0, in the smallest unsigned type that holds them: uint8 up to
            256 cells, then uint16. With method "hypersphere", the number `psi_` means no cell.

        Examples
        --------
        >>> from pskclust import IsolationKernel
        >>> X = [[0.0], [0.1], [5.0], [5.1]]
        >>> kernel = IsolationKernel(psi=2, n_partitions=3, random_state=0).fit(X)
        >>> kernel.cells(X)
        array([[0, 0, 1],
               [0, 0, 1],
               [0, 1, 0],
               [1, 1, 0]], dtype=uint8)
        """
        check_is_fitted(self)
        return self._cells(check_rows(self, X, self.metric_))

    def transform(self, X: ArrayLike) -> sparse.csr_array:
        """Return the feature map: a one for the cell of the row in each partitioning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, all finite.

        Returns
        -------
        features : csr_array of shape (n_samples, n_partitions * psi_)
            `psi_` columns for each partitioning. The product of two rows, divided by
            `n_partitions`, is their similarity.

        Examples
        --------
        >>> from pskclust import IsolationKernel
        >>> X = [[0.0], [0.1], [5.0], [5.1]]
        >>> kernel = IsolationKernel(psi=2, n_partitions=3, random_state=0).fit(X)
        >>> kernel.transform(X).toarray()[3]
        array([0., 1., 0., 1., 1., 0.])
        """
        features = one_hot(self.cells(X), self._partition.psi, self._partition.no_cell)
        return features.astype(np.float64)

    def mean_maps(self, X: ArrayLike, groups: ArrayLike | None = None) -> sparse.csr_array:
        """Return the mean map of each group: the mean of the feature maps of its rows (Eq. 2).

        The product of two mean maps, divided by `n_partitions`, is the mean similarity over all
        pairs of rows of the two groups: the isolation distributional kernel.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, all finite.
        groups : array-like of shape (n_samples,), default=None
            The group of each row: numbers or strings. None makes each row a group.

        Returns
        -------
        mean_maps : csr_array of shape (n_groups, n_partitions * psi_)
            A row for each group, in the order of ``numpy.unique(groups)``.

        Examples
        --------
        >>> from pskclust import IsolationKernel
        >>> X = [[0.0], [0.1], [5.0], [5.1]]
        >>> kernel = IsolationKernel(psi=2, random_state=0).fit(X)
        >>> kernel.mean_maps(X, groups=["a", "a", "b", "b"]).shape
        (2, 200)
        """
        check_is_fitted(self)
        rows = check_rows(self, X, self.metric_)
        sets = check_groups(groups, len(rows))
        return mean_maps(sets, self._partition, lambda chosen: self._cells(rows[chosen]))

    def similarity(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the similarity of each row of X to each row of Y.

        Parameters
        ----------
        X : array-like of shape (n_samples_X, n_features)
            Any rows, all finite.
        Y : array-like of shape (n_samples_Y, n_features), default=None
            Other rows. None compares the rows of X with each other.

        Returns
        -------
        similarity : ndarray of shape (n_samples_X, n_samples_Y)
            The fraction of shared cells, 0 to 1; exactly 1 for equal rows, unless method
            "hypersphere" leaves them without cells.

        Examples
        --------
        >>> from pskclust import IsolationKernel
        >>> X = [[0.0], [0.1], [5.0], [5.1]]
        >>> kernel = IsolationKernel(psi=2, random_state=0).fit(X)
        >>> kernel.similarity([[0.0]], X)
        array([[1.  , 0.8 , 0.12, 0.  ]])
        """
        left = np.asfortranarray(self.cells(X))
        right = left if Y is None else np.asfortranarray(self.cells(Y))
        shape = len(left), len(right)
        require_memory(
            {"similarities": 8 * shape[0] * shape[1]},
            f"Computing the similarities of {shape[0]} rows with {shape[1]} rows",
            "Ask for fewer rows at a time, or use point_set_similarity.",
        )
        similarity = np.empty(shape)
        count_type = np.min_scalar_type(self._partition.n_partitions)

        def compare(chunk: slice) -> None:
            shared = np.empty((chunk.stop - chunk.start, len(right)), dtype=count_type)
            reference.count_shared_cells(left[chunk], right, self._partition.no_cell, shared)
            np.divide(shared, self._partition.n_partitions, out=similarity[chunk], dtype=np.float64)

        for _ in map_chunks(compare, len(left), rows_per_chunk(len(right)), self.n_jobs):
            pass
        return similarity

    def point_set_similarity(self, X: ArrayLike, sets: Sequence[ArrayLike]) -> NDArray[np.float64]:
        """Return the similarity K-hat of each row of X to each set of rows (Eq. 1).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, all finite.
        sets : sequence of array-like of shape (n_members, n_features)
            The rows of each set.

        Returns
        -------
        similarity : ndarray of shape (n_samples, n_sets)
            The mean similarity of the row to the rows of the set, 0 to 1.

        Examples
        --------
        >>> from pskclust import IsolationKernel
        >>> X = [[0.0], [0.1], [5.0], [5.1]]
        >>> kernel = IsolationKernel(psi=2, random_state=0).fit(X)
        >>> kernel.point_set_similarity([[0.05], [5.05]], [X[:2], X[2:]])
        array([[0.9 , 0.13],
               [0.18, 0.94]])
        """
        check_is_fitted(self)
        rows = check_rows(self, X, self.metric_)
        if not isinstance(sets, list | tuple):
            raise TypeError(
                f"sets has type {type(sets).__name__}. Pass a list with the rows of each set, "
                "say [X[labels == 0], X[labels == 1]]."
            )
        tables = TableStack()
        for number, members in enumerate(sets):
            tables.push(self._table_of(members, number))
        clusters = tables.clusters(self._partition.table_shape, self._partition.n_partitions)
        return clusters.similarities(clusters.scores(self._cells(rows)))

    def _table_of(self, members: ArrayLike, number: int) -> CountTable:
        try:
            cells = self.cells(members)
        except ValueError as error:
            raise ValueError(f"sets[{number}]: {error}") from error
        return CountTable(self._partition.count(cells, np.ones(len(cells), np.int64)), len(cells))

    def _cells(self, rows: NDArray[Any]) -> NDArray[np.unsignedinteger[Any]]:
        check_parameters({"device": self.device}, {"device": KERNEL_RULES["device"]})
        if self.metric_ == "euclidean":
            self._partition.check_reach(rows)
        data = Data(rows, self.metric_, uniform_weights(len(rows)))
        return cells_of_rows(data, on_device(self._partition, self.device), self.n_jobs)
