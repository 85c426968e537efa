"""The rows that labelling a game yields; their columns are declared in `liescope.data_cards.tables`.

A missing label is None, and its `…_null` field says why ("" otherwise).
"""

from __future__ import annotations

from dataclasses import dataclass

from liescope.data_cards.tables import ClaimRow, RatingRow, StatementRow, VoteRow

__all__ = ["ClaimRow", "LabelledGame", "RatingRow", "StatementRow", "VoteRow"]


@dataclass(frozen=True, slots=True)
class LabelledGame:
    """All rows of one game, in order of play."""

    statements: tuple[StatementRow, ...]
    ratings: tuple[RatingRow, ...]
    votes: tuple[VoteRow, ...]
    claims: tuple[ClaimRow, ...]
