"""Parsing and checking of requests, none of which are trusted."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from .colours import THEMES
from .picture import MODES
from .planes import View
from .raster import Box, Frame
from .security import RefusedError

MAX_BODY_BYTES = 16_384
BODY_SECONDS = 10.0
MAX_SIDE = 4_000
MAX_PIXELS = 2_000_000
MAX_ISOLATED = 2


async def json_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RefusedError(415, "the content type of the body must be application/json.")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise RefusedError(413, f"the body is larger than {MAX_BODY_BYTES:,} bytes.")
    except TimeoutError as error:
        raise RefusedError(408, "the body took too long to arrive.") from error
    try:
        content = json.loads(bytes(body))
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, "the body is not JSON.") from error
    if not isinstance(content, dict):
        raise RefusedError(400, "the body must be a JSON object.")
    return content


class Query:
    """Checked values of the query string of a request."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._parameters = parameters

    def text(self, name: str, default: str | None = None) -> str:
        value = self._parameters.get(name, default)
        if value is None:
            raise ValueError(f"{name} is missing.")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        text = self._parameters.get(name)
        if text is None and default is not None:
            return default
        try:
            value = float(self.text(name))
        except ValueError as error:
            raise ValueError(f"{name} must be a number.") from error
        if not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number.")
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        value = self.number(name, default)
        if value != int(value):
            raise ValueError(f"{name} must be a whole number.")
        return int(value)

    def maybe(self, name: str) -> int | None:
        return self.whole(name) if self._parameters.get(name) else None

    def isolated(self, n_clusters: int) -> tuple[int, ...]:
        """Return the clusters to show alone."""
        words = [word for word in self.text("isolated", "").split(",") if word]
        if len(words) > MAX_ISOLATED or not all(word.isdecimal() for word in words):
            raise ValueError(f"isolated must list at most {MAX_ISOLATED} clusters.")
        numbers = tuple(int(word) for word in words)
        if any(number >= n_clusters for number in numbers):
            raise ValueError(f"isolated must list existing clusters, and there are {n_clusters}.")
        return numbers

    def one_of(self, name: str, values: tuple[str, ...]) -> str:
        value = self.text(name, values[0])
        if value not in values:
            raise ValueError(f"{name} must be one of {', '.join(values)}.")
        return value

    def view(self) -> View:
        return View(
            self.one_of("view", ("columns", "pca", "image")),
            self.whole("vx", 0),
            self.whole("vy", 1),
        )

    def frame(self) -> Frame:
        """Return the part of the plane and the size of the picture."""
        box = Box(*(self.number(name) for name in ("left", "right", "bottom", "top")))
        width, height = self.whole("w"), self.whole("h")
        if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
            raise ValueError(f"a picture has sides of 1 to {MAX_SIDE:,} pixels.")
        if width * height > MAX_PIXELS:
            raise ValueError(f"a picture has at most {MAX_PIXELS:,} pixels.")
        if not box.left < box.right or box.bottom == box.top:
            raise ValueError("left must be less than right, and bottom must differ from top.")
        scale = self.number("scale", 1.0)
        if not 0.5 <= scale <= 4:
            raise ValueError("scale must be from 0.5 to 4.")
        return Frame(box, width, height, scale)

    def mode(self) -> str:
        return self.one_of("mode", MODES)

    def theme(self) -> str:
        return self.one_of("theme", THEMES)


def cluster_list(content: object, n_clusters: int, count: int) -> list[int]:
    """Return `count` distinct clusters from a request; raise ValueError for anything else."""
    if (
        not isinstance(content, list)
        or len(content) != count
        or not all(type(number) is int and 0 <= number < n_clusters for number in content)
        or len(set(content)) != count
    ):
        raise ValueError(
            f"clusters must list {count} different cluster(s), from 0 to {n_clusters - 1}."
        )
    return content
