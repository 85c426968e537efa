"""The pages of one game: the game itself, a call of it, two games side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from liescope.common.errors import LiescopeError, UnknownName
from liescope.common.text import plain
from liescope.games.record import GameRecord
from liescope.generate.runs.moment import CallPrompt
from liescope.web.event_words import all_looks, look_through
from liescope.web.site import link, page
from liescope.web.view.game_page import shown
from liescope.web.view.game_sources import GameSource, Opened, ViewedGame, id_of, path_of
from liescope.web.view.page_parts import CallPlace, Choices, PageMoment, Said, ShownGame

SHARED, DIFFERENT_WORDS, ALONE = "shared", "another course", "only here"
DIFFERENT_LABELS, DIFFERENT_RATINGS = "other labels", "the same labels, other ratings"


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """What happened at one place of the log in each of two games, or None. how: one of the words above; labels:
    the names of those that differ.
    """

    index: int
    left: PageMoment | None
    right: PageMoment | None
    how: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring rows, all shared or none. title: where the stretch begins."""

    shared: bool
    title: str
    rows: tuple[ComparedPair, ...]


def compared(left: ShownGame, right: ShownGame) -> tuple[Stretch, ...]:
    """The moments of two games by their place in the log, what they share gathered so that it can be folded."""
    ours, theirs = dict(_placed(left)), dict(_placed(right))
    pairs = []
    for index in sorted({*ours, *theirs}):
        (title, here), (other, there) = ours.get(index, ("", None)), theirs.get(index, ("", None))
        pairs.append((title or other, _row(index, here, there)))
    stretches = ((shared, list(some)) for shared, some in groupby(pairs, key=lambda pair: pair[1].how == SHARED))
    return tuple(Stretch(shared, some[0][0], tuple(row for _, row in some)) for shared, some in stretches)


def _placed(game: ShownGame) -> Iterator[tuple[int, tuple[str, PageMoment]]]:
    for section in game.sections:
        for moment in section.moments:
            yield moment.index, (section.title, moment)


def _row(index: int, left: PageMoment | None, right: PageMoment | None) -> ComparedPair:
    if left is None or right is None:
        return ComparedPair(index, left, right, ALONE)
    if left == right:
        return ComparedPair(index, left, right, SHARED)
    if _bare(left) != _bare(right):
        return ComparedPair(index, left, right, DIFFERENT_WORDS)
    pairs = zip(left.labels, right.labels, strict=False) if isinstance(left, Said) and isinstance(right, Said) else ()
    differing = tuple(one.name for one, other in pairs if one != other)
    return ComparedPair(index, left, right, DIFFERENT_LABELS if differing else DIFFERENT_RATINGS, differing)


def _bare(moment: PageMoment) -> tuple[object, ...]:
    """What happened, without what anybody says of it."""
    match moment:
        case Said():
            return moment.actor, "".join(piece.text for piece in moment.pieces), moment.to
        case Choices():
            return tuple((one.actor, one.target, one.bid) for one in moment.entries)
    return moment.words, moment.saw


Switch = Literal["on", "off"] | None


def game_address(request: Request, game_id: str) -> str:
    """Where the page of a game is."""
    return link(request, f"/games/{quote(path_of(game_id))}")


def game_routes(opened: Opened, beside: Opened | None = None) -> APIRouter:
    """The pages of single games. beside: where the second of two compared games comes from, if not from the same."""
    router = APIRouter()
    second = beside or opened
    source = opened.source

    @router.get("/games/{path:path}", response_class=HTMLResponse)
    def game(request: Request, path: str, eyes: str = "", labels: Switch = None) -> HTMLResponse:
        game_id = id_of(path)
        replies = dict(source.begun()).get(game_id, 0)
        viewed = opened.game(game_id)
        look = look_through(viewed.record, eyes, None if labels is None else labels == "on")
        values = _values(request, viewed, shown(viewed, look))
        so_far = urlencode({"game": game_id, "replies": replies})
        values["to_news"] = link(request, f"/news?{so_far}") if viewed.under_way else ""
        return page(request, "game.html", source=source.name, **values)

    @router.get("/news", response_class=HTMLResponse)
    def news(request: Request, game: str, replies: int) -> Response:
        """Whether a game under way has moved on since a page of it was made, as words for that page."""
        if dict(source.begun()).get(game) == replies:
            return Response(status_code=204)
        return page(request, "game_news.html")

    @router.get("/calls", response_class=HTMLResponse)
    def call(request: Request, game: str, step: Annotated[int, Query(lt=2**31)], seat: str) -> HTMLResponse:
        viewed = source.game(game)
        asked, why = _asked(source, viewed, step, seat)
        made = [one for one in viewed.calls if (one["step"], one["seat"]) == (step, seat)]
        if not made:
            raise UnknownName("call", f"step {step}, {seat}", ())
        template = "call.html" if "hx-request" in request.headers else "call_page.html"
        values: dict[str, Any] = {"step": step, "seat": seat, "tries": made, "asked": asked, "why": why}
        return page(request, template, game_id=game, back=game_address(request, game), **values)

    @router.get("/compare", response_class=HTMLResponse)
    def compare(request: Request, left: str, right: str = "") -> HTMLResponse:
        one = opened.game(source.find(left))
        other = second.game(second.source.find(right or left)) if right or beside else None
        sides = None if other is None else (shown(one), shown(other))
        values: dict[str, Any] = {
            "sides": sides,
            "rows": compared(*sides) if sides else (),
            "names": (source.name, second.source.name),
        }
        return page(request, "compare.html", left=one.record.game_id, **values)

    return router


def _asked(source: GameSource, viewed: ViewedGame, step: int, seat: str) -> tuple[CallPrompt | None, str]:
    """The prompt of a call, or why it cannot be shown."""
    if not viewed.has_prompts:
        return None, "This source holds no prompts: they are in the run that the games come from."
    try:
        return source.prompt(viewed.record.game_id, step, seat), ""
    except LiescopeError as error:
        return None, plain(str(error))


def _values(request: Request, viewed: ViewedGame, game: ShownGame) -> dict[str, Any]:
    """What the template of a game needs besides the game."""
    address = game_address(request, game.game_id)

    def to_look(eyes: str, labels: bool | None) -> str:
        asked = {"eyes": eyes} if eyes else {}
        if labels is not None and labels != (not eyes):
            asked["labels"] = "on" if labels else "off"
        return f"{address}?{urlencode(asked)}" if asked else address

    def to_call(call: CallPlace) -> str:
        return link(request, f"/calls?{urlencode({'game': game.game_id, 'step': call.step, 'seat': call.seat})}")

    return {
        "game": game,
        "looks": tuple(all_looks(viewed.record)),
        "to_look": to_look,
        "to_call": to_call if game.calls else None,
        "to_compare": link(request, f"/compare?{urlencode({'left': game.game_id})}"),
        "no_calls": no_calls(viewed.record),
    }


def no_calls(record: GameRecord) -> str:
    """Why no prompts or raw replies are shown."""
    where = (
        "its source keeps none" if any(seat.source.value == "imported" for seat in record.seats) else "none were kept"
    )
    return f"No prompts or raw replies of this game can be shown: {where}."
