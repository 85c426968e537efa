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

from liescope.common.errors import MissingExtra, UsageError
from liescope.common.folders import take_lock
from liescope.common.settings import split, takes
from liescope.games.judging import ReaderSpec
from liescope.generate.players.human import Pacing
from liescope.generate.players.run_limits import Limits, read_span
from liescope.generate.runs.sitting import Assignment
from liescope.web.web_settings import ServeSettings

try:
    from fastapi import APIRouter, FastAPI, Request
    from fastapi.responses import HTMLResponse

    from liescope.web.judge_mode import JudgeDesk, judge_routes
    from liescope.web.play.all_tables import Hub
    from liescope.web.play.host_page import host_routes
    from liescope.web.play.seat_routes import seat_routes
    from liescope.web.play.table_setup import TO_JUDGE, check_players, make_setup, read_consent
    from liescope.web.play.tables_file import TablesFile
    from liescope.web.server import listen, public_address, run_server, told_of
    from liescope.web.site import LOOPBACK, Forms, Guard, make_site, page
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "fastapi", "web") from error


def front_routes() -> APIRouter:
    """/, which says where to go on, and nothing of what is there."""
    router = APIRouter()

    @router.get("/")
    async def front(request: Request) -> HTMLResponse:
        return page(request, "play/front.html")

    return router


HOST_SECRET = "LIESCOPE_HOST_SECRET"  # the variable of the environment that may hold the secret of the host's link


def site_of(
    hub: Hub,
    public: str = "",
    frames: Sequence[str] = (),
    desk: JudgeDesk | None = None,
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

    routes = [front_routes(), seat_routes(hub), host_routes(hub, public)]
    if desk is not None:
        routes.append(judge_routes(desk, Forms(hub.form_secret.encode())))
    name = urlsplit(public).hostname
    hosts = [*LOOPBACK, name] if name else LOOPBACK
    known = guard or Guard(lambda secret: hub.knows(secret) or (desk is not None and secret in desk.links), public)
    return make_site(routes, hosts, frames, lifespan, urlsplit(public).path, known)


@takes(ServeSettings, others="options")
def serve(
    out: str | os.PathLike[str],
    *,
    told: Callable[[str], None] = print,
    **settings: Any,
) -> None:
    """Serve tables at which people play, and links by which people judge, until Ctrl-C or another signal that asks to
    end. What they do becomes runs in `out`.

    A table of `game` is opened, unless there is one in `out` with the same settings that its host has not closed: then
    that goes on, and its links stay. The secret of the host's link is kept in `out`, or taken from LIESCOPE_HOST_SECRET
    and then not told. Games whose nights are drawn spare people while there are programs in reach, unless
    `mortal`; games that spare them are a condition of their own (`spared`).

    With `judge`, people read and judge the finished games of a run, statement by statement: of all, of those with the
    ids `judge_game`, or of those that a corpus puts into `judge_split`, as many as `judge_games` are drawn. Each
    person's answers become the run RUN-by-PSEUDONYM, for `evaluate --people`.

    Parameters
    ----------
    out : str or path
        The folder for the tables and the runs of their games.
    told : callable
        Gets the lines that say where things are.
    **settings
    **options
        Those of the game.

    Raises
    ------
    UsageError
        For a table or judges that cannot be, an address that cannot be listened at and a folder that another server
        serves.
    MissingExtra
        Without the packages of the extra `web`.
    """
    own, options = split(ServeSettings, settings)
    game, people, players, mortal = own["game"], own["people"], own["players"], own["mortal"]
    judge, judges, host, public = own["judge"], own["judges"], own["host"], own["public"]
    judge_games, judge_game, judge_split = own["judge_games"], own["judge_game"], own["judge_split"]
    if game is None and (people != 1 or players or options or mortal):
        raise UsageError("people, players and options are those of a table: name its game too (--game NAME)")
    if judge is None and (judges != 1 or judge_games or judge_game or judge_split):
        raise UsageError("there is no run to judge: name one too (--judge RUN)")
    public = public_address(public) if public else ""
    meant = told_of(host, public)
    given = _given_secret()
    terms: dict[str, Any] = {"pacing": Pacing()} if own["pace"] else {}
    terms_file = None if own["consent"] is None else read_consent(Path(own["consent"]))
    if terms_file is not None:
        terms["consent"] = terms_file
    limits = Limits(give_up_after=read_span(own["give_up_after"], "--give-up-after"))
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
            spec = ReaderSpec(own["judge_view"], own["judge_share"], own["judge_days"], own["judge_seed"])
            drawn = Assignment.draw(Path(judge), spec, judge_games, judge_split, judge_game)
            desk = JudgeDesk(drawn, TablesFile(Path(out)), judges, own["judge_tell"], terms_file or TO_JUDGE)
        bound = listen(host, own["port"])
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
            run_server(site_of(hub, public, own["frames"], desk), bound, hub.stop)
        finally:
            told("stopped: the same command goes on with every table, under the same links")


def _given_secret() -> str | None:
    """The host's secret of the environment. Raises UsageError for one that could be guessed or is no part of a link."""
    given = os.environ.get(HOST_SECRET, "")
    if given and not re.fullmatch(r"[A-Za-z0-9_-]{22,128}", given):
        raise UsageError(f"{HOST_SECRET} must be 22 to 128 letters, digits, - or _, drawn at random")
    return given or None
