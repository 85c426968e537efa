"""What a fit is to code that only reads its draws: the sample of a report and the fast fit of a study are both one."""

from __future__ import annotations

from dataclasses import Field
from typing import Any, ClassVar, Protocol, TypeVar

import polars as pl

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.counting.counts import PLAYERS

ROLES = dict(zip("mdvb", (*PLAYERS, PLAYERS[2]), strict=True))
"""By parameter of a model, the role in which it has it."""


class Drawn(Protocol):
    """names: by parameter, what it is a vector of; draws: by parameter, shape (chains, draws, names); cells: the counts
    that were fitted; logits: of the mafia's win for each draw of all chains and each cell.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def cells(self) -> pl.DataFrame: ...
    @property
    def names(self) -> dict[str, tuple[str, ...]]: ...
    @property
    def draws(self) -> dict[str, Array]: ...
    def logits(self, cells: pl.DataFrame) -> Array: ...


Fit = TypeVar("Fit", bound=Drawn)
