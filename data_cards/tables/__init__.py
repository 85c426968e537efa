"""Every table of a corpus, declared once: its columns' names, types, meanings and nulls.

The Arrow and polars schemas, the column tables of cards and docs, and the fields of croissant.json are generated from
these.
"""

from collections.abc import Mapping

from liescope.data_cards.tables.acts import BidRow, CallRow, LessonRow, LessonTagRow, NightActRow, RoleGuessRow, VoteRow
from liescope.data_cards.tables.declare import SPLITS, Column, Field, Table, by_name
from liescope.data_cards.tables.games import EventRow, GameRow, SeatRow
from liescope.data_cards.tables.statements import ClaimRow, RatingRow, StatementRow

_LABEL = "label_"
TABLES = by_name(
    (
        Table("statements", StatementRow, "one row for each statement of a finished game, with its labels"),
        Table("claims", ClaimRow, "one row for each claim found in a statement, with its verdict"),
        Table("games", GameRow, "one row for each game, including failed ones"),
        Table("events", EventRow, "one row for each event of a game, failed games included, in order of play"),
        Table("votes", VoteRow, "one row for each vote of a finished game"),
        Table("ratings", RatingRow, "one row for each observer and statement, where players or a judge rated"),
        Table("night_acts", NightActRow, "one row for each night act of a finished game"),
        Table("bids", BidRow, "one row for each bid for the floor"),
        Table("lessons", LessonRow, "one row for each lesson that a player learned from a game for the next ones"),
        Table("lesson_tags", LessonTagRow, "one row for each lesson that a judge tagged"),
        Table("role_guesses", RoleGuessRow, "one row for each hidden role that a judge named from a seat"),
        Table("calls", CallRow, "one row for each request to a player, retries and unusable replies included"),
    )
)
"""Name to table, in the order of the card."""

TARGETS: Mapping[str, Field] = {
    column.name.removeprefix(_LABEL): column
    for column in TABLES["statements"].fields
    if column.name.startswith(_LABEL) and column.classes
}
"""What a detector can be trained on: the labels of a statement, by their names without "label_"."""

__all__ = [
    "SPLITS",
    "TABLES",
    "TARGETS",
    "BidRow",
    "CallRow",
    "ClaimRow",
    "Column",
    "EventRow",
    "Field",
    "GameRow",
    "LessonRow",
    "LessonTagRow",
    "NightActRow",
    "RatingRow",
    "RoleGuessRow",
    "SeatRow",
    "StatementRow",
    "Table",
    "VoteRow",
]
