"""Asks of every kind, for one seat of a four-player table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from liescope.games.core import CHOICES, Ask, AskKind, Phase
from liescope.games.shared_rules import BIDS

MakeAsk = Callable[[AskKind], Ask]


@pytest.fixture(scope="session")
def make_ask() -> MakeAsk:
    def make(kind: AskKind) -> Ask:
        options = ("Alice", "Bob", "Charlie") if kind in CHOICES or kind is AskKind.NAME_ROLES else ()
        options = BIDS if kind is AskKind.BID else options
        return Ask("g", 0, "Diana", kind, 1, Phase.VOTING, options=options)

    return make
