"""The tables about what came after a game: lessons learned from it, and a judge's views of roles and lessons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from liescope.data_cards.tables.declare import Column
from liescope.data_cards.tables.words import GAME_ID

_KIND = Column("the list that the lesson is on: to_do, to_avoid or winning_tactic")


@dataclass(frozen=True, slots=True)
class LessonRow:
    """One lesson that a learning player wrote after a game, whether kept or not."""

    game_id: Annotated[str, GAME_ID]
    cell: Annotated[str, Column("the cell whose later games the lesson is for, empty if there is none")]
    author_model: Annotated[
        str | None, Column("the model that wrote the lesson", "where several models hold the learning role")
    ]
    turn: Annotated[int | None, Column("the number of its game within the cell, from 0", "where it is not known")]
    kind: Annotated[str, _KIND]
    text: Annotated[str, Column("the lesson")]
    kept: Annotated[bool, Column("it was added to the lesson book; the others nearly repeat one in the book")]
    nearest: Annotated[
        float | None, Column("its highest cosine similarity to a lesson in the book", "for the first lesson")
    ]
    categories: Annotated[tuple[str, ...], Column("its strategies, by rules on its words; can be empty")]
    order: Annotated[int, Column("its theory-of-mind order by rules on its words: 1, 2 or 3")]


@dataclass(frozen=True, slots=True)
class LessonTagRow:
    """A judge's tags of one lesson."""

    game_id: Annotated[str, GAME_ID]
    kind: Annotated[str, _KIND]
    text: Annotated[str, Column("the lesson")]
    judge: Annotated[str, Column("the judge")]
    categories: Annotated[tuple[str, ...], Column("the strategies that the judge sees in it; can be empty")]
    order: Annotated[
        int | None, Column("the theory-of-mind order that the judge gives it: 1, 2 or 3", "where it gave none")
    ]


@dataclass(frozen=True, slots=True)
class RoleGuessRow:
    """The role that a judge named for one player, from the seat of another."""

    game_id: Annotated[str, GAME_ID]
    judge: Annotated[str, Column("the judge")]
    observer: Annotated[str, Column("the player whose seat the judge looked from")]
    observer_role: Annotated[str, Column("the observer's hidden role")]
    target: Annotated[str, Column("the player whose role was named")]
    target_role: Annotated[str, Column("the target's hidden role")]
    guess: Annotated[str | None, Column("the role that the judge named", "where it named none")]
