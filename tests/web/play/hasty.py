"""A small site that waits for nobody: `python -m tests.web.play.hasty PORT SECONDS`."""

from __future__ import annotations

import sys

from fastapi import APIRouter, Request

from liescope.web import server, site
from liescope.web.site import make_site

site.SLOWEST_S = server.SLOWEST_S = float(sys.argv[2])  # type: ignore[attr-defined]
server.CROWDED, server.MOST_CONNECTIONS = 20, 30
pages = APIRouter()


@pages.post("/form")
async def form(request: Request) -> str:
    return str(len(await site.read_form(request)))


@pages.get("/large")
async def large() -> str:
    return "x" * 2**24


if __name__ == "__main__":
    server.run_server(make_site([pages], guard=site.Guard()), server.listen("127.0.0.1", int(sys.argv[1])))
