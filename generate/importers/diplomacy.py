"""It Takes Two to Lie (Peskov et al. 2020): private messages of games of Diplomacy between people, with what the sender
reported and the receiver believed.

A line of the source is the dialogue of two powers. A game is all its dialogues, in the order of their messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from liescope.common.errors import BadData
from liescope.common.settings import OptionsModel
from liescope.games.core import EventKind, Outcome, Phase
from liescope.games.record import Seat, Source
from liescope.generate.importers.game_reader import (
    NO_WINNER,
    PERSON,
    GameFormat,
    GameWriter,
    Logged,
    LoggedGames,
    Number,
    game_lines,
    joined,
    read_as,
    shape,
)

Power = Literal["austria", "england", "france", "germany", "italy", "russia", "turkey"]
_Loose = Annotated[int, Field(strict=False)]  # some are texts
Label = bool | Literal["NOANNOTATION"]
_COLUMNS: Mapping[str, Any] = {
    "messages": list[str],
    "speakers": list[Power],
    "receivers": list[Power],
    "sender_labels": list[Label],
    "receiver_labels": list[Label],
    "absolute_message_index": list[int],
    "seasons": list[Literal["Spring", "Fall", "Winter"]],
    "years": list[_Loose],
}
_DIALOGUE = shape(game_id=Number, **_COLUMNS)
_FIRST_YEAR = 1901
_SEASONS = {"Spring": 1, "Fall": 2, "Winter": 3}
_SPLITS: tuple[str, ...] = ("train", "validation", "test")


class _Game(GameWriter):
    """The game's first year is day 1, and its seasons are rounds. Only the two powers of a dialogue hear a message, and
    only who gave it knows a report (of the sender) or a belief (of the receiver).
    """

    def write(self, logged: Logged) -> None:
        self.seats = {power: Seat(power, "", "", None, PERSON, Source.HUMAN) for power in get_args(Power)}
        self.phase = Phase.DISCUSSION
        for message in sorted(logged.entries, key=lambda message: int(message["absolute_message_index"])):
            sender, receiver = message["speakers"], message["receivers"]
            self.day, self.round = max(1, message["years"] - _FIRST_YEAR + 1), _SEASONS[message["seasons"]]
            said = self.say(sender, message["messages"], heard=(sender, receiver))
            for kind, who, column in (
                (EventKind.SELF_REPORT, sender, "sender_labels"),
                (EventKind.RATING, receiver, "receiver_labels"),
            ):
                if said is not None and isinstance(message[column], bool):
                    view = {"assessment": {"deceptive": not message[column]}}
                    self.log(kind, who, sender, heard=[who], about=said, data=view)
        self.outcome = Outcome("", (), NO_WINNER, max((event.day for event in self.events), default=0))


def _dialogue(line: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """A game's id, and the messages of a dialogue in it."""
    dialogue = read_as(_DIALOGUE, line)
    columns = [getattr(dialogue, name) for name in _COLUMNS]
    if len({*map(len, columns)}) > 1:
        raise BadData("its columns are not of one length")
    return f"diplomacy-{dialogue.game_id}", [
        dict(zip(_COLUMNS, cells, strict=True)) for cells in zip(*columns, strict=True)
    ]


class DiplomacyOptions(OptionsModel):
    """split: of all games of the source."""

    split: Literal["train", "validation", "test"] | None = Field(
        default=None, description="The official split of the source's games; without it, as the file is called."
    )


class DiplomacyImporter(GameFormat):
    """The authors' files, one dialogue a line; each game becomes a record of private messages."""

    format: ClassVar[str] = "diplomacy"
    Options: ClassVar[type[OptionsModel]] = DiplomacyOptions
    Writer: ClassVar[type[GameWriter]] = _Game
    options: DiplomacyOptions

    def logged(self, source: Path) -> LoggedGames:
        split: str = self.options.split or next((name for name in _SPLITS if source.name.startswith(name)), "")
        return joined(game_lines(source, _dialogue, split))
