"""Avalon-NLU: twenty games of Avalon between people, whose authors annotated how the evil players deceive.

Stepputtis et al. 2023, "Long-Horizon Dialogue Understanding for Role Identification in the Game of Avalon with Large
Language Models", Findings of EMNLP.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from liescope.common.errors import BadData
from liescope.games.core import EventKind, Phase
from liescope.games.record import Seat, Source
from liescope.games.taxonomy import DeceptionType
from liescope.generate.importers import game_reader
from liescope.generate.importers.game_reader import (
    PERSON,
    GameFormat,
    GameWriter,
    Logged,
    Number,
    by_key,
    read_as,
    shape,
)

GOOD, EVIL = "good", "evil"
TEAMS = {"merlin": GOOD, "percival": GOOD, "servant": GOOD, "assassin": EVIL, "morgana": EVIL}
_ENDS = {
    "evil wins": (EVIL, "the assassin identified merlin"),
    "evil has failed three quests": (EVIL, "evil failed three quests"),
    "good win": (GOOD, "the assassin did not find merlin"),
}
_VOTE, _QUEST = "party vote outcome", re.compile(r"quest (succeeded|failed)")
TYPES = {
    "omission": DeceptionType.OMISSION,
    "commission": DeceptionType.FABRICATION,
    "influence": DeceptionType.PERSUASIVE_MANIPULATION,
    None: DeceptionType.NONE,
}
"""Our name for each of the annotators' types. A lie of commission says something false; one of omission keeps something
back; one of influence says nothing false, but is meant to make others trust or follow the speaker."""
_Type = Literal["omission", "commission", "influence"] | None
_GAME = shape(
    game_id=str,
    users=by_key(shape(name=str, role=str)),
    messages=by_key(shape(player=str, msg=game_reader.Words, mid=str, quest=Number, turn=Number)),
    persuasion=(by_key(shape(mid=str, persuasion=str | None, deception=_Type)), {}),
    beliefs=(by_key(shape(player=str, about_player=str, belief=str, quest=Number, turn=int)), {}),
)


class _Game(GameWriter):
    """A day is a quest, a round is a turn of the log."""

    def write(self, logged: Logged) -> None:
        (log,) = logged.entries
        for user in log.users.values():
            role = user.role.rstrip("-0123456789")
            if role not in TEAMS:
                raise BadData(f"{user.name[:60]!r} is a {user.role[:60]!r}; Avalon has {', '.join(TEAMS)}")
            self.seats[user.name] = Seat(user.name, role, TEAMS[role], TEAMS[role] == EVIL, PERSON, Source.HUMAN)
        self.deal()
        notes = {note.mid: note for note in reversed(log.persuasion.values())}
        if notes:
            self.meta["judge"] = "annotators"
        if len(notes) < len(log.persuasion):
            self.meta["import_notes"] = ["an annotation of a message stands there more than once"]
        beliefs = deque(sorted(log.beliefs.values(), key=lambda belief: (belief.quest, belief.turn)))
        end, quests = None, 0
        for message in log.messages.values():
            self._believed(beliefs, message.quest, message.turn)
            if message.quest != self.day:
                self.day, self.round = message.quest, 0
                self.log(EventKind.DAY)
            self.round = message.turn
            if message.player != "system":
                self._say(message, notes.get(message.mid))
                continue
            quest = bool(_QUEST.match(message.msg))
            self.phase = Phase.VOTING if quest or message.msg.startswith(_VOTE) else Phase.DISCUSSION
            self.log(EventKind.ACT, text=message.msg)
            quests += quest
            end = next((end for sign, end in _ENDS.items() if sign in message.msg), end)
        self._believed(beliefs, 10**6, 0)
        if end:
            self.end(*end, days=quests)

    def _believed(self, beliefs: deque[Any], quest: int, turn: int) -> None:
        """What players said they believed before this turn; only they know."""
        self.phase = Phase.DISCUSSION
        while beliefs and (beliefs[0].quest, beliefs[0].turn) < (quest, turn):
            belief = beliefs.popleft()
            roles = {self.seat(belief.about_player).name: [belief.belief]}
            self.log(EventKind.ROLES_NAMED, belief.player, heard=[belief.player], data={"roles": roles})

    def _say(self, message: Any, note: Any) -> None:
        """The annotators rated what evil players said; their own type is the reason."""
        own = {"private": {"persuasion": note.persuasion, "deception": note.deception}} if note else {}
        rated = note is not None and bool(self.seat(message.player).deceives)
        lied = {"gold": note.deception is not None} if rated else {}
        said = self.say(message.player, message.msg, data=own | lied)
        if rated and said is not None:
            kind = TYPES[note.deception].value
            view = {"deceptive": lied["gold"], "type": kind, "reason": note.deception or ""}
            data = {"judge": "annotators", "assessment": view}
            self.log(EventKind.RATING, target=message.player, heard=(), about=said, data=data)


class AvalonImporter(GameFormat):
    """A game a line: a file of the dataset, with its name as `game_id`."""

    format: ClassVar[str] = "avalon-nlu"
    version: ClassVar[int] = 2
    Writer: ClassVar[type[GameWriter]] = _Game

    def logged(self, source: Path) -> game_reader.LoggedGames:
        return game_reader.game_lines(source, _read)


def _read(line: Mapping[str, Any]) -> tuple[str, list[Any]]:
    game = read_as(_GAME, line)
    return game.game_id, [game]
