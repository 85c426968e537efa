"""The base of every site that Liescope serves: security headers, pages from templates, files, and plain errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from liescope.common.errors import LiescopeError
from liescope.common.text import plain
from liescope.web.security import Guard, SecurityHeaders

HERE = Path(__file__).parent
HEALTH = "/healthz"
LARGEST_FORM = 64 * 1024  # bytes of a request's body
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PLAIN = {  # what the framework says in fewer words
    "Not Found": "There is no such page. Check the link: it must be complete.",
    "Method Not Allowed": "This page cannot be used in that way. Open it from its link.",
    "Content Too Large": "That was too much to send at once. Shorten it and send it again.",
}

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@cache
def templates() -> Environment:
    """The templates of all pages. All text is escaped; the filter `clean` also makes invisible characters visible, for
    whoever looks at games. Players see messages as they were written.
    """
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = lambda text: plain(str(text))
    return environment


@cache
def _version(name: str) -> str:
    """Changes with a static file's contents, so that browsers may keep the file for ever."""
    return sha256((HERE / "static" / name).read_bytes()).hexdigest()[:12]


def make_site(
    routers: Sequence[APIRouter],
    hosts: Sequence[str] = LOOPBACK,
    frames: Sequence[str] = (),
    lifespan: Lifespan | None = None,
    root_path: str = "",
    guard: Guard | None = None,
) -> FastAPI:
    """A site with these pages. hosts: the names that it answers to, ["*"] for any; a page of another site that points
    its own name here gets nothing. frames: as in `SecurityHeaders`. root_path: the path under which a proxy shows it.
    guard: for a site that strangers can reach: bounds what they send, and errors then tell them nothing of the server.
    """
    guards = Guard() if guard is None else guard
    site = _Site(
        frames,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # it would name the address that a proxy knows, not the public one
        max_body_size=LARGEST_FORM,
        lifespan=lifespan,
        root_path=root_path,
        dependencies=[Depends(guards.check)],
    )
    names = [f"[{host}]" if ":" in host else host for host in hosts]
    site.add_middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False)
    site.mount("/static", _Files(directory=HERE / "static"), name="static")
    for router in routers:
        site.include_router(router)
    site.add_exception_handler(HTTPException, _said)
    site.add_exception_handler(RequestValidationError, _unreadable)
    if guard is None:
        site.add_exception_handler(LiescopeError, _unusable)
    site.add_exception_handler(Exception, _broken)
    return site


class _Site(FastAPI):
    """Its headers are outermost, so that errors which other parts of it answer carry them too."""

    def __init__(self, frames: Sequence[str], **options: Any) -> None:
        super().__init__(**options)
        self._frames = frames
        # Asked for by any name and without limit, as an orchestrator does: it tells nothing but that the server is up.
        self._health = SecurityHeaders(PlainTextResponse("ok\n"), frames)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root = self.root_path.rstrip("/")
        if scope["type"] == "http" and scope["path"] in (HEALTH, root + HEALTH):
            await self._health(scope, receive, send)
            return
        if root and scope["type"] == "http" and not f"{scope['path']}/".startswith(f"{root}/"):
            scope["path"] = root + scope["path"]  # some proxies leave it out
        await super().__call__(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        return SecurityHeaders(super().build_middleware_stack(), self._frames)


class _Files(StaticFiles):
    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def link(request: Request, path: str) -> str:
    """The address of a path of the site, as "/games", also where a proxy serves it under another path."""
    return f"{request.app.root_path.rstrip('/')}{path}"


def fragment(request: Request, template: str, **values: Any) -> str:
    """A template as text. It may use `link(path)` and `static(name)`."""
    tools = {
        "link": lambda path: link(request, path),
        "static": lambda name: f"{link(request, '/static/')}{name}?v={_version(name)}",
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


async def _unusable(request: Request, error: Exception) -> Response:
    return _problem(request, 400, plain(str(error)))


async def _broken(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """The error itself goes to the server's own log; what it holds is not for readers of pages."""
    return _problem(request, 500, "Something went wrong on the server. Nothing that was sent before is lost.")
