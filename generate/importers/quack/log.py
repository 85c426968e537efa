"""A QUACK log as a record: what happened, in order, and who saw it.

A day is a stretch of free roaming, kept as the night, with the meeting that ends it. While players roam, an event's
round is its tick; in a meeting, it is the round of discussion. Moves and tasks are seen, and messages in a room heard,
by those in the room. Votes are secret: the players learn the count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from liescope.common.errors import BadData
from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.facts import GameMeta
from liescope.games.record import GameRecord, Seat, Source, Status
from liescope.generate.importers.quack import entries
from liescope.generate.importers.quack.entries import DUCK, Act, claim_data


class Rooms:
    """Where the living players are. Between rooms, a player sees and hears nobody, and nobody sees it."""

    def __init__(self) -> None:
        self._room: dict[str, str] = {}
        self._way: dict[str, tuple[str, int]] = {}
        self._gone: set[str] = set()

    def place(self, rooms: Mapping[str, str]) -> None:
        """Put players into rooms."""
        self._room.update(rooms)

    def tick(self, now: int) -> None:
        """Let those arrive whose way ends at this tick."""
        for player, (room, arrival) in list(self._way.items()):
            if now >= arrival:
                self._room[player] = room
                del self._way[player]

    def move(self, player: str, room: str, arrival: int | None) -> None:
        """Start for a room; arrival: the tick of the arrival, None for at once."""
        if arrival is None:
            self._room[player] = room
        else:
            self._way[player] = (room, arrival)

    def meet(self) -> None:
        """A meeting ends every walk where it began."""
        self._way.clear()

    def leave(self, player: str) -> None:
        """A player is out of the game. QUACK lets one who was killed act once more in the same tick."""
        self._gone.add(player)

    def there(self, *rooms: str) -> set[str]:
        """Who is in one of these rooms."""
        away = self._way.keys() | self._gone
        return {player for player, room in self._room.items() if room in rooms and player not in away}


GAME = "quack"
UNFINISHED = "the published log ends before the game does"
UNMATCHED = "a claim is about an utterance that is not in the log"


def record_of(
    game_id: str,
    cell: str,
    models: Mapping[str, str],
    log: Iterable[tuple[entries.LogEntry, Any]],
    claims: Iterable[entries.QuackClaim],
    seed: int | None,
) -> GameRecord:
    """The record of a game; failed if its log has no end. cell: who plays, in QUACK's words; models: by team; seed: of
    QUACK's own generator.

    Raises BadData for a log that names a stranger or does not begin with a game's start.
    """
    game = _GameSoFar(claims)
    for entry, data in log:
        game.add(entry, data)
    if not game.players:
        raise BadData("its log does not begin with a game_started")
    seats = tuple(
        Seat(player.name, player.role.lower(), player.team, player.team == DUCK, model, Source.IMPORTED)
        for player in game.players.values()
        for model in (models.get(player.team, "unknown"),)
    )
    meta = GameMeta(number=seed)
    if any(game.claims.values()):
        meta["import_notes"] = [UNMATCHED]
    done = game.outcome is not None
    return GameRecord(
        game_id=game_id,
        game=GAME,
        seed=None,
        cell=cell,
        seats=seats,
        events=tuple(game.events),
        status=Status.DONE if done else Status.FAILED,
        outcome=game.outcome,
        failure="" if done else UNFINISHED,
        meta=meta,
    )


class _GameSoFar:
    """The events of one game as they are read. claims: those not yet found in the log, by meeting, player and words."""

    def __init__(self, claims: Iterable[entries.QuackClaim]) -> None:
        self.players: dict[str, entries.QuackPlayer] = {}
        self.events: list[Event] = []
        self.outcome: Outcome | None = None
        self.claims: dict[tuple[int, str, str], list[entries.QuackClaim]] = defaultdict(list)
        for claim in claims:
            self.claims[claim.meeting.meeting_idx, claim.speaker.speaker_id, claim.utterance.raw].append(claim)
        self._rooms = Rooms()
        self._acts: list[Act] = []
        self._roles: dict[str, int] = {}
        self._killed: list[str] = []
        self._votes: dict[str, str | None] = {}
        self._turns: Counter[str] = Counter()
        self._day = self._tick = self._meetings = 0
        self._phase = Phase.SETUP

    def add(self, entry: entries.LogEntry, data: Any) -> None:
        """Read the next event of the log."""
        if not self.players and not isinstance(data, entries.Started):
            raise BadData("its log does not begin with a game_started")
        if self.outcome is not None:
            raise BadData("its log goes on after the game's end")
        self._tick = entry.tick
        match data:
            case entries.Started():
                self._start(data)
            case entries.Respawned():
                self._roam(data.rooms)
            case entries.Moved():
                self._move(data)
            case entries.Task():
                self._task(data, entry.event_type == "task_completed")
            case entries.Chat():
                heard = self._seen_in(data.player_id, data.room)
                self._log(EventKind.STATEMENT, actor=self._name(data.player_id), text=data.message, audience=heard)
            case entries.Killed():
                self._kill(data)
            case entries.Meeting():
                self._meet(data, entry.event_type == "body_reported")
            case entries.Message():
                self._say(data)
            case entries.QuackVote():
                self._vote(data)
            case entries.Ejected():
                needed = self._needed(besides=data.player_id)
                votes = list(self._votes.values()).count(data.player_id)
                out = self._name(data.player_id)
                self._log(EventKind.EXILE, target=out, data={"votes": votes, "needed": needed})
                self._rooms.leave(data.player_id)
            case entries.Over():
                self._end(data)
            case _ if entry.event_type == "tick_start":
                self._rooms.tick(entry.tick)
            case _ if entry.event_type == "vote_skipped":
                self._log(EventKind.NO_EXILE, data={"needed": self._needed()})

    def _log(self, kind: EventKind, **facts: Any) -> int:
        """Append an event; returns its index."""
        round = self._tick if self._phase is Phase.NIGHT else facts.pop("round", 0)
        self.events.append(Event(len(self.events), kind, self._day, self._phase, round, **facts))
        return self.events[-1].index

    def _name(self, player: str) -> str:
        if player not in self.players:
            raise BadData(f"player {player[:60]!r} is not at the table")
        return self.players[player].name

    def _seen_in(self, player: str, *rooms: str) -> tuple[str, ...]:
        """Who sees what a player does in these rooms: those there, and the player itself."""
        return tuple(self._name(other) for other in self.players if other in {player, *self._rooms.there(*rooms)})

    def _act(self, player: str, words: str, *rooms: str, task: bool = False) -> None:
        name = self._name(player)
        index = self._log(EventKind.ACT, actor=name, text=words, audience=self._seen_in(player, *rooms))
        self._acts.append(Act(index, name, self._tick, task))

    def _start(self, data: entries.Started) -> None:
        if self.players:
            raise BadData("its log starts a game twice")
        self.players = data.initial_state
        held = Counter(player.role.lower() for player in self.players.values())
        composition = dict(sorted(held.items()))  # not as they sit
        names = [player.name for player in self.players.values()]
        self._log(EventKind.SETUP, data={"names": names, "composition": composition})
        for player in self.players.values():
            own = {"actor": player.name, "audience": (player.name,), "data": {"role": player.role.lower()}}
            self._roles[player.name] = self._log(EventKind.ROLE, **own)
        self._roam({id: player.room for id, player in self.players.items()})

    def _roam(self, rooms: Mapping[str, str]) -> None:
        self._day += 1
        self._phase = Phase.NIGHT
        self._log(EventKind.NIGHT)
        self._rooms.place(rooms)
        for player, room in rooms.items():
            self._act(player, f"starts in {room}", room)

    def _move(self, data: entries.Moved) -> None:
        ticks = data.ticks_remaining
        on_the_way = f", {ticks} ticks away" if ticks else ""
        self._act(data.player_id, f"goes from {data.left} to {data.to}{on_the_way}", data.left, data.to)
        self._rooms.move(data.player_id, data.to, self._tick + ticks if ticks else None)

    def _task(self, data: entries.Task, done: bool) -> None:
        if done or data.progress.startswith("1/"):
            word = "completes" if done else "begins"
            self._act(data.player_id, f"{word} the task {data.task_name} in {data.room}", data.room, task=True)

    def _kill(self, data: entries.Killed) -> None:
        killer, victim = self._name(data.killer_id), self._name(data.target_id)
        self._rooms.leave(data.target_id)
        seen = self._seen_in(data.killer_id, data.room)
        index = self._log(EventKind.KILL, actor=killer, target=victim, audience=seen)
        self._acts += [Act(index, name, self._tick) for name in (killer, victim)]
        self._killed.append(victim)

    def _meet(self, data: entries.Meeting, body: bool) -> None:
        self._rooms.meet()
        self._phase = Phase.DISCUSSION
        self._meetings += 1
        self._turns.clear()
        self._votes.clear()
        self._log(EventKind.DAY)
        words = "reports a dead body" if body else "calls an emergency meeting"
        self._log(EventKind.ACT, actor=self._name(data.caller), text=words)
        self._find([body.victim_name for body in data.bodies])

    def _find(self, victims: Sequence[str]) -> None:
        for name in victims:
            if name not in self._killed:
                raise BadData(f"the body of {name[:60]!r} is found, whom nobody killed")
            self._killed.remove(name)
            self._log(EventKind.DEATH, target=name)

    def _say(self, data: entries.Message) -> None:
        speaker = self._name(data.player_id)
        self._turns[speaker] += 1
        round = self._turns[speaker]
        if not data.message.strip():
            self._log(EventKind.SILENCE, round=round, actor=speaker)
            return
        role = self.players[data.player_id].role.lower()
        found = self.claims.pop((self._meetings - 1, data.player_id, data.message), [])
        claims = [claim_data(claim, data.message, speaker, role, self._roles, self._acts) for claim in found]
        facts = {"data": {"claims": claims}} if claims else {}
        self._log(EventKind.STATEMENT, round=round, actor=speaker, text=data.message, **facts)

    def _vote(self, data: entries.QuackVote) -> None:
        self._phase = Phase.VOTING
        self._votes[data.voter] = data.target
        voter = self._name(data.voter)
        if data.target is None:
            self._log(EventKind.ACT, actor=voter, text="votes for nobody", audience=(voter,))
        else:
            self._log(EventKind.VOTE, actor=voter, target=self._name(data.target), audience=(voter,))

    def _needed(self, besides: str | None = None) -> int:
        """How many votes exile somebody: one more than anybody else got, and one more than there are abstentions."""
        counts = Counter(self._votes.values())
        return 1 + max((count for target, count in counts.items() if besides is None or target != besides), default=0)

    def _end(self, data: entries.Over) -> None:
        self._phase = Phase.END
        self._find(tuple(self._killed))
        winner = data.winner or ""
        self._log(EventKind.END, data={"winner": winner})
        won = tuple(player.name for player in self.players.values() if player.team == winner)
        self.outcome = Outcome(winner, won, data.reason, self._day)
