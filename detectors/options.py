"""What a detector is made with, beside the text that it reads: declared once, as a pydantic model with descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.declared_options import DeclaredOption
from liescope.common.errors import UsageError

MAX_SEED = 2**32 - 1


class DetectorOptions(BaseModel):
    """The base of every detector's options. A field is an option of `liescope train`, a keyword of `train()`, and an
    entry of model.json; its description is its help.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    seed: int = Field(default=0, ge=0, le=MAX_SEED, description="seed of everything that is drawn")

    @classmethod
    def read(cls, kind: str, given: Mapping[str, Any]) -> Self:
        """The options of a kind of detector. Raises UsageError, naming the option and what it may be."""
        if odd := sorted(set(given) - set(cls.model_fields)):
            takes = ", ".join(_flag(name) for name in cls.model_fields if name != "seed") or "none of its own"
            raise UsageError(f"{kind} has no option {', '.join(map(_flag, odd))}; it takes {takes}")
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            why = first["msg"].removeprefix("Value error, ")
            raise UsageError(f"{kind}: {f'{name}: ' if name else ''}{why}") from error


def declare(options: Mapping[str, type[DetectorOptions]], panel: str) -> list[DeclaredOption]:
    """Command options from the options of each kind of detector. Kinds that share an option share its flag; the help
    names them and their defaults.

    Raises TypeError where two kinds declare one option with different types.
    """
    names = dict.fromkeys(name for model in options.values() for name in model.model_fields if name != "seed")
    return [_declare(name, {k: m for k, m in options.items() if name in m.model_fields}, panel) for name in names]


def _declare(name: str, options: Mapping[str, type[DetectorOptions]], panel: str) -> DeclaredOption:
    fields = {kind: model.model_fields[name] for kind, model in options.items()}
    types = {field.annotation for field in fields.values()}
    if len(types) > 1:
        raise TypeError(f"the option {name!r} has another type in each of {', '.join(fields)}; give them one")
    described: dict[str, list[str]] = {}
    for kind, field in fields.items():
        described.setdefault(f"{field.description}{_default(field.default)}", []).append(kind)
    text = "; ".join(f"{', '.join(kinds)}: {words}" for words, kinds in described.items())
    return DeclaredOption(name, types.pop(), f"{text}.", panel)


def _default(value: object) -> str:
    return "" if value in ("", None) else f" ({value:g})" if isinstance(value, float) else f" ({value})"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
