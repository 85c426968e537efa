"""What figures and tables need to know about one game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sides:
    """One game. colours: of each of its roles and teams. united: roles whose players know each other and attack
    together.
    """

    colours: Mapping[str, str]
    united: tuple[str, ...] = ()
