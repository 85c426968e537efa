"""The rows that labelling a game yields; their columns are declared in `liescope.data_cards.tables`.

Every label that could not be had is None, and the `…_null` field beside it says why; "" where the label is there.
"""

from __future__ import annotations

from dataclasses import dataclass

from liescope.data_cards.tables import Claim, RatingRow, StatementRow, VoteRow

__all__ = ["Claim", "LabelledGame", "RatingRow", "StatementRow", "VoteRow"]


@dataclass(frozen=True, slots=True)
class LabelledGame:
    """All rows of one game, in the order of play."""

    statements: tuple[StatementRow, ...]
    ratings: tuple[RatingRow, ...]
    votes: tuple[VoteRow, ...]
