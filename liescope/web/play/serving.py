"""`liescope.serve`: tables for people, in a browser."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from liescope.common.errors import MissingExtra, UsageError
from liescope.common.folders import take_lock
from liescope.games.judging import OUTSIDE, ReaderSpec
from liescope.generate.players.human import Pacing
from liescope.generate.runs.limits import Limits, read_span
from liescope.generate.runs.sitting import Assignment
from liescope.web.judge.desk import Desk
from liescope.web.judge.routes import judge_routes
from liescope.web.play.consent import TO_JUDGE, read_consent
from liescope.web.play.host_routes import host_routes
from liescope.web.play.hub import Hub
from liescope.web.play.seat_routes import seat_routes
from liescope.web.play.setup import check_players, make_setup
from liescope.web.play.store import Store
from liescope.web.play.withdraw_routes import withdraw_routes
from liescope.web.security import Forms, Guard
from liescope.web.server import listen, public_address, run_server, told_of
from liescope.web.site import LOOPBACK, make_site, page


def front_routes() -> APIRouter:
    """/, which says where to go on, and nothing of what is there."""
    router = APIRouter()

    @router.get("/")
    async def front(request: Request) -> HTMLResponse:
        return page(request, "play/front.html")

    return router


try:
    from fastapi import FastAPI
except ModuleNotFoundError as error:
    raise MissingExtra("fastapi", "web") from error

HOST_SECRET = "LIESCOPE_HOST_SECRET"  # the variable of the environment that may hold the secret of the host's link


def site_of(
    hub: Hub,
    public: str = "",
    frames: Sequence[str] = (),
    desk: Desk | None = None,
    guard: Guard | None = None,
) -> FastAPI:
    """The site of a hub's tables and of a desk's judges, which opens the hub and closes both. public: the address under
    which others reach it; frames: the origins of pages that may show it in a frame; guard: by default one with the
    usual limits.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        hub.open()
        try:
            yield
        finally:
            await hub.close()
            if desk is not None:
                desk.close()

    routes = [front_routes(), withdraw_routes(hub), seat_routes(hub), host_routes(hub, public)]
    if desk is not None:
        routes.append(judge_routes(desk, Forms(hub.form_secret.encode())))
    name = urlsplit(public).hostname
    hosts = [*LOOPBACK, name] if name else LOOPBACK
    known = guard or Guard(lambda secret: hub.knows(secret) or (desk is not None and secret in desk.links), public)
    return make_site(routes, hosts, frames, lifespan, urlsplit(public).path, known)


def serve(
    out: str | os.PathLike[str],
    *,
    game: str | None = None,
    people: int = 1,
    players: Sequence[str] = (),
    host: str = "127.0.0.1",
    port: int = 8000,
    public: str = "",
    frames: Sequence[str] = (),
    consent: str | os.PathLike[str] | None = None,
    mortal: bool = False,
    pace: bool = False,
    give_up_after: str | float = "3m",
    judge: str | os.PathLike[str] | None = None,
    judges: int = 1,
    judge_games: int | None = None,
    judge_game: Sequence[str] = (),
    judge_split: str | None = None,
    judge_view: str = OUTSIDE,
    judge_share: float = 1.0,
    judge_days: int = 0,
    judge_seed: int = 0,
    judge_tell: bool = False,
    told: Callable[[str], None] = print,
    **options: Any,
) -> None:
    """Serve tables at which people play, and links by which people judge, until Ctrl-C or another
    signal that asks to end. What they do becomes runs in
    `out`.

    game: open one table of it, with so many people, unless there is one in `out` with the same settings that its host
    has not closed: then that goes on, and its links stay. players: specs for its other seats, in turn; options: the
    game's own. host, port: where to listen; 0 takes any free port. public: the address under which others reach the
    site, as https://example.org/games if a proxy shows it there; by default only this machine's own. frames: the
    origins of pages that may show it in a frame. consent: a file with the text that people agree to at new tables and
    before they judge, in plain paragraphs, instead of ours; mortal: whether the first night of a game whose nights are
    drawn (Mini-Mafia) may kill people while there are programs in its reach; games that spare them are a condition of
    their own (`spared`); pace: whether programs at new tables answer at the pace of
    people. give_up_after: how long a game waits for an endpoint that does not answer, before it stops until its host
    goes on with it. told: gets the lines that say where things are.

    The secret of the host's link is kept in `out`, or taken from LIESCOPE_HOST_SECRET and then not told.

    judge: a run whose finished games people read and judge, statement by statement; judges: how many links to give, one
    for each person; judge_games: how many games, drawn, of all, of those with the ids judge_game, or of those that a
    corpus puts into judge_split; judge_view: "outside", which hears what everybody hears, or through the eyes of a
    "seat" that is drawn, of a role or of a player; judge_share: of the statements, the share that is asked about;
    judge_days: the last day that is shown, 0 for the whole game; judge_seed: draws games, seats and orders; judge_tell:
    tell people at the end how often they were right. Each person's answers become the run RUN-by-PSEUDONYM, for
    `evaluate --people`.

    Raises UsageError for a table or judges that cannot be, an address that cannot be listened at and a folder that
    another server serves, and on first use MissingExtra.
    """
    if game is None and (people != 1 or players or options or mortal):
        raise UsageError("people, players and options are those of a table: name its game too (--game mini-mafia)")
    if judge is None and (judges != 1 or judge_games or judge_game or judge_split):
        raise UsageError("there is no run to judge: name one too (--judge RUN)")
    public = public_address(public) if public else ""
    meant = told_of(host, public)
    given = _given_secret()
    terms: dict[str, Any] = {"pacing": Pacing()} if pace else {}
    own = None if consent is None else read_consent(Path(consent))
    if own is not None:
        terms["consent"] = own.paragraphs
    limits = Limits(give_up_after=read_span(give_up_after, "--give-up-after"))
    hub = Hub(Path(out), limits, given, terms)
    with ExitStack() as stack:
        stack.callback(os.close, take_lock(Path(out)))  # of two servers, each would know half of what is there
        table = None
        if game is not None:
            setup = make_setup(game, people, players, options, mortal, **terms)
            asyncio.run(check_players(setup))
            table = hub.find(setup) or hub.add(setup)
        desk = None
        if judge is not None:
            spec = ReaderSpec(judge_view, judge_share, judge_days, judge_seed)
            drawn = Assignment.draw(Path(judge), spec, judge_games, judge_split, judge_game)
            desk = Desk(drawn, Store(Path(out)), judges, judge_tell, own or TO_JUDGE)
        bound = listen(host, port)
        name = f"[{host}]" if ":" in host else host
        origin = public or f"http://{name}:{bound.getsockname()[1]}"
        if meant:
            told(f"note: {meant}")
        told(f"host: {origin}/host/" + (f"... (as {HOST_SECRET} says)" if given else hub.host_secret))
        for seat in table.seats.values() if table else ():
            told(f"seat: {origin}/seat/{seat.kept.secret}")
        for secret in desk.links if desk else ():
            told(f"judge: {origin}/judge/{secret}")
        told("Open these addresses in a browser; Ctrl-C ends this.")
        try:
            run_server(site_of(hub, public, frames, desk), bound, hub.stop)
        finally:
            told("stopped: the same command goes on with every table, under the same links")


def _given_secret() -> str | None:
    """The host's secret of the environment. Raises UsageError for one that could be guessed or is no part of a link."""
    given = os.environ.get(HOST_SECRET, "")
    if given and not re.fullmatch(r"[A-Za-z0-9_-]{22,128}", given):
        raise UsageError(f"{HOST_SECRET} must be 22 to 128 letters, digits, - or _, drawn at random")
    return given or None
