"""People who read finished games and judge them: one run folder for each person, as a judge's of `label`.

An `Assignment` says which games are read and what is asked; a `Sitting` is one person's way through it. Each answer is
kept in the person's journal before the next question is asked, so that a sitting goes on where it was left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import TracebackType

from liescope.common.errors import PlanChanged, UnknownName, UsageError
from liescope.data_cards.tables import SPLITS
from liescope.games.core import Ask, AskKind, Assessment, Event, EventKind, Reply
from liescope.games.game_registry import GAMES
from liescope.games.judging import JudgeSpec, Reader, ReaderSpec
from liescope.games.record import GameRecord, person_of
from liescope.games.session import Session
from liescope.generate.corpus.read import split_game
from liescope.generate.players.player_protocol import Attempt
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_folder import PLAN_FILE, handed_on
from liescope.generate.runs.run_plan import JudgePlan, short_hash

PERSON = "human:"


@dataclass(frozen=True, slots=True)
class Assignment:
    """What everybody reads. run: its folder; games: those drawn, by their places in the run; spec: what is seen and
    asked; plan: what all readers' plans have in common.
    """

    run: Path
    games: Mapping[int, GameRecord]
    spec: ReaderSpec
    plan: JudgePlan

    @classmethod
    def draw(
        cls, run: Path, spec: ReaderSpec, games: int | None, split: str | None = None, only: Sequence[str] = ()
    ) -> Assignment:
        """Games of a run that were played to the end and hold a statement to ask about. games: how many, None for all;
        split: only those that a corpus puts there; only: their ids, or as `show` takes them, none for any.

        Raises UsageError for a run without such games or with judged ones, and for a spec that cannot be; UnknownName
        for a split or a game.
        """
        if split is not None and split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
        if not 0 < spec.share <= 1:
            raise UsageError(f"the share of the statements to judge must be above 0 and at most 1, got {spec.share:g}")
        if games is not None and games < 1:
            raise UsageError(f"the number of games to judge must be at least 1, got {games}")
        with Journal.open(run) as journal:
            if JudgePlan.KEY in journal.plan:
                raise UsageError(
                    f"{run} holds judged games; give the run {journal.plan[JudgePlan.KEY]} that they come from"
                )
            wanted = {journal.find(name) for name in only}
            places = [(place, game_id) for place, game_id in journal.done() if not wanted or game_id in wanted]
            Random(f"{spec.seed}:games").shuffle(places)
            drawn: dict[int, GameRecord] = {}
            for place, game_id in places:
                if len(drawn) == games:
                    break
                record = journal.record(game_id)
                if (split is None or split_game(record, ()) == split) and Reader(record, spec, "").statements():
                    drawn[place] = record
            if not drawn:
                raise UsageError(
                    f"{run} holds no finished game with such a statement; choose another view, share or split"
                )
            plan = JudgePlan(
                judged=run.resolve().name,
                origin=short_hash(journal.plan),
                game=next(iter(drawn.values())).game,
                judge="",
                asked=JudgeSpec(spec.share),
                read=spec,
                games=tuple(record.game_id for record in drawn.values()),
                **handed_on(journal.plan),
            )
        return cls(run, drawn, spec, plan)

    def of(self, person: str) -> list[int]:
        """The places of the games that a person reads, in the person's own order: none that the person played in."""
        mine = [
            place
            for place, record in self.games.items()
            if person not in {person_of(seat.model, seat.source) for seat in record.seats}
        ]
        Random(f"{self.spec.seed}:{person}").shuffle(mine)
        return mine


@dataclass(frozen=True, slots=True)
class SittingQuestion:
    """What waits for an answer. number: of the questions so far, from 0, which names it; game, games: its game's place
    among the person's, from 1, and how many there are; title: of what is played, "" for rules that are not known;
    deceivers: the roles that are to deceive, as everybody at the table knows; ask: about a statement, or at the end
    about all players; seat: whose eyes the reader has, "" from outside; names: the players; seen: all events the reader
    may know.
    """

    number: int
    game: int
    games: int
    title: str
    deceivers: tuple[str, ...]
    ask: Ask
    names: tuple[str, ...]
    seen: tuple[Event, ...]

    @property
    def seat(self) -> str:
        return self.ask.seat

    @property
    def about_players(self) -> bool:
        return self.ask.kind is AskKind.SUSPECT


class Sitting:
    """One person's reading, with its run folder open for writing until `close`."""

    def __init__(self, assignment: Assignment, person: str, folder: Path, consent: Sequence[str] = ()) -> None:
        """Opens the folder, or makes it. consent: the paragraphs of the text that the person agreed to, which a new
        folder keeps. Raises PlanChanged if it holds something else.
        """
        self.person = person
        self._assignment = assignment
        self._order = assignment.of(person)
        self.total = sum(self._reader(place).questions() for place in self._order)
        own = assignment.plan.model_copy(update={"judge": PERSON + person, "consent": tuple(consent)})
        plan = own.to_json()
        if (folder / PLAN_FILE).exists():
            self._journal = Journal.open(folder, write=True)
            if {**self._journal.plan, "consent": ()} != {**plan, "consent": ()}:  # its words may have changed
                self._journal.close()
                raise PlanChanged(f"{folder} holds other games or another judge; choose another folder for the answers")
        else:
            self._journal = Journal.create(folder, plan)
        self._ended = set(self._journal.game_ids())
        self.answered = sum(self._reader(p).questions() for p in self._order if self._game(p).game_id in self._ended)
        self._session: Session | None = None
        self._begin()

    def question(self) -> SittingQuestion | None:
        """What waits, None once everything is answered."""
        if self._session is None:
            return None
        (ask,) = self._session.asks
        game = self._session.game
        place = sum(1 for place in self._order if self._game(place).game_id in self._ended) + 1
        frozen = next(game for game in map(self._game, self._order) if game.game_id == ask.game)
        told = GAMES[frozen.game].title if frozen.game in GAMES else "", _deceivers(frozen)
        return SittingQuestion(self.answered, place, len(self._order), *told, ask, game.names, game.view(ask.seat))

    def say(self, deceptive: bool, confidence: float, seconds: float | None) -> None:
        """Answer about a statement. confidence: that the flag is right, 0 to 1; seconds: taken, None if not known."""
        self._answer(Reply(assessment=Assessment(deceptive=deceptive, confidence=confidence)), seconds)

    def suspect(self, shares: Mapping[str, float], seconds: float | None) -> None:
        """Answer about the players. shares: for each, how likely it deceives, 0 to 1."""
        self._answer(Reply(form={name: (str(share),) for name, share in shares.items()}), seconds)

    def _answer(self, reply: Reply, seconds: float | None) -> None:
        assert self._session is not None
        (ask,) = self._session.asks
        taken = None if seconds is None else seconds * 1000
        self._journal.log_attempt(Attempt(ask.game, ask.step, ask.seat, 1, "", "", latency_ms=taken))
        self._journal.log_reply(ask, self.person, reply)
        self._journal.commit()
        self._session.send((reply,))
        self.answered += 1
        self._end_games()

    def records(self) -> list[GameRecord]:
        """The games that are judged to their end."""
        return list(self._journal.records())

    def close(self) -> None:
        self._journal.close()

    def __enter__(self) -> Sitting:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _game(self, place: int) -> GameRecord:
        return self._assignment.games[place]

    def _reader(self, place: int) -> Reader:
        return Reader(self._game(place), self._assignment.spec, self.person)

    def _begin(self) -> None:
        """Take up the first game that has not ended, where it was left."""
        left = [place for place in self._order if self._game(place).game_id not in self._ended]
        self._session = None
        if left:
            self._session = Session(self._reader(left[0]))
            for batch in self._journal.replies(self._game(left[0]).game_id):
                self._session.send(batch)
                self.answered += 1
            self._end_games()

    def _end_games(self) -> None:
        """Keep the game under way if nothing more is asked of it, and begin the next."""
        session = self._session
        if session is None or session.asks:
            return
        reader = session.game
        assert isinstance(reader, Reader)
        place = next(place for place in self._order if self._game(place).game_id == reader.game_id)
        self._journal.add_record(reader.record(), place)
        self._journal.commit()
        self._ended.add(reader.game_id)
        self._begin()


def _deceivers(game: GameRecord) -> tuple[str, ...]:
    """The roles of a game that are to deceive; none where not every card of the table has a player, since this would
    tell which have.
    """
    cards = next((event.data.get("composition", {}) for event in game.events if event.kind is EventKind.SETUP), {})
    if Counter(cards) != Counter(seat.role for seat in game.seats):
        return ()
    return tuple(role for role in sorted(cards) if any(seat.role == role and seat.deceives for seat in game.seats))
