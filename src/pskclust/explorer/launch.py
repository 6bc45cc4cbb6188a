"""Starting the explorer, from Python and from the command line."""

from __future__ import annotations

import contextlib
import html
import os
import secrets
import socket
import sys
import threading
import time
import webbrowser
from typing import Any, Self

from numpy.typing import ArrayLike

from .._utils.optional import optional
from .fits import Fitter
from .security import Guard
from .sessions import Sessions
from .settings import Settings, first_settings
from .subject import Subject, TableSubject

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765
_START_SECONDS = 20.0
_MAX_CONNECTIONS = 256
_KEEP_ALIVE_SECONDS = 30
# Parameters of PSKC that the page sets; others stay as they are.
_ON_THE_PAGE = (
    "psi",
    "tau",
    "n_clusters",
    "growth_rate",
    "n_partitions",
    "random_state",
    "min_cluster_size",
    "refine",
    "noise",
    "metric",
)
_NOT_EXPLORED = ("verbose", "callback")


class ExplorerServer:
    """An explorer that is running, as :func:`pskclust.explore` returns it.

    In a notebook it shows as a link. It runs until :meth:`close`, or until the program ends.

    Attributes
    ----------
    url : str
        The address of the page; with a token in it if the page can be reached from elsewhere.
    """

    def __init__(
        self,
        subject: Subject,
        first: Settings,
        fixed: dict[str, Any] | None = None,
        *,
        host: str | None = None,
        port: int | None = None,
    ) -> None:
        uvicorn = optional("uvicorn", "pskclust.explore", "explore")
        for name in ("PIL", "starlette"):
            optional(name, "pskclust.explore", "explore")
        from .server import Explorer

        self._socket = _listening(host or DEFAULT_HOST, port)
        self._port = self._socket.getsockname()[1]
        self._host = host or DEFAULT_HOST
        # Whoever asks for an address of their own may be reached by others.
        token = None if host is None else secrets.token_urlsafe(24)
        guard = Guard(self._host, self._port, token)
        self._sessions = Sessions(Fitter(subject, fixed))
        explorer = Explorer(self._sessions, first, guard)
        config = uvicorn.Config(
            explorer.application(),
            log_level="error",
            access_log=False,
            lifespan="on",
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=1,
            server_header=False,
            ws="none",
            http="h11",
        )
        self._server: Any = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="pskclust-server", daemon=True)
        self.url = f"http://{_shown(self._host)}:{self._port}/"
        if token is not None:
            self.url += f"?token={token}"

    def start(self) -> Self:
        """Serve in a new thread; return when the page can be opened."""
        self._thread.start()
        ends = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > ends:
                raise RuntimeError(f"the explorer could not be started at {self.url}.")
            time.sleep(0.01)
        return self

    def wait(self) -> None:
        """Return when the explorer has ended; Ctrl-C ends it."""
        with contextlib.suppress(KeyboardInterrupt):
            while self._thread.is_alive():
                self._thread.join(timeout=0.5)
        self.close()

    def close(self) -> None:
        """End the explorer."""
        self._server.should_exit = True
        self._sessions.end_all()
        if self._thread.is_alive():
            self._thread.join(timeout=15)
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<pskclust explorer at {self.url}>"

    def _repr_html_(self) -> str:
        address = html.escape(self.url, quote=True)
        return f'<a href="{address}" target="_blank" rel="noopener">Explore the clusters</a>'

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])


def explore(
    X: ArrayLike | os.PathLike[str],
    *,
    sample_weight: ArrayLike | None = None,
    sample: int | None = None,
    scaling: str = "none",
    host: str | None = None,
    port: int | None = None,
    open_browser: bool | None = None,
    block: bool | None = None,
    **parameters: Any,
) -> ExplorerServer:
    """Explore the clusters of the rows of X in a browser.

    A page opens with the clusters that :class:`PSKC` chooses. Their number, or psi and tau of
    clusters that grow, are sliders, and the picture answers. It is served by this program, to this
    machine only.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or path
        The path of a file in any format of :func:`pskclust.tables.read_table`, of which all
        columns are explored.
    sample_weight : array-like of shape (n_samples,), default=None
        See :meth:`PSKC.fit`.
    sample : int or None, default=None
        Number of rows to explore, drawn at random; the rest is labelled on export. None
        draws a sample of a million rows, or of 100,000 if there are more than 8 columns.
    scaling : {"none", "standard", "minmax"}, default="none"
        What is done to the columns at first.
    host : str or None, default=None
        Address to serve at, so that other machines can reach the page. The address then holds a
        token, and nobody gets in without it.
    port : int or None, default=None
        None takes 8765, or any other that is free.
    open_browser : bool or None, default=None
        None opens one, but in a notebook, where a link is shown instead.
    block : bool or None, default=None
        Whether to return only when the explorer has ended. None does so where the program would
        end otherwise: in a script, not in a notebook or at a prompt.
    **parameters
        Parameters of :class:`PSKC`, where exploring starts: with `tau` clusters grow, without it
        they are chosen. Those without a control on the page stay as they are.

    Returns
    -------
    server : ExplorerServer
        With the address of the page, `url`, and a method to end it, `close`.
    """
    table = _table_of(X, sample_weight, sample)
    server = serve(table, {"scaling": scaling, **parameters}, host=host, port=port)
    interactive = hasattr(sys, "ps1") or _in_notebook()
    if open_browser or (open_browser is None and not _in_notebook()):
        webbrowser.open(server.url)
    if block or (block is None and not interactive):
        print(f"Explore at {server.url} (end with Ctrl-C)", file=sys.stderr)
        server.wait()
    return server


def serve(
    subject: Subject,
    given: dict[str, Any],
    *,
    host: str | None = None,
    port: int | None = None,
) -> ExplorerServer:
    """Start an explorer of a subject; `given` are parameters of PSKC, scaling and color_space."""
    controls = (*_ON_THE_PAGE, "scaling", "color_space")
    on_page = {name: value for name, value in given.items() if name in controls}
    # Labels that nobody could get again would be no use.
    if not isinstance(on_page.get("random_state"), int):
        on_page.pop("random_state", None)
    first = first_settings(subject.n_explored, is_image=subject.is_image, **on_page)
    fixed = {
        name: value for name, value in given.items() if name not in (*controls, *_NOT_EXPLORED)
    }
    return ExplorerServer(subject, first, fixed, host=host, port=port).start()


def _table_of(
    X: ArrayLike | os.PathLike[str], weights: ArrayLike | None, sample: int | None
) -> TableSubject:
    if isinstance(X, str | os.PathLike):
        return TableSubject.from_file(os.fspath(X), weights=weights, sample=sample)
    return TableSubject.of(X, weights=weights, sample=sample)


def _listening(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens, at the usual port or a free one if none is asked for."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = (DEFAULT_PORT, 0) if port is None else (port,)
    for number in wanted:
        # With the protocol named, asyncio sends small answers at once instead of 40 ms later.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
        except OSError as error:
            listening.close()
            if number == wanted[-1]:
                raise OSError(
                    error.errno,
                    f"port {number} of {host} cannot be used ({error.strerror}). Choose another "
                    "one, or leave it out for any that is free.",
                ) from error
        else:
            return listening
    raise AssertionError("unreachable")


def _shown(host: str) -> str:
    """Return an address that a browser of this machine opens."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"
