"""Starting the explorer from Python and from the command line."""

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
# Parameters of PSKC with a control on the page; others keep their values.
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
    """A running explorer, as :func:`pskclust.explore` returns it.

    A notebook displays it as a link. The explorer runs until :meth:`close`, the end of a ``with``
    block, or the end of the program.

    Parameters
    ----------
    subject : TableSubject or ImageSubject
        The rows or the image to explore.
    first : Settings
        Settings of the page when it opens.
    fixed : dict or None, default=None
        Parameters of PSKC without a control on the page.
    host : str or None, default=None
        Address to listen on; None serves only this machine.
    port : int or None, default=None
        Port to listen on; None uses 8765, or a free port if 8765 is in use.

    Attributes
    ----------
    url : str
        Address of the page. If `host` is given, it includes a token.

    See Also
    --------
    pskclust.explore : Start an explorer of an array or a file.
    serve : Start an explorer of a subject.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> from pskclust import explore
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> with explore(X, open_browser=False, block=False) as server:
    ...     urlopen(server.url).status
    200
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
        # Other machines may reach an address given by the user, so a token is required.
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
        """Serve the page in a new thread; return when the page can be opened.

        Returns
        -------
        self : ExplorerServer
            The running explorer. :func:`pskclust.explore` has already called this method.

        Raises
        ------
        RuntimeError
            If the server does not start within 20 seconds.

        Examples
        --------
        >>> from pskclust.explorer import ExplorerServer
        >>> from pskclust.explorer.settings import first_settings
        >>> from pskclust.explorer.subject import TableSubject
        >>> subject = TableSubject.of([[0.0], [0.1], [5.0], [5.1]])
        >>> with ExplorerServer(subject, first_settings(4)).start() as server:
        ...     server
        <pskclust explorer at http://127.0.0.1:...>
        """
        self._thread.start()
        ends = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > ends:
                raise RuntimeError(f"the explorer could not be started at {self.url}.")
            time.sleep(0.01)
        return self

    def wait(self) -> None:
        """Wait until the explorer ends; Ctrl-C ends it.

        Call it at the end of a script: the end of the program would also end the explorer.

        Examples
        --------
        >>> from threading import Timer
        >>> from pskclust import explore
        >>> server = explore([[0.0], [0.1], [5.0], [5.1]], open_browser=False, block=False)
        >>> Timer(0.1, server.close).start()
        >>> server.wait()
        >>> print("ended")
        ended
        """
        with contextlib.suppress(KeyboardInterrupt):
            while self._thread.is_alive():
                self._thread.join(timeout=0.5)
        self.close()

    def close(self) -> None:
        """End the explorer; calling it twice does no harm.

        Examples
        --------
        >>> from urllib.error import URLError
        >>> from urllib.request import urlopen
        >>> from pskclust import explore
        >>> server = explore([[0.0], [0.1], [5.0], [5.1]], open_browser=False, block=False)
        >>> server.close()
        >>> try:
        ...     urlopen(server.url)
        ... except URLError:
        ...     print("closed")
        closed
        """
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

    The page opens with the clusters that :class:`PSKC` chooses. Sliders change the number of
    clusters or, for grown clusters, psi and tau, and the picture follows. Unless `host` is given,
    the page is served to this machine only. Install with ``pip install "pskclust[explore]"``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or path
        The rows, or the path of a file in any format of :func:`pskclust.tables.read_table`. All
        columns are explored.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, see :meth:`PSKC.fit`.
    sample : int or None, default=None
        Number of rows to explore, drawn at random. The other rows are labelled on export. None
        takes up to a million rows, or up to 100,000 with more than 8 columns. Reduce it if the
        page responds slowly.
    scaling : {"none", "standard", "minmax"}, default="none"
        Scaling of the columns when the page opens. Use "standard" for columns in different units.
    host : str or None, default=None
        Address to listen on, for access from other machines; the address of the page then includes
        a token, without which requests are refused. None serves this machine only.
    port : int or None, default=None
        Port to listen on. None uses 8765, or a free port if 8765 is in use.
    open_browser : bool or None, default=None
        Whether to open a browser. None opens one, except in a notebook, which shows a link.
    block : bool or None, default=None
        Whether to wait until the explorer ends. None waits in a script, but not in a notebook or
        at a prompt.
    **parameters
        Parameters of :class:`PSKC` when the page opens: with `tau` clusters grow, without it they
        are chosen. Parameters without a control on the page keep their values.

    Returns
    -------
    server : ExplorerServer
        The running explorer: `url` is the address of the page, `close` ends it.

    See Also
    --------
    PSKC.explore : Start from the parameters of an estimator.
    sweep : Compare values of psi and tau without a browser.
    pskclust.report.write_report : Write a report on a clustering.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> from pskclust import explore
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> server = explore(X, open_browser=False, block=False)
    >>> b"<title>" in urlopen(server.url).read()
    True
    >>> server.close()
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
    """Start an explorer of a subject: rows that have been read, or an image.

    ``pskclust explore`` calls this function. :func:`pskclust.explore` is simpler for arrays and
    files.

    Parameters
    ----------
    subject : TableSubject or ImageSubject
        The rows or the image to explore.
    given : dict
        Parameters of PSKC, and scaling or color_space, when the page opens. A `random_state` that
        is not an int is replaced by 0, so that results can be repeated.
    host : str or None, default=None
        Address to listen on; None serves only this machine.
    port : int or None, default=None
        Port to listen on; None uses 8765, or a free port if 8765 is in use.

    Returns
    -------
    server : ExplorerServer
        The running explorer.

    See Also
    --------
    pskclust.explore : Start an explorer of an array or a file.

    Examples
    --------
    >>> from pskclust.explorer import serve
    >>> from pskclust.explorer.subject import TableSubject
    >>> subject = TableSubject.of([[0.0], [0.1], [5.0], [5.1]])
    >>> with serve(subject, {"psi": 2, "tau": 0.5}) as server:
    ...     print(server.url)
    http://127.0.0.1:...
    """
    controls = (*_ON_THE_PAGE, "scaling", "color_space")
    on_page = {name: value for name, value in given.items() if name in controls}
    # Without a fixed seed, the labels on the page could not be repeated.
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
    """Return a socket bound to `port`; None is the default port or, if it is taken, a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = (DEFAULT_PORT, 0) if port is None else (port,)
    for number in wanted:
        # With the protocol given, asyncio sends small responses at once instead of 40 ms later.
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
                    "port, or leave the port out to take a free one.",
                ) from error
        else:
            return listening
    raise AssertionError("unreachable")


def _shown(host: str) -> str:
    """Return the host as a browser on this machine can open it."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"
