"""The pages of one seat, behind its secret link: taking it, playing, the end, and withdrawing.

An open page asks every second for news. Without news it gets nothing, so that what somebody is typing is never
replaced.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response
from starlette.datastructures import FormData

from liescope.common.errors import UsageError
from liescope.common.model_names import consent_hash
from liescope.games.core import Ask
from liescope.games.game_registry import find_game
from liescope.games.narration import lines
from liescope.games.record import Status
from liescope.generate.players.human import suggested
from liescope.web.play.game_setup import State, has_left, rules_of
from liescope.web.play.hosted_games import HostedGame
from liescope.web.play.seat_lines import chairs, form_of, role_of
from liescope.web.site import SecretPage, page

_NOTHING = 204


@dataclass(frozen=True, slots=True)
class SeatPage(SecretPage):
    """A seat that a request is about."""

    at = "/seat"
    hosted: HostedGame
    name: str

    @property
    def shown(self) -> str:
        """Changes whenever the page as a whole does."""
        hosted = self.hosted
        return self.forms.key(self.secret, (hosted.state.value, hosted.round, hosted.here, hosted.leaving(self.name)))

    def key_of(self, ask: Ask) -> str:
        """The key of the form for an ask."""
        return self.forms.key(self.secret, (self.hosted.round, ask.step, ask.kind.value))

    def about(self) -> dict[str, Any]:
        """What every page of the seat says."""
        hosted, game = self.hosted, find_game(self.hosted.setup.game)
        return {
            **SecretPage.about(self),
            "seat": self.name,
            "names": list(hosted.setup.seats),
            "here": hosted.here,
            "people": len(hosted.seats),
            "state": hosted.state.value,
            "title": game.title,
            "rules_file": rules_of(hosted.setup.game),
            "spec": game.resolve(hosted.setup.options),
            "patience": hosted.desk.patience,
            "leaving": hosted.leaving(self.name),
            "shown": self.shown,
        }

    def log(self, after: int) -> dict[str, Any]:
        """What the seat has seen since its first `after` events."""
        view = self.hosted.view(self.name)
        return {
            "lines": list(lines(view, self.name, after)),
            "after": after,
            "last": len(view),
            "chairs": chairs(view, self.name),
            "role": role_of(view, self.name),
            "early": not self.hosted.seats[self.name].answered,
        }

    def asked(self, problem: str = "", given: FormData | None = None) -> dict[str, Any]:
        """The question that waits for this seat, or what is going on. problem: with what was given to it."""
        hosted, now = self.hosted, time.monotonic()
        waiting = hosted.desk.waiting(hosted.person(self.name))
        values: dict[str, Any] = {"problem": problem, "given": dict(given or {}), "about": None, "ask": None}
        if waiting is None or waiting.reply.done():
            stage, until = hosted.stage() or (None, now)
            asks = hosted.session.asks if hosted.session is not None else ()
            keys = [self.key_of(ask) for ask in asks if ask.seat == self.name]
            answered = hosted.seats[self.name].answered
            sent = answered is not None and answered[0] in keys
            out = any(chair.out for chair in chairs(hosted.view(self.name), self.name) if chair.name == self.name)
            seen = (hosted.round, stage.key if stage else "", hosted.state.value, out, sent)
            values |= {"key": self.forms.key(self.secret, seen), "stage": stage, "sent": sent, "out": out}
            return {**values, "left": _left(until - now)}
        form = form_of(waiting.ask, hosted.setup.seats)
        if form.about is not None:
            values["about"] = next((e for e in hosted.view(self.name) if e.index == form.about), None)
        values |= {"ask": form, "key": self.key_of(waiting.ask), "stage": None, "out": False}
        return {**values, "left": _left(waiting.ends - now)}

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        return page(self.request, f"play/{template}", status, **self.about(), **values)

    def whole(self, asked: dict[str, Any], status: int = 200) -> Response:
        return self.page("seat.html", status, **self.log(0), **asked, end=_end(self.hosted, self.name))

    def taking(self, status: int = 200, problem: str = "", chosen: str = "") -> Response:
        name = chosen or suggested({self.hosted.person(seat) for seat in self.hosted.seats})
        return self.page("take.html", status, consent=self.hosted.setup.consent, problem=problem, pseudonym=name)


def _left(seconds: float) -> int:
    return max(round(seconds), 0)


def _end(hosted: HostedGame, name: str) -> dict[str, Any] | None:
    """Who was who, and whether this seat has won, once the game has ended; None before."""
    record = hosted.record()
    if record is None or record.status is not Status.DONE or record.outcome is None:
        return None
    winners = record.outcome.winners
    return {
        "winner": record.outcome.winner,
        "reason": record.outcome.reason,
        "won": name in winners,
        "seats": [(seat.name, seat.role, seat.name in winners, seat.source.value) for seat in record.seats],
    }


def _any(request: Request, secret: str) -> SeatPage:
    found = request.app.state.hub.seats.get(secret)
    if found is None:
        raise HTTPException(404, "There is no such seat. Check the link: it must be complete.")
    return SeatPage(request, secret, *found)


AnySeat = Annotated[SeatPage, Depends(_any)]


def _held(at: AnySeat) -> SeatPage:
    if at.hosted.state is not State.LOBBY and not at.hosted.person(at.name):
        raise HTTPException(404, "Nobody has taken this seat. Load the page again.")
    return at


def _taken(at: AnySeat) -> SeatPage:
    if not at.hosted.person(at.name):
        raise HTTPException(404, "There is no such seat, or nobody has taken it.")
    return at


async def _sent(at: AnySeat) -> FormData:
    return await at.forms.sent(at.request, at.secret)


Held = Annotated[SeatPage, Depends(_held)]
"""A seat that somebody holds or may still take: what a program sees in it is for nobody's eyes."""
Taken = Annotated[SeatPage, Depends(_taken)]
Sent = Annotated[FormData, Depends(_sent)]
"""The fields of a form of the seat's own page."""
router = APIRouter(prefix="/seat/{secret}")


@router.get("")
async def seat(at: AnySeat) -> Response:
    if not at.hosted.person(at.name):
        return at.taking()
    at.hosted.back(at.name)
    if at.hosted.state is State.LOBBY:
        return at.page("lobby.html", pseudonym=at.hosted.person(at.name))
    return at.whole(at.asked())


@router.post("/take")
async def take(at: AnySeat, given: Sent) -> Response:
    chosen = str(given.get("pseudonym", ""))
    try:
        if given.get("agree") != "yes":
            raise UsageError("You can only play if you agree.")
        at.hosted.take(at.name, chosen, consent_hash(at.hosted.setup.consent))
    except UsageError as error:
        return at.taking(422, str(error), chosen)
    return at.back()


@router.get("/take")
@router.get("/answer")
async def form(at: AnySeat) -> Response:
    """The page that a browser gets if it loads a form's address directly."""
    return at.back()


@router.get("/log")
async def log(at: Held, after: int = 0) -> Response:
    """The lines after those that the page has."""
    if after == len(at.hosted.view(at.name)):
        return Response(status_code=_NOTHING)
    return at.page("news.html", **at.log(after))


@router.get("/ask")
async def ask(at: Held, have: str = "", shown: str = "") -> Response:
    """What is asked now, unless the page has it. shown: the state that the page was made from; if that has changed, the
    page has to reload.
    """
    at.hosted.seats[at.name].asked = time.monotonic()
    if shown and shown != at.shown:
        return Response(status_code=_NOTHING, headers={"HX-Refresh": "true"})
    asked = at.asked()
    if asked["key"] == have or at.hosted.state is not State.PLAYING:
        return Response(status_code=_NOTHING, headers={"X-Left": str(asked["left"])})
    return at.page("ask.html", **asked)


@router.post("/here")
async def here(at: Held, given: Sent) -> Response:  # noqa: ARG001
    """Somebody does something on the page, or has come back to it."""
    at.hosted.back(at.name)
    return Response(status_code=_NOTHING)


@router.post("/answer")
async def answer(at: Held, given: Sent) -> Response:
    fields = {name: str(value) for name, value in given.items() if name not in ("form", "key")}
    partly = "HX-Request" in at.request.headers
    try:
        await at.hosted.answer(at.name, str(given.get("key", "")), fields, at.key_of)
    except UsageError as error:
        asked = at.asked(str(error), given)
        return at.page("ask.html", 422, **asked) if partly else at.whole(asked, 422)
    return Response(status_code=_NOTHING, headers={"HX-Trigger": "answered"}) if partly else at.back()


@router.get("/withdraw")
async def ask_withdrawal(at: Taken) -> Response:
    return at.page("withdraw.html", gone=has_left(at.hosted.person(at.name)))


@router.post("/withdraw")
async def withdraw(at: Taken, given: Sent) -> Response:  # noqa: ARG001
    await at.hosted.withdraw(at.name)
    return at.back("/withdraw" if at.hosted.person(at.name) else "")
