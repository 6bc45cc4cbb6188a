"""Try an installed pskclust as a user would: smoke.py core|all FOLDER

With `core`, no extra is installed, and errors must name the extra that is needed; with `all`, all
extras are installed. Files are written to FOLDER. Nothing is imported from the checkout.
"""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

import pskclust
from pskclust.datasets import make_shapes

SECONDS = 600
PARAMETERS: dict[str, Any] = {"psi": 96, "tau": 0.015, "min_cluster_size": 25, "random_state": 0}


def try_core(folder: Path) -> None:
    """Fit, predict, save and load; then try everything that needs a missing extra."""
    # Enough rows that compiled code is used.
    X, _ = make_shapes(8_000, random_state=0)
    model = pskclust.PSKC(**PARAMETERS).fit(X)
    expect(model.backend_ == "numba", "a large fit uses compiled kernels")
    expect(model.n_clusters_ == 9, f"nine shapes are found, not {model.n_clusters_}")
    model.save(folder / "model.npz")
    labels = pskclust.load(folder / "model.npz").predict(X + 0.01)
    expect(np.array_equal(labels, model.predict(X + 0.01)), "a loaded model predicts the same")
    for extra, code in {
        "plot": "from pskclust.plotting import ClusterDisplay; "
        "ClusterDisplay.from_estimator(model, X)",
        "image": "from pskclust.image import segment; segment(np.zeros((4, 4, 3), dtype=np.uint8))",
        "explore": "pskclust.explore(X)",
        "dask": "import pskclust.dask",
    }.items():
        expect_refusal(code, extra, {"model": model, "X": X})
    answer = command("--help", ok=False)
    expect(
        answer.returncode != 0 and 'pip install "pskclust[cli]"' in answer.stderr,
        f"the command names its extra, not: {answer.stderr}",
    )


def expect_refusal(code: str, extra: str, names: dict[str, Any]) -> None:
    try:
        exec(code, {"np": np, "pskclust": pskclust, **names})
    except ImportError as error:
        expect(
            f'pip install "pskclust[{extra}]"' in str(error),
            f"the error names [{extra}], not: {error}",
        )
    else:
        expect(False, f"{code} fails without [{extra}]")


def try_all(folder: Path) -> None:
    """Run the command line, an image, a report, the explorer and Dask."""
    try_commands(folder)
    try_image(folder)
    try_explorer(folder)
    try_dask()


def try_commands(folder: Path) -> None:
    command("demo", folder=folder)
    data = ["demo.csv", "--label", "shape"]
    parameters = ["--psi", "96", "--tau", "0.015", "--min-cluster-size", "25", "--seed", "0"]
    outputs = ["-o", "labels.csv", "--model", "model.npz", "--report", "demo.html"]
    command("fit", *data, *parameters, *outputs, folder=folder)
    expect("<html" in (folder / "demo.html").read_text(), "the report is a page")
    command("predict", "model.npz", "demo.csv", "-o", "predicted.csv", folder=folder)
    n_lines = [
        len((folder / name).read_text().splitlines())
        for name in ("demo.csv", "labels.csv", "predicted.csv")
    ]
    expect(len(set(n_lines)) == 1, f"the files have equally many lines, not {n_lines}")


def try_image(folder: Path) -> None:
    from PIL import Image

    pixels = np.full((60, 90, 3), (40, 90, 160), dtype=np.uint8)
    pixels[40:] = 210, 180, 130
    Image.fromarray(pixels).save(folder / "photo.png")
    command("segment", "photo.png", "-o", "segments", folder=folder)
    expect((folder / "segments/labels.png").exists(), "segments are written")


def try_explorer(folder: Path) -> None:
    arguments = ["explore", "demo.csv", "--label", "shape", "--no-browser", "--port", "0"]
    server = subprocess.Popen(
        [*PSKCLUST, *arguments], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\S+", server.stdout.readline())
        if address is None:
            raise SystemExit("smoke test: expected that the explorer prints an address")
        with urllib.request.urlopen(address[0], timeout=60) as answer:
            expect(b"<html" in answer.read(), "the explorer answers with its page")
    finally:
        server.terminate()
        server.wait(60)


def try_dask() -> None:
    import dask.array as da
    from distributed import Client, LocalCluster

    import pskclust.dask

    X, _ = make_shapes(2_000, random_state=0)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        labels = pskclust.dask.PSKC(**PARAMETERS).fit(da.from_array(X, chunks=(500, 2))).labels_
        labels = np.asarray(labels.compute())
    expected = pskclust.PSKC(**PARAMETERS).fit(X).labels_
    expect(
        np.array_equal(labels, expected), "a fit on Dask gives the labels of a fit in one process"
    )


# The installed command, next to the Python that runs this script.
PSKCLUST = [str(Path(sys.executable).with_name("pskclust"))]


def command(
    *arguments: str, folder: Path | None = None, ok: bool = True
) -> subprocess.CompletedProcess[str]:
    answer = subprocess.run(
        [*PSKCLUST, *arguments], cwd=folder, capture_output=True, text=True, timeout=SECONDS
    )
    expect(not ok or answer.returncode == 0, f"pskclust {arguments[0]} succeeds: {answer.stderr}")
    return answer


def expect(condition: bool, what: str) -> None:
    if not condition:
        raise SystemExit(f"smoke test: expected that {what}")


if __name__ == "__main__":
    home = Path(pskclust.__file__)
    expect(home.is_relative_to(sys.prefix), f"the installed pskclust is tried, not {home}")
    {"core": try_core, "all": try_all}[sys.argv[1]](Path(sys.argv[2]))
    print(f"smoke test of pskclust {pskclust.__version__}, {sys.argv[1]}: passed")
