"""Options, each declared once, as a field of a pydantic model: keywords of functions, options of commands, config
files, checks, messages and docs all follow from it. Actions, detectors, importers, exporters, games and players declare
theirs this way.

    class FitSettings(OptionsModel):
        draws: int = Field(default=1000, ge=1, description="Draws to keep of each chain.")

A function takes them as `**settings` under `@takes(FitSettings)` and reads them with `FitSettings.of(settings)`; a
command gets its options with `liescope.common.command_options.with_settings`. Models compose by inheritance.
"""

from __future__ import annotations

import inspect
import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Annotated, Any, ClassVar, Self, TypeVar, Union, get_args, get_origin
from urllib.parse import parse_qsl

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticKnownError

from liescope.common.errors import UnknownName, UsageError
from liescope.common.leaks import check_arguments
from liescope.common.text import sentence

F = TypeVar("F", bound=Callable[..., Any])


def several(value: Any) -> Any:
    """A text or path that stands alone as a list of it."""
    return (value,) if isinstance(value, str | os.PathLike) else value


Several = Annotated[tuple[str, ...], BeforeValidator(several)]
"""Any number of texts; one of them may stand alone."""


@dataclass(frozen=True, slots=True)
class Option:
    """How a field appears as an option, where its name, type, default and description do not say it; it stands in the
    field's `Annotated`. flag: its option; metavar: what stands for a value in the help; shown: its default in words;
    choices: the names that a shell completes, or a function that returns them; closed: whether nothing else is allowed;
    typed: the type that users type; one_way: a switch that has no --no-NAME; later: the option came after the first
    release, and a plan leaves it out at its default, so that older plans keep their hash.
    """

    flag: str = ""
    metavar: str | None = None
    shown: str = ""
    choices: Iterable[str] | Callable[[], Iterable[str]] = ()
    closed: bool = False
    typed: Any = None
    one_way: bool = False
    later: bool = False


Switch = Annotated[bool, Option(one_way=True)]
"""Off, unless it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Option):
    """What a field declares, for code that shows or checks it. type: of the typed value; at_least, above, at_most: the
    limits of a number; group: the heading that it stands under; annotation: of the field, with what checks it.
    """

    name: str
    help: str
    type: Any = str
    default: Any = None
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    group: str = ""
    annotation: Any = Any

    @property
    def option(self) -> str:
        """Its option on the command line, without the --no form of a switch."""
        return self.flag or f"--{self.name.replace('_', '-')}"

    @property
    def names(self) -> list[str]:
        """The choices."""
        return list(self.choices() if callable(self.choices) else self.choices)

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
        """What to add to its help: the limits, and a default that needs words."""
        switch = self.type is bool and not self.one_way and self.default is not None
        words = self.shown or (("on" if self.default else "off") if switch else "")
        return "".join(f" [{note}]" for note in (self.limits, words and f"default: {words}") if note)

    def checked(self, value: Any) -> Any:
        """The value as the model parses it. Raises UsageError for one that is not allowed."""
        try:
            return TypeAdapter(self.annotation, config=OptionsModel.model_config).validate_python(value)
        except ValidationError as error:
            raise self.refused(error.errors()[0]) from None

    def refused(self, error: Mapping[str, Any]) -> UsageError:
        """The message for a value that pydantic refused."""
        kind, value = error["type"], error["input"]
        if kind == "literal_error":
            return UnknownName(f"value of {self.option}", str(value), get_args(self.type))
        if kind == "value_error" or self.type not in (int, float):
            return UsageError(f"{self.option}: {_words(error)}")
        if kind in ("greater_than_equal", "greater_than", "less_than_equal", "less_than", "finite_number"):
            shown = f"{value:g}" if isinstance(value, float) else str(value)
            return UsageError(f"{self.option} must be {self.limits or 'a finite number'}, got {shown}")
        number = "a whole number" if self.type is int else "a number"
        return UsageError(f"{self.option} must be {number}, got {value!r}")


def _words(error: Mapping[str, Any]) -> str:
    return str(error["msg"]).removeprefix("Value error, ")


class OptionsModel(BaseModel):
    """The base of every model that declares options. A field with a description is an option; one that is excluded is
    not written to files. Types are lenient (`"3"` is 3), because spec strings hold text.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        populate_by_name=True,
        defer_build=True,  # a page of help asks for fields and builds no validator
    )
    heading: ClassVar[str] = ""
    """What the options of this class, not those of its bases, stand under in the help of a command."""
    general: ClassVar[frozenset[str]] = frozenset()
    """Fields that every command has an option of its own for."""
    dashed: ClassVar[bool] = True
    """Whether they are options of commands, not of spec strings."""

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch_for_a_number(cls, value: Any, info: Any) -> Any:
        if isinstance(value, bool) and given_type(cls.model_fields[info.field_name].annotation) in (int, float):
            raise PydanticKnownError("int_type")  # pydantic would take True as 1
        return value

    @classmethod
    def of(cls, given: Mapping[str, Any], whose: str = "") -> Self:
        """The given options, checked, with defaults for the rest. whose: what the options belong to, in messages.
        Raises UsageError for a value that is not allowed or holds a secret, UnknownName for an unknown option.
        """
        check_arguments(given.items())
        known = settings_of(cls)
        for name in given:
            if name not in known and name not in cls.model_fields:
                raise cls._unknown(name, whose)
        try:
            made = cls.model_validate(dict(given))
        except ValidationError as error:
            first = error.errors()[0]
            setting = known.get(str(next(iter(first["loc"]), "")))
            said = setting.refused(first) if setting else UsageError(_words(first))
            raise (UsageError(f"{whose}: {said}") if whose else said) from None
        for name in made.model_fields_set & {one.name for one in known.values() if one.closed}:
            for value in several(getattr(made, name)) or ():
                if value not in (choices := known[name].names):
                    raise UnknownName(f"value of {known[name].option}", value, choices)
        return made

    @classmethod
    def _unknown(cls, name: str, whose: str) -> UnknownName:
        own = {name: setting for name, setting in settings_of(cls).items() if name not in cls.general}
        if not whose:
            return UnknownName("setting", name, own)
        shown = f"--{name.replace('_', '-')}" if cls.dashed else name
        return UnknownName(f"option of {whose}", shown, [each.option for each in own.values()])

    @classmethod
    def with_rest(cls, given: Mapping[str, Any]) -> tuple[Self, dict[str, Any]]:
        """The model as `of` makes it, and the keywords that it does not declare. Raises UsageError."""
        known = settings_of(cls)
        own = cls.of({name: value for name, value in given.items() if name in known})
        return own, {name: value for name, value in given.items() if name not in known}


def read_query(query: str) -> dict[str, str]:
    """The options of a spec string, `name=value&…`, as text. Raises UsageError for an option given twice."""
    pairs = parse_qsl(query, keep_blank_values=True)
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UsageError(f"{query} gives {twice} twice; leave one of them out")
    return dict(pairs)


@cache
def settings_of(declared: type[OptionsModel]) -> Mapping[str, Setting]:
    """The options that a model declares, by name, in order: its own, then those of its bases."""
    homes: dict[str, type] = {}
    for base in declared.__mro__:
        homes |= {name: base for name in inspect.get_annotations(base) if name not in homes}
    return {
        field.alias or name: _read(field, field.alias or name, home, declared.dashed)
        for name, home in homes.items()
        if (field := declared.model_fields.get(name)) is not None and field.description
    }


def _read(field: FieldInfo, name: str, home: type, dashed: bool) -> Setting:
    said = [part for part in field.metadata if isinstance(part, Option)]
    extras: dict[str, Any] = {
        each.name: next((value for part in said if (value := getattr(part, each.name))), each.default)
        for each in fields(Option)
    }
    extras["flag"] = extras["flag"] or ("" if dashed else name)
    limits = {limit: _limit(field, limit) for limit in ("ge", "gt", "le")}
    return Setting(
        **extras,
        name=name,
        help=sentence(field.description or ""),
        type=extras["typed"] or given_type(field.annotation),
        default=None if field.is_required() else field.get_default(),
        at_least=limits["ge"],
        above=limits["gt"],
        at_most=limits["le"],
        group=str(home.__dict__.get("heading", "")),  # its own: an inherited one is of other fields
        annotation=Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation,
    )


def _limit(field: FieldInfo, name: str) -> float | None:
    return next((getattr(part, name) for part in field.metadata if hasattr(part, name)), None)


def given_type(hint: Any) -> Any:
    """The type of a value that is typed in: X for `X | None`, Path for anything that may be a path, list for any
    sequence, str for anything that may also be a text.
    """
    if get_origin(hint) is Annotated:
        return given_type(get_args(hint)[0])
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    parts = tuple(part for part in parts if part is not type(None))
    if str in parts:
        return str
    (plain,) = parts
    if get_origin(plain) is list or (get_origin(plain) is tuple and Ellipsis in get_args(plain)):
        return types.GenericAlias(list, (given_type(get_args(plain)[0]),))
    return plain


_USUAL = {
    "out": "out : str or path, optional\n    A folder for the report.",
    "progress": "progress : bool\n    Show bars on standard error.",
}
"""The entries of parameters that many functions have, unless a docstring has its own."""


def takes(declared: type[OptionsModel], others: str = "") -> Callable[[F], F]:
    """Show in a function's signature and docstring which options its `**settings` are. others: the name that stands in
    the signature for its other keywords. In the docstring, they take the place of the entry `**settings` in the section
    Parameters, after those of `_USUAL`.
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
        told = inspect.cleandoc(function.__doc__ or "")
        usual = [words for name, words in _USUAL.items() if name in signature.parameters and f"\n{name} : " not in told]
        listed = [line for each in settings for line in _documented(each)]
        entries = "\n".join([*usual, *listed] if "\nParameters\n" in told else listed)
        function.__doc__ = told.replace("**settings", entries, 1)
        return function

    return decorate


def _documented(setting: Setting) -> Iterator[str]:
    kind = getattr(setting.type, "__name__", str(setting.type)) if not get_args(setting.type) else str(setting.type)
    yield f"{setting.name} : {kind}" + (f", default {setting.default!r}" if setting.default not in (None, ()) else "")
    yield f"    {setting.help}{setting.notes}"


def declare(models: Mapping[str, type[OptionsModel]]) -> list[Setting]:
    """The options of several kinds. One that several kinds share appears once, under a heading that names them, and
    without a default. Raises TypeError if two kinds give one option different types.
    """
    by_name: dict[str, dict[str, Setting]] = {}
    for kind, model in models.items():
        for name, each in settings_of(model).items():
            if name not in model.general:
                by_name.setdefault(name, {})[kind] = each
    return [_merged(each) for each in by_name.values()]


def _merged(kinds: Mapping[str, Setting]) -> Setting:
    first, *others = kinds.values()
    if any(other.type != first.type for other in others):
        raise TypeError(f"the option {first.name!r} has another type in each of {', '.join(kinds)}; give them one")
    described: dict[str, list[str]] = {}
    for kind, one in kinds.items():
        described.setdefault(one.help.rstrip(".") + _default(one.default), []).append(kind)
    if len(described) == 1:
        words = sentence(next(iter(described)))
    else:
        words = "; ".join(f"{', '.join(kinds)}: {words}" for words, kinds in described.items()) + "."
    return replace(
        first, help=words, default=None, shown="", group=f"Options of {', '.join(kinds)}", **_same(kinds.values())
    )


def _same(settings: Iterable[Setting]) -> dict[str, Any]:
    """The limits if all share them; none where they differ."""
    limits = {(each.at_least, each.above, each.at_most) for each in settings}
    if len(limits) == 1:
        return {}
    return {"at_least": None, "above": None, "at_most": None, "annotation": Any}


def _default(value: object) -> str:
    if isinstance(value, bool):
        return f" ({'on' if value else 'off'})"
    return "" if value in ("", None, (), []) else f" ({value:g})" if isinstance(value, float) else f" ({value})"
