"""What was done in a recorded game, as rows: votes, night acts, bids for the floor."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from liescope.data_cards.tables.rows import (
    BidRow,
    LessonRow,
    LessonTagRow,
    NightActRow,
    RatingRow,
    RoleGuessRow,
    VoteRow,
)
from liescope.games.core import Event, EventKind, Phase
from liescope.games.record import ACTS, GameRecord, not_chosen
from liescope.games.shared_rules import START
from liescope.labeling.lesson_tags import tag

FATES = {EventKind.DEATH: "killed", EventKind.ARREST: "exiled", EventKind.EXILE: "exiled"}
TURNS = frozenset({EventKind.STATEMENT, EventKind.SILENCE})
_DIGITS = 9  # decimals of a suspicion: values that differ only by rounding tie


def vote_rows(record: GameRecord, ratings: Sequence[RatingRow]) -> Iterator[VoteRow]:
    """One row per vote. ratings: those of the same game, for the rank of each target in its voter's suspicion."""
    seats = {seat.name: seat for seat in record.seats}
    suspicion = _Suspicion(ratings)
    alive = list(seats)
    opened: dict[tuple[int, Phase], int] = {}
    for event in record.events:
        if event.kind in FATES and event.target in alive:
            alive.remove(event.target)
        if event.kind is not EventKind.VOTE:
            continue
        voter, target = seats[event.actor or ""], seats[event.target or ""]
        before = opened.setdefault((event.day, event.phase), event.index)
        yield VoteRow(
            game_id=record.game_id,
            day=event.day,
            ballot=2 if event.phase is Phase.REVOTE else 1,
            voter=voter.name,
            voter_role=voter.role,
            voter_model=voter.model,
            voter_source=voter.source.value,
            target=target.name,
            target_role=target.role,
            fallback=event.fallback,
            suspicion_rank=suspicion.rank(voter.name, target.name, alive, before),
        )


class _Suspicion:
    """Each observer's running suspicion of each speaker at any moment of a game."""

    def __init__(self, ratings: Iterable[RatingRow]) -> None:
        self._after: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
        for rating in ratings:
            index = int(rating.statement_id.rpartition(":")[2])
            self._after[rating.observer, rating.speaker].append((index, rating.running_suspicion))

    def rank(self, observer: str, target: str, alive: Iterable[str], before: int) -> float | None:
        """The target's rank among the living others, by ratings of statements before an event; None without ratings."""
        if not self._after:
            return None
        rated = {name: self._at(observer, name, before) for name in alive if name != observer}
        if target not in rated or all(value is None for value in rated.values()):
            return None
        values = {name: round(START if value is None else value, _DIGITS) for name, value in rated.items()}
        above = sum(value > values[target] for value in values.values())
        tied = sum(value == values[target] for value in values.values())
        return above + (tied + 1) / 2

    def _at(self, observer: str, speaker: str, before: int) -> float | None:
        after = self._after.get((observer, speaker), [])
        return next((value for index, value in reversed(after) if index < before), None)


def night_act_rows(record: GameRecord) -> Iterator[NightActRow]:
    """One row per night act, in order of play."""
    roles = {seat.name: seat.role for seat in record.seats}
    drawn = not_chosen(record.events)
    ends = [event for event in record.events if event.kind in (EventKind.DEATH, EventKind.QUIET)]
    for event in record.events:
        if event.kind in ACTS:
            died = next((end.kind is EventKind.DEATH for end in ends if end.index > event.index), None)
            yield NightActRow(
                game_id=record.game_id,
                day=event.day,
                act=event.kind.value,
                round=event.round,
                actor=event.actor,
                actor_role=roles.get(event.actor or ""),
                target=event.target,
                target_role=roles.get(event.target or ""),
                died=died if event.kind is EventKind.KILL else None,
                fallback=drawn.get(event.index, ""),
            )


def bid_rows(record: GameRecord) -> Iterator[BidRow]:
    """One row per bid, in order of play."""
    roles = {seat.name: seat.role for seat in record.seats}
    floor = {(e.day, e.phase, e.round): e.actor for e in record.events if e.kind in TURNS}
    for event in record.events:
        if event.kind is EventKind.BID:
            bidder = event.actor or ""
            yield BidRow(
                game_id=record.game_id,
                day=event.day,
                phase=event.phase.value,
                turn=event.round,
                bidder=bidder,
                role=roles[bidder],
                bid=event.data["bid"],
                floor=floor.get((event.day, event.phase, event.round)) == bidder,
                fallback=event.fallback,
            )


def lesson_rows(record: GameRecord) -> Iterator[LessonRow]:
    """One row per lesson drawn from the game, with the tags that the rules give it."""
    drawn_by = {event.actor for event in record.events if event.kind is EventKind.LESSON}
    models = {seat.model for seat in record.seats if seat.name in drawn_by}
    for lesson in record.meta.get("lessons", ()):
        tags = tag(lesson["text"])
        yield LessonRow(
            game_id=record.game_id,
            cell=record.cell,
            author_model=next(iter(models)) if len(models) == 1 else None,
            turn=record.meta.get("turn"),
            kind=lesson["kind"],
            text=lesson["text"],
            kept=lesson["kept"],
            nearest=lesson["nearest"],
            categories=tags.categories,
            order=tags.order,
        )


def role_guess_rows(record: GameRecord) -> Iterator[RoleGuessRow]:
    """One row per role that the record's rater named; none if it has no rater."""
    roles = {seat.name: seat.role for seat in record.seats}
    for rater, event in _ratings_of(record, EventKind.ROLES_NAMED):
        for name, guess in event.data["roles"].items():
            yield RoleGuessRow(
                game_id=record.game_id,
                judge=rater,
                observer=event.actor or "",
                observer_role=roles[event.actor or ""],
                target=name,
                target_role=roles[name],
                guess=next(iter(guess), None),
            )


def second_order_guesses(record: GameRecord) -> Iterator[tuple[bool, float]]:
    """For each guess whom another player suspects most, if that player then chose its vote: whether it went there, and
    the share of all players whom it could vote for that one is.
    """
    votes = [event for event in record.events if event.kind is EventKind.VOTE]
    voters = Counter((vote.day, vote.phase) for vote in votes)
    cast = {(vote.day, vote.phase, vote.actor): vote.target for vote in votes if not vote.fallback}
    for event in record.events:
        for name, whom in event.data.get("suspects", {}).items():
            if target := cast.get((event.day, event.phase, name)):
                yield target == whom, 1 / (voters[event.day, event.phase] - 1)


def lesson_tag_rows(record: GameRecord) -> Iterator[LessonTagRow]:
    """One row per lesson that the record's rater tagged; none if it has no rater."""
    for rater, event in _ratings_of(record, EventKind.LESSON_TAGS):
        lesson, tags = record.events[event.about or 0], event.data["tags"]
        order = next(iter(tags.get("order", ())), "")
        yield LessonTagRow(
            game_id=record.game_id,
            kind=lesson.data["kind"],
            text=lesson.text,
            judge=rater,
            categories=tuple(tags.get("categories", ())),
            order=int(order) if order in ("1", "2", "3") else None,
        )


def _ratings_of(record: GameRecord, kind: EventKind) -> Iterator[tuple[str, Event]]:
    """The record's rater and its answers, as far as they could be read."""
    rater = record.meta.get("judge")
    for event in record.events:
        if rater and event.kind is kind and event.data.get("judge") == rater and not event.fallback:
            yield rater, event
