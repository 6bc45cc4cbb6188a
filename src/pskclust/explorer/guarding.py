"""Middleware that rejects cross-origin and unauthenticated requests."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .security import HEADERS, Guard, RefusedError


class Guarded:
    """Application behind a guard, with security headers in each response."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *extra]
            await send(message)

        answer = self._refusal(Request(scope)) or self._app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, request: Request) -> Response | None:
        guard = self._guard
        try:
            guard.check(request.headers, request.method, request.url.path)
            if guard.token is None:
                return None
            given = request.query_params.get("token")
            if request.url.path == "/" and given is not None:
                guard.check_token(given)
                # A redirect removes the token from the address, which browsers show and store.
                answer = RedirectResponse("/", status_code=303)
                answer.set_cookie(guard.cookie, given, httponly=True, samesite="lax")
                return answer
            guard.check_token(request.cookies.get(guard.cookie))
        except RefusedError as error:
            return in_words(error.status, str(error))
        return None


def in_words(status: int, words: str) -> Response:
    """Return a response with an error message."""
    return JSONResponse({"error": words}, status_code=status)
