"""Python code and command lines that give the labels of the page.

All names and values are Python literals in the code and quoted on the command line, so that no file
or column name can be read as code.
"""

from __future__ import annotations

import csv
import io
import shlex
from typing import Any

from .._provenance import arguments, given_parameters, python_call
from .._version import __version__
from .fits import Fitter
from .settings import Settings
from .subject import SAMPLE_SEED, ImageSubject, TableSubject

_UNTITLED = "X.npy"
MODEL_FILE = "model.npz"


def python_code(fitter: Fitter, settings: Settings) -> str:
    """Return a script whose `labels` equal those that the page exports."""
    if isinstance(fitter.subject, ImageSubject):
        return _image_code(fitter, fitter.subject, settings)
    return _table_code(fitter, fitter.subject, settings)


def command_line(fitter: Fitter, settings: Settings) -> str | None:
    """Return a command that writes the labels that the page exports; None if it shows a layer."""
    if settings.layer is not None:
        return None
    subject = fitter.subject
    path = subject.origin.path or _UNTITLED
    if isinstance(subject, ImageSubject):
        words = ["pskclust", "segment", path, *_flags(_image_parameters(fitter, settings))]
        return shlex.join([*words, "--color", settings.color_space, "-o", "segments"])
    options = subject.origin.options
    if subject.sample is not None:
        words = ["pskclust", "predict", MODEL_FILE, path, *_reading_words(options, for_fit=False)]
        return shlex.join([*words, "-o", "labels.csv"])
    words = ["pskclust", "fit", path, *_reading_words(options)]
    if settings.scaling != "none":
        words += ["--scale", settings.scaling]
    given = given_parameters(fitter.estimator(settings))
    return shlex.join([*words, *_flags(given), "-o", "labels.csv"])


def _table_code(fitter: Fitter, table: TableSubject, settings: Settings) -> str:
    path = table.origin.path
    lines = [
        _comment(f"Clusters of {table.name}, as explored with pskclust {__version__}."),
        "import numpy as np",
        "",
        "from pskclust import PSKC",
    ]
    weighted = table.all_weights is not None
    if path is None:
        lines += ["", f"X = np.load({_UNTITLED!r})  # the rows given to the explorer"]
        if weighted:
            lines.append("weight = np.load('weight.npy')  # and their weights")
    else:
        lines += ["from pskclust.tables import read_table", "", *_reading(table)]
    if settings.scaling != "none":
        preparation = table.preparation(settings)
        lines += [
            f"# {settings.scaling} scaling",
            f"offset = np.array({preparation.offset.tolist()!r})",
            f"scale = np.array({preparation.scale.tolist()!r})",
            "X = (X.astype(np.float64) - offset) / scale",
        ]
    lines.append(f"model = {python_call(fitter.estimator(settings))}")
    if table.sample is None:
        weight = ", sample_weight=weight" if weighted else ""
        layer = settings.layer
        labels = "labels_" if layer is None else f"relabel(n_clusters={layer})"
        lines.append(f"labels = model.fit(X{weight}).{labels}")
    else:
        weight = ", sample_weight=weight[rows]" if weighted else ""
        size = len(table.sample)
        lines += [
            f"rows = np.random.RandomState({SAMPLE_SEED}).choice(len(X), {size}, replace=False)",
            "rows = np.sort(rows)",
            f"labels = model.fit(X[rows]{weight}).predict(X)",
        ]
    return _script([*lines, "", "np.save('labels.npy', labels)"])


def _image_code(fitter: Fitter, image: ImageSubject, settings: Settings) -> str:
    given = _image_parameters(fitter, settings) | {"color_space": settings.color_space}
    path = image.origin.path
    source = f"np.load({'image.npy'!r})" if path is None else f"read_image({path!r})"
    names = "segment" if path is None else "read_image, segment"
    return _script(
        [
            _comment(f"Segments of {image.name}, as explored with pskclust {__version__}."),
            "import numpy as np",
            "",
            f"from pskclust.image import {names}",
            "",
            f"image = {source}",
            f"labels = segment(image, {arguments(given)}).labels",
            "",
            "np.save('labels.npy', labels)",
        ]
    )


def _reading(table: TableSubject) -> list[str]:
    """Return the lines that read X and, if there are any, weights."""
    options = table.origin.options
    how: dict[str, Any] = {"columns": list(table.columns)}
    if options.get("weight") is not None:
        how["columns"].append(options["weight"])
    for argument, option in (
        ("missing", "missing"),
        ("missing_values", "missing_values"),
        ("format", "kind"),
        ("delimiter", "delimiter"),
        ("encoding", "encoding"),
        ("header", "has_header"),
    ):
        if options.get(option) not in (None, "refuse", ()):
            how[argument] = options[option]
    reading = f"read_table({table.origin.path!r}, {arguments(how)})"
    if table.all_weights is None:
        return [f"X = {reading}"]
    return [f"table = {reading}", "X, weight = table[:, :-1], table[:, -1]"]


def _image_parameters(fitter: Fitter, settings: Settings) -> dict[str, Any]:
    """Return the parameters of `segment`, whose defaults for psi and tau are not those of PSKC."""
    model = fitter.estimator(settings)
    return {"psi": model.psi, "tau": model.tau} | given_parameters(model)


def _flags(given: dict[str, Any]) -> list[str]:
    """Return parameters of PSKC as options of a command."""
    words = []
    for name, value in given.items():
        flag = "seed" if name == "random_state" else name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", str(value)]
    return words


def _reading_words(options: dict[str, Any], *, for_fit: bool = True) -> list[str]:
    """Return the options for reading a table."""
    words = []
    for name, flag in (("columns", "--columns"), ("drop", "--drop"), ("ids", "--id")):
        if options.get(name):
            words += [flag, _with_commas(options[name])]
    if for_fit:
        for name in ("label", "weight"):
            if options.get(name) is not None:
                words += [f"--{name}", options[name]]
    if options.get("missing") not in (None, "refuse"):
        words += ["--missing", options["missing"]]
    if options.get("missing_values"):
        words += ["--missing-values", _with_commas(options["missing_values"])]
    flags = {"kind": "--format", "delimiter": "--delimiter", "encoding": "--encoding"}
    for name, flag in flags.items():
        if options.get(name) is not None:
            words += [flag, options[name]]
    if options.get("has_header") is not None:
        words.append("--header" if options["has_header"] else "--no-header")
    return words


def _with_commas(names: tuple[str, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def _comment(text: str) -> str:
    """Return a comment of one line, even if a name contains line breaks."""
    return "# " + "".join(letter if letter.isprintable() else "?" for letter in text)


def _script(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
