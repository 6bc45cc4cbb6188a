"""A fitted PSKC, taken apart into JSON and arrays, and put together again."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables
from .._cells.methods import PARTITIONS
from .._choice.linked import Linkage
from .._data.parameters import CLUSTERING_RULES, check_parameters
from .._data.scaling import Preparation
from .._pskc.result import Result
from .._utils.exceptions import ModelFileError
from .._version import __version__
from ..baselines._gaussian_kernel import GaussianKernel, check_gamma

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

# Parameters that mean something to this process, or on this machine, only.
_NOT_KEPT = ("callback", "scratch_dir", "checkpoint")
# What a fit sets besides its result and its kernel.
_CHOICES = ("n_features_in_", "psi_", "tau_", "engine_", "backend_")


def to_parts(model: Any) -> tuple[Header, Arrays]:
    """Return all that a fitted model is, but for a callback and a random generator."""
    result_numbers, arrays = model._result.to_parts()
    # What the kernel was made with counts, not what parameters were set to since.
    made_with = {"kernel": "isolation", "metric": model.kernel_.metric_}
    if isinstance(model.kernel_, GaussianKernel):
        made_with["kernel"] = "gaussian"
    else:
        made_with["method"] = model.kernel_._partition.method
    parameters = {**model.get_params(deep=False), **made_with}
    linkage_numbers = None
    if model._linkage is not None:
        linkage_numbers, linkage_arrays = model._linkage.to_parts()
        arrays |= linkage_arrays
    header: Header = {
        "linkage": linkage_numbers,
        "written_by": f"pskclust {__version__}",
        "parameters": {
            name: plain_value(value) for name, value in parameters.items() if name not in _NOT_KEPT
        },
        "choices": {name: plain_value(getattr(model, name)) for name in _CHOICES},
        "result": {name: plain_value(value) for name, value in result_numbers.items()},
    }
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = model.feature_names_in_.tolist()
    if isinstance(model.kernel_, GaussianKernel):
        header["gamma"] = model.kernel_.gamma
        arrays["points"] = model.kernel_.points
    else:
        for name, array in model.kernel_._partition.arrays().items():
            arrays[f"partition_{name}"] = array
    if hasattr(model, "preparation_"):
        header["preparation"], own = model.preparation_.to_parts()
        arrays |= {f"preparation_{name}": array for name, array in own.items()}
    return header, arrays


def restore(model: Any, header: Header, arrays: Arrays) -> None:
    """Make a fitted model of one that is not, from the parts of another."""
    try:
        model.set_params(**header["parameters"])
        check_parameters(model.get_params(deep=False), CLUSTERING_RULES)
        for name in _CHOICES:
            setattr(model, name, header["choices"][name])
        if not 0 < model.tau_ < 1:
            raise ValueError(f"tau_ is {model.tau_}")
        if "feature_names" in header:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        result = Result.from_parts(header["result"], arrays)
        model.kernel_ = _restored_kernel(model, header, arrays, result.clusters)
        if "preparation" in header:
            model.preparation_ = Preparation.from_parts(
                header["preparation"], _own_arrays(arrays, "preparation_"), model.n_features_in_
            )
        linkage = header["linkage"]
        model._publish(result, linkage and Linkage.from_parts(linkage, arrays))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"The model file does not hold what a model needs ({error!r}). "
            "Save the model again with PSKC.save."
        ) from error


def _restored_kernel(model: Any, header: Header, arrays: Arrays, clusters: ClusterTables) -> Any:
    n_columns = 3 if model.metric == "haversine" else model.n_features_in_
    if model.kernel == "gaussian":
        points = arrays["points"]
        if points.shape != (clusters.shape[1], n_columns) or points.dtype != np.float64:
            raise ValueError(f"points are {points.dtype} of shape {points.shape}")
        return GaussianKernel(points, check_gamma(float(header["gamma"])), model.metric)
    kernel = model._isolation_kernel()
    kernel.psi_ = model.psi_
    partition = PARTITIONS[model.method](psi=model.psi_, **_own_arrays(arrays, "partition_"))
    partition.check(n_columns)
    if clusters.shape != partition.table_shape or clusters.resolution != partition.n_partitions:
        raise ValueError(f"tables of shape {clusters.shape} do not go with the partition")
    return kernel._use(partition, model.metric)


def _own_arrays(arrays: Arrays, prefix: str) -> Arrays:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def plain_value(value: Any) -> Any:
    """Return a parameter as JSON can hold it; a random generator is not kept."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, tuple):
        return [plain_value(item) for item in value]
    return value if isinstance(value, str) else None
