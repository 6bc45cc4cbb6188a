"""The layers of the package, its public surface, and what importing it costs."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pskclust
from tests.helpers.pages import ROOT

PACKAGE = Path(pskclust.__file__).parent
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

# From top to bottom: a package or module imports only from those above it.
LAYERS = [
    "_version",
    "_utils",
    "_kernels",
    "_data",
    "tables",
    "_cells",
    "_engines",
    "_pskc",
    "_choice",
    "_fit",
    "_dask",
    "_model_io",
    "_isolation_kernel",
    "_rows_of_fit",
    "_notebook",
    "_fitted_model",
    "_drift",
    "_estimator",
    "_groups",
    "_loading",
    "_provenance",
    "_advice",
    "_sweep",
    "datasets",
    "metrics",
    "_class_scores",
    "dask",
    "baselines",
    "image",
    "plotting",
    "report",
    "explorer",
    "cli",
    "__main__",
]
# What breaks a rule today, with the reason. What keeps it again must leave the list.
AGAINST_THE_LAYERS: dict[tuple[str, str], str] = {}
PRIVATE_IMPORTS: dict[tuple[str, str], str] = {}
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS = {
    ("_kernels.neighbour_encoding", "encode_superblocks"): "half of it lists its arrays",
}


def modules():
    """Return the path of each module by its name within the package."""
    names = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        names[".".join(parts).removesuffix(".__init__")] = path
    return names


MODULES = modules()


@functools.cache
def nodes(path):
    """Return all nodes of the syntax tree of a file."""
    return list(ast.walk(ast.parse(path.read_text())))


def imports(path):
    """Yield (module, name) for each name that a file imports from this package."""
    return imports_in(nodes(path), path.relative_to(PACKAGE).parts[:-1])


def imports_in(nodes, folder):
    """Yield (module, name) for each name that nodes of a file in a folder import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("pskclust."):
                    yield alias.name.removeprefix("pskclust."), None
        if not isinstance(node, ast.ImportFrom):
            continue
        module = node.module or ""
        if node.level:
            base = [*folder[: len(folder) - node.level + 1], *filter(None, [module])]
        elif module.split(".")[0] == "pskclust":
            base = module.split(".")[1:]
        else:
            continue
        for alias in node.names:
            inner = ".".join([*base, alias.name])
            yield (inner, None) if inner in MODULES else (".".join(base), alias.name)


def layer(module):
    return module.partition(".")[0]


def is_below(module, other):
    """Whether a module is in a layer below that of another one; `pskclust` itself is the last."""
    places = [*LAYERS, ""]
    return places.index(layer(module)) > places.index(layer(other))


def is_private(name):
    return name is not None and name.startswith("_") and not name.startswith("__")


def functions(path):
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def n_lines(function):
    """Return the number of lines of a function without its docstring."""
    first = function.body[0] if ast.get_docstring(function) else None
    in_docstring = 0 if first is None else first.end_lineno - first.lineno + 1
    return function.end_lineno - function.lineno + 1 - in_docstring


def gives_a_reason(function):
    return any(
        line.strip().startswith("Long")
        for line in (ast.get_docstring(function) or "").replace(". ", ".\n").splitlines()
    )


def assert_only(found, known, rule):
    """Assert that nothing breaks a rule but what is known, and that all of that still does."""
    new = sorted(set(found) - set(known))
    assert not new, f"{rule}: {new}"
    mended = sorted(set(known) - set(found))
    assert not mended, f"these keep the rule now, take them off the list: {mended}"


def test_every_package_has_its_layer():
    assert {layer(module) for module in MODULES} - {"__init__"} <= set(LAYERS)


def test_a_package_imports_only_from_those_above_it():
    found = {
        (name, imported)
        for name, path in MODULES.items()
        for imported, _ in imports(path)
        if name != "__init__" and is_below(imported, name)
    }
    assert_only(found, AGAINST_THE_LAYERS, "imports from a lower layer")


@pytest.mark.parametrize("package", sorted({layer(name) for name in MODULES if "." in name}))
def test_a_package_has_no_import_cycles(package):
    inside = {name: path for name, path in MODULES.items() if layer(name) == package}
    graph = {
        name: {imported for imported, _ in imports(path) if layer(imported) == package} - {name}
        for name, path in inside.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def is_private_elsewhere(module, imported, name):
    """Whether an import of a module is of a private module or name of another package."""
    parts = [*imported.split(".")[1:], name]
    return layer(module) != layer(imported) and any(map(is_private, parts))


def test_nobody_imports_private_names_of_another_package():
    found = {
        (module, imported)
        for module, path in MODULES.items()
        for imported, name in imports(path)
        if is_private_elsewhere(module, imported, name)
    }
    assert_only(found, PRIVATE_IMPORTS, "imports private names of another package")


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("from ..report._page import number", True),
        ("from ..report import _page", True),
        ("from .._estimator import _private", True),
        ("from ..tables.base import _private", True),
        ("from pskclust.report._page import number", True),
        ("import pskclust.report._page", True),
        ("from ..report import write_report", False),
        ("from .._estimator import PSKC", False),
        ("from .options import _private", False),
        ("import numpy._core", False),
    ],
)
def test_an_import_of_private_names_is_seen(line, is_refused):
    found = [
        is_private_elsewhere("cli.fit", *imported)
        for imported in imports_in(ast.walk(ast.parse(line)), ("cli",))
    ]
    assert any(found) == is_refused


def test_no_file_is_longer_than_it_may_be():
    found = {
        name for name, path in MODULES.items() if path.read_text().count("\n") > MAX_FILE_LINES
    }
    assert_only(found, LONG_FILES, f"more than {MAX_FILE_LINES} lines")


def test_a_long_function_gives_the_reason():
    found = {
        (name, function.name)
        for name, path in MODULES.items()
        for function in functions(path)
        if n_lines(function) > MAX_FUNCTION_LINES and not gives_a_reason(function)
    }
    rule = f'more than {MAX_FUNCTION_LINES} lines, and no sentence in the docstring starts "Long"'
    assert_only(found, LONG_FUNCTIONS, rule)


def test_the_public_surface_fits_on_one_screen():
    assert pskclust.__all__ == [
        "PSKC",
        "CheckpointError",
        "ColumnsWarning",
        "Drift",
        "DriftMonitor",
        "GroupPSKC",
        "InsufficientDiskError",
        "InsufficientMemoryError",
        "IsolationKernel",
        "ModelFileError",
        "Progress",
        "RowBlocks",
        "SweepResult",
        "__version__",
        "explore",
        "load",
        "sweep",
    ]
    assert all(hasattr(pskclust, name) for name in pskclust.__all__)


def test_importing_loads_nothing_heavy_that_scikit_learn_does_not():
    code = (
        "import sys, sklearn.base; before = set(sys.modules); import pskclust;"
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(answer.stdout.split())
    assert not loaded & {"numba", "dask", "matplotlib", "pyarrow", "pandas", "polars"}


def test_kernels_know_arrays_only():
    for name, path in MODULES.items():
        if layer(name) == "_kernels":
            for imported, _ in imports(path):
                assert layer(imported) == "_kernels", f"{name} imports {imported}"


def test_no_test_module_imports_another():
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [getattr(node, "module", None) or "", *(one.name for one in node.names)]
                assert ".test_" not in ".".join(["", *names]), (
                    f"{path} imports {names}: put what is shared into tests/helpers"
                )
