"""What every response and every form of a site carries so that a browser keeps strangers out."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from hashlib import sha256

from fastapi import HTTPException, Request
from starlette.datastructures import FormData, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from liescope.web.guard import read_form


class SecurityHeaders:
    """Adds a policy that runs no script and loads nothing but the site's own files, and keeps pages out of caches,
    frames and referrers. frames: the origins that may show a page in a frame, by default none.
    """

    def __init__(self, app: ASGIApp, frames: Sequence[str] = ()) -> None:
        self._app = app
        ancestors = " ".join(frames) or "'none'"
        self._headers = {
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            f"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors {ancestors}",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Robots-Tag": "noindex, nofollow",
        }
        if not frames:
            self._headers["X-Frame-Options"] = "DENY"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)


class Forms:
    """Tokens that prove that a form came from a page of this site. secret: known to the server alone."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def token(self, page: str) -> str:
        """The token of the forms on a page. page: what only its reader knows, such as the secret in its link."""
        return hmac.new(self._secret, page.encode(), sha256).hexdigest()[:32]

    async def sent(self, request: Request, page: str) -> FormData:
        """The fields of a form that was sent. Raises HTTPException for one of another page, and as `read_form`."""
        given = await read_form(request)
        self.check(page, str(given.get("form", "")))
        return given

    def key(self, page: str, what: object) -> str:
        """Tells one question on a page from others, and nothing else about it: its number would tell of hidden ones."""
        return hmac.new(self._secret, repr((page, what)).encode(), sha256).hexdigest()[:16]

    def check(self, page: str, given: str) -> None:
        """Raises HTTPException 403 for a form that is not of this page."""
        if not hmac.compare_digest(self.token(page).encode(), given.encode("utf-8", "replace")):
            raise HTTPException(
                403,
                "This form is not from a page of this site, or the server has forgotten it. "
                "Load the page again and send it once more.",
            )
