"""The host's page, behind its secret link: making tables, sharing their links, beginning their games."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from liescope.common.errors import UsageError
from liescope.games.registry import GAMES
from liescope.web.play.hub import Hub
from liescope.web.play.setup import make_setup
from liescope.web.play.table import Table
from liescope.web.security import Forms
from liescope.web.site import link, page


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

    def shown(request: Request, secret: str, status: int = 200, problem: str = "") -> Response:
        origin = public or f"{request.url.scheme}://{request.url.netloc}{link(request, '')}"
        tables = [_table(table, origin) for table in reversed(hub.tables.values())]
        values = {"base": f"/host/{secret}", "form_token": forms.token(secret), "games": list(GAMES)}
        return page(request, "play/host.html", status, **values, tables=tables, problem=problem)

    @router.get("")
    async def host(request: Request, secret: str) -> Response:
        check(secret)
        return shown(request, secret)

    @router.post("/add")
    async def add(request: Request, secret: str) -> Response:
        given = await sent(request, secret)
        try:
            hub.add(_setup(given))
        except UsageError as error:
            return shown(request, secret, 422, str(error))
        return RedirectResponse(link(request, f"/host/{secret}"), 303)

    @router.post("/{table}/{what}")
    async def act(request: Request, secret: str, table: str, what: str) -> Response:
        await sent(request, secret)
        acts = {"start": Table.start, "again": Table.again, "resume": Table.resume}
        if table not in hub.tables or what not in acts:
            raise HTTPException(404, "There is no such table.")
        try:
            acts[what](hub.tables[table])
        except UsageError as error:
            return shown(request, secret, 422, str(error))
        return RedirectResponse(link(request, f"/host/{secret}"), 303)

    return router


def _setup(given: FormData) -> Any:
    def number(name: str, least: int, most: int) -> int:
        words = str(given.get(name, ""))
        if not (words.isascii() and words.isdigit() and len(words) < 10 and least <= int(words) <= most):
            raise UsageError(f"{name} is a number from {least} to {most}")
        return int(words)

    players = [spec for line in str(given.get("players", "")).splitlines() if (spec := line.strip())]
    options = {"assess": True} if given.get("assess") else {}
    times = {name: number(name, 5, 86400) for name in ("words", "choices")}
    return make_setup(str(given.get("game", "")), number("people", 1, 100), players, options, **times)


def _table(table: Table, origin: str) -> dict[str, Any]:
    people = [
        (seat.name, f"{origin}/seat/{seat.kept.secret}", seat.kept.pseudonym or "", bool(seat.listeners))
        for seat in table.seats.values()
    ]
    return {
        "id": table.id,
        "game": table.setup.game,
        "state": table.state.value,
        "note": table.note,
        "people": people,
        "here": table.here,
        "run": table.run.name,
        "others": len(table.setup.seats) - len(people),
    }
