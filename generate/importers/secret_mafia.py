"""Secret Mafia of TextArena, as MindGames' trajectories hold it: a row per player and game, with all that the player
was shown and answered.

Words come from the rows of those who said them. Where a player's row is missing, they come from what the others saw.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import BeforeValidator, Field

from liescope.common.errors import BadData
from liescope.games.core import EventKind, Phase
from liescope.games.mafia.rules import DETECTIVE, MAFIA, MAFIOSO, TOWN, VILLAGER, MiniMafia
from liescope.games.record import Seat, Source
from liescope.generate.importers.game_reader import GameWriter, Logged, Words, by_key, read_as, shape
from liescope.generate.importers.importer_protocol import Imported, Rejected, attempt
from liescope.generate.importers.table_importer import RowReader, TableImporter
from liescope.generate.players.parsing.choice import split_reasoning


def _cell(kind: Any) -> Any:
    """A value of this kind, perhaps as JSON."""
    return Annotated[kind, BeforeValidator(lambda cell: json.loads(cell) if isinstance(cell, str) else cell)]


_ROW = shape(
    player_id=Annotated[int, Field(strict=False, ge=0, le=1000)],
    model_name=str,
    opponent_names=(_cell(dict[str, Any] | None), None),
    observations=_cell(by_key(shape(observation=Words, action=(Words | None, None)))),
    rewards=(_cell(dict[str, Any] | None), None),
    reason=(str | None, ""),
)
ROLES = {"Mafia": MAFIOSO, "Detective": DETECTIVE, "Doctor": "doctor", "Villager": VILLAGER}
_MESSAGE = re.compile(r"^\[(-?\d{1,3})\] ?", re.MULTILINE)
_ROLE = re.compile(r"Your role: (\w+)")
_PLAYERS = re.compile(r"^Players: (.+)$", re.MULTILINE)
_MATES = re.compile(r"^Your teammates are: (.+?)\.?$", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_TAG = re.compile(r"\[Player \d+\]")
_CHOICE = re.compile(r"\[(?:player\s*)?(\d+)\]", re.IGNORECASE)
_TOLD = re.compile(
    r"(?P<discuss>Day breaks)|(?P<vote>Voting phase)|(?P<kill>Night has fallen)|Night phase - choose one player to "
    r"(?:(?P<protect>protect)|(?P<look>investigate))|(?P<quiet>No one was killed)|(?P<none>No consensus)|"
    r"Player (?P<who>\d+) (?:(?P<killed>was killed)|(?P<out>was eliminated by vote)|(?P<broke>has been eliminated)|"
    r"(?P<found>IS(?: NOT)?) a Mafia)"
)
_NIGHT = ("kill", "protect", "look")
ASKED, GAME = (*_NIGHT, "discuss", "vote"), "-1"


class _Said(NamedTuple):
    """Something in a game. at: when, for sorting; who: the player, or the game; row: the player in whose row it
    stands; asked: the last thing that this player had been asked for; counts: the game took it for an answer.
    """

    at: tuple[str, int, int]
    who: str
    row: str
    asked: str
    text: str
    counts: bool = True


class _Game(GameWriter):
    """A day is a night with the day after it; a round is a player's turn of the day. At night only the acts and their
    results are kept as events; what was said with them stands there as the actor's thought.
    """

    def write(self, logged: Logged) -> None:
        rows = {str(row.player_id): row for row in (read_as(_ROW, entry) for entry in logged.entries)}
        self._sit(rows)
        self.deal(told=False)
        self._pack, self._turns = self.meet(), Counter[str]()
        self.day, self.phase = 1, Phase.NIGHT
        self.log(EventKind.NIGHT)
        for said in _in_order(rows):
            (self._told if said.who == GAME else self._answer)(said)
        won = next((seat.team for key, seat in self.seats.items() if _won(rows, key)), "")
        if won:
            self.end(won, next((row.reason for row in rows.values() if row.reason), ""), self.day)

    def _sit(self, rows: Mapping[str, Any]) -> None:
        """Seat everyone: by the own row, or by what others' rows say of a player."""
        shown = {key: "".join(one.observation for one in row.observations.values()) for key, row in rows.items()}
        roles = {key: ROLES.get(found[1], "") for key, text in shown.items() if (found := _ROLE.search(text))}
        named, mates = (
            {number for text in shown.values() if (found := line.search(text)) for number in _NUMBER.findall(found[1])}
            for line in (_PLAYERS, _MATES)
        )
        models = {str(key): str(model) for row in rows.values() for key, model in (row.opponent_names or {}).items()}
        models |= {key: row.model_name for key, row in rows.items()}
        sides = {_won(rows, key): MAFIA if role == MAFIOSO else TOWN for key, role in roles.items()}
        sides.pop(None, None)
        for key in sorted(rows.keys() | named | mates, key=int):
            role = roles.get(key) or (MAFIOSO if key in mates else "")
            team = (MAFIA if role == MAFIOSO else TOWN) if role else sides.get(_won(rows, key), "")
            role = role or (MAFIOSO if team == MAFIA else "")
            deceives = team == MAFIA if team else None
            self.seats[key] = Seat(f"Player {key}", role, team, deceives, models.get(key, "unknown"), Source.IMPORTED)
        if missing := len(self.seats) - len(rows):
            self.meta["import_notes"] = [f"rows of {missing} players are missing and read from the others"]
        self.meta["rules"] = MiniMafia.name

    def _night(self) -> None:
        if self.phase is not Phase.NIGHT:
            self.day, self.phase, self.round = self.day + 1, Phase.NIGHT, 0
            self.log(EventKind.NIGHT)

    def _told(self, said: _Said) -> None:
        """What the game tells."""
        told = _TOLD.match(said.text)
        kind, whom = (told.lastgroup or "", told["who"]) if told else ("", None)
        match kind:
            case "discuss":
                self.phase, self.round = Phase.DISCUSSION, 0
                self._turns.clear()
                self.log(EventKind.DAY)
            case "vote":
                self.phase, self.round = Phase.VOTING, 0
                self.ballots.clear()
            case "kill" | "protect" | "look":
                self._night()
            case "killed":
                self._night()
                self.log(EventKind.KILL, target=whom, heard=self._pack)
                self.log(EventKind.DEATH, target=whom)
            case "quiet":
                self._night()
                self.log(EventKind.QUIET)
            case "found":
                role = MAFIOSO if told and told["found"] == "IS" else f"not {MAFIOSO}"
                self.log(EventKind.INVESTIGATION, said.row, whom, [said.row], data={"role": role})
            case "out":
                self.exile(whom)
            case "broke":
                self.log(EventKind.EXILE, target=whom, text="broke the rules", data={"votes": 0, "needed": 0})
            case "none":
                self.exile(None)

    def _answer(self, said: _Said) -> None:
        """What a player answers to what it was asked for."""
        words = split_reasoning(said.text)
        text = (words.answer if words.reasoning else said.text).strip()
        private = {"private": {"reasoning": words.reasoning}} if words.reasoning else {}
        chosen = next((found[-1] for line in text.splitlines() if (found := _CHOICE.findall(line))), None)
        target = chosen if chosen in self.seats else None
        if not said.counts or (said.asked == "vote" and not target and said.row == said.who):
            self.log(EventKind.ACT, said.who, heard=[said.who], text=f"makes a move that does not count: {text}")
        elif said.asked in _NIGHT:
            kind = {"kill": EventKind.PROPOSAL, "protect": EventKind.PROTECTION}.get(said.asked)
            if kind and target:
                heard = self._pack if said.asked == "kill" else [said.who]
                self.log(kind, said.who, target, heard, data={"private": {"reasoning": said.text}})
        else:
            self._turns[said.who] += said.asked != "vote"
            self.round = self._turns[said.who]
            if said.asked != "vote" or _CHOICE.sub("", text).strip(" .[]"):
                self.say(said.who, text, data=private)
            if said.asked == "vote" and target:
                self.vote(said.who, target)


def _won(rows: Mapping[str, Any], key: str) -> bool | None:
    """Whether a player's side won; None if no row says."""
    told = (row.rewards.get(key) for row in rows.values() if row.rewards)
    return next((value > 0 for value in told if isinstance(value, int | float)), None)


def _plain(text: str) -> str:
    """Words to recognise a message by: on its way it may be put into brackets, and it loses names in brackets."""
    return " ".join(_TAG.sub("", text).split()).strip("[] ")


def _in_order(rows: Mapping[str, Any]) -> list[_Said]:
    """Everything said in a game, once, in its order: what players answered, by the time of the turn; between them what
    the game told, and what players without a row said, as the others saw it. Such a message comes after every turn
    that somebody saw or took before it.
    """
    said: dict[Any, _Said] = {}
    times: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, row in rows.items():
        for time, turn in sorted(row.observations.items()):
            times[key, _plain(turn.action or "")].append(time)
    for key, row in rows.items():
        asked, clock, place, own, seen = "discuss", "", 0, None, Counter[tuple[str, str]]()
        for time, turn in sorted(row.observations.items()):
            parts = _MESSAGE.split(turn.observation)
            for who, text in zip(parts[1::2], map(str.strip, parts[2::2]), strict=True):
                told, place = _TOLD.match(text) if who == GAME else None, place + 1
                asked = told.lastgroup or asked if told and told.lastgroup in ASKED else asked
                if own in said and who == GAME and text.startswith(f"Player {key} attempted an invalid move"):
                    said[own] = said[own]._replace(counts=False)
                if who in rows:
                    clock = next((one for one in times[who, _plain(text)] if clock < one < time), clock)
                elif who != GAME or told:
                    if text.startswith("[") and text.endswith("]") and not _CHOICE.match(text):
                        text = text[1:-1]  # players' programs put their words into brackets
                    seen[who, text] += 1
                    one = _Said((clock, 1, place), who, key, asked, text)
                    name = (who, text, seen[who, text])
                    said[name] = max(said.get(name, one), one)
            clock, own = time, (key, time)
            if turn.action is not None:
                said[own] = _Said((time, 0, 0), key, key, asked, turn.action)
    return sorted(said.values())


class _Reader(RowReader):
    def key(self, row: Mapping[str, Any]) -> str:
        env, game_id = str(row.get("env_name") or "SecretMafia"), row.get("game_id")
        if not env.startswith("SecretMafia"):
            raise BadData(f"it is of another game, {env[:60]}")
        if game_id is None or game_id == "":
            raise BadData("it names no game: game_id is empty")
        return str(game_id)

    def games(self, file: str, key: str | None, rows: Iterable[tuple[int, Any]]) -> Iterator[Imported | Rejected]:
        lines, told = zip(*rows, strict=True)
        game_id = f"secret-mafia-{key}"
        logged = Logged(file, lines[0], game_id, list(told))
        yield attempt(file, lines[0], game_id, partial(_Game.record_of, SecretMafiaImporter.format, logged))


class SecretMafiaImporter(TableImporter):
    """A row per player and game, as in `bobbycxy/mgc2025-secretmafia` on the Hub; a game's rows may be anywhere."""

    format: ClassVar[str] = "secret-mafia"
    about: ClassVar[str]

    def game_texts(self) -> Mapping[str, str]:
        return {self.format: self.about}

    def reader(self, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> RowReader:  # noqa: ARG002
        needed = ("game_id", "player_id", "model_name", "observations")
        if missing := [name for name in needed if name not in columns]:
            raise BadData(f"it lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)} of a trajectory")
        return _Reader()
