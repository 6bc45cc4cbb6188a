"""Measure the time from a change of tau to the new picture of the explorer in a browser.

    python benchmarks/explorer_move.py [--rows N]

The script serves a million rows, opens the page, and changes tau several times. It needs chromium
and playwright.
"""

from __future__ import annotations

import argparse
import os
import shutil

from playwright.sync_api import Page, sync_playwright

from pskclust.datasets import make_shapes
from pskclust.explorer.launch import serve
from pskclust.explorer.subject import TableSubject

TAU = (0.012, 0.009, 0.014, 0.008, 0.011, 0.013, 0.0095, 0.0105)
# Sets tau as if it were typed; resolves when the canvas shows the new fit.
MOVE = """async (tau) => {
    const canvas = document.querySelector("#pane-right canvas");
    const before = canvas.dataset.fit;
    const input = document.getElementById("tau-number");
    const shown = new Promise((resolve) => {
        const watch = new MutationObserver(() => {
            if (canvas.dataset.fit !== before) {
                watch.disconnect();
                requestAnimationFrame(() => resolve(performance.now()));
            }
        });
        watch.observe(canvas, { attributes: true, attributeFilter: ["data-fit"] });
    });
    const began = performance.now();
    performance.clearResourceTimings();
    input.value = String(tau);
    input.dispatchEvent(new Event("change"));
    const seconds = ((await shown) - began) / 1000;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const bytes = performance.getEntriesByType("resource")
        .reduce((sum, entry) => sum + entry.transferSize, 0);
    return [seconds, bytes];
}"""
GROWTH = """() => document.getElementById("seconds").parentElement.title"""


def moved(page: Page, tau: float) -> tuple[float, float, int]:
    """Change tau; return the seconds until the new picture, those of growth, and the bytes sent."""
    seconds, n_bytes = page.evaluate(MOVE, tau)
    growth = float(page.evaluate(GROWTH).split("growth ")[1].split(",")[0])
    return seconds, growth, n_bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    X, _ = make_shapes(options.rows, random_state=0)
    chromium = os.environ.get("PSKCLUST_CHROMIUM") or shutil.which("chromium")
    first = {"psi": 128, "tau": 0.01}
    with serve(TableSubject.of(X), first, port=0) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(600_000)
        page.goto(server.url)
        page.wait_for_selector("#pane-right canvas[data-fit]")
        moved(page, 0.0101)
        print("seconds to the picture, growth, 1.5 x growth + 0.3, kB")
        moves = [moved(page, tau) for tau in TAU]
        browser.close()
    for seconds, growth, n_bytes in moves:
        print(f"{seconds:.2f}  {growth:.2f}  {1.5 * growth + 0.3:.2f}  {n_bytes / 1000:.0f}")
    within = sum(seconds <= 1.5 * growth + 0.3 for seconds, growth, _ in moves)
    print(f"{within} of {len(moves)} moves took at most 1.5 x growth + 0.3 s")


if __name__ == "__main__":
    main()
