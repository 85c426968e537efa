"""The form by which a host makes a table: its fields are the options that the game declares, and a few of the table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from liescope.common.errors import LiescopeError, UsageError
from liescope.common.settings import Setting
from liescope.games.registry import find_game
from liescope.web.play.setup import Setup, can_spare, make_setup

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
            "scripted:steady",
        ),
        FormField("filler", "Who takes the seat of a person who does not come", WORDS, "scripted:steady"),
        FormField("words", "Seconds to say something", NUMBER, "180", 5),
        FormField("choices", "Seconds for anything else", NUMBER, "90", 5),
        FormField("away", "Seconds for a person who has missed two questions in a row", NUMBER, "15", 1),
        *(
            [FormField("mortal", "The first night, which is drawn, may kill people, too", SWITCH, "")]
            if can_spare(game)
            else ()
        ),
    )
    options = (option for option in played.options if option.name != "spared")  # their seats are drawn later
    return TableForm(game, fields, tuple(_field(option, getattr(played.spec, option.name)) for option in options))


def read_setup(game: str, given: Mapping[str, str]) -> Setup:
    """The table that a sent form asks for. Raises Refused, with the form to be shown again."""
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
