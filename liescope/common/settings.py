"""Settings, each declared once: the keywords of a function, a command's options, run.toml, messages and docs are made
of the declaration.

A settings class is a `TypedDict` whose fields carry a `Setting`:

    class FitSettings(TypedDict, total=False):
        draws: Annotated[int, Setting("Draws to keep of each chain.", 1000, at_least=1)]

A function takes them with `**settings: Unpack[FitSettings]` under `@takes(FitSettings)` and fills them in with
`resolve`; a command gets its options with `liescope.common.command_options.with_settings`. Classes compose by
inheritance.
"""

from __future__ import annotations

import inspect
import math
import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from liescope.common.errors import UnknownName, UsageError
from liescope.common.text import sentence

S = TypeVar("S", bound=Mapping[str, Any])
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. help: one or more sentences; default: its value where none is given; at_least, above, at_most: the
    limits of a number; group: the heading that it stands under; shown: its default in words; flag: its option, where
    the name does not tell; metavar: what stands for a value in the help; saved: whether run.toml keeps it; choices:
    the names that a shell completes, or what gives them.

    name, type and optional (None is a value) are read from the field that carries it.
    """

    help: str
    default: Any = None
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    group: str = ""
    shown: str = ""
    flag: str = ""
    metavar: str | None = None
    saved: bool = True
    choices: Iterable[str] | Callable[[], Iterable[str]] = ()
    name: str = ""
    type: Any = str
    optional: bool = True

    @property
    def option(self) -> str:
        """Its option on the command line, without the form that turns a switch off."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def limits(self) -> str:
        """The numbers that it may be, in words: "1 to 256", "1 or more", "above 0"; "" for all."""
        low, high = self.at_least, self.at_most
        if low is not None:
            return f"{low:,} or more" if high is None else f"{low:,} to {high:,}"
        words = [] if self.above is None else [f"above {self.above:,}"]
        return " and ".join([*words, *([] if high is None else [f"at most {high:,}"])])

    @property
    def notes(self) -> str:
        """What follows its help: the limits, and a default that needs words."""
        switch = self.type is bool and not self.flag and self.default is not None
        words = self.shown or (("on" if self.default else "off") if switch else "")
        return "".join(f" [{note}]" for note in (self.limits, words and f"default: {words}") if note)

    def checked(self, value: Any) -> Any:
        """The value, a list of it as a tuple. Raises UsageError for one that it may not be."""
        if value is None and self.optional:
            return None
        if get_origin(self.type) is list:
            return (value,) if isinstance(value, str | os.PathLike) else tuple(value)
        if get_origin(self.type) is Literal and value not in get_args(self.type):
            raise UnknownName(f"value of {self.option}", str(value), get_args(self.type))
        if self.type not in (int, float):
            return value
        kind, words = (Integral, "a whole number") if self.type is int else (Real, "a number")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise UsageError(f"{self.option} must be {words}, got {value!r}")
        if not self._allows(float(value)):
            shown = f"{value:,}" if self.type is int else f"{value:g}"
            raise UsageError(f"{self.option} must be {self.limits or 'a finite number'}, got {shown}")
        return value

    def _allows(self, number: float) -> bool:
        return (
            math.isfinite(number)
            and (self.at_least is None or number >= self.at_least)
            and (self.above is None or number > self.above)
            and (self.at_most is None or number <= self.at_most)
        )


@cache
def settings_of(declared: type) -> Mapping[str, Setting]:
    """The settings that a class declares, by name, in order: those of its bases first."""
    hints = get_type_hints(declared, include_extras=True)
    return {name: setting for name, hint in hints.items() if (setting := _read(name, hint)) is not None}


def _read(name: str, hint: Any) -> Setting | None:
    found = next((part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Setting)), None)
    if found is None:
        return None
    return replace(found, name=name, type=given_type(get_args(hint)[0]), optional=_may_be_none(get_args(hint)[0]))


def given_type(hint: Any) -> Any:
    """The type of a value that is typed in: X for `X | None`, Path for anything that may be a path, list for any
    sequence, str for what may also be a text.
    """
    parts = [part for part in _parts(hint) if part is not type(None)]
    if any(get_origin(part) is os.PathLike for part in parts):
        return Path
    if str in parts:
        return str
    (plain,) = parts
    return types.GenericAlias(list, (given_type(get_args(plain)[0]),)) if get_origin(plain) is Sequence else plain


def _parts(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _may_be_none(hint: Any) -> bool:
    return type(None) in _parts(hint)


def like(declared: type, name: str, **changed: Any) -> Setting:
    """The setting of another class, with other words or another heading."""
    return replace(settings_of(declared)[name], **changed)


def default_of(declared: type, name: str) -> Any:
    """The default of one setting."""
    return settings_of(declared)[name].default


def resolve(declared: type[S], given: Mapping[str, Any]) -> S:
    """What was given, checked, with the default of everything else.

    Raises UsageError for a value that a setting may not have, UnknownName for a setting that there is not.
    """
    settings = settings_of(declared)
    for name in given:
        if name not in settings:
            raise UnknownName("setting", name, settings)
    found = {name: each.checked(given[name]) if name in given else each.default for name, each in settings.items()}
    return cast(S, found)


def split(declared: type[S], given: Mapping[str, Any]) -> tuple[S, dict[str, Any]]:
    """What was given as `resolve` has it, and the rest, which belongs to others. Raises UsageError."""
    settings = settings_of(declared)
    own = resolve(declared, {name: value for name, value in given.items() if name in settings})
    return own, {name: value for name, value in given.items() if name not in settings}


def saved(declared: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a file may keep."""
    return {name: settings[name] for name, each in settings_of(declared).items() if each.saved}


def takes(declared: type, others: str = "") -> Callable[[F], F]:
    """Show in a function's signature and docstring which settings its `**settings` are. others: the name of what else
    it takes by keyword, in the signature.

    In the docstring, the entry `**settings` of the section Parameters stands for them.
    """

    def decorate(function: F) -> F:
        signature, settings = inspect.signature(function), settings_of(declared).values()
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        keywords = [
            inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
            for each in settings
        ]
        rest = [inspect.Parameter(others, inspect.Parameter.VAR_KEYWORD, annotation=Any)] if others else []
        function.__dict__["__signature__"] = signature.replace(parameters=[*own, *keywords, *rest])
        entries = "\n".join(line for each in settings for line in _documented(each))
        function.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("**settings", entries, 1)
        return function

    return decorate


def _documented(setting: Setting) -> Iterator[str]:
    kind = getattr(setting.type, "__name__", str(setting.type)) if not get_args(setting.type) else str(setting.type)
    yield f"{setting.name} : {kind}" + (f", default {setting.default!r}" if setting.default not in (None, ()) else "")
    yield f"    {setting.help}{setting.notes}"


def settings_table(declared: type | Sequence[Setting]) -> Iterator[str]:
    """The settings as lines of a Markdown table: option, default, limits, what it does."""
    yield "| option | default | limits | what it does |"
    yield "|---|---|---|---|"
    for each in settings_of(declared).values() if isinstance(declared, type) else declared:
        switch = isinstance(each.default, bool)
        plain = ("on" if each.default else "off") if switch else "" if each.default in (None, ()) else str(each.default)
        usual = each.shown or plain
        cells = (f"`{each.option}`", usual, each.limits, each.help)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


class OptionsModel(BaseModel):
    """The base of a declared set of options. A field's description is its help."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    general: ClassVar[frozenset[str]] = frozenset()
    """Fields that every command has an option of its own for."""

    @classmethod
    def of(cls, kind: str, given: Mapping[str, Any]) -> Self:
        """The options of `kind`. Raises UsageError, naming the option and its allowed values."""
        if odd := sorted(set(given) - set(cls.model_fields)):
            takes = ", ".join(_flag(name) for name in cls.model_fields if name not in cls.general) or "none of its own"
            raise UsageError(f"{kind} has no option {', '.join(map(_flag, odd))}; it takes {takes}")
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            why = first["msg"].removeprefix("Value error, ")
            raise UsageError(f"{kind}: {f'{_flag(name)}: ' if name else ''}{why}") from error


def declare(models: Mapping[str, type[OptionsModel]]) -> list[Setting]:
    """Command options of several kinds. An option that several kinds share appears once, under a heading that names
    them. Raises TypeError if two kinds give one option different types.
    """
    names = dict.fromkeys(name for model in models.values() for name in model.model_fields if name not in model.general)
    return [
        _declare(name, {kind: m.model_fields[name] for kind, m in models.items() if name in m.model_fields})
        for name in names
    ]


def _declare(name: str, fields: Mapping[str, FieldInfo]) -> Setting:
    found = {given_type(field.annotation) for field in fields.values()}
    if len(found) > 1:
        raise TypeError(f"the option {name!r} has another type in each of {', '.join(fields)}; give them one")
    described: dict[str, list[str]] = {}
    for kind, one in fields.items():
        described.setdefault(f"{one.description}".rstrip(".") + _default(one.default), []).append(kind)
    if len(described) == 1:
        words = sentence(next(iter(described)))
    else:
        words = "; ".join(f"{', '.join(kinds)}: {words}" for words, kinds in described.items()) + "."
    return Setting(words, group=f"Options of {', '.join(fields)}", name=name, type=found.pop())


def _default(value: object) -> str:
    if isinstance(value, bool):
        return f" ({'on' if value else 'off'})"
    return "" if value in ("", None) else f" ({value:g})" if isinstance(value, float) else f" ({value})"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
