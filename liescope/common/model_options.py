"""Options declared as a pydantic model: what a class accepts, and the command options generated from it."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from liescope.common.declared_options import DeclaredOption
from liescope.common.errors import UsageError


class OptionsModel(BaseModel):
    """The base of a declared set of options. A field's description is its help."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def of(cls, kind: str, given: Mapping[str, Any]) -> Self:
        """The options of `kind`. Raises UsageError, naming the option and its allowed values."""
        if odd := sorted(set(given) - set(cls.model_fields)):
            takes = ", ".join(map(_flag, cls.model_fields)) or "none"
            raise UsageError(f"{kind} has no option {', '.join(map(_flag, odd))}; it takes {takes}")
        try:
            return cls.model_validate(dict(given))
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            raise UsageError(f"{kind}: {_flag(name)}: {first['msg']}") from error


def declare(models: Mapping[str, type[OptionsModel]]) -> list[DeclaredOption]:
    """Command options of several kinds, each under a heading with its name; an option that several kinds share appears
    once, under the first. Raises TypeError if two kinds give one option different types.
    """
    declared: dict[str, DeclaredOption] = {}
    for kind, model in models.items():
        for name, field in model.model_fields.items():
            option = DeclaredOption(name, _given_type(field.annotation), f"{field.description}", f"Options of {kind}")
            before = declared.setdefault(name, option)
            if before.type != option.type:
                raise TypeError(f"the option {name!r} of {kind} has another type under {before.panel!r}")
    return list(declared.values())


def _given_type(annotation: Any) -> Any:
    """The type of a value other than None: `X` for `X | None`."""
    if get_origin(annotation) in (Union, types.UnionType):
        (given,) = (part for part in get_args(annotation) if part is not type(None))
        return given
    return annotation


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
