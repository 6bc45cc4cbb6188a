"""Take the screenshots of docs/explorer.md: python tools/explorer_pictures.py [--image FILE]

The script needs chromium and the extra `dev`. Without an image, it segments scikit-learn's flower.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from few_colours import few_colours
from PIL import Image as Pillow
from playwright.sync_api import Page, sync_playwright
from sklearn.datasets import load_sample_image

from pskclust.datasets import make_shapes
from pskclust.explorer.launch import serve
from pskclust.explorer.subject import ImageSubject, Origin, TableSubject
from pskclust.image import read_image

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
LAPTOP, WIDE, TABLET = (1280, 720), (1600, 720), (820, 1180)
PATIENCE = 300_000


def wait(page: Page) -> None:
    """Wait until the page shows the picture of the latest settings."""
    page.wait_for_function(
        """() => document.querySelector("#pane-right canvas").dataset.fit
            && document.getElementById("work-words").textContent === "Ready" """
    )
    page.wait_for_timeout(1500)


def legend(page: Page, words: str) -> None:
    page.wait_for_function(
        f"() => document.getElementById('legend-words').textContent === {words!r}"
    )


def grown(page: Page) -> None:
    """Grow clusters with a psi and tau that find all shapes."""
    page.click("[data-way=grown]")
    wait(page)
    for name, value in (("psi", "96"), ("tau", "0.015"), ("min_cluster_size", "25")):
        box = name if name == "min_cluster_size" else f"{name}-number"
        page.fill(f"#{box}", value)
        page.press(f"#{box}", "Enter")
        wait(page)
    page.evaluate("document.querySelector('.controls').scrollTop = 0")


def asked(page: Page) -> None:
    page.click("#options [data-number='10'], #options tr:nth-child(2)")
    page.wait_for_timeout(500)
    wait(page)


def layer(page: Page) -> None:
    page.click("#layers tr:not(.current)")
    page.wait_for_timeout(500)
    wait(page)


def similarity(page: Page) -> None:
    page.click("[data-mode=similarity]")
    legend(page, "similarity to own cluster")


def distribution(page: Page) -> None:
    page.click("[data-mode=distribution]")
    legend(page, "similarity of each place")


def growing(page: Page) -> None:
    grown(page)
    page.click("[data-mode=growth]")
    legend(page, "step (early is bright)")
    page.fill("#step", "16")
    wait(page)


def isolated(page: Page) -> None:
    page.click("[data-cluster='4'] .name")
    page.wait_for_timeout(1500)
    box = page.locator("#pane-right canvas").bounding_box()
    assert box is not None
    # Below the middle of the cluster, so that the note on the row does not hide it.
    page.mouse.move(box["x"] + 0.67 * box["width"], box["y"] + 0.49 * box["height"])
    page.wait_for_selector("#hover:not([hidden])")


def advice(page: Page) -> None:
    page.check("[data-cluster='0'] .pick")
    page.check("[data-cluster='8'] .pick")
    page.click("#ask-join")
    page.wait_for_selector("#advice-answer .do-it")


def psi_tau_map(page: Page) -> None:
    grown(page)
    page.click("#tab-map")
    page.wait_for_function("() => !document.querySelector('#map .unknown')")


def compared(page: Page) -> None:
    grown(page)
    page.click("#tab-history")
    page.locator("#history .compare").last.click()
    page.wait_for_function(
        "() => document.getElementById('picture-words').textContent.includes('Agreement')"
    )


def exported(page: Page) -> None:
    page.click("#tab-export")


def nothing(page: Page) -> None:
    pass


# Name, data, window size, theme, and the function that prepares the page.
SHOTS: list[tuple[str, str, tuple[int, int], str, Any]] = [
    ("clusters", "table", LAPTOP, "light", nothing),
    ("candidate", "table", LAPTOP, "light", asked),
    ("layer", "table", LAPTOP, "light", layer),
    ("similarity", "table", LAPTOP, "light", similarity),
    ("distribution-dark", "table", LAPTOP, "dark", distribution),
    ("growth", "table", LAPTOP, "light", growing),
    ("isolated-dark", "table", LAPTOP, "dark", isolated),
    ("advice", "table", LAPTOP, "light", advice),
    ("map-dark", "table", LAPTOP, "dark", psi_tau_map),
    ("compare", "table", WIDE, "light", compared),
    ("export", "table", LAPTOP, "light", exported),
    ("image", "image", LAPTOP, "light", nothing),
    ("tablet-dark", "image", TABLET, "dark", nothing),
]


def save(content: bytes, path: Path) -> None:
    """Save a screenshot with few colours, and print its size."""
    few_colours(Pillow.open(io.BytesIO(content))).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--image", type=Path)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--only", nargs="*", help="names of screenshots")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    X, _ = make_shapes(4000, random_state=0)
    table = TableSubject.of(X, name="demo.csv", columns=("x", "y"), origin=Origin("demo.csv"))
    if options.image is None:
        pixels, name = np.asarray(load_sample_image("flower.jpg")), "flower.jpg"
    else:
        pixels, name = read_image(options.image), options.image.name
    image = ImageSubject(pixels, name=name, origin=Origin(name))
    chromium = os.environ.get("PSKCLUST_CHROMIUM") or shutil.which("chromium")
    with (
        serve(table, {}, port=0) as tables,
        serve(image, {}, port=0) as images,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for name, data, (width, height), theme, act in SHOTS:
            if options.only and name not in options.only:
                continue
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=theme
            )
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(tables.url if data == "table" else images.url)
            wait(page)
            act(page)
            page.wait_for_timeout(1000)
            save(page.screenshot(), options.folder / f"explorer-{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
