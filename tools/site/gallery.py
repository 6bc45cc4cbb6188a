"""The gallery: each script of examples/ with its picture and its output.

    python tools/site/gallery.py [NAME ...]

runs the examples and keeps their pictures and output in docs/gallery/.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

from few_colours import few_colours  # noqa: E402

KEPT = ROOT / "docs/gallery"
# In the order of the page; the demo is not part of the gallery.
NAMES = [
    *("tables", "digits", "embeddings", "cities", "colours", "outliers"),
    *("trajectories", "varied_density", "flights", "pipeline", "new_rows", "on_dask"),
]

ABOUT = """---
hide: [toc]
---

# Gallery

Short scripts, each with the picture that it draws. They are in `examples/` and run as they are:
`python examples/cities.py`. None needs a download. If the defaults do not suit the data, the page
of the example says so. Single-cell data is clustered [inside scanpy][cells].

[cells]: ../integrations.md#scanpy-and-anndata-cells-by-their-principal-components-clusters-in-obs
"""


@dataclass(frozen=True)
class Example:
    name: str
    title: str
    about: str
    code: str

    @property
    def page(self) -> str:
        return f"gallery/{self.name}.md"


def examples() -> list[Example]:
    """Return the examples in the order of the gallery."""
    return [_read(name) for name in NAMES]


def _read(name: str) -> Example:
    source = (ROOT / f"examples/{name}.py").read_text()
    title, about = (ast.get_docstring(ast.parse(source)) or "").split("\n\n", 1)
    code = source.split('"""', 2)[2].strip()
    return Example(name, title.rstrip("."), about.strip(), code)


def index_page() -> str:
    """Return the index page of the gallery in Markdown."""
    cards = [
        f'<a href="{example.name}.html"><img src="{example.name}.png" alt="" loading="lazy">'
        f"<span>{example.title}</span></a>"
        for example in examples()
    ]
    return "\n".join([ABOUT, '<div class="gallery">', *cards, "</div>"])


def example_page(example: Example) -> str:
    """Return the page of one example in Markdown."""
    parts = [
        f"# {example.title}",
        example.about,
        f"![{example.title}]({example.name}.png)",
        f"`python examples/{example.name}.py` prints",
        f"```text\n{(KEPT / f'{example.name}.txt').read_text()}```",
        f"```python\n{example.code}\n```",
    ]
    return "\n\n".join(parts)


def run(name: str, picture: Path) -> str:
    """Run an example, which saves its picture; return its output."""
    with tempfile.TemporaryDirectory() as folder:
        answer = subprocess.run(
            [sys.executable, ROOT / f"examples/{name}.py", "--picture", picture],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=folder,
            timeout=300,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLCONFIGDIR": folder},
        )
    return answer.stdout


def main() -> None:
    KEPT.mkdir(exist_ok=True)
    for name in sys.argv[1:] or NAMES:
        picture = KEPT / f"{name}.png"
        printed = run(name, picture)
        few_colours(Image.open(picture)).save(picture, optimize=True)
        (KEPT / f"{name}.txt").write_text(printed)
        print(f"{name}\n{printed}")


if __name__ == "__main__":
    main()
