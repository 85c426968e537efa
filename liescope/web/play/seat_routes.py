"""The pages of one seat, behind its secret link: taking it, playing, the end, and withdrawing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.datastructures import FormData

from liescope.common.errors import UsageError
from liescope.common.model_names import consent_hash
from liescope.games.core import Ask
from liescope.games.game_registry import find_game
from liescope.generate.players.human import suggested
from liescope.web.play.all_tables import Hub
from liescope.web.play.people_table import PeopleTable
from liescope.web.play.seat_lines import chairs, form_of, lines, role_of
from liescope.web.play.table_setup import rules_of
from liescope.web.play.tables_file import State, has_left
from liescope.web.site import Forms, link, page

PING_S = 15.0  # of silence, after which a stream says that it is still there
CALM_S = 0.03  # between two messages to a page; what happens meanwhile adds up to the next


@dataclass(frozen=True, slots=True)
class _SeatAt:
    """A seat that a request is about."""

    secret: str
    table: PeopleTable
    name: str

    @property
    def base(self) -> str:
        return f"/seat/{self.secret}"


def seat_routes(hub: Hub) -> APIRouter:
    """The routes under /seat/SECRET."""
    router = APIRouter(prefix="/seat/{secret}")
    forms = Forms(hub.form_secret.encode())

    def place(secret: str) -> _SeatAt:
        found = hub.seat(secret)
        if found is None:
            raise HTTPException(404, "There is no such seat. Check the link: it must be complete.")
        return _SeatAt(secret, *found)

    def held(secret: str) -> _SeatAt:
        """A seat that somebody holds or may still take: what a program sees in it is for nobody's eyes."""
        at = place(secret)
        if at.table.state is not State.LOBBY and not at.table.person(at.name):
            raise HTTPException(404, "Nobody has taken this seat. Load the page again.")
        return at

    def taken(secret: str) -> _SeatAt:
        """A seat that somebody has taken."""
        at = place(secret)
        if not at.table.person(at.name):
            raise HTTPException(404, "There is no such seat, or nobody has taken it.")
        return at

    async def sent(request: Request, secret: str) -> tuple[_SeatAt, FormData]:
        return place(secret), await forms.sent(request, secret)

    def key_of(at: _SeatAt, ask: Ask) -> str:
        return forms.key(at.secret, (at.table.round, ask.step, ask.kind.value))

    def shown(at: _SeatAt) -> str:
        """Changes whenever a page as a whole does."""
        table = at.table
        return forms.key(at.secret, (table.state.value, table.round, table.here, table.leaving(at.name)))

    def common(at: _SeatAt) -> dict[str, Any]:
        table = at.table
        return {
            "base": at.base,
            "seat": at.name,
            "form_token": forms.token(at.secret),
            "names": list(table.setup.seats),
            "here": table.here,
            "people": len(table.seats),
            "state": table.state.value,
            "title": find_game(table.setup.game).title,
            "rules_file": rules_of(table.setup.game),
            "spec": table.spec,
            "patience": table.desk.patience,
            "leaving": table.leaving(at.name),
            "shown": shown(at),
        }

    def log_values(at: _SeatAt, after: int) -> dict[str, Any]:
        view = at.table.view(at.name)
        return {
            **common(at),
            "lines": list(lines(view, at.name, after)),
            "after": after,
            "last": len(view),
            "chairs": chairs(view, at.name),
            "role": role_of(view, at.name),
            "early": at.table.seats[at.name].answered is None,
        }

    def ask_values(at: _SeatAt, problem: str = "", given: FormData | None = None) -> dict[str, Any]:
        table = at.table
        waiting = table.desk.waiting(table.person(at.name))
        values: dict[str, Any] = {**common(at), "problem": problem, "given": dict(given or {}), "about": None}
        now = time.monotonic()
        if waiting is None or waiting.reply.done():
            stage, until = table.stage() or (None, now)
            asks = table.session.asks if table.session is not None else ()
            answered = table.seats[at.name].answered
            sent = answered is not None and answered[0] in [key_of(at, ask) for ask in asks if ask.seat == at.name]
            out = any(chair.out for chair in chairs(table.view(at.name), at.name) if chair.name == at.name)
            key = forms.key(at.secret, (table.round, stage.key if stage else "", table.state.value, out, sent))
            return {
                **values,
                "ask": None,
                "key": key,
                "stage": stage,
                "sent": sent,
                "out": out,
                "left": _left(until - now),
            }
        form = form_of(waiting.ask, table.setup.seats)
        if form.about is not None:
            values["about"] = next((e for e in table.view(at.name) if e.index == form.about), None)
        left = _left(waiting.ends - now)
        return {**values, "ask": form, "key": key_of(at, waiting.ask), "stage": None, "out": False, "left": left}

    def whole(request: Request, at: _SeatAt, asked: dict[str, Any], status: int = 200) -> Response:
        return page(request, "play/seat.html", status, **{**log_values(at, 0), **asked, "end": _end(at.table, at.name)})

    def taking(request: Request, at: _SeatAt, status: int = 200, problem: str = "", chosen: str = "") -> Response:
        name = chosen or suggested({at.table.person(seat) for seat in at.table.seats})
        values = {"consent": at.table.setup.consent, "problem": problem, "pseudonym": name}
        return page(request, "play/take.html", status, **common(at), **values)

    @router.get("")
    async def seat(request: Request, secret: str) -> Response:
        at = place(secret)
        table, person = at.table, at.table.seats[at.name].kept
        if person.pseudonym is None:
            return taking(request, at)
        table.back(at.name)
        if table.state is State.LOBBY:
            return page(request, "play/lobby.html", **common(at), pseudonym=person.pseudonym)
        return whole(request, at, ask_values(at))

    @router.post("/take")
    async def take(request: Request, secret: str) -> Response:
        at, given = await sent(request, secret)
        chosen = str(given.get("pseudonym", ""))
        try:
            if given.get("agree") != "yes":
                raise UsageError("You can only play if you agree.")
            at.table.take(at.name, chosen, consent_hash(at.table.setup.consent))
        except UsageError as error:
            return taking(request, at, 422, str(error), chosen)
        return RedirectResponse(link(request, at.base), 303)

    @router.get("/take")
    @router.get("/answer")
    async def form(request: Request, secret: str) -> Response:
        """What a browser asks for where the answer to a form is loaded by its address."""
        return RedirectResponse(link(request, place(secret).base), 303)

    @router.get("/log")
    async def log(request: Request, secret: str, after: int = 0) -> HTMLResponse:
        return page(request, "play/news.html", **log_values(held(secret), after))

    @router.get("/ask")
    async def ask(request: Request, secret: str, have: str = "") -> Response:
        """What is asked now, unless the page has it: what somebody is typing is never replaced."""
        values = ask_values(held(secret))
        if values["key"] == have:
            return Response(status_code=204, headers={"X-Left": str(values["left"])})
        return page(request, "play/ask.html", **values)

    @router.get("/again")
    async def again(secret: str) -> Response:
        """Tells an open page to load itself anew."""
        place(secret)
        return Response(status_code=204, headers={"HX-Refresh": "true"})

    @router.post("/here")
    async def here(request: Request, secret: str) -> Response:
        """Somebody does something on the page, or has come back to it."""
        at, _ = await sent(request, held(secret).secret)
        at.table.back(at.name)
        return Response(status_code=204)

    @router.post("/answer")
    async def answer(request: Request, secret: str) -> Response:
        at, given = await sent(request, held(secret).secret)
        fields = {name: str(value) for name, value in given.items() if name not in ("form", "key")}
        partly = "HX-Request" in request.headers
        try:
            await at.table.answer(at.name, str(given.get("key", "")), fields, partial(key_of, at))
        except UsageError as error:
            values = ask_values(at, str(error), given)
            return page(request, "play/ask.html", 422, **values) if partly else whole(request, at, values, 422)
        if partly:
            return Response(status_code=204, headers={"HX-Trigger": "answered"})
        return RedirectResponse(link(request, at.base), 303)

    @router.get("/withdraw")
    async def ask_withdrawal(request: Request, secret: str) -> Response:
        at = taken(secret)
        gone = has_left(at.table.person(at.name))
        return page(request, "play/withdraw.html", **common(at), gone=gone)

    @router.post("/withdraw")
    async def withdraw(request: Request, secret: str) -> Response:
        at, _ = await sent(request, taken(secret).secret)
        await at.table.withdraw(at.name)
        free = not at.table.person(at.name)
        return RedirectResponse(link(request, f"{at.base}{'' if free else '/withdraw'}"), 303)

    @router.get("/events")
    async def events(secret: str, have: str = "") -> StreamingResponse:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # no proxy is to wait for more
        return StreamingResponse(told(held(secret), have), media_type="text/event-stream", headers=headers)

    async def told(at: _SeatAt, have: str) -> AsyncIterator[str]:
        """What has changed, for as long as the page is open. It says that something has, and never what. have: what
        `shown` was when the page was made: it may have changed before its stream, or while the connection was lost.
        """
        with at.table.listening(at.name) as listener:
            yield _message("log") + _message("ask")
            if have and have != shown(at):
                yield _message("page")
            while not (hub.stopping or listener.ended):
                try:
                    async with asyncio.timeout(PING_S):
                        what = await listener.next()
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                yield "".join(map(_message, sorted(what - {""})))
                await asyncio.sleep(CALM_S)

    return router


def _message(event: str) -> str:
    return f"event: {event}\ndata: 1\n\n"


def _left(seconds: float) -> int:
    return max(round(seconds), 0)


def _end(table: PeopleTable, name: str) -> dict[str, Any] | None:
    """Who was who, and whether this seat has won, once the game has ended; None before."""
    record = table.record()
    if record is None or not table.over or record.outcome is None:
        return None
    winners = record.outcome.winners
    return {
        "winner": record.outcome.winner,
        "reason": record.outcome.reason,
        "won": name in winners,
        "seats": [(seat.name, seat.role, seat.name in winners, seat.source.value) for seat in record.seats],
    }
