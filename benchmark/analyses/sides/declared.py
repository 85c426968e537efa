"""What figures and tables need to know about one game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from liescope.benchmark.analyses.sides.tallies import Tally


@dataclass(frozen=True, slots=True)
class Sides:
    """One game. colours: of each of its roles and teams. tally: how a ballot that counts ends. united: roles whose
    players know each other and attack together.
    """

    colours: Mapping[str, str]
    tally: Tally
    united: tuple[str, ...] = ()
