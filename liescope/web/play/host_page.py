"""The host's page, behind its secret link: hosted games, their links and their beginning; and the form that
makes a game, whose fields are the options that the game declares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import FormData

from liescope.common.errors import LiescopeError, UsageError
from liescope.common.settings import Setting
from liescope.games.game_registry import GAMES, find_game
from liescope.web.play.game_setup import FILLER, PERSON, Setup, State, can_spare, check_players, make_setup
from liescope.web.play.hosted_games import HostedGame, Hub
from liescope.web.site import Forms, fragment, link, page

NUMBER, WORDS, LINES, SWITCH = "number", "words", "lines", "switch"
_LONGEST = 2000  # characters of one field


@dataclass(frozen=True, slots=True)
class FormField:
    """One field. kind: how it is shown; value: what stands in it, "yes" or "" for a switch."""

    name: str
    label: str
    kind: str
    value: str
    least: float = 0
    whole: bool = True

    def filled(self, given: Mapping[str, str]) -> FormField:
        """The field with what was typed into it. A switch that is off is not sent at all."""
        words = given.get(self.name, "" if self.kind == SWITCH else self.value)
        return replace(self, value=words.strip()[:_LONGEST])

    def read(self) -> Any:
        """What the field says. Raises UsageError for an invalid number, or one that is too small."""
        if self.kind != NUMBER:
            return self.value == "yes" if self.kind == SWITCH else self.value
        kind = "a whole number" if self.whole else "a number"
        try:
            number: float = int(self.value) if self.whole else float(self.value)
        except ValueError:
            raise UsageError(f"{self.label}: {self.value[:40]!r} is not {kind}") from None
        if not self.least <= number <= 10**6:
            raise UsageError(f"{self.label}: {kind} from {self.least:g} to a million")
        return number


@dataclass(frozen=True, slots=True)
class SetupForm:
    """A form as it is shown. fields: who plays, and how long it waits; options: those that the game declares; problem:
    what is wrong with what was sent.
    """

    game: str
    fields: tuple[FormField, ...]
    options: tuple[FormField, ...]
    problem: str = ""

    def filled(self, given: Mapping[str, str]) -> SetupForm:
        """The form as somebody sent it."""
        fields, options = (tuple(field.filled(given) for field in part) for part in (self.fields, self.options))
        return replace(self, fields=fields, options=options)

    def setup(self) -> Setup:
        """The game that the form asks for. Raises LiescopeError for an impossible one."""
        usual = blank(self.game)
        said = {field.name: field.read() for field in self.fields}
        changed = {
            field.name: field.read() for field, was in zip(self.options, usual.options, strict=True) if field != was
        }
        players = [spec for line in said.pop("players").splitlines() if (spec := line.strip())]
        return make_setup(self.game, said.pop("people"), players, changed, **said)


def blank(game: str) -> SetupForm:
    """The empty form for a game. Raises UnknownName for an unknown game."""
    played = find_game(game)
    seats = len(played.spec.seats())
    words, choices, away = (f"{Setup.model_fields[name].default:g}" for name in ("words", "choices", "away"))
    fields = [
        FormField("people", f"People (the other seats of {seats} go to the players below)", NUMBER, "1", 1),
        FormField("players", "Players of the other seats, in turn, one a line: scripted:bold, openai:MODEL …", LINES,
                  FILLER),
        FormField("filler", "Who takes the seat of a person who does not come", WORDS, FILLER),
        FormField("words", "Seconds to say something", NUMBER, words, 5),
        FormField("choices", "Seconds for anything else", NUMBER, choices, 5),
        FormField("away", "Seconds for a person who has missed two questions in a row", NUMBER, away, 1),
    ]  # fmt: skip
    if can_spare(game):
        fields.append(FormField("mortal", "The first night, which is drawn, may kill people, too", SWITCH, ""))
    options = (option for option in played.options if option.name != "spared")  # their seats are drawn later
    shown = tuple(_field(option, getattr(played.spec, option.name)) for option in options)
    return SetupForm(game, tuple(fields), shown)


def _field(option: Setting, default: Any) -> FormField:
    label = option.help.rstrip(".")
    if option.type is bool:
        return FormField(option.name, label, SWITCH, "yes" if default else "")
    if option.type in (int, float):
        shown = f"{0 if default is None else default:g}"
        return FormField(option.name, label, NUMBER, shown, option.at_least or 0, option.type is int)
    return FormField(option.name, label, WORDS, ", ".join(default))


@dataclass(frozen=True, slots=True)
class HostPage:
    """The host's page, as a request asks for it."""

    request: Request
    secret: str

    @property
    def hub(self) -> Hub:
        return self.request.app.state.hub  # type: ignore[no-any-return]

    @property
    def forms(self) -> Forms:
        return self.request.app.state.forms  # type: ignore[no-any-return]

    def about(self) -> dict[str, Any]:
        return {"base": f"/host/{self.secret}", "form_token": self.forms.token(self.secret)}

    def games(self) -> tuple[str, str]:
        """The games as they are now, and what changes with them."""
        request = self.request
        here = f"{request.url.scheme}://{request.url.netloc}{link(request, '')}"
        there = [hosted for hosted in reversed(self.hub.hosted.values()) if hosted.state is not State.CLOSED]
        there.sort(key=lambda hosted: hosted.state is not State.PAUSED)  # those that need the host come first
        games = [_shown(hosted, request.app.state.public or here) for hosted in there]
        now = fragment(request, "play/tables.html", **self.about(), games=games)
        return now, sha256(now.encode()).hexdigest()[:16]

    def whole(self, status: int = 200, form: SetupForm | None = None, problem: str = "") -> Response:
        now, have = self.games()
        shown = {"hosted": now, "have": have, "form": form, "problem": problem, "games": GAMES}
        return page(self.request, "play/host.html", status, **self.about(), **shown)

    def back(self, path: str = "") -> Response:
        return RedirectResponse(link(self.request, f"/host/{self.secret}{path}"), 303)


def _host(request: Request, secret: str) -> HostPage:
    if not request.app.state.hub.is_host(secret):
        raise HTTPException(404, "There is no such page. Check the link: it must be complete.")
    return HostPage(request, secret)


Host = Annotated[HostPage, Depends(_host)]


async def _sent(at: Host) -> FormData:
    return await at.forms.sent(at.request, at.secret)


Sent = Annotated[FormData, Depends(_sent)]
router = APIRouter(prefix="/host/{secret}")


@router.get("")
async def host(at: Host, game: str = "") -> Response:
    return at.whole(form=blank(game) if game in GAMES else None)


@router.get("/tables")
async def games(at: Host, have: str = "") -> Response:
    """The games as they are now, unless the page has them already: replacing them would disturb whoever is using the
    page.
    """
    now, mark = at.games()
    if mark == have:
        return Response(status_code=204)
    return HTMLResponse(f'<input type="hidden" name="have" value="{mark}">{now}')


@router.post("/add")
async def add(at: Host, given: Sent) -> Response:
    game = str(given.get("game", ""))
    if game not in GAMES:
        return at.whole(422, problem="Choose one of the games first.")
    form = blank(game).filled({name: str(value) for name, value in given.items()})
    try:
        setup = form.setup()
        await check_players(setup)
    except LiescopeError as error:
        return at.whole(422, replace(form, problem=str(error)))
    at.hub.add(setup)
    return at.back()


@router.get("/withdraw")
async def people(at: Host) -> Response:
    seats = [  # without their names in the game: a host may play, too
        {"table": hosted.id, "person": hosted.person(name), "leaving": hosted.leaving(name)}
        for hosted in at.hub.hosted.values()
        for name in sorted(hosted.seats, key=hosted.person)
        if hosted.person(name)
    ]
    return page(at.request, "play/withdraw_any.html", **at.about(), seats=seats)


@router.post("/withdraw")
async def withdraw(at: Host, given: Sent) -> Response:
    hosted, person = at.hub.hosted.get(str(given.get("table", ""))), str(given.get("person", ""))
    named = [name for name in hosted.seats if hosted.person(name) == person] if hosted and person else []
    if hosted is None or not named:
        raise HTTPException(404, "There is nobody of that name in that game.")
    for name in named:
        await hosted.withdraw(name)
    return at.back("/withdraw")


_ACTS = {
    "start": HostedGame.start,
    "again": HostedGame.again,
    "resume": HostedGame.resume,
    "end": HostedGame.end,
}


@router.post("/{game}/{what}")
async def act(at: Host, given: Sent, game: str, what: str) -> Response:  # noqa: ARG001
    if game not in at.hub.hosted or what not in _ACTS:
        raise HTTPException(404, "There is no such game.")
    try:
        _ACTS[what](at.hub.hosted[game])
    except LiescopeError as error:
        return at.whole(422, problem=f"{game}: {error}")
    return at.back()


def _shown(hosted: HostedGame, origin: str) -> dict[str, Any]:
    people = [
        (f"{origin}/seat/{seat.kept.secret}", seat.kept.pseudonym or "", seat.open)
        for seat in sorted(hosted.seats.values(), key=lambda seat: seat.kept.secret)
    ]
    others = Counter(spec for spec in hosted.setup.seats.values() if spec != PERSON)
    return {
        "id": hosted.id,
        "title": f"{hosted.setup.game}, game {hosted.round}" if hosted.round > 1 else hosted.setup.game,
        "state": hosted.state.value,
        "note": hosted.note,
        "waits": hosted.waits,
        "people": people,
        "here": hosted.here,
        "run": hosted.run.name,
        "others": ", ".join(f"{count} × {spec}" for spec, count in others.items()),
        "filler": hosted.setup.filler,
    }
