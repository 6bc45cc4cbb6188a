"""Access control of the server: only its own page may send requests.

A page of another site can make a browser send requests to this machine. Such requests carry the
Origin of the other site or, after DNS rebinding, a foreign Host. If there is a token, requests
without it are refused as well.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class RefusedError(Exception):
    """Error for a refused request, with its HTTP status and the reason."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True)
class Guard:
    """Checks that a request has the server's Host, no foreign Origin, and any required token."""

    host: str
    port: int
    token: str | None = None

    @property
    def cookie(self) -> str:
        # Browsers send cookies to all ports of a host, so the name includes the port.
        return f"pskclust_{self.port}"

    def check(self, headers: Mapping[str, str], method: str = "GET", path: str = "/") -> None:
        """Raise RefusedError for a request from another site."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise RefusedError(403, f"Host {host[:80]!r} is not this server.")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            raise RefusedError(403, f"Origin {origin[:80]!r} may not use this server.")
        # Links on other pages, such as notebooks, may open the page, which contains no data.
        followed = method == "GET" and path == "/" and headers.get("sec-fetch-mode") == "navigate"
        own = headers.get("sec-fetch-site", "none") in ("same-origin", "none")
        if not own and not (followed and headers.get("sec-fetch-dest") == "document"):
            raise RefusedError(403, "another site may not use this server.")

    def check_token(self, given: str | None) -> None:
        """Raise RefusedError if a token is required and the request does not have it."""
        if self.token is None:
            return
        if given is None or not hmac.compare_digest(given.encode(), self.token.encode()):
            raise RefusedError(
                401, "the token is missing or wrong. Open the full address that was printed."
            )

    def _is_ours(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname, parts.port
        except ValueError:
            return False
        if name is None or (port or 80) != self.port or parts.netloc != host or "@" in host:
            return False
        if name in LOOPBACK or name == self.host.lower():
            return True
        if self.token is None:
            return False
        # Another site can make its host name point here, but not a numeric address.
        return name == socket.gethostname().lower() or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
