"""Conversion of a fitted model to JSON and arrays that a file can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables
from .._cells.methods import PARTITIONS
from .._cells.partition import Partition
from .._choice.linkage import Linkage
from .._choice.noise import NoiseRule
from .._data.distance_metrics import n_point_columns
from .._data.parameters import CLUSTERING_RULES, check_parameters
from .._data.scaling import Preparation
from .._fit.pipeline import Columns, Fitted
from .._fit.whole_set import WholeSet
from .._pskc.result import Result
from .._utils.exceptions import ModelFileError
from .._utils.json_values import plain_value
from .._version import __version__
from .schema import check_model

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

# Parameters that have a meaning only in this process or on this machine.
_NOT_KEPT = ("callback", "device", "scratch_dir", "checkpoint")
_DAMAGED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class SavedModel(NamedTuple):
    """The contents of a model file."""

    parameters: dict[str, Any]
    fitted: Fitted
    preparation: Preparation | None


def to_parts(model: SavedModel) -> tuple[Header, Arrays]:
    """Return the header and arrays of a fitted model, without values that a file cannot hold."""
    fitted = model.fitted
    result_numbers, arrays = fitted.result.to_parts()
    # The metric and method of the fit, because the parameters may have been set since.
    made_with = {"metric": fitted.metric, "method": fitted.partition.method}
    parameters = {**model.parameters, **made_with}
    linkage_numbers = None
    if fitted.linkage is not None:
        linkage_numbers, linkage_arrays = fitted.linkage.to_parts()
        arrays |= linkage_arrays
    header: Header = {
        "linkage": linkage_numbers,
        "written_by": f"pskclust {__version__}",
        "parameters": {
            name: plain_value(value) for name, value in parameters.items() if name not in _NOT_KEPT
        },
        "fit": {
            "psi": fitted.psi,
            "tau": fitted.tau,
            "engine": fitted.engine,
            "backend": fitted.backend,
            "n_columns": fitted.columns.number,
            "column_names": fitted.columns.names,
        },
        "result": {name: plain_value(value) for name, value in result_numbers.items()},
    }
    for name, array in fitted.partition.arrays().items():
        arrays[f"partition_{name}"] = array
    if fitted.noise is not None:
        header["noise"], own = fitted.noise.to_parts()
        arrays |= {f"noise_{name}": array for name, array in own.items()}
    if fitted.whole is not None:
        arrays |= {f"whole_{name}": array for name, array in fitted.whole.to_parts().items()}
    if model.preparation is not None:
        header["preparation"], own = model.preparation.to_parts()
        arrays |= {f"preparation_{name}": array for name, array in own.items()}
    return header, arrays


def from_parts(header: Header, arrays: Arrays, defaults: Mapping[str, Any]) -> SavedModel:
    """Return the model from the output of `to_parts`; `defaults` holds all parameters."""
    try:
        parameters = {**defaults, **header["parameters"]}
        if set(parameters) != set(defaults):
            raise ValueError(f"unknown parameters {sorted(set(parameters) - set(defaults))}")
        check_parameters(parameters, CLUSTERING_RULES)
        check_model(header, arrays, parameters)
        fit = header["fit"]
        columns = Columns(fit["n_columns"], fit["column_names"])
        result = Result.from_parts(header["result"], arrays)
        partition = _restored_partition(parameters, fit["psi"], columns, arrays, result.clusters)
        linkage = header["linkage"]
        fitted = Fitted(
            result,
            partition,
            parameters["metric"],
            fit["tau"],
            fit["engine"],
            fit["backend"],
            columns,
            linkage and Linkage.from_parts(linkage, arrays),
            _restored_noise(header.get("noise"), arrays, partition),
            _restored_whole(arrays, result),
        )
        preparation = None
        if header.get("preparation") is not None:
            own = _own_arrays(arrays, "preparation_")
            preparation = Preparation.from_parts(header["preparation"], own)
        return SavedModel(parameters, fitted, preparation)
    except _DAMAGED as error:
        raise ModelFileError(
            f"The model file is incomplete or not valid ({error!r}). "
            "Save the model again with PSKC.save."
        ) from error


def _restored_partition(
    parameters: Mapping[str, Any],
    psi: int,
    columns: Columns,
    arrays: Arrays,
    clusters: ClusterTables,
) -> Partition:
    kind = PARTITIONS[parameters["method"]]
    partition = kind(psi=psi, **_own_arrays(arrays, "partition_"))
    partition.check(n_point_columns(columns.number, parameters["metric"]))
    if clusters.shape != partition.table_shape:
        raise ValueError(f"tables of shape {clusters.shape} do not match the partition")
    return partition


def _restored_noise(
    numbers: Mapping[str, Any] | None, arrays: Arrays, partition: Partition
) -> NoiseRule | None:
    if numbers is None:
        return None
    rule = NoiseRule.from_parts(dict(numbers), _own_arrays(arrays, "noise_"))
    partition.check_reach(rule.sample)
    return rule


def _restored_whole(arrays: Arrays, result: Result) -> WholeSet | None:
    """Return the scores relative to all rows; None for files of format versions 1 and 2."""
    own = _own_arrays(arrays, "whole_")
    return WholeSet.from_parts(own, result) if own else None


def _own_arrays(arrays: Arrays, prefix: str) -> Arrays:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
