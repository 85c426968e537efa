"""The site that shows games: the list, and each game."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from fastapi import FastAPI

from liescope.web.site import LOOPBACK, make_site
from liescope.web.view.doubtful_labels import MarkFile, doubt_routes
from liescope.web.view.game_index import Index
from liescope.web.view.game_list import list_routes
from liescope.web.view.game_routes import game_routes
from liescope.web.view.game_sources import Opened


def site_of(opened: Opened, beside: Opened | None = None, marks: MarkFile | None = None, public: str = "") -> FastAPI:
    """The site of what was opened; its index grows while the site is up. marks: where labels are marked; public: as in
    `view`.

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
    routers = [list_routes(index), doubt_routes(index, marks), game_routes(opened, beside)]
    return make_site(routers, hosts, (), lifespan, urlsplit(public).path)
