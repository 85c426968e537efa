"""The Among Us sandbox (Golechha and Garriga-Alonso 2025): language models play Among Us, and each of their turns is
logged with what they were shown and thought.

The log is a stream of JSON objects, which may take several lines each. It has no line for what the game itself does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from liescope.games.core import EventKind, Outcome, Phase
from liescope.games.record import Seat, Source
from liescope.generate.importers.game_reader import (
    NO_WINNER,
    GameFormat,
    GameWriter,
    Logged,
    LoggedGames,
    Number,
    Words,
    at,
    game_lines,
    joined,
    read_as,
    shape,
)
from liescope.generate.importers.text_files import read_stream

IMPOSTOR = "impostor"
_LINE = shape(
    game_index=str,
    step=Number,
    timestamp=(str, ""),
    name=at("player.name", str),
    identity=at("player.identity", str),
    model=at("player.model", str, "unknown"),
    prompt=at("interaction.prompt", Any),
    response=at("interaction.response", dict[str, Any] | Words),
)
_OFFERED = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_THERE = re.compile(r"^Players in [^:\n]{1,40}: (.+)$", re.MULTILINE)
_SAYS, _SPEAKS = "SPEAK: ", "SPEAK"


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn of a player. there: who is in the room; offered: the actions to choose from; answer: which one it wants,
    in its words; at: when.
    """

    player: Seat
    step: int
    meeting: bool
    there: tuple[str, ...]
    offered: tuple[str, ...]
    thought: str
    answer: str
    at: str


class _Game(GameWriter):
    """A day is a stretch of roaming with the meeting that ends it; a round is a step of the game. In the rooms only
    those there hear and see, in a meeting everyone does.
    """

    def write(self, logged: Logged) -> None:
        seen = sorted({name.removesuffix(" (dead)") for turn in logged.entries for name in turn.there})
        self.seats = {name: Seat(name, "", "", None, "unknown", Source.IMPORTED) for name in seen}  # who never acted
        self.seats |= {turn.player.name: turn.player for turn in logged.entries}
        self.deal()
        self.meet()
        for turn in logged.entries:
            if turn.meeting and self.phase is Phase.NIGHT:
                self.phase, self.round = Phase.DISCUSSION, turn.step
                self.log(EventKind.DAY)
            elif not turn.meeting and self.phase is not Phase.NIGHT:
                if self.ballots:  # the meeting is over; the game ejects whoever has most votes, if one player has
                    (most, votes), *others = Counter(self.ballots.values()).most_common(2)
                    self.exile(None if others and others[0][1] == votes else most)
                    self.ballots.clear()
                self.day, self.phase, self.round = self.day + 1, Phase.NIGHT, turn.step
                self.log(EventKind.NIGHT)
            self.round = turn.step
            me = turn.player.name
            self._act(turn, me, None if turn.meeting else [key for key in self.seats if key in (me, *turn.there)])
        self.outcome = Outcome("", (), NO_WINNER, self.day)

    def _act(self, turn: _Turn, me: str, heard: list[str] | None) -> None:
        """What the player does, by the rule of the game: the first action on offer that its answer names, or a speech,
        or else the last one on offer.
        """
        private = {"private": {"reasoning": turn.thought}} if turn.thought else {}
        acts = [one for one in turn.offered if not one.startswith(_SPEAKS)]
        done = next((one for one in acts if one in turn.answer), "")
        if not done and len(acts) < len(turn.offered) and _SAYS in turn.answer:
            self.say(me, turn.answer.split(_SAYS)[1].strip(), heard, private)
            return
        done = done or (turn.offered[-1] if turn.offered else "")
        word, _, whom = done.partition(" ")
        if word == "VOTE" and whom in self.seats:
            self.phase = Phase.VOTING
            self.vote(me, whom, data=private)
        elif word == "KILL" and whom in self.seats:
            self.log(EventKind.KILL, me, whom, heard, data=private)
        elif done.startswith(_SPEAKS) or not done:
            self.log(EventKind.SILENCE, me, heard=heard, data=private)
        else:
            self.log(EventKind.ACT, me, heard=heard, text=done, data=private)


class AmongUsImporter(GameFormat):
    """`agent-logs.json` or its compact form: the turns of any number of games."""

    format: ClassVar[str] = "amongus"
    Writer: ClassVar[type[GameWriter]] = _Game

    def logged(self, source: Path) -> LoggedGames:
        for game in joined(game_lines(source, _read, rows=read_stream)):
            if isinstance(game, Logged):  # every log numbers its games from 1
                game = replace(game, game_id=f"amongus-{game.entries[0].at}-{game.game_id}")
            yield game


def _read(line: Mapping[str, Any]) -> tuple[str, list[Any]]:
    one = read_as(_LINE, line)
    role = one.identity.lower()
    seat = Seat(one.name, role, f"{role}s", role == IMPOSTOR, one.model, Source.IMPORTED)
    prompt = (
        {str(name).casefold().replace("_", " "): part for name, part in one.prompt.items()}
        if isinstance(one.prompt, dict)
        else {}
    )
    shown = str(prompt.get("all info", one.prompt))
    there, offered = _THERE.search(shown), _OFFERED.findall(shown.rpartition("Available actions:")[2])
    named = tuple(there[1].split(", ")) if there else ()
    turn = _Turn(
        seat,
        one.step,
        "Current phase: Meeting" in shown,
        named,
        tuple(offered),
        *_answer(one.response),
        one.timestamp[:19].replace(" ", "T"),
    )
    return one.game_index.removeprefix("Game "), [turn]


def _answer(response: Any) -> tuple[str, str]:
    """What the player thought, and the words from which its action is taken."""
    if isinstance(response, str):
        thought, _, answer = response.rpartition("[Action]")
        return thought.strip(), answer.strip()
    parts: dict[str, Any] = {}
    for name, part in response.items():
        parts |= part if isinstance(part, dict) else {str(name).casefold(): part}  # an action may stand in another part
    thought = str(parts.get("thinking process") or parts.get("thought") or "")
    return thought.strip(), str(parts.get("action", "")).strip()
