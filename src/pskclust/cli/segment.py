"""``pskclust segment``: segmentation of images by colour."""

from __future__ import annotations

import functools
import os
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..tables.formats import format_of_ending
from .bars import Bars
from .display import print_json, print_table, say
from .failures import CommandError, ExitCode, end_of, one_line, writing
from .help_sections import SectionedCommand
from .options import (
    PARAMETERS,
    as_options,
    check_clustering,
    color_option,
    debug_option,
    force_option,
    image_clustering_options,
    json_option,
)
from .repeating import command_line, typed_command
from .summary import provenance_of

if TYPE_CHECKING:
    from .._estimator import PSKC
    from .._utils.progress import Progress, Report
    from ..image import Segmentation

_EPILOG = """\b
Example:
  pskclust segment photo.jpg -o parts
  pskclust segment photo.jpg -o parts --n-clusters 5 --force
"""
_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
_MARKER = "labels.npy"


@click.command(cls=SectionedCommand, epilog=_EPILOG, short_help="Segment images by colour.")
@click.argument("images", nargs=-1, required=True, metavar="IMAGE...")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    help="Folder for the results; several images get one subfolder each.",
)
@color_option
@click.option(
    "--position",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    metavar="WEIGHT",
    help="Weight of a pixel's position relative to its colour.",
)
@force_option
@json_option
@image_clustering_options
@debug_option
def segment(
    images: tuple[str, ...],
    output: str,
    color_space: Any,
    position: float,
    force: bool,
    as_json: bool,
    **parameters: Any,
) -> None:
    """Segment each IMAGE, or every image in a folder, by its colours.

    IMAGE is PNG, JPEG, TIFF or WebP. DIR receives the labels (labels.png, labels.npy), a picture in
    mean colours, a picture of each cluster on white, and a contact sheet.
    """
    check_clustering({name: parameters[name] for name in PARAMETERS})
    command = command_line(click.get_current_context(), keep=("output",))
    paths = _image_files(images)
    folders = _folders(paths, Path(output), single=len(images) == 1 and os.path.isfile(images[0]))
    for folder in folders.values():
        _check_folder(folder, force=force)
    results, failures = [], []
    with Bars() as bars:
        for number, (path, folder) in enumerate(folders.items(), start=1):
            name = path.name if len(paths) == 1 else f"{path.name} ({number} of {len(paths)})"
            told = functools.partial(_show, bars, name)
            bars.show("read", 0.0, name)
            try:
                how = (color_space, position, force, parameters)
                results.append(_segmented(path, folder, *how, told))
            except (ValueError, FileNotFoundError) as error:
                # The other images are still segmented.
                failures.append(one_line(f"{_cause(error, path)} {_way_out(path)}"))
    if as_json:
        print_json({"images": results, "failures": failures, "command": command})
    elif results:
        _print(results, command)
    for line in failures[1:]:
        say(f"Error: {line}", to_stderr=True)
    if failures:
        raise CommandError(failures[0], ExitCode.INPUT)


def _show(bars: Bars, name: str, progress: Progress) -> None:
    """Show the progress of the fit to an image, with the name of the image."""
    bars.show(progress.stage, progress.done / max(1, progress.total), name)


def _image_files(images: tuple[str, ...]) -> list[Path]:
    """Return the paths of all images; a folder stands for the images in it."""
    paths: list[Path] = []
    for name in images:
        path = Path(name)
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if p.suffix.lower() in _ENDINGS)
            if not inside:
                raise CommandError(
                    f"the folder {name} contains no image ({', '.join(_ENDINGS)}).", ExitCode.INPUT
                )
            paths += inside
        elif path.exists():
            paths.append(path)
        else:
            raise CommandError(f"there is no file {name}.", ExitCode.INPUT)
    return list(dict.fromkeys(paths))


def _cause(error: Exception, path: Path) -> str:
    """Return the message of an error, which names the image."""
    message = end_of(error)[0]
    return message if path.name in message else f"{path}: {message}"


def _way_out(path: Path) -> str:
    if format_of_ending(path) is None:
        return ""
    changed = {"data": os.fspath(path), "output": None}
    command = typed_command(click.get_current_context(), changed, command="fit")
    return f"Cluster tables with: {command}"


def _folders(paths: list[Path], output: Path, *, single: bool) -> dict[Path, Path]:
    """Return the output folder of each image: its stem, or its full name if stems are equal."""
    if single:
        return {paths[0]: output}
    stems = Counter(path.stem for path in paths)
    folders = {path: output / (path.stem if stems[path.stem] == 1 else path.name) for path in paths}
    folder, number = Counter(folders.values()).most_common(1)[0]
    if number > 1:
        raise CommandError(
            f"{number} images have the name {folder.name}. Segment each into a different folder.",
            ExitCode.INPUT,
        )
    return folders


def _check_folder(folder: Path, *, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is a file. Name a folder for the output.", ExitCode.OUTPUT)
    if (folder / _MARKER).exists() and not force:
        raise CommandError(
            f"{folder / _MARKER} exists. Overwrite it with --force.", ExitCode.OUTPUT
        )


def _segmented(
    path: Path,
    folder: Path,
    color_space: Any,
    position: float,
    force: bool,
    parameters: dict[str, Any],
    told: Report,
) -> dict[str, Any]:
    from .. import image

    started = time.perf_counter()
    pixels = image.read_image(path)
    found: Segmentation = image.segment(
        pixels,
        color_space=color_space,
        position=position,
        verbose=False,
        callback=told,
        **parameters,
    )
    found.model.set_params(callback=None)
    with writing(folder):
        files = found.save(folder, force=force)
    height, width = found.labels.shape
    return {
        "image": str(path),
        "width": width,
        "height": height,
        "n_clusters": found.n_clusters,
        "sizes": found.sizes.tolist(),
        "hints": _hints(found),
        **provenance_of(found.model),
        "python": _python_call(found.model, color_space, position),
        "seconds": time.perf_counter() - started,
        "folder": str(folder),
        "written": [file.name for file in files],
    }


def _hints(found: Segmentation) -> list[str]:
    """Return the hints of the explorer on sizes of clusters, with parameters written as options."""
    from .._advice import Outcome, hints

    # Noise is not counted, because labels do not tell it from transparent pixels.
    outcome = Outcome.of(found.model, found.sizes, n_noise=0.0, unit="pixels")
    return [as_options(hint.text) for hint in hints(outcome)]


def _python_call(model: PSKC, color_space: str, position: float) -> str:
    from .._provenance import arguments, given_parameters

    # segment() and PSKC have different defaults, so psi and tau are always named.
    given = {"psi": model.psi, "tau": model.tau, **given_parameters(model)}
    given["color_space"] = color_space
    if position:
        given["position"] = position
    return f"segment(image, {arguments(given)})"


def _print(results: list[dict[str, Any]], command: str) -> None:
    print_table(
        ["image", "pixels", "clusters", "largest", "seconds", "written to"],
        [
            [
                Path(result["image"]).name,
                f"{result['width']} x {result['height']}",
                str(result["n_clusters"]),
                _largest(result),
                f"{result['seconds']:.2f}",
                result["folder"],
            ]
            for result in results
        ],
    )
    for result in results:
        if result["choice"] is not None:
            say(f"\nChosen for {Path(result['image']).name}: {as_options(result['choice'])}.")
    for result in results:
        for hint in result["hints"]:
            say(f"\nHint on {Path(result['image']).name}: {hint}")
    call = results[0]["python"]
    click.echo(f"\nSame labels:\n  {command}\n  from pskclust.image import read_image, segment")
    click.echo(f"  {call}  # in Python, for each image = read_image(path)")


def _largest(result: dict[str, Any]) -> str:
    n_pixels = result["width"] * result["height"]
    return ", ".join(f"{size / n_pixels:.0%}" for size in result["sizes"][:3]) or "none"
