"""The host's page, behind its secret link: tables, their links and the beginning of their games; and the form that
makes a table, whose fields are the options that the game declares.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import FormData

from liescope.common.errors import LiescopeError, UsageError
from liescope.common.settings import Setting
from liescope.games.game_registry import GAMES, find_game
from liescope.web.play.all_tables import Hub
from liescope.web.play.people_table import PeopleTable
from liescope.web.play.table_setup import FILLER, PERSON, Setup, can_spare, check_players, make_setup
from liescope.web.play.tables_file import State
from liescope.web.site import Forms, fragment, link, page

NUMBER, WORDS, LINES, SWITCH = "number", "words", "lines", "switch"
_LONGEST = 2000  # characters of one field


@dataclass(frozen=True, slots=True)
class FormField:
    """One field. kind: how it is shown; value: what stands in it, "yes" or "" for a switch; problem: what is wrong."""

    name: str
    label: str
    kind: str
    value: str
    least: float | None = None
    whole: bool = True
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TableForm:
    """A form as it is shown. fields: of the table; options: of the game; problem: what is wrong with it as a whole;
    sent: whether somebody has filled it in.
    """

    game: str
    fields: tuple[FormField, ...]
    options: tuple[FormField, ...]
    problem: str = ""
    sent: bool = False


class RefusedForm(UsageError):
    """A form that makes no table. form: what was typed, with what is wrong beside it."""

    def __init__(self, form: TableForm) -> None:
        super().__init__("this form makes no table")
        self.form = form


def blank(game: str) -> TableForm:
    """The form for a table of a game. Raises UnknownName for no game."""
    played = find_game(game)
    seats = len(played.spec.seats())
    fields = (
        FormField("people", f"People (the other seats of {seats} go to the players below)", NUMBER, "1", 1),
        FormField(
            "players",
            "Players of the other seats, in turn, one a line: scripted:bold, openai:MODEL …",
            LINES,
            FILLER,
        ),
        FormField("filler", "Who takes the seat of a person who does not come", WORDS, FILLER),
        FormField("words", "Seconds to say something", NUMBER, _usual("words"), 5),
        FormField("choices", "Seconds for anything else", NUMBER, _usual("choices"), 5),
        FormField("away", "Seconds for a person who has missed two questions in a row", NUMBER, _usual("away"), 1),
        *(
            [FormField("mortal", "The first night, which is drawn, may kill people, too", SWITCH, "")]
            if can_spare(game)
            else ()
        ),
    )
    options = (option for option in played.options if option.name != "spared")  # their seats are drawn later
    return TableForm(game, fields, tuple(_field(option, getattr(played.spec, option.name)) for option in options))


def _usual(name: str) -> str:
    return f"{Setup.model_fields[name].default:g}"


def read_setup(game: str, given: Mapping[str, str]) -> Setup:
    """The table that a sent form asks for. Raises RefusedForm, with the form to be shown again."""
    empty, form = blank(game), _typed(game, given)
    if any(field.problem for field in (*form.fields, *form.options)):
        raise RefusedForm(form)
    said = {field.name: _value(field) for field in form.fields}
    changed = {
        field.name: _value(field) for field, was in zip(form.options, empty.options, strict=True) if field != was
    }
    players = [spec for line in said.pop("players").splitlines() if (spec := line.strip())]
    try:
        return make_setup(game, said.pop("people"), players, changed, **said)
    except LiescopeError as error:
        raise RefusedForm(replace(form, problem=str(error))) from error


def refused(game: str, given: Mapping[str, str], name: str, problem: str) -> TableForm:
    """A sent form, with what is wrong with one of its fields beside it."""
    form = _typed(game, given)
    fields = [replace(field, problem=problem) if field.name == name else field for field in form.fields]
    return replace(form, fields=tuple(fields))


def _typed(game: str, given: Mapping[str, str]) -> TableForm:
    form = blank(game)
    fields, options = (tuple(_filled(field, given) for field in part) for part in (form.fields, form.options))
    return replace(form, fields=fields, options=options, sent=True)


def _field(option: Setting, default: Any) -> FormField:
    label = option.help.rstrip(".")
    if option.type is bool:
        return FormField(option.name, label, SWITCH, "yes" if default else "")
    if option.type in (int, float):
        shown = f"{0 if default is None else default:g}"
        return FormField(option.name, label, NUMBER, shown, option.at_least or 0, option.type is int)
    return FormField(option.name, label, WORDS, ", ".join(default))


def _filled(field: FormField, given: Mapping[str, str]) -> FormField:
    """A field with what was typed into it. A switch that is off is not sent at all."""
    words = given.get(field.name, "" if field.kind == SWITCH else field.value).strip()[:_LONGEST]
    field = replace(field, value=words)
    return replace(field, problem=_wrong_number(field)) if field.kind == NUMBER else field


def _wrong_number(field: FormField) -> str:
    least = field.least or 0
    try:
        number = float(field.value) if len(field.value) < 12 and field.value.isascii() else math.nan
    except ValueError:
        number = math.nan
    if math.isnan(number) or number < least or number > 10**6 or (field.whole and number != int(number)):
        return f"This is {'a whole number' if field.whole else 'a number'}, at least {least:g}."
    return ""


def _value(field: FormField) -> Any:
    if field.kind == NUMBER:
        return int(float(field.value)) if field.whole else float(field.value)
    return field.value == "yes" if field.kind == SWITCH else field.value


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

    @router.get("/withdraw")
    async def people(request: Request, secret: str) -> Response:
        check(secret)
        seats = [  # without their names in the game: a host may be at the table, too
            {"table": table.id, "person": table.person(name), "leaving": table.leaving(name)}
            for table in hub.tables.values()
            for name in sorted(table.seats, key=table.person)
            if table.person(name)
        ]
        token = forms.token(secret)
        return page(request, "play/withdraw_any.html", base=f"/host/{secret}", form_token=token, seats=seats)

    @router.post("/withdraw")
    async def withdraw(request: Request, secret: str) -> Response:
        given = await sent(request, secret)
        table, person = hub.tables.get(str(given.get("table", ""))), str(given.get("person", ""))
        named = [name for name in table.seats if table.person(name) == person] if table and person else []
        if table is None or not named:
            raise HTTPException(404, "There is nobody of that name at that table.")
        for name in named:
            await table.withdraw(name)
        return RedirectResponse(link(request, f"/host/{secret}/withdraw"), 303)

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
