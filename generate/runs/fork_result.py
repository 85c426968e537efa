"""What came of the continuations of a moment: by group, how often the seat's side won, and the votes against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from liescope.common.text import plain
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.result import RunResult

if TYPE_CHECKING:
    import polars as pl

MEASURES = ("won", "votes")


@dataclass(frozen=True, slots=True)
class Ending:
    """How one continuation ended for the seat that was played anew. won: 1.0 or 0.0; votes: the share of the others'
    votes, from the moment on, that named it, without those that the rules drew; None if there are none.
    """

    group: str
    number: int
    won: float
    votes: float | None


def ending(game: GameRecord) -> Ending:
    """The ending of a continuation that was played to the end."""
    fork = game.meta["fork"]
    votes = [
        event.target == fork["seat"]
        for event in game.events[fork["events"] :]
        if event.kind is EventKind.VOTE and event.actor != fork["seat"] and not event.fallback
    ]
    won = game.outcome is not None and fork["seat"] in game.outcome.winners
    return Ending(fork["group"], fork["number"], float(won), fmean(votes) if votes else None)


@dataclass(frozen=True, repr=False)
class ForkResult(RunResult):
    """A run of continuations after `fork`; `effects` compares its groups."""

    @cached_property
    def effects(self) -> pl.DataFrame:
        """One row for each group and measure, in the order of the plan.

        Columns: group; measure: won (the seat's side won) or votes (the share of the others' votes, from the moment on,
        that named the seat); games: counted; mean, lo, hi: with a 95% interval (Wilson's for won, Student's for votes);
        pairs, difference, difference_lo, difference_hi: against the first group, over continuations of one number,
        which share their random draws (Newcombe's interval of paired shares for won, Student's of the differences for
        votes; null in the first group). Intervals are null with fewer than two games; see
        `liescope.common.statistics`.
        """
        import polars as pl

        with Journal.open(self.folder) as journal:
            groups = [group["label"] for group in journal.plan["groups"]]
            endings = [ending(game) for game in journal.records() if game.outcome is not None]
        rows = effects(groups, endings)
        texts, counts = ("group", "measure"), ("games", "pairs")
        kinds = {
            name: pl.String() if name in texts else pl.Int64() if name in counts else pl.Float64() for name in _ROW
        }
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"effects": self.effects.to_dicts()}

    def lines(self) -> Iterator[str]:
        """The effects as text, at most 80 columns."""
        words = {"won": "its side won", "votes": "votes for it"}
        groups = self.effects["group"].unique(maintain_order=True).to_list()
        for number, group in enumerate(groups, 1):
            yield from wrap(f"{number:>2}  {plain(group)}", 80, subsequent_indent="    ")
        yield f"{plain(str(self.about['seat'])):28}games{'mean':>8}{'95%':>14}{'less the first':>17}"
        for row in self.effects.to_dicts():
            head = f"{groups.index(row['group']) + 1:>2}  {words[row['measure']]}"
            yield f"{head:28}{row['games']:>5}{_interval(row, 'mean', ''):>23}{_interval(row, 'difference', '+'):>23}"


_ROW = (
    "group",
    "measure",
    "games",
    "mean",
    "lo",
    "hi",
    "pairs",
    "difference",
    "difference_lo",
    "difference_hi",
)


def effects(groups: Sequence[str], endings: Sequence[Ending]) -> list[tuple[Any, ...]]:
    """The rows of `ForkResult.effects`."""
    from liescope.common.statistics import Rows, mean, paired

    by = {name: {one.number: one for one in endings if one.group == name} for name in groups}
    rows = []
    for name in groups:
        for measure in MEASURES:
            own, first = _values(by[name], measure), _values(by[groups[0]], measure)
            shared = sorted(own.keys() & first.keys())
            ones, others = [own[number] for number in shared], [first[number] for number in shared]
            less = [one - other for one, other in zip(ones, others, strict=True)]
            against = (None,) * 4 if name == groups[0] else (len(shared), *_mean(less), *paired(ones, others))
            values = list(own.values())
            rows.append((name, measure, len(values), *_mean(values), *mean(Rows.of(values)), *against))
    return rows


def _values(endings: Mapping[int, Ending], measure: str) -> dict[int, float]:
    found = {number: getattr(one, measure) for number, one in sorted(endings.items())}
    return {number: value for number, value in found.items() if value is not None}


def _mean(values: Sequence[float]) -> tuple[float | None]:
    return (fmean(values) if values else None,)


def _interval(row: Mapping[str, Any], name: str, sign: str) -> str:
    lo, hi = ("lo", "hi") if name == "mean" else (f"{name}_lo", f"{name}_hi")
    if row[name] is None:
        return "–"
    if row[lo] is None:
        return f"{row[name]:{sign}.2f}"
    return f"{row[name]:{sign}.2f} [{row[lo]:{sign}.2f}, {row[hi]:{sign}.2f}]"
