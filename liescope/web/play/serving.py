"""`liescope.serve`: tables for people, in a browser."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from liescope.common.errors import UsageError
from liescope.generate.runs.limits import Limits
from liescope.web.play.host_routes import host_routes
from liescope.web.play.hub import Hub
from liescope.web.play.seat_routes import seat_routes
from liescope.web.play.setup import make_setup
from liescope.web.site import LOOPBACK, make_site


def site_of(hub: Hub, hosts: Sequence[str] = LOOPBACK, frames: Sequence[str] = (), root_path: str = "") -> FastAPI:
    """The site of a hub's tables, which opens and closes the hub."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        hub.open()
        try:
            yield
        finally:
            await hub.close()

    return make_site([seat_routes(hub), host_routes(hub)], hosts, frames, lifespan, root_path)


def serve(
    out: str | os.PathLike[str],
    *,
    game: str | None = None,
    people: int = 1,
    players: Sequence[str] = (),
    host: str = "127.0.0.1",
    port: int = 8000,
    root_path: str = "",
    public: Sequence[str] = (),
    told: Callable[[str], None] = print,
    **options: Any,
) -> None:
    """Serve tables at which people play, until Ctrl-C. Their games become runs in `out`.

    game: open one table of it, with so many people; players: specs for its other seats, in turn; options: the game's
    own. host, port: where to listen; 0 takes any free port. root_path: the path under which a proxy shows the site.
    public: the names under which others reach the site, "*" for any; by default only this machine's own. told: gets the
    lines that say where things are.

    Raises UsageError for a table that cannot be made and an address that cannot be listened at.
    """
    if host not in LOOPBACK and not public:
        raise UsageError(
            f"at {host} others can reach this server; name it as they do, with --public HOST, and see to it that a "
            "proxy speaks HTTPS: whoever reads a seat's link on the way can play it"
        )
    hub = Hub(Path(out), Limits())
    table = hub.add(make_setup(game, people, players, options)) if game is not None else None
    bound = _listen(host, port)
    origin = f"http://{host}:{bound.getsockname()[1]}{root_path}"
    told(f"host: {origin}/host/{hub.host_secret}")
    for seat in table.seats.values() if table else ():
        told(f"seat: {origin}/seat/{seat.kept.secret}")
    config = uvicorn.Config(
        site_of(hub, [*LOOPBACK, *public], root_path=root_path),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
        server_header=False,
        proxy_headers=False,
    )
    asyncio.run(_Server(config, hub).serve([bound]))


class _Server(uvicorn.Server):
    """Lets open event streams go as soon as it is to end."""

    def __init__(self, config: uvicorn.Config, hub: Hub) -> None:
        super().__init__(config)
        self._hub = hub
        self._loop: asyncio.AbstractEventLoop | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._hub.stop)
        super().handle_exit(sig, frame)


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise UsageError(
            f"cannot listen at {host}:{port} ({error.strerror or error}); choose another --port"
        ) from error
