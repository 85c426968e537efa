"""The host's page, behind its secret link: making tables, sharing their links, beginning their games."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import FormData

from liescope.common.errors import LiescopeError
from liescope.games.registry import GAMES
from liescope.web.play.host_form import RefusedForm, TableForm, blank, read_setup, refused
from liescope.web.play.hub import Hub
from liescope.web.play.setup import PERSON, check_players
from liescope.web.play.store import State
from liescope.web.play.table import PeopleTable
from liescope.web.security import Forms
from liescope.web.site import fragment, link, page


def host_routes(hub: Hub, public: str = "") -> APIRouter:
    """The routes under /host/SECRET. public: the address of the site for people, if not the one it is asked by."""
    router = APIRouter(prefix="/host/{secret}")
    forms = Forms(hub.form_secret.encode())

    def check(secret: str) -> None:
        if not hub.is_host(secret):
            raise HTTPException(404, "There is no such page. Check the link: it must be complete.")

    async def sent(request: Request, secret: str) -> FormData:
        check(secret)
        return await forms.sent(request, secret)

    def values(request: Request, secret: str) -> dict[str, Any]:
        origin = public or f"{request.url.scheme}://{request.url.netloc}{link(request, '')}"
        there = [table for table in reversed(hub.tables.values()) if table.state is not State.CLOSED]
        there.sort(key=lambda table: table.state is not State.PAUSED)  # first those that need the host
        tables = [_table(table, origin) for table in there]
        return {"base": f"/host/{secret}", "form_token": forms.token(secret), "tables": tables}

    def shown(
        request: Request, secret: str, status: int = 200, form: TableForm | None = None, problem: str = ""
    ) -> Response:
        tables = values(request, secret)
        have = _mark(fragment(request, "play/tables.html", **tables))
        return page(request, "play/host.html", status, **tables, have=have, form=form, problem=problem, games=GAMES)

    @router.get("")
    async def host(request: Request, secret: str, game: str = "") -> Response:
        check(secret)
        return shown(request, secret, form=blank(game) if game in GAMES else None)

    @router.get("/tables")
    async def tables(request: Request, secret: str, have: str = "") -> Response:
        """The tables as they are now, unless the page has them: nothing that somebody uses is replaced by the same."""
        check(secret)
        now = fragment(request, "play/tables.html", **values(request, secret))
        if _mark(now) == have:
            return Response(status_code=204)
        return HTMLResponse(f'<input type="hidden" name="have" value="{_mark(now)}">{now}')

    @router.post("/add")
    async def add(request: Request, secret: str) -> Response:
        given = await sent(request, secret)
        game = str(given.get("game", ""))
        if game not in GAMES:
            return shown(request, secret, 422, problem="Choose one of the games first.")
        typed = {name: str(value) for name, value in given.items()}
        try:
            setup = read_setup(game, typed)
            await check_players(setup)
        except RefusedForm as error:
            return shown(request, secret, 422, error.form)
        except LiescopeError as error:
            return shown(request, secret, 422, refused(game, typed, "players", str(error)))
        hub.add(setup)
        return RedirectResponse(link(request, f"/host/{secret}"), 303)

    @router.post("/{table}/{what}")
    async def act(request: Request, secret: str, table: str, what: str) -> Response:
        await sent(request, secret)
        acts = {
            "start": PeopleTable.start,
            "again": PeopleTable.again,
            "resume": PeopleTable.resume,
            "end": PeopleTable.end,
        }
        if table not in hub.tables or what not in acts:
            raise HTTPException(404, "There is no such table.")
        try:
            acts[what](hub.tables[table])
        except LiescopeError as error:
            return shown(request, secret, 422, problem=f"{table}: {error}")
        return RedirectResponse(link(request, f"/host/{secret}"), 303)

    return router


def _mark(words: str) -> str:
    """Changes with the words."""
    return sha256(words.encode()).hexdigest()[:16]


def _table(table: PeopleTable, origin: str) -> dict[str, Any]:
    people = [
        (f"{origin}/seat/{seat.kept.secret}", seat.kept.pseudonym or "", bool(seat.listeners))
        for seat in sorted(table.seats.values(), key=lambda seat: seat.kept.secret)
    ]
    others = Counter(spec for spec in table.setup.seats.values() if spec != PERSON)
    return {
        "id": table.id,
        "title": f"{table.setup.game}, game {table.round}" if table.round > 1 else table.setup.game,
        "state": table.state.value,
        "note": table.note,
        "waits": table.waits,
        "people": people,
        "here": table.here,
        "run": table.run.name,
        "others": ", ".join(f"{count} × {spec}" for spec, count in others.items()),
        "filler": table.setup.filler,
    }
