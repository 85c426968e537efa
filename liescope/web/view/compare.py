"""Two games side by side: forks of one root, or one game before two judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from liescope.web.view.moments import Ballot, BallotEntry, Bids, Happened, PageMoment, Said, ShownGame

SHARED, DIFFERENT_WORDS, ALONE = "shared", "another course", "only here"
DIFFERENT_LABELS, DIFFERENT_RATINGS = "other labels", "the same labels, other ratings"


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """What happened at one place of the log in each of two games, or None. how: one of the words above; labels:
    the names of those that differ.
    """

    index: int
    left: PageMoment | None
    right: PageMoment | None
    how: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring rows, all shared or none. title: where the stretch begins."""

    shared: bool
    title: str
    rows: tuple[ComparedPair, ...]


def compared(left: ShownGame, right: ShownGame) -> tuple[Stretch, ...]:
    """The moments of two games by their place in the log, what they share gathered so that it can be folded."""
    ours, theirs = dict(_placed(left)), dict(_placed(right))
    found: list[Stretch] = []
    waiting: list[ComparedPair] = []
    title = ""
    for index in sorted({*ours, *theirs}):
        here, there = ours.get(index), theirs.get(index)
        row = _row(index, here and here[1], there and there[1])
        if waiting and (row.how == SHARED) != (waiting[-1].how == SHARED):
            found.append(Stretch(waiting[-1].how == SHARED, title, tuple(waiting)))
            waiting = []
        if not waiting:
            title = (here or there or ("", None))[0]
        waiting.append(row)
    if waiting:
        found.append(Stretch(waiting[-1].how == SHARED, title, tuple(waiting)))
    return tuple(found)


def _placed(game: ShownGame) -> Iterator[tuple[int, tuple[str, PageMoment]]]:
    for section in game.sections:
        for moment in section.moments:
            yield moment.index, (section.title, moment)


def _row(index: int, left: PageMoment | None, right: PageMoment | None) -> ComparedPair:
    if left is None or right is None:
        return ComparedPair(index, left, right, ALONE)
    if _uncalled(left) == _uncalled(right):
        return ComparedPair(index, left, right, SHARED)
    if _bare(left) != _bare(right):
        return ComparedPair(index, left, right, DIFFERENT_WORDS)
    pairs = zip(left.labels, right.labels, strict=False) if isinstance(left, Said) and isinstance(right, Said) else ()
    differing = tuple(one.name for one, other in pairs if one != other)
    return ComparedPair(index, left, right, DIFFERENT_LABELS if differing else DIFFERENT_RATINGS, differing)


def _uncalled(moment: PageMoment) -> PageMoment:
    """A moment without the calls that brought it, which differ from run to run."""
    if isinstance(moment, Bids | Ballot):
        return replace(moment, entries=tuple(replace(entry, call=None) for entry in moment.entries))
    if isinstance(moment, Happened):
        return replace(moment, call=None)
    ratings = tuple(replace(rating, call=None) for rating in moment.ratings)
    report = None if moment.report is None else replace(moment.report, call=None)
    return replace(moment, call=None, ratings=ratings, report=report)


def _bare(moment: PageMoment) -> tuple[object, ...]:
    """What happened, without what anybody says of it."""
    if isinstance(moment, Said):
        return moment.speaker, "".join(piece.text for piece in moment.pieces), moment.to
    if isinstance(moment, Bids | Ballot):
        return tuple(_deed(entry) for entry in moment.entries)
    return (moment.words,)


def _deed(entry: BallotEntry) -> tuple[object, ...]:
    return entry.actor, entry.target, entry.bid
