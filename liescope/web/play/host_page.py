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
from fastapi.responses import HTMLResponse, Response
from pydantic import Field
from starlette.datastructures import FormData

from liescope.common.errors import LiescopeError
from liescope.common.key_finder import hide_secrets
from liescope.common.settings import OptionsModel, Setting, settings_of
from liescope.games.game_registry import GAMES, find_game
from liescope.web.play.game_setup import FILLER, PERSON, Setup, State, check_players, make_setup
from liescope.web.play.hosted_games import HostedGame, Hub
from liescope.web.site import SecretPage, fragment, link, page


class SeatsOfGame(OptionsModel):
    """Who plays; the rest of the form are the fields of `Setup` and the options that the game declares."""

    people: int = Field(default=1, ge=1, description="People; the other seats go to the players below")
    players: str = Field(
        default=FILLER, description="Players of the other seats, in turn, one a line: scripted:bold, openai:MODEL …"
    )


@dataclass(frozen=True, slots=True)
class SetupForm:
    """A form as it is shown. given: what was typed, by field, None for the defaults; problem: what is wrong with it."""

    game: str
    given: Mapping[str, str] | None = None
    problem: str = ""

    @property
    def fields(self) -> list[Setting]:
        """Who plays, and how long the game waits."""
        declared = {**settings_of(SeatsOfGame), **settings_of(Setup)}
        return [_named(each) for each in declared.values()]

    @property
    def options(self) -> list[Setting]:
        """The options of the game; whom the first night spares is drawn later."""
        game = find_game(self.game)
        shown = (option for option in game.options if option.name != "spared")
        return [replace(_named(option), default=getattr(game.spec, option.name)) for option in shown]

    def text(self, field: Setting) -> str:
        """What stands in a field; a switch that is off is not sent at all."""
        if self.given is None or (field.name not in self.given and field.type is not bool):
            return _text(field.default)
        return self.given.get(field.name, "").strip()

    def setup(self) -> Setup:
        """The game that the form asks for. Raises LiescopeError for an impossible one."""
        said = {field.name: self._read(field) for field in self.fields}
        changed = [option for option in self.options if self.text(option) != _text(option.default)]
        options = {option.name: self._read(option) for option in changed}
        players = [spec for line in said.pop("players").splitlines() if (spec := line.strip())]
        return make_setup(self.game, said.pop("people"), players, options, **said)

    def _read(self, field: Setting) -> Any:
        return field.checked(bool(self.text(field)) if field.type is bool else self.text(field))


def _named(setting: Setting) -> Setting:
    """The setting under its label, which stands for its option in messages, too."""
    return replace(setting, flag=setting.help.rstrip("."))


def _text(value: Any) -> str:
    """A value as a field shows it."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value or 0:g}" if isinstance(value, float | None) else str(value)


@dataclass(frozen=True, slots=True)
class HostPage(SecretPage):
    """The host's page."""

    at = "/host"

    @property
    def hub(self) -> Hub:
        return self.request.app.state.hub  # type: ignore[no-any-return]

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
    return at.whole(form=SetupForm(game) if game in GAMES else None)


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
    form = SetupForm(game, {name: str(value) for name, value in given.items()})
    try:
        setup = form.setup()
        await check_players(setup)
    except LiescopeError as error:
        shown = {name: hide_secrets(value) for name, value in (form.given or {}).items()}
        return at.whole(422, replace(form, given=shown, problem=str(error)))
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
