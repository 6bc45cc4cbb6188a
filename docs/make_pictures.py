"""Make the pictures of the documentation again, from generated data.

    python docs/make_pictures.py [--folder docs/pictures] [--only WHAT ...] [--chromium PATH]

With the path of a Chromium and Playwright for Python installed, the report is photographed, too.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from datetime import date
from pathlib import Path

import matplotlib as mpl
import numpy as np
from PIL import Image
from sklearn.datasets import load_digits, load_wine, make_moons
from sklearn.preprocessing import StandardScaler

from pskclust import PSKC, sweep
from pskclust._utils.files import replacing
from pskclust.datasets import make_shapes
from pskclust.image import segment
from pskclust.plotting import (
    AutoDisplay,
    ClusterDisplay,
    GrowthDisplay,
    MergeTreeDisplay,
    ProfileDisplay,
    SimilarityDisplay,
    SweepDisplay,
)
from pskclust.report import write_report

sys.path.append(str(Path(__file__).parents[1] / "tools"))
mpl.use("agg")
import matplotlib.pyplot as plt
from few_colours import COLOURS, few_colours

DOTS_PER_INCH = 90


def save(image: Image.Image, path: Path, colours: int = COLOURS) -> None:
    """Write a small file."""
    with replacing(path) as stream:
        few_colours(image, colours).save(stream, "PNG", optimize=True)
    print(f"{path} ({path.stat().st_size / 1000:.0f} kB)")


def save_figure(figure: plt.Figure, path: Path) -> None:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=DOTS_PER_INCH, bbox_inches="tight", pad_inches=0.08)
    plt.close(figure)
    save(Image.open(stream), path)


def draw_start(folder: Path, _: int) -> None:
    """The clusters of docs/start.md."""
    X, _ = make_shapes(4_000, random_state=0)
    model = PSKC(random_state=0).fit(X)
    display = ClusterDisplay.from_estimator(model, X, feature_names=["east", "north"])
    save_figure(display.figure_, folder / "start.png")


def draw_plane(folder: Path, _: int) -> None:
    X, _ = make_shapes(5_000, random_state=0)
    model = PSKC(psi=96, tau=0.015, min_cluster_size=25, random_state=0).fit(X)
    display = ClusterDisplay.from_estimator(model, X, feature_names=["east", "north"])
    save_figure(display.figure_, folder / "clusters.png")
    growth = GrowthDisplay.from_estimator(model, X, cluster=1)
    save_figure(growth.figure_, folder / "growth.png")
    save_figure(ProfileDisplay.from_estimator(model).figure_, folder / "profile.png")
    similarity = SimilarityDisplay.from_estimator(model, X)
    save_figure(similarity.figure_, folder / "similarity.png")


def draw_choice(folder: Path, _: int) -> None:
    X, _ = make_moons(1_000, noise=0.06, random_state=0)
    model = PSKC(random_state=0).fit(X)
    save_figure(AutoDisplay.from_estimator(model).figure_, folder / "auto.png")
    save_figure(MergeTreeDisplay.from_estimator(model).figure_, folder / "merge-tree.png")


def draw_many(folder: Path, n_rows: int) -> None:
    X, _ = make_shapes(n_rows, random_state=0)
    model = PSKC(random_state=0).fit(X)
    save_figure(ClusterDisplay.from_estimator(model, X).figure_, folder / "clusters_million.png")


def draw_digits(folder: Path, _: int) -> None:
    X = load_digits().data
    model = PSKC(random_state=0).fit(X)
    save_figure(ClusterDisplay.from_estimator(model, X).figure_, folder / "clusters_digits.png")


def draw_line(folder: Path, _: int) -> None:
    rng = np.random.RandomState(0)
    parts = rng.normal(0, 1, 300), rng.normal(6, 0.5, 200), rng.normal(12, 2, 400)
    X = np.concatenate(parts)[:, np.newaxis]
    model = PSKC(psi=16, tau=0.06, random_state=0).fit(X)
    display = SimilarityDisplay.from_estimator(model, X)
    save_figure(display.figure_, folder / "similarity_1d.png")


def draw_sweep(folder: Path, _: int) -> None:
    X, _ = make_shapes(3_000, random_state=0)
    taus = [0.005, 0.01, 0.02, 0.04, 0.08]
    result = sweep(X, psi=[16, 32, 64, 128, 256], tau=taus, min_cluster_size=20, random_state=0)
    save_figure(SweepDisplay.from_result(result).figure_, folder / "sweep.png")


def make_landscape() -> np.ndarray:
    """Return a picture of an evening by the sea, painted with many small strokes."""
    rng = np.random.RandomState(0)
    height, width = 300, 520
    y, x = np.mgrid[:height, :width] / height
    image = np.stack([150 + 90 * y, 160 + 20 * y, 200 - 60 * y], axis=-1)
    sun = (x - 1.25) ** 2 + (y - 0.38) ** 2 < 0.008
    image[sun] = 250, 225, 140
    sea = y > 0.55
    image[sea] = np.stack([30 + 60 * y, 70 + 40 * y, 110 + 20 * y], axis=-1)[sea]
    glitter = sea & (np.abs(x - 1.25) < 0.12 * rng.uniform(size=y.shape)) & (y < 0.8)
    image[glitter] = 235, 200, 130
    hills = (y > 0.5 - 0.16 * np.exp(-((x - 0.35) ** 2) * 18)) & (y <= 0.55)
    image[hills] = 84, 74, 104
    beach = y > 0.8 + 0.04 * np.sin(4 * x)
    image[beach] = 214, 186, 140
    pines = beach | (np.abs(((5 * x) % 1) - 0.5) < (y - 0.62)) & (x < 0.62) & (y > 0.62)
    image[pines & ~beach & (y < 0.86)] = 34, 62, 44
    strokes = np.repeat(np.repeat(rng.normal(0, 7, (150, 130, 1)), 2, axis=0), 4, axis=1)
    return np.clip(image + strokes + rng.normal(0, 1.5, image.shape), 0, 255).astype(np.uint8)


def draw_image(folder: Path, _: int) -> None:
    result = segment(make_landscape(), psi=24, tau=0.1, min_cluster_size=500, random_state=0)
    save(Image.fromarray(result.contact_sheet()), folder / "contact_sheet.png", colours=128)
    gap = np.full((len(result.image), 12, 3), 255, dtype=np.uint8)
    both = np.concatenate([result.image, gap, result.mean_color_image()], axis=1)
    save(Image.fromarray(both), folder / "mean_color.png")


DRAWN = {
    "start": draw_start,
    "plane": draw_plane,
    "choice": draw_choice,
    "digits": draw_digits,
    "line": draw_line,
    "sweep": draw_sweep,
    "image": draw_image,
    "many": draw_many,
}


def photograph_report(folder: Path, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    wine = load_wine()
    X = StandardScaler().fit_transform(wine.data)
    model = PSKC(random_state=0).fit(X)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        path = Path(temporary) / "report.html"
        names = wine.feature_names
        write_report(
            path,
            model,
            wine.data,
            feature_names=names,
            scaling="standard",
            title="Wine",
            date=date(2026, 1, 1),
        )
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        view = browser.new_page(viewport={"width": 1100, "height": 1100})
        view.goto(path.as_uri())
        for scheme, start in (("light", "body"), ("dark", "section:has(article)")):
            view.emulate_media(color_scheme=scheme)
            view.evaluate(f"document.querySelector('{start}').scrollIntoView()")
            picture = Image.open(io.BytesIO(view.screenshot()))
            save(picture, folder / f"report_{scheme}.png")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "pictures")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", choices=DRAWN, default=[*DRAWN], metavar="WHAT")
    parser.add_argument("--chromium", help="path of a Chromium, to photograph the report")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        DRAWN[name](options.folder, options.rows)
    if options.chromium:
        photograph_report(options.folder, options.chromium)


if __name__ == "__main__":
    main()
