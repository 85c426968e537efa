"""Pages on which words are withdrawn: by the person in a seat, and by the host for anybody."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from liescope.web.play.hub import Hub
from liescope.web.play.leaving import has_left
from liescope.web.play.table import PeopleTable
from liescope.web.security import Forms
from liescope.web.site import link, page


def withdraw_routes(hub: Hub) -> APIRouter:
    """/seat/SECRET/withdraw and /host/SECRET/withdraw: a page that asks once more, and its form."""
    router = APIRouter()
    forms = Forms(hub.form_secret.encode())

    def seat_of(secret: str) -> tuple[PeopleTable, str]:
        found = hub.seat(secret)
        if found is None or not found[0].person(found[1]):
            raise HTTPException(404, "There is no such seat, or nobody has taken it.")
        return found

    def check_host(secret: str) -> None:
        if not hub.is_host(secret):
            raise HTTPException(404, "There is no such page. Check the link: it must be complete.")

    @router.get("/seat/{secret}/withdraw")
    async def ask(request: Request, secret: str) -> Response:
        table, name = seat_of(secret)
        values: dict[str, Any] = {"state": table.state.value, "leaving": table.leaving(name)}
        values["gone"] = has_left(table.person(name))
        values |= {"base": f"/seat/{secret}", "form_token": forms.token(secret)}
        return page(request, "play/withdraw.html", **values)

    @router.post("/seat/{secret}/withdraw")
    async def withdraw(request: Request, secret: str) -> Response:
        table, name = seat_of(secret)
        await forms.sent(request, secret)
        await table.withdraw(name)
        free = not table.person(name)
        return RedirectResponse(link(request, f"/seat/{secret}{'' if free else '/withdraw'}"), 303)

    @router.get("/host/{secret}/withdraw")
    async def people(request: Request, secret: str) -> Response:
        check_host(secret)
        seats = [  # without their names in the game: a host may be at the table, too
            {"table": table.id, "person": table.person(name), "leaving": table.leaving(name)}
            for table in hub.tables.values()
            for name in sorted(table.seats, key=table.person)
            if table.person(name)
        ]
        values: dict[str, Any] = {"base": f"/host/{secret}", "form_token": forms.token(secret), "seats": seats}
        return page(request, "play/withdraw_any.html", **values)

    @router.post("/host/{secret}/withdraw")
    async def withdraw_any(request: Request, secret: str) -> Response:
        check_host(secret)
        given = await forms.sent(request, secret)
        table, person = hub.tables.get(str(given.get("table", ""))), str(given.get("person", ""))
        named = [name for name in table.seats if table.person(name) == person] if table and person else []
        if table is None or not named:
            raise HTTPException(404, "There is nobody of that name at that table.")
        for name in named:
            await table.withdraw(name)
        return RedirectResponse(link(request, f"/host/{secret}/withdraw"), 303)

    return router
