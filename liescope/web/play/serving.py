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
from liescope.games.reader import OUTSIDE, ReaderSpec
from liescope.generate.runs.limits import Limits
from liescope.generate.runs.sitting import Assignment
from liescope.web.judge.desk import Desk
from liescope.web.judge.routes import judge_routes
from liescope.web.play.host_routes import host_routes
from liescope.web.play.hub import Hub
from liescope.web.play.seat_routes import seat_routes
from liescope.web.play.setup import make_setup
from liescope.web.play.store import Store
from liescope.web.security import Forms
from liescope.web.site import LOOPBACK, make_site


def site_of(
    hub: Hub,
    hosts: Sequence[str] = LOOPBACK,
    frames: Sequence[str] = (),
    root_path: str = "",
    desk: Desk | None = None,
) -> FastAPI:
    """The site of a hub's tables and of a desk's judges, which opens the hub and closes both."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        hub.open()
        try:
            yield
        finally:
            await hub.close()
            if desk is not None:
                desk.close()

    routes = [seat_routes(hub), host_routes(hub)]
    if desk is not None:
        routes.append(judge_routes(desk, Forms(hub.form_secret.encode())))
    return make_site(routes, hosts, frames, lifespan, root_path)


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
    judge: str | os.PathLike[str] | None = None,
    judges: int = 1,
    judge_games: int | None = None,
    judge_split: str | None = None,
    judge_view: str = OUTSIDE,
    judge_share: float = 1.0,
    judge_days: int = 0,
    judge_seed: int = 0,
    judge_tell: bool = False,
    told: Callable[[str], None] = print,
    **options: Any,
) -> None:
    """Serve tables at which people play, and links by which people judge, until Ctrl-C. What they do becomes runs in
    `out`.

    game: open one table of it, with so many people; players: specs for its other seats, in turn; options: the game's
    own. host, port: where to listen; 0 takes any free port. root_path: the path under which a proxy shows the site.
    public: the names under which others reach the site, "*" for any; by default only this machine's own. told: gets the
    lines that say where things are.

    judge: a run whose finished games people read and judge, statement by statement; judges: how many links to give, one
    for each person; judge_games: how many games, drawn, of all or of those that a corpus puts into judge_split;
    judge_view: "outside", which hears what everybody hears, or through the eyes of a "seat" that is drawn, of a role or
    of a player; judge_share: of the statements, the share that is asked about; judge_days: the last day that is shown,
    0 for the whole game; judge_seed: draws games, seats and orders; judge_tell: tell people at the end how often they
    were right. Each person's answers become the run RUN-by-PSEUDONYM, for `evaluate --people`.

    Raises UsageError for a table or judges that cannot be and an address that cannot be listened at.
    """
    if host not in LOOPBACK and not public:
        raise UsageError(
            f"at {host} others can reach this server; name it as they do, with --public HOST, and see to it that a "
            "proxy speaks HTTPS: whoever reads a seat's link on the way can play it"
        )
    hub = Hub(Path(out), Limits())
    table = hub.add(make_setup(game, people, players, options)) if game is not None else None
    desk = None
    if judge is not None:
        spec = ReaderSpec(judge_view, judge_share, judge_days, judge_seed)
        drawn = Assignment.draw(Path(judge), spec, judge_games, judge_split)
        desk = Desk(drawn, Store(Path(out)), judges, judge_tell)
    bound = _listen(host, port)
    origin = f"http://{host}:{bound.getsockname()[1]}{root_path}"
    told(f"host: {origin}/host/{hub.host_secret}")
    for seat in table.seats.values() if table else ():
        told(f"seat: {origin}/seat/{seat.kept.secret}")
    for secret in desk.links if desk else ():
        told(f"judge: {origin}/judge/{secret}")
    config = uvicorn.Config(
        site_of(hub, [*LOOPBACK, *public], root_path=root_path, desk=desk),
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
