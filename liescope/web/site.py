"""The base of the site: pages from templates, files, plain errors; and what keeps strangers out: security headers, no
forms from other sites, nothing too large or too slow. Floods are the business of the proxy in front.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import FormData, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from liescope.web import STATIC, templates

MOST_FIELDS = 64
SLOWEST_S = 20.0  # the time a whole form may take to arrive


@dataclass(frozen=True, slots=True)
class SecretPage:
    """A page behind a secret link, as a request asks for it. at: where such links lead, as "/seat"."""

    at: ClassVar[str]
    request: Request
    secret: str

    @property
    def forms(self) -> Forms:
        return self.request.app.state.forms  # type: ignore[no-any-return]

    def about(self) -> dict[str, Any]:
        """What its templates need."""
        return {"base": f"{self.at}/{self.secret}", "form_token": self.forms.token(self.secret)}

    def back(self, path: str = "") -> Response:
        """To the page itself, or one below it."""
        return RedirectResponse(link(self.request, f"{self.at}/{self.secret}{path}"), 303)


async def read_form(request: Request) -> FormData:
    """The fields of a form; no files. Raises HTTPException for one that is too large or arrives too slowly."""
    try:
        async with asyncio.timeout(SLOWEST_S):
            return await request.form(max_files=0, max_fields=MOST_FIELDS)
    except (TimeoutError, ClientDisconnect):
        raise HTTPException(408, "The form did not arrive in time. Send it once more.") from None


class SecurityHeaders:
    """Adds a policy that runs no script and loads nothing but the site's own files, and keeps pages out of caches,
    frames and referrers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "X-Robots-Tag": "noindex, nofollow",
        }

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
        if not hmac.compare_digest(self.token(page).encode(), str(given.get("form", "")).encode("utf-8", "replace")):
            raise HTTPException(
                403,
                "This form is not from a page of this site, or the server has forgotten it. "
                "Load the page again and send it once more.",
            )
        return given

    def key(self, page: str, what: object) -> str:
        """An opaque key for one question on a page: a running number would betray hidden questions."""
        return hmac.new(self._secret, repr((page, what)).encode(), sha256).hexdigest()[:16]


LARGEST_FORM = 64 * 1024  # bytes of a request's body
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PLAIN = {  # plain messages for the framework's terse ones
    "Not Found": "There is no such page. Check the link: it must be complete.",
    "Method Not Allowed": "This page cannot be used in that way. Open it from its link.",
    "Content Too Large": "That was too much to send at once. Shorten it and send it again.",
}

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def make_site(
    routers: Sequence[APIRouter],
    hosts: Sequence[str] = LOOPBACK,
    lifespan: Lifespan | None = None,
    root_path: str = "",
) -> FastAPI:
    """A site with these pages. hosts: the names that it answers to, ["*"] for any; a site that points its own name here
    gets nothing (DNS rebinding). root_path: the path under which a proxy shows it.
    """
    site = _Site(
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # it would name the address that a proxy knows, not the public one
        max_body_size=LARGEST_FORM,
        lifespan=lifespan,
        root_path=root_path,
    )
    names = [f"[{host}]" if ":" in host else host for host in hosts]
    site.add_middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False)
    site.mount("/static", StaticFiles(directory=STATIC), name="static")
    for router in routers:
        site.include_router(router)
    site.add_exception_handler(HTTPException, _said)
    site.add_exception_handler(RequestValidationError, _unreadable)
    site.add_exception_handler(Exception, _broken)
    return site


class _Site(FastAPI):
    """The headers are the outermost layer, so that errors from the inner ones carry them too."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root = self.root_path.rstrip("/")
        if root and scope["type"] == "http" and not f"{scope['path']}/".startswith(f"{root}/"):
            scope["path"] = root + scope["path"]  # some proxies strip the root path themselves
        await super().__call__(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        return SecurityHeaders(super().build_middleware_stack())


def link(request: Request, path: str) -> str:
    """The address of a path of the site, as "/games", also where a proxy serves it under another path."""
    return f"{request.app.root_path.rstrip('/')}{path}"


def fragment(request: Request, template: str, **values: Any) -> str:
    """A template as text. It may use `link(path)` and `static(name)`."""
    tools = {
        "link": lambda path: link(request, path),
        "static": lambda name: link(request, f"/static/{name}"),
    }
    return templates().get_template(template).render(**tools, **values)


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A response with a template's page."""
    return HTMLResponse(fragment(request, template, **values), status)


def _problem(request: Request, status: int, words: str, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    return HTMLResponse(fragment(request, "problem.html", words=words), status, headers)


async def _said(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _problem(request, error.status_code, _PLAIN.get(error.detail, error.detail), error.headers)


async def _unreadable(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _problem(request, 422, "This request lacks something or holds what it may not. Load the page again.")


async def _broken(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """The error itself goes to the server's log; its details are not for visitors."""
    return _problem(request, 500, "Something went wrong on the server. Nothing that was sent before is lost.")
