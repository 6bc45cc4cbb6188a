"""``pskclust info``: the contents of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.memory import readable_bytes
from .display import print_facts, print_json
from .models import known_columns, loaded_model, preparation_of
from .options import debug_option, json_option
from .summary import (
    found_words,
    objective_words,
    print_candidates,
    print_clusters,
    print_repeating,
    provenance_facts,
    summary_of,
)

if TYPE_CHECKING:
    from .._estimator import PSKC

_EPILOG = """\b
Example:
  pskclust info model.npz
"""


@click.command(epilog=_EPILOG, short_help="Show the contents of a model.")
@click.argument("model_file", metavar="MODEL")
@json_option
@debug_option
def info(model_file: str, as_json: bool) -> None:
    """Show the clusters, columns, scaling and parameters of a MODEL saved by fit --model."""
    model = loaded_model(model_file)
    preparation = preparation_of(model)
    columns = known_columns(model)
    content: dict[str, Any] = {
        "model": model_file,
        "bytes": Path(model_file).stat().st_size,
        "columns": columns if columns is None else list(columns),
        "n_columns": int(model.n_features_in_),
        "scaling": "none" if preparation is None else preparation.scaling,
        "missing": "refuse" if preparation is None else preparation.missing,
        **summary_of(model),
        "parameters": _parameters(model),
        "psi": None if model.tau_ is None else int(model.psi_),
        "tau": model.tau_,
    }
    if as_json:
        print_json(content)
        return
    print_clusters(content)
    print_candidates(content)
    names = columns or [f"{content['n_columns']} without names"]
    print_facts(
        {
            "model": f"{model_file}, {readable_bytes(content['bytes'])}",
            "found": found_words(content),
            "columns": f"{', '.join(names)} (scaling: {content['scaling']})",
            **provenance_facts(content),
            # Chosen clusters do not maximise the objective.
            **({} if model.tau_ is None else {"objective": objective_words(content)}),
        }
    )
    print_repeating(content)


def _parameters(model: PSKC) -> dict[str, Any]:
    """Return the parameters that affect the result, as they were given."""
    hidden = ("n_jobs", "device", "verbose", "callback")
    return {k: v for k, v in model.get_params(deep=False).items() if k not in hidden}
