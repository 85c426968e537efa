"""QUACK: games like Among Us between language models, with the claims that another model extracted from what they
said.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from liescope.common.errors import BadData
from liescope.games.core import EventKind, Phase
from liescope.games.facts import ClaimData
from liescope.games.record import Seat, Source
from liescope.generate.importers.game_reader import (
    GameFormat,
    GameWriter,
    Logged,
    LoggedGames,
    Number,
    Words,
    at,
    by_key,
    game_folders,
    read_as,
    shape,
)

LOG, CLAIMS = "game.jsonl", "tier3_claims.jsonl"
GOOSE, DUCK = "goose", "duck"
_MIXED = re.compile(rf"geese_(?P<{GOOSE}>.+)_duck_(?P<{DUCK}>.+)")
_SEED = re.compile(r"seed(\d{1,9})$")
_TASK = shape(player_id=str, task_name=str, room=str, progress=(str, ""))
_MEETING = shape(caller=str, bodies=list[dict[str, Any]])
_EVENTS = {
    "game_started": shape(initial_state=by_key(shape(name=str, role=str, team=str, room=str))),
    "players_respawned": shape(rooms=dict[str, str]),
    "player_moved": shape(player_id=str, to=str, left=at("from", str), ticks_remaining=(Number | None, None)),
    "task_progress": _TASK,
    "task_completed": _TASK,
    "free_roam_chat": shape(player_id=str, room=str, message=Words),
    "player_killed": shape(killer_id=str, target_id=str, room=str),
    "body_reported": _MEETING,
    "meeting_called": _MEETING,
    "discussion_message": shape(player_id=str, message=Words),
    "vote_cast": shape(voter=str, target=str | None),
    "player_ejected": shape(player_id=str),
    "game_over": shape(winner=str | None, reason=str),
    **dict.fromkeys(("tick_start", "tick_end", "phase_changed", "vote_skipped"), shape()),
}
_EVENT = shape(event_type=str, tick=Number, data=Any)
_SAID = ("subject", "target", "room", "activity", "temporal_ref", "confidence")
_CLAIM = shape(
    meeting=at("meeting.meeting_idx", Number),
    start=at("temporal_window.start_tick", Number),
    end=at("temporal_window.end_tick", Number),
    speaker=at("speaker.speaker_id", str),
    words=at("utterance.raw", Words),
    kind=at("structured_claim.claim_type", str),
    verdict=at("verification.verdict", str),
    route=at("verification.evidence.claimed_route", list[str], []),
    **{name: at(f"structured_claim.{name}", str | None) for name in _SAID},
)
VERDICTS = {"true": "true", "false": "false", "wrong_room": "false"}
"""QUACK's verdicts that decide a claim. The others, near_miss and unverifiable, leave it open."""


class _Game(GameWriter):
    """A day is a stretch of free roaming, kept as the night, with the meeting that ends it. A round is a tick of
    roaming or a player's turn in a meeting. Who is in a room sees moves and tasks there and hears what is said. Votes
    are secret: the players learn the count.
    """

    def write(self, logged: Logged) -> None:
        self.cell, seed = logged.game_id.split("/")[0], _SEED.search(logged.game_id)
        self.meta["number"] = int(seed[1]) if seed else None
        self._rooms, self._killed, self._turns, self._meetings = dict[str, str](), dict[str, str](), Counter[str](), 0
        self._walks, self._gone = dict[str, tuple[str, int]](), set[str]()  # walkers see and hear nothing
        self._claims = defaultdict[Any, list[Any]](list)
        for claim in logged.beside:
            self._claims[claim.meeting, claim.speaker, claim.words].append(claim)
        for entry in logged.entries:
            if self.outcome or (entry.event_type == "game_started") == bool(self.seats):
                raise BadData("its log does not begin with a game_started, or goes on after the game's end")
            self.round = entry.tick if self.phase is Phase.NIGHT else 0
            self._add(entry.event_type, entry.tick, entry.data)
        if any(self._claims.values()):
            self.meta["import_notes"] = ["a claim is about an utterance that is not in the log"]

    def _add(self, kind: str, tick: int, data: Any) -> None:
        match kind:
            case "game_started":
                mixed = _MIXED.fullmatch(self.cell)
                models = mixed.groupdict() if mixed else dict.fromkeys((GOOSE, DUCK), self.cell)
                for key, one in data.initial_state.items():
                    model, role = models.get(one.team, "unknown"), one.role.lower()
                    self.seats[key] = Seat(one.name, role, one.team, one.team == DUCK, model, Source.IMPORTED)
                self.deal()
                self._roam(tick, {key: one.room for key, one in data.initial_state.items()})
            case "players_respawned":
                self._roam(tick, data.rooms)
            case "tick_start":
                arrived = {player: room for player, (room, arrival) in self._walks.items() if arrival <= tick}
                self._rooms |= arrived
                self._walks = {player: walk for player, walk in self._walks.items() if player not in arrived}
            case "player_moved":
                ticks = data.ticks_remaining
                words = f"goes from {data.left} to {data.to}" + (f", {ticks} ticks away" if ticks else "")
                self._act(data.player_id, words, data.left, data.to)
                if ticks:
                    self._walks[data.player_id] = data.to, tick + ticks
                else:
                    self._rooms[data.player_id] = data.to
            case "task_completed":
                self._act(data.player_id, f"completes the task {data.task_name} in {data.room}", data.room)
            case "task_progress" if data.progress.startswith("1/"):
                self._act(data.player_id, f"begins the task {data.task_name} in {data.room}", data.room)
            case "free_roam_chat":
                self.say(data.player_id, data.message, self._seen(data.player_id, data.room))
            case "player_killed":
                self._gone.add(data.target_id)  # it may act again in the same tick
                self.log(EventKind.KILL, data.killer_id, data.target_id, self._seen(data.killer_id, data.room))
                self._killed[self.seat(data.target_id).name] = data.target_id
            case "body_reported" | "meeting_called":
                self._walks.clear()  # every walk ends where it began
                self._turns.clear()
                self.ballots.clear()
                self._meetings, self.phase, self.round = self._meetings + 1, Phase.DISCUSSION, 0
                self.log(EventKind.DAY)
                words = "reports a dead body" if kind == "body_reported" else "calls an emergency meeting"
                self.log(EventKind.ACT, data.caller, text=words)
                self._find([body.get("victim_name") for body in data.bodies])
            case "discussion_message":
                speaker = self.seat(data.player_id)
                self._turns[data.player_id] += 1
                self.round = self._turns[data.player_id]
                found = self._claims.pop((self._meetings - 1, data.player_id, data.message), ())
                claims = [self._claim(claim, data.message, speaker) for claim in found]
                self.say(data.player_id, data.message, data={"claims": claims} if claims else {})
            case "vote_cast":
                self.phase, self.round = Phase.VOTING, 0
                self.vote(data.voter, data.target, [data.voter])
            case "vote_skipped":
                self.exile(None)
            case "player_ejected":
                self.exile(data.player_id)
                self._gone.add(data.player_id)
            case "game_over":
                self.phase, self.round = Phase.END, 0
                self._find([*self._killed])
                self.end(data.winner or "", data.reason, self.day)

    def _seen(self, player: str, *rooms: str) -> list[str]:
        """Who sees what a player does in these rooms: those there, and the player itself."""
        away = self._walks.keys() | self._gone
        return [key for key in self.seats if key == player or (self._rooms.get(key) in rooms and key not in away)]

    def _act(self, player: str, words: str, *rooms: str) -> None:
        self.log(EventKind.ACT, player, heard=self._seen(player, *rooms), text=words)

    def _roam(self, tick: int, rooms: Mapping[str, str]) -> None:
        self.day, self.phase, self.round = self.day + 1, Phase.NIGHT, tick
        self.log(EventKind.NIGHT)
        self._rooms |= rooms
        for player, room in rooms.items():
            self._act(player, f"starts in {room}", room)

    def _find(self, bodies: Sequence[str]) -> None:
        for name in bodies:
            if name not in self._killed:
                raise BadData(f"the body of {str(name)[:60]!r} is found, whom nobody killed")
            self.log(EventKind.DEATH, target=self._killed.pop(name))

    def _claim(self, claim: Any, text: str, speaker: Seat) -> ClaimData:
        """A claim, and whether its speaker could know the verdict. There is only one duck, so the duck knows that its
        accusations are false, unless they only voice a doubt. Of what speakers say of themselves, only the verdict
        "true" can be relied on: a "false" is mostly a mistake of the authors' program (docs/labels.md).
        """
        accuses, weak = claim.kind == "accusation", claim.confidence == "weak"
        subject = (claim.target if accuses else claim.subject) or None
        verdict = VERDICTS.get(claim.verdict, "unverifiable")
        own = subject == speaker.name
        known = None if subject is None or (own and verdict != "true") else own
        if accuses:
            known = False if speaker.role != DUCK else None if weak else True
        data = ClaimData(
            kind=claim.kind,
            subject=subject,
            object=(f"{DUCK} (weak)" if weak else DUCK) if accuses else _object(claim) or None,
            polarity="affirmed",
            verdict=verdict,
            evidence=self._evidence(claim, subject if accuses else None),
            known=known,
        )
        route = r"\W{1,5}".join(re.escape(room).replace("_", "[ _-]?") for room in claim.route)
        found = [*re.finditer(rf"(?<!\w){route}(?!\w)", text, re.IGNORECASE)] if len(claim.route) > 1 else []
        return data | ClaimData(start=found[0].start(), end=found[0].end()) if len(found) == 1 else data

    def _evidence(self, claim: Any, accused: str | None) -> list[int]:
        """The role of the accused; else what the people in the claim did in the ticks that were checked."""
        roles = {event.actor: event.index for event in self.events if event.kind is EventKind.ROLE}
        if accused in roles:
            return [roles[accused]]
        about = {claim.subject, claim.target} - {None}
        tasks = claim.kind == "activity" and claim.activity == "task"
        return [
            event.index
            for event in self.events
            if event.phase is Phase.NIGHT
            and event.kind in (EventKind.ACT, EventKind.KILL)
            and about & {event.actor, event.target}
            and tasks == (" the task " in event.text)
            and claim.start <= event.round <= claim.end
        ]


def _object(claim: Any) -> str:
    """What is claimed of the subject, such as "Eve in weapons (at tick 3)"."""
    room = " > ".join(claim.route) or claim.room or ""
    what = (claim.target if claim.kind == "sighting" else claim.activity) or ""
    words = f"{what} in {room}" if what and room else what or room
    return f"{words} ({claim.temporal_ref})" if words and claim.temporal_ref else words


class QuackImporter(GameFormat):
    """A folder per game, in the folder of its model: `MODEL/GAME/game.jsonl` with `tier3_claims.jsonl` beside it."""

    format: ClassVar[str] = "quack"
    Writer: ClassVar[type[GameWriter]] = _Game

    def logged(self, source: Path) -> LoggedGames:
        return game_folders(source, (LOG, _event), (CLAIMS, partial(read_as, _CLAIM)))


def _event(line: Mapping[str, Any]) -> Any:
    entry = read_as(_EVENT, line)
    if entry.event_type not in _EVENTS:
        raise BadData(f"QUACK has no event {entry.event_type[:60]!r}")
    return entry.model_copy(update={"data": read_as(_EVENTS[entry.event_type], entry.data)})
