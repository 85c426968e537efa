"""Kaggle's Game Arena: games of Werewolf between language models, as the replays of kaggle-environments hold them.

The moderator's view of a game is a list of steps, each a list of entries whose JSON text is an event. A reply stands
there twice: as it was received, in plain data, and as an entry of its own kind, which is what counts.
"""

from __future__ import annotations

import json
from collections import Counter
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
    read_as,
    shape,
)

WOLVES = "werewolves"
_AGENT = shape(id=(str, ""), display_name=(str | None, ""), agent_id=(str, ""), llms=(list[dict[str, Any]], []))
_REPLAY = shape(
    steps=at("info.MODERATOR_OBSERVATION", list[list[Any]]),
    number=at("info.EpisodeId", int | str | None, None),
    id=(str, ""),
    agents=at("configuration.agents", list[_AGENT], []),
    players=at("info.GAME_END.all_players", list[shape(id=str, agent=_AGENT)], []),
    winner=at("info.GAME_END.winner_team", str | None, None),
    reason=at("info.GAME_END.reason", str, ""),
    broken=at("info.GAME_END.terminated_with_agent_error", bool, False),
)
_ENTRY = shape(data_type=str, json_str=str)
_EVENT = shape(
    day=Number,
    phase=str,
    event_name=str,
    public=(bool, False),
    visible_to=(list[str], []),
    created_at=(str, ""),
    data=Any,
)
_ACTION = {"actor_id": str, "reasoning": (Words | None, None), "perceived_threat_level": (str | None, None)}
_TARGETED = shape(**_ACTION, target_id=str)
_DATA = {
    "GameStartRoleDataEntry": shape(player_id=str, team=str, role=str),
    "ChatDataEntry": shape(**_ACTION, message=Words),
    "BidDataEntry": shape(**_ACTION, bid_amount=Number),
    **dict.fromkeys(
        (
            "DayExileVoteDataEntry",
            "WerewolfNightVoteDataEntry",
            "SeerInspectActionDataEntry",
            "DoctorHealActionDataEntry",
        ),
        _TARGETED,
    ),
    "SeerInspectResultDataEntry": shape(actor_id=str, target_id=str, role=(str | None, None), team=(str | None, None)),
    "DoctorSaveDataEntry": shape(saved_player_id=str),
    "WerewolfNightEliminationElectedDataEntry": shape(elected_target_player_id=str | None),
    "WerewolfNightEliminationDataEntry": shape(
        eliminated_player_id=str | None,
        role=at("eliminated_player_role_name", str | None, None),
        team=at("eliminated_player_team_name", str | None, None),
    ),
    "DayExileElectedDataEntry": shape(
        elected_player_id=str | None,
        role=at("elected_player_role_name", str | None, None),
        team=at("elected_player_team_name", str | None, None),
    ),
}


class _Game(GameWriter):
    """Night 0 of the source is night 1 here, so that each night has the number of the day after it. A round is the
    player's turn of the day.
    """

    def write(self, logged: Logged) -> None:
        replay, *entries = logged.entries
        agents = {agent.id: agent for agent in replay.agents} | {one.id: one.agent for one in replay.players}
        for kind, event in entries:
            if kind == "GameStartRoleDataEntry":
                one, agent = event.data, agents.get(event.data.player_id)
                model = (agent and (agent.display_name or _llm(agent) or agent.agent_id)) or "unknown"
                role, team = one.role.lower(), one.team.lower()
                self.seats[one.player_id] = Seat(one.player_id, role, team, team == WOLVES, model, Source.IMPORTED)
        if not self.seats:
            raise BadData("it deals no roles")
        self.meta["rules"] = DyadicWerewolf.name
        self.deal()
        pack = [key for key, seat in self.seats.items() if seat.team == WOLVES]
        self.log(EventKind.PARTNERS, heard=pack, data={"names": pack})
        self._turns, self._seen = Counter[str](), dict[str, dict[str, Any]]()
        for kind, event in entries:
            night = event.phase == "Night"
            if kind not in _DATA:
                self._move(event, night)
            elif kind != "GameStartRoleDataEntry" and event.event_name != "error":  # a vote that did not count
                heard = None if event.public else [key for key in self.seats if key in event.visible_to]
                self._add(kind, event.data, heard)
        if replay.winner and not replay.broken:
            self.end(replay.winner.lower(), replay.reason, self.day)
        elif replay.broken:
            self.meta["import_notes"] = ["the source says that a player's program failed in it"]

    def _move(self, event: Any, night: bool) -> None:
        """The game goes on to another phase, or nobody is exiled."""
        if event.event_name in ("night_start", "day_start"):
            self.day, self.phase, self.round = event.day + night, Phase.NIGHT if night else Phase.DISCUSSION, 0
            self._turns.clear()
            self.ballots.clear()
            self.log(EventKind.NIGHT if night else EventKind.DAY)
        elif isinstance(event.data, dict) and event.data.get("outcome") == "no_exile":
            self.exile(None)

    def _add(self, kind: str, data: Any, heard: list[str] | None) -> None:
        meant = {name: value for name in _ACTION if name != "actor_id" and (value := getattr(data, name, None))}
        private = {"private": meant} if meant else {}
        target = getattr(data, "target_id", None)
        match kind:
            case "ChatDataEntry":
                self._turns[data.actor_id] += 1
                self.round = self._turns[data.actor_id]
                self.say(data.actor_id, data.message, heard, private)
            case "BidDataEntry" if data.bid_amount <= 10:
                self.log(EventKind.BID, data.actor_id, heard=[data.actor_id], data={"bid": data.bid_amount, **private})
            case "DayExileVoteDataEntry":
                self.phase, self.round = Phase.VOTING, 0
                if target in self.seats:
                    self.vote(data.actor_id, target, heard, data=private)
                else:
                    self.log(EventKind.ACT, data.actor_id, heard=heard, text="abstains", data=private)
            case "WerewolfNightVoteDataEntry" if target in self.seats:
                self.log(EventKind.PROPOSAL, data.actor_id, target, heard, data=private)
            case "DoctorHealActionDataEntry" if target in self.seats:
                self.log(EventKind.PROTECTION, data.actor_id, target, heard, data=private)
            case "SeerInspectActionDataEntry":
                self._seen[data.actor_id] = private  # the result follows
            case "SeerInspectResultDataEntry":
                found = _revealed(data) | self._seen.pop(data.actor_id, {})
                self.log(EventKind.INVESTIGATION, data.actor_id, target, heard, data=found)
            case "WerewolfNightEliminationElectedDataEntry" if data.elected_target_player_id:
                self.log(EventKind.KILL, target=data.elected_target_player_id, heard=heard)
            case "WerewolfNightEliminationElectedDataEntry":
                self.log(EventKind.ACT, text="nobody was attacked")
            case "DoctorSaveDataEntry":
                self.log(EventKind.QUIET)
            case "WerewolfNightEliminationDataEntry" if data.eliminated_player_id:
                self.log(EventKind.DEATH, target=data.eliminated_player_id, data=_revealed(data))
            case "DayExileElectedDataEntry":
                self.exile(data.elected_player_id, **_revealed(data))


def _llm(agent: Any) -> str:
    return next((str(one["model_name"]) for one in agent.llms if one.get("model_name")), "")


def _revealed(data: Any) -> dict[str, str]:
    """The role, or else the team, that is revealed."""
    found = data.role or data.team
    return {"role": found.lower()} if found else {}


class KaggleWerewolfImporter(GameFormat):
    """A replay a file, with the moderator's view in `info.MODERATOR_OBSERVATION`."""

    format: ClassVar[str] = "kaggle-werewolf"
    reads: ClassVar[str] = "replays (.json), a folder or an archive (.tar.gz) of them"
    origin: ClassVar[str] = "Kaggle's Game Arena, https://www.kaggle.com/game-arena"
    licence: ClassVar[str] = "Kaggle's terms of use: none that lets anyone pass the words on is known."
    languages: ClassVar[tuple[str, ...]] = ("en",)
    game: ClassVar[str] = "kaggle-werewolf"
    about: ClassVar[str] = (
        "Werewolf between language models: werewolves, a seer, a doctor and villagers talk in turns or by bidding, and "
        "exile by vote. Players know each other by first names; the moderator's log states every role and act."
    )
    Writer: ClassVar[type[GameWriter]] = _Game

    def logged(self, source: Path) -> LoggedGames:
        return game_files(source, "*.json", _read)


def _read(content: Any) -> tuple[str, list[Any]]:
    """The game's id; the replay without its steps, and its events with their kinds, each once."""
    replay = read_as(_REPLAY, content)
    found: dict[Any, tuple[str, Any]] = {}
    for step in replay.steps:
        for one in step:
            entry = read_as(_ENTRY, one)
            event = read_as(_EVENT, json.loads(entry.json_str))
            if kind := _DATA.get(entry.data_type):
                event = event.model_copy(update={"data": read_as(kind, event.data)})
            said = getattr(event.data, "message", getattr(event.data, "target_id", ""))
            copy = (entry.data_type, event.created_at, getattr(event.data, "actor_id", ""), said)
            key = copy if copy[2] and event.created_at else len(found)
            if key not in found or getattr(event.data, "reasoning", ""):
                found[key] = entry.data_type, event
    if not replay.number and not replay.id:
        raise BadData("it names no game: neither id nor info.EpisodeId is there")
    return f"kaggle-werewolf-{replay.number or replay.id}", [replay.model_copy(update={"steps": []}), *found.values()]
