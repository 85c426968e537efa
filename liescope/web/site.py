"""The base of every site that Liescope serves: security headers, pages from templates, files, and plain errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from liescope.common.errors import LiescopeError
from liescope.common.text import plain
from liescope.web.security import SecurityHeaders

HERE = Path(__file__).parent
LARGEST_FORM = 64 * 1024  # bytes of a request's body
LOOPBACK = ("127.0.0.1", "localhost", "::1")

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@cache
def templates() -> Environment:
    """The templates of all pages. Whatever comes from a model, a file or a person is shown with the filter `clean`."""
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
) -> FastAPI:
    """A site with these pages. hosts: the names that it answers to, ["*"] for any; a page of another site that points
    its own name here gets nothing. frames: as in `SecurityHeaders`. root_path: the path under which a proxy shows it.
    """
    site = FastAPI(
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        max_body_size=LARGEST_FORM,
        lifespan=lifespan,
        root_path=root_path,
    )
    site.add_middleware(TrustedHostMiddleware, allowed_hosts=[f"[{h}]" if ":" in h else h for h in hosts])
    site.add_middleware(SecurityHeaders, frames=frames)
    site.mount("/static", _Files(directory=HERE / "static"), name="static")
    for router in routers:
        site.include_router(router)
    site.add_exception_handler(HTTPException, _said)
    site.add_exception_handler(RequestValidationError, _unreadable)
    site.add_exception_handler(LiescopeError, _unusable)
    site.add_exception_handler(Exception, _broken)
    return site


class _Files(StaticFiles):
    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def link(request: Request, path: str) -> str:
    """The address of a path of the site, as "/games", also where a proxy serves it under another path."""
    return f"{request.scope.get('root_path', '').rstrip('/')}{path}"


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


def _problem(request: Request, status: int, words: str) -> HTMLResponse:
    return page(request, "problem.html", status, words=words)


async def _said(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "There is no such page. Check the link: it must be complete."}.get(error.status_code)
    return _problem(request, error.status_code, words if error.detail == "Not Found" and words else str(error.detail))


async def _unreadable(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _problem(request, 422, "This request lacks something or holds what it may not. Load the page again.")


async def _unusable(request: Request, error: Exception) -> Response:
    return _problem(request, 400, plain(str(error)))


async def _broken(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """The error itself goes to the server's own log; what it holds is not for readers of pages."""
    return _problem(request, 500, "Something went wrong on the server. Nothing that was sent before is lost.")
