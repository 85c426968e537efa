"""What a detector was made with, beside the text it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from liescope.common.errors import UsageError


class Options(BaseModel):
    """The base of every detector's options: as JSON data in a saved detector, as options of `train`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def read(cls, kind: str, given: Mapping[str, Any]) -> Self:
        """The options of a kind of detector. Raises UsageError, naming the option that cannot be."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"])
            why = first["msg"].removeprefix("Value error, ")
            raise UsageError(f"{kind}: {f'{name}: ' if name else ''}{why}") from error
