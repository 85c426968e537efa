"""Kaggle's Game Arena: games of Werewolf between language models, as the replays of kaggle-environments hold them.

The moderator's view of a game is a list of steps, each a list of entries whose JSON text is an event. A reply stands
there twice: as it was received, in plain data, and as an entry of its own kind, which is what counts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from liescope.common.errors import BadData
from liescope.games.core import EventKind, Phase
from liescope.games.record import Seat, Source
from liescope.games.werewolf.rules import DyadicWerewolf
from liescope.generate.importers.game_reader import (
    GameFormat,
    GameWriter,
    Logged,
    LoggedGames,
    Number,
    Words,
    at,
    game_files,
    list_of,
    read_as,
    shape,
)

WOLVES = "werewolves"
_AGENT = shape(id=(str, ""), display_name=(str | None, ""), agent_id=(str, ""), llms=(list[dict[str, Any]], []))
_REPLAY = shape(
    steps=at("info.MODERATOR_OBSERVATION", list[list[Any] | None]),
    number=at("info.EpisodeId", int | str | None, None),
    id=(str, ""),
    agents=at("configuration.agents", list_of(_AGENT), []),
    players=at("info.GAME_END.all_players", list_of(shape(id=str, agent=_AGENT)), []),
    winner=at("info.GAME_END.winner_team", str | None, None),
    reason=at("info.GAME_END.reason", str, ""),
    broken=at("info.GAME_END.terminated_with_agent_error", bool, False),
)
_ENTRY = shape(data_type=str, json_str=str)
_EVENT = shape(
    day=Number,
    event_name=str,
    public=(bool, False),
    visible_to=(list[str], []),
    created_at=(str, ""),
    data=(dict[str, Any] | None, None),
)
_OF_PLAYER = re.compile(r"(?:[a-z_]+_)?player_(?=(?:id|role_name|team_name)$)")  # as in eliminated_player_role_name
_TEXT = (str | None, None)
_DATA = shape(
    **dict.fromkeys(("id", "role", "team", "role_name", "team_name", "perceived_threat_level"), _TEXT),
    **dict.fromkeys(("actor_id", "target_id"), (str, "")),
    reasoning=(Words | None, None),
    message=(Words, ""),
    bid_amount=(Number, 0),
)
_MEANT = ("reasoning", "perceived_threat_level")


class _Game(GameWriter):
    """Night 0 of the source is night 1 here, so that each night has the number of the day after it. A round is the
    player's turn of the day.
    """

    def write(self, logged: Logged) -> None:
        replay, *entries = logged.entries
        agents = {agent.id: agent for agent in replay.agents} | {one.id: one.agent for one in replay.players}
        for kind, event in entries:
            if kind == "GameStartRole":
                key, role, team = event.data.id or "", (event.data.role or "").lower(), (event.data.team or "").lower()
                self.seats[key] = Seat(key, role, team, team == WOLVES, _model(agents.get(key)), Source.IMPORTED)
        if not self.seats:
            raise BadData("it deals no roles")
        self.meta["rules"] = DyadicWerewolf.name
        self.deal()
        self.meet()
        self._turns, self._looks = Counter[str](), dict[str, dict[str, Any]]()
        for kind, event in entries:
            if event.event_name in ("night_start", "day_start"):
                self._turn(event.day, night=event.event_name == "night_start")
            elif kind and event.event_name != "error":  # such as a vote that did not count
                heard = None if event.public else [key for key in self.seats if key in event.visible_to]
                self._add(kind, event.data, heard)
            elif not kind and event.data and event.data.get("outcome") == "no_exile":
                self.exile(None)
        if replay.winner and not replay.broken:
            self.end(replay.winner.lower(), replay.reason, self.day)
        elif replay.broken:
            self.meta["import_notes"] = ["the source says that a player's program failed in it"]

    def _turn(self, day: int, night: bool) -> None:
        self.day, self.phase, self.round = day + night, Phase.NIGHT if night else Phase.DISCUSSION, 0
        self._turns.clear()
        self.ballots.clear()
        self.log(EventKind.NIGHT if night else EventKind.DAY)

    def _add(self, kind: str, data: Any, heard: list[str] | None) -> None:
        meant = {name: value for name in _MEANT if (value := getattr(data, name))}
        private = {"private": meant} if meant else {}
        revealed = data.role or data.role_name or data.team or data.team_name
        told = {"role": revealed.lower()} if revealed else {}
        actor, target, whom = data.actor_id, data.target_id, data.id
        match kind:
            case "Chat":
                self._turns[actor] += 1
                self.round = self._turns[actor]
                self.say(actor, data.message, heard, private)
            case "Bid" if data.bid_amount <= 10:
                self.log(EventKind.BID, actor, heard=[actor], data={"bid": data.bid_amount, **private})
            case "DayExileVote":
                self.phase, self.round = Phase.VOTING, 0
                if target in self.seats:
                    self.vote(actor, target, heard, data=private)
                else:
                    self.log(EventKind.ACT, actor, heard=heard, text="abstains", data=private)
            case "WerewolfNightVote" if target in self.seats:
                self.log(EventKind.PROPOSAL, actor, target, heard, data=private)
            case "DoctorHealAction" if target in self.seats:
                self.log(EventKind.PROTECTION, actor, target, heard, data=private)
            case "SeerInspectAction":
                self._looks[actor] = private  # the result follows
            case "SeerInspectResult":
                self.log(EventKind.INVESTIGATION, actor, target, heard, data=told | self._looks.pop(actor, {}))
            case "WerewolfNightEliminationElected" if whom:
                self.log(EventKind.KILL, target=whom, heard=heard)
            case "WerewolfNightEliminationElected":
                self.log(EventKind.ACT, text="nobody was attacked")
            case "DoctorSave":
                self.log(EventKind.QUIET)
            case "WerewolfNightElimination" if whom:
                self.log(EventKind.DEATH, target=whom, data=told)
            case "DayExileElected":
                self.exile(whom, **told)


def _model(agent: Any) -> str:
    named = next((one["model_name"] for one in (agent.llms if agent else ()) if one.get("model_name")), "")
    return str((agent and (agent.display_name or named or agent.agent_id)) or "unknown")


class KaggleWerewolfImporter(GameFormat):
    """A replay a file, with the moderator's view in `info.MODERATOR_OBSERVATION`."""

    format: ClassVar[str] = "kaggle-werewolf"
    Writer: ClassVar[type[GameWriter]] = _Game

    def logged(self, source: Path) -> LoggedGames:
        return game_files(source, "*.json", _read)


def _read(content: Any) -> tuple[str, list[Any]]:
    """The game's id; the replay without its steps, and its events with their kinds, each once."""
    replay = read_as(_REPLAY, content)
    found: dict[Any, tuple[str, Any]] = {}
    parts = (part if isinstance(part, list) else [part] for step in replay.steps for part in step or ())
    for one in chain.from_iterable(parts):
        entry = read_as(_ENTRY, one)
        event = read_as(_EVENT, json.loads(entry.json_str))
        kind = entry.data_type.removesuffix("DataEntry")
        if kind == entry.data_type or event.data is None:
            found[len(found)] = "", event
            continue
        data = read_as(_DATA, {_OF_PLAYER.sub("", name): value for name, value in event.data.items()})
        copy = (kind, event.created_at, data.actor_id, data.message or data.target_id)
        key = copy if data.actor_id and event.created_at else len(found)
        if key not in found or data.reasoning:
            found[key] = kind, event.model_copy(update={"data": data})
    if not replay.number and not replay.id:
        raise BadData("it names no game: neither id nor info.EpisodeId is there")
    return f"kaggle-werewolf-{replay.number or replay.id}", [replay.model_copy(update={"steps": []}), *found.values()]
