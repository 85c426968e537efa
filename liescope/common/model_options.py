"""Options declared as a pydantic model: what a class accepts, and the command options generated from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from liescope.common.errors import UsageError
from liescope.common.settings import Setting, given_type


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


def declare(models: Mapping[str, type[OptionsModel]], group: str = "") -> list[Setting]:
    """Command options of several kinds. An option that several kinds share appears once.

    group: the heading for all of them; the help then names each option's kinds and defaults. Without a group, each
    kind's options have their own heading. Raises TypeError if two kinds give one option different types.
    """
    names = dict.fromkeys(name for model in models.values() for name in model.model_fields if name not in model.general)
    return [
        _declare(name, {kind: m.model_fields[name] for kind, m in models.items() if name in m.model_fields}, group)
        for name in names
    ]


def _declare(name: str, fields: Mapping[str, FieldInfo], group: str) -> Setting:
    found = {given_type(field.annotation) for field in fields.values()}
    if len(found) > 1:
        raise TypeError(f"the option {name!r} has another type in each of {', '.join(fields)}; give them one")
    first = next(iter(fields))
    words = _by_kind(fields) if group else f"{fields[first].description}"
    return Setting(words, group=group or f"Options of {first}", name=name, type=found.pop())


def _by_kind(fields: Mapping[str, FieldInfo]) -> str:
    described: dict[str, list[str]] = {}
    for kind, field in fields.items():
        described.setdefault(f"{field.description}{_default(field.default)}", []).append(kind)
    return "; ".join(f"{', '.join(kinds)}: {words}" for words, kinds in described.items()) + "."


def _default(value: object) -> str:
    return "" if value in ("", None) else f" ({value:g})" if isinstance(value, float) else f" ({value})"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
