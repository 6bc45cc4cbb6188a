"""The layers, the public surface, and what importing the package costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pskclust

PACKAGE = Path(pskclust.__file__).parent

# Data flows down this list; a module imports only from the lines above its own.
LAYERS = [
    ["_version", "_exceptions", "_files", "_optional", "_palette", "_progress"],
    ["_row_blocks", "_engines.wires"],
    ["_memory", "_parallel", "_kernels", "_kernels._compiling", "_kernels.screening"],
    ["_kernels.blocks", "_kernels.nested", "_kernels.numba", "_kernels.numpy", "_kernels.sweep"],
    ["_kernels.block_encoding", "_kernels.choice"],
    ["_metric", "_weights", "_defaults", "_scratch"],
    ["_cost_model"],
    ["_validation"],
    ["_partition", "_block_data"],
    ["_encoding", "_equal_rows", "_tables"],
    ["_blocks", "_gaussian"],
    ["_engines", "_engines.base"],
    ["_engines.labelled", "_engines.member_index", "_engines.sharded"],
    ["_engines.blocked", "_engines.local", "_engines.merged"],
    ["_engines.choice", "_engines.pairwise"],
    ["_engines.out_of_core", "_engines.holder", "_dask_tasks"],
    ["_engines.history", "_dask_data"],
    ["_engines.placement"],
    ["_engines.dask"],
    ["_growth", "_linking", "_consensus"],
    ["_refinement", "_checkpoint", "_kernel_sweep"],
    ["_result", "_contact"],
    ["_cuts"],
    ["_auto"],
    ["_linked"],
    ["_placing", "_isolation_kernel", "_model_file", "_preparation"],
    ["_model_state"],
    ["_estimator"],
    ["_sweep"],
    ["datasets._generators", "datasets._loaders", "metrics"],
    ["datasets._digits"],
    ["datasets"],
    ["dask"],
    ["_tablefiles", "_tablefiles.errors"],
    ["_tablefiles.base"],
    ["_tablefiles.arrow_values", "_tablefiles.formats", "_tablefiles.libsvm"],
    ["_tablefiles.arrays", "_tablefiles.dialect", "_tablefiles.writing"],
    ["_tablefiles.columnar", "_tablefiles.selection"],
    ["_tablefiles.reading", "_tablefiles.text"],
    ["_tablefiles.labels", "_tablefiles.opening"],
    ["baselines._kernel_kmeans", "baselines._pairs"],
    ["baselines._density_peaks", "baselines._mbscan", "baselines._rcc", "baselines._sgl"],
    ["baselines"],
    ["image._pixels", "image._read", "plotting._axes"],
    ["image._contact_sheet", "image._label_map"],
    ["image._segmentation"],
    ["image._segment"],
    ["image"],
    ["plotting._auto", "plotting._merge_tree"],
    ["plotting._points", "plotting._profile", "plotting._similarity", "plotting._sweep"],
    ["plotting._clusters", "plotting._growth"],
    ["plotting"],
    ["report._pictures", "report._summary"],
    ["report._advice"],
    ["report._page"],
    ["report._write"],
    ["report"],
    ["tables"],
    ["explorer.queue", "explorer.raster", "explorer.security", "explorer.settings"],
    ["explorer.guarding", "explorer.material"],
    ["explorer.fits", "explorer.planes"],
    ["explorer.colours", "explorer.landscape", "explorer.recipes"],
    ["explorer.advice", "explorer.answers", "explorer.export", "explorer.picture"],
    ["explorer.pictures", "explorer.requests", "explorer.sessions"],
    ["explorer.server"],
    ["explorer.launch"],
    ["explorer"],
    ["__init__"],
    ["cli", "cli.bars", "cli.display", "cli.options"],
    ["cli.failures"],
    ["cli.models", "cli.outputs", "cli.reading", "cli.summary"],
    ["cli.completion", "cli.demo", "cli.fit", "cli.info", "cli.predict", "cli.segment"],
    ["cli.explore", "cli.plan", "cli.sweep"],
    ["cli.app"],
    ["__main__"],
]
HEIGHT = {module: height for height, layer in enumerate(LAYERS) for module in layer}


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(parts).removesuffix(".__init__"), path


def imported_modules(name, path):
    """Yield the modules of this package that a file imports."""
    folder = [] if path.parent == PACKAGE else [path.parent.name]
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = folder[: len(folder) - node.level + 1]
        base += node.module.split(".") if node.module else []
        for alias in node.names:
            inner = ".".join([*base, alias.name])
            yield inner if inner in HEIGHT else ".".join(base)


def test_every_module_has_its_layer():
    assert {name for name, _ in modules()} == set(HEIGHT)


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=[name for name, _ in modules()])
def test_imports_point_one_way(name, path):
    for imported in imported_modules(name, path):
        assert HEIGHT[imported] < HEIGHT[name], f"{name} imports {imported}"


def test_the_public_surface_fits_on_one_screen():
    assert pskclust.__all__ == [
        "PSKC",
        "CheckpointError",
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
    for name, path in modules():
        if name.startswith("_kernels"):
            for inner in imported_modules(name, path):
                assert inner.startswith("_kernels"), f"{name} imports {inner}"


def test_the_map_for_contributors_shows_every_part():
    text = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text()
    parts = [path for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()]
    for part in {path.name for path in parts} - {"__init__.py", "__pycache__"}:
        name = part if part.endswith(".py") else f"{part}/"
        assert f"`{name}" in text, f"put {name} on the map in CONTRIBUTING.md"
