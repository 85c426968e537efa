"""The site that `view` serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from fastapi import FastAPI, Request, Response

from liescope.common.errors import LiescopeError, UsageError
from liescope.common.text import plain
from liescope.web.server import listen, public_address, run_server
from liescope.web.site import LOOPBACK, make_site, page
from liescope.web.view.game_index import Index
from liescope.web.view.game_list import list_routes
from liescope.web.view.game_routes import game_routes
from liescope.web.view.game_sources import Opened, open_source
from liescope.web.web_settings import ViewSettings


def serve_games(opened: Opened, begin: str, told: Callable[[str], None], own: ViewSettings) -> None:
    """Show games in a browser until Ctrl-C. begin: the page whose address is told; own: all settings, as resolved.

    Raises UsageError for an address that is not meant or cannot be had.
    """
    host, public = own["host"], own["public"]
    public = public_address(public) if public else ""
    if host not in LOOPBACK and not public:
        raise UsageError(
            f"at {host} everybody who reaches this machine can read these games, with all roles and prompts; if that "
            "is meant, say by which address they come, with --public http://NAME:PORT"
        )
    second = None if own["beside"] is None else open_source(own["beside"])
    site = site_of(opened, second, public)
    bound = listen(host, own["port"])
    name = f"[{host}]" if ":" in host else host
    told(f"{opened.source.name}: {public or f'http://{name}:{bound.getsockname()[1]}'}/{begin}")
    told("Ctrl-C ends this.")
    with suppress(KeyboardInterrupt):
        run_server(site, bound)


def site_of(opened: Opened, beside: Opened | None = None, public: str = "") -> FastAPI:
    """The site of what was opened; its index grows while the site is up. public: as in `view`.

    Raises UsageError for a cache folder that cannot be written.
    """
    index = Index(opened)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        index.start()
        try:
            yield
        finally:
            await asyncio.to_thread(index.close)

    name = urlsplit(public).hostname
    hosts = [*LOOPBACK, name] if name else LOOPBACK
    routers = [list_routes(index), game_routes(opened, beside)]
    site = make_site(routers, hosts, (), lifespan, urlsplit(public).path)
    site.add_exception_handler(LiescopeError, _unusable)
    return site


async def _unusable(request: Request, error: Exception) -> Response:
    return page(request, "problem.html", 400, words=plain(str(error)))
