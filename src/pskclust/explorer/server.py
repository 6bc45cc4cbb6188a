"""Routes of the server: JSON and PNG for the page, and the page itself."""

from __future__ import annotations

import contextlib
import functools
import importlib.resources
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .._version import __version__
from . import advice, answers
from .colours import THEMES, noise_colour, to_hex
from .column_hints import column_hints
from .control_names import as_controls
from .export import export
from .fits import Fit
from .guarding import Guarded, in_words
from .picture import Drawing
from .pictures import Pictures
from .recipes import command_line, python_code
from .requests import Query, cluster_list, json_body
from .security import Guard, RefusedError
from .sessions import Session, Sessions, TooManySessionsError
from .settings import Settings, grown_values
from .subject import ImageSubject, Subject

Handler = Callable[["Explorer", Request], Awaitable[Response]]

NEWS_SECONDS = 20.0
_MEDIA_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
_PAGE_FOLDERS = ("", "js")


class Explorer:
    """State that all routes share."""

    def __init__(self, sessions: Sessions, first: Settings, guard: Guard) -> None:
        self.sessions, self.first, self.guard = sessions, first, guard
        self.subject: Subject = sessions.fitter.subject
        self.pictures = Pictures(self.subject)

    def application(self) -> Starlette:
        """Return the web application."""

        @contextlib.asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            yield
            self.sessions.close()

        routes = [
            Route("/" if name == "index.html" else f"/{name}", self._static(*found))
            for name, found in page_files().items()
        ]
        routes += [
            Route(path, self._handled(handler), methods=[method])
            for method, path, handler in _ROUTES
        ]
        app = Starlette(routes=routes, lifespan=lifespan)
        app.add_middleware(Guarded, guard=self.guard)
        return app

    def session(self, request: Request) -> Session:
        session = self.sessions.get(request.headers.get("x-session", ""))
        if session is None:
            raise RefusedError(410, "this page was not used for a while. Reload it.")
        return session

    def fit(self, fit_id: str) -> Fit:
        found = self.sessions.fitter.known(fit_id)
        if found is None:
            raise RefusedError(410, "this result has expired. Choose its setting again.")
        return found

    def _static(self, content: bytes, media_type: str) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            return Response(content, media_type=media_type)

        return answer

    def _handled(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                return await handler(self, request)
            except RefusedError as error:
                return in_words(error.status, str(error))
            except TooManySessionsError as error:
                return in_words(503, str(error))
            except (ValueError, ImportError, MemoryError) as error:
                return in_words(400, as_controls(str(error)) or "memory ran out.")
            except Exception as error:
                traceback.print_exc()
                return in_words(500, f"{type(error).__name__}: {error}")

        return answer


@functools.cache
def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the files of the page by name: their bytes and media types."""
    files = {}
    page = importlib.resources.files(__package__) / "page"
    for folder in _PAGE_FOLDERS:
        for file in (page / folder).iterdir():
            ending = file.name.rpartition(".")[2]
            if file.is_file() and ending in _MEDIA_TYPES:
                name = f"{folder}/{file.name}".lstrip("/")
                files[name] = file.read_bytes(), _MEDIA_TYPES[ending]
    return files


async def _open_session(explorer: Explorer, request: Request) -> Response:
    await json_body(request)
    session = explorer.sessions.open()
    subject = explorer.subject
    return JSONResponse(
        {
            "session": session.id,
            "version": __version__,
            "first": asdict(explorer.first),
            "grown": grown_values(subject.n_explored, is_image=subject.is_image),
            "data": {
                "name": subject.name,
                "image": subject.is_image,
                "columns": list(subject.columns),
                "rows": subject.n_rows,
                "explored": subject.n_explored,
                "sampled": subject.sample is not None,
                "size": subject.numbers.shape[::-1] if isinstance(subject, ImageSubject) else None,
                "total": _total(subject),
                "classes": answers.known_classes(subject),
                "noise_colours": {theme: to_hex(noise_colour(theme)) for theme in THEMES},
            },
        }
    )


async def _end_session(explorer: Explorer, request: Request) -> Response:
    await json_body(request)
    explorer.sessions.end(request.headers.get("x-session", ""))
    return JSONResponse({})


async def _ask(explorer: Explorer, request: Request) -> Response:
    session = explorer.session(request)
    settings = Settings.of(await json_body(request))
    return JSONResponse({"asked": await run_in_threadpool(session.ask, settings)})


async def _stop(explorer: Explorer, request: Request) -> Response:
    session = explorer.session(request)
    await json_body(request)
    session.stop()
    return JSONResponse({})


async def _news(explorer: Explorer, request: Request) -> Response:
    session = explorer.session(request)
    after = Query(request.query_params).whole("after", 0)
    return JSONResponse(await session.changed(after, NEWS_SECONDS))


async def _plane(explorer: Explorer, request: Request) -> Response:
    explorer.session(request)
    query = Query(request.query_params)
    fit = explorer.fit(query.text("fit"))
    plane = await run_in_threadpool(explorer.pictures.plane, fit.settings, query.view())
    return JSONResponse({"box": plane.box, "names": plane.names})


async def _picture(explorer: Explorer, request: Request) -> Response:
    session = explorer.session(request)
    query = Query(request.query_params)
    fit = explorer.fit(query.text("fit"))
    view, frame = query.view(), query.frame()
    if query.text("mode", "") == "original":
        picture = await run_in_threadpool(explorer.pictures.original, frame)
    else:
        drawing = Drawing(
            fit,
            session.colours(fit),
            query.mode(),
            query.theme(),
            query.isolated(fit.n_clusters),
            query.maybe("step"),
        )
        picture = await run_in_threadpool(explorer.pictures.draw, drawing, view, frame)
    headers = {"X-Fit": fit.id}
    if picture.high is not None:
        headers["X-High"] = repr(picture.high)
    return Response(picture.content, media_type="image/png", headers=headers)


async def _row(explorer: Explorer, request: Request) -> Response:
    explorer.session(request)
    query = Query(request.query_params)
    fit, view, frame = explorer.fit(query.text("fit")), query.view(), query.frame()
    x, y = query.number("x"), query.number("y")

    def answer() -> dict[str, Any] | None:
        plane, row = explorer.pictures.nearest(fit.settings, view, frame, x, y)
        return None if row is None else answers.row_answer(fit, explorer.subject, plane, row)

    return JSONResponse(await run_in_threadpool(answer))


async def _clusters(explorer: Explorer, request: Request) -> Response:
    explorer.session(request)
    query = Query(request.query_params)
    fit, view = explorer.fit(query.text("fit")), query.view()

    def answer() -> dict[str, Any]:
        plane = explorer.pictures.plane(fit.settings, view)
        found = advice.hints(fit, explorer.sessions.psi_tau_map, is_image=explorer.subject.is_image)
        on_columns = column_hints(explorer.subject, fit.settings, fit.labels)
        return {
            "clusters": answers.clusters(fit, explorer.subject, plane),
            "hints": [advice.to_json(hint) for hint in found],
            "column_hints": [advice.to_json(hint) for hint in on_columns],
        }

    return JSONResponse(await run_in_threadpool(answer))


async def _map(explorer: Explorer, request: Request) -> Response:
    explorer.session(request)
    fit = explorer.fit(Query(request.query_params).text("fit"))
    return JSONResponse(explorer.sessions.psi_tau_map.answer(fit.settings))


async def _advice(explorer: Explorer, request: Request) -> Response:
    session = explorer.session(request)
    body = await json_body(request)
    fit = explorer.fit(str(body.get("fit", "")))
    kind = body.get("kind")
    if kind not in ("join", "split"):
        raise ValueError("kind must be join or split.")
    chosen = cluster_list(body.get("clusters"), fit.n_clusters, 2 if kind == "join" else 1)
    session.ask_advice(kind, fit, chosen)
    return JSONResponse({})


async def _compare(explorer: Explorer, request: Request) -> Response:
    explorer.session(request)
    query = Query(request.query_params)
    one, other = explorer.fit(query.text("fit")), explorer.fit(query.text("other"))
    return JSONResponse(await run_in_threadpool(answers.comparison, one, other))


async def _recipes(explorer: Explorer, request: Request) -> Response:
    explorer.session(request)
    fit = explorer.fit(Query(request.query_params).text("fit"))
    fitter = explorer.sessions.fitter
    return JSONResponse(
        {
            "python": python_code(fitter, fit.settings),
            "command": command_line(fitter, fit.settings),
        }
    )


async def _export(explorer: Explorer, request: Request) -> Response:
    explorer.session(request)
    query = Query(request.query_params)
    fit, kind = explorer.fit(query.text("fit")), query.text("kind")
    found = await run_in_threadpool(export, explorer.sessions.fitter, fit, kind)
    return Response(
        found.content,
        media_type=found.media_type,
        headers={"Content-Disposition": f'attachment; filename="{found.name}"'},
    )


_ROUTES: list[tuple[str, str, Handler]] = [
    ("POST", "/api/session", _open_session),
    ("POST", "/api/end", _end_session),
    ("POST", "/api/fit", _ask),
    ("POST", "/api/stop", _stop),
    ("POST", "/api/advice", _advice),
    ("GET", "/api/news", _news),
    ("GET", "/api/plane", _plane),
    ("GET", "/api/picture", _picture),
    ("GET", "/api/row", _row),
    ("GET", "/api/clusters", _clusters),
    ("GET", "/api/map", _map),
    ("GET", "/api/compare", _compare),
    ("GET", "/api/recipes", _recipes),
    ("GET", "/api/export", _export),
]


def _total(subject: Subject) -> float:
    """Return the sum of the weights of explored rows; for an image, the number of pixels."""
    weights = subject.weights
    return float(subject.n_explored) if weights is None else float(weights.sum())
