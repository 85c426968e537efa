"""What came of the continuations of a moment: by group, how often the seat's side won, and the votes against it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
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

_DRAWS = 2000  # of the bootstrap
_Z = 1.959964  # of a 95% interval
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
        that named the seat); games: counted; mean, lo, hi: with a 95% interval (Wilson's for won, a bootstrap over
        games for votes); pairs, difference, difference_lo, difference_hi: against the first group, over continuations
        of one number, which share their random draws (Newcombe's interval for paired shares for won, a bootstrap over
        pairs for votes; null in the first group). Intervals are null with fewer than two games.
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
    by = {name: {one.number: one for one in endings if one.group == name} for name in groups}
    rows = []
    for name in groups:
        for measure in MEASURES:
            own, first = _values(by[name], measure), _values(by[groups[0]], measure)
            pairs = [(own[number], first[number]) for number in sorted(own.keys() & first.keys())]
            less = [one - other for one, other in pairs]
            bounds = paired_shares(pairs) if measure == "won" else resampled_mean(less)
            against = (None,) * 4 if name == groups[0] else (len(pairs), *_mean(less), *bounds)
            values = list(own.values())
            interval = _wilson(values) if measure == "won" else resampled_mean(values)
            rows.append((name, measure, len(values), *_mean(values), *interval, *against))
    return rows


def _values(endings: Mapping[int, Ending], measure: str) -> dict[int, float]:
    found = {number: getattr(one, measure) for number, one in sorted(endings.items())}
    return {number: value for number, value in found.items() if value is not None}


def _mean(values: Sequence[float]) -> tuple[float | None]:
    return (fmean(values) if values else None,)


def _wilson(values: Sequence[float]) -> tuple[float | None, float | None]:
    return _bounds(values) if len(values) > 1 else (None, None)


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """Wilson's score interval of a share."""
    n, p, z = len(values), fmean(values), _Z
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, (middle - half) / (1 + z * z / n)), min(1.0, (middle + half) / (1 + z * z / n))


def paired_shares(pairs: Sequence[tuple[float, float]]) -> tuple[float | None, float | None]:
    """The interval of a difference of paired shares, first minus second (Newcombe 1998, method 10); (None, None) below
    two pairs.

    pairs: of 0.0 or 1.0.
    """
    n = len(pairs)
    if n < 2:
        return None, None
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    (low, high), (low_too, high_too) = _bounds(one), _bounds(other)
    p, q = fmean(one), fmean(other)
    both = sum(a == b == 1 for a, b in pairs) * sum(a == b == 0 for a, b in pairs)
    cross = both - sum(a > b for a, b in pairs) * sum(a < b for a, b in pairs)
    spread = math.sqrt(p * (1 - p) * q * (1 - q)) * n * n
    phi = (max(cross - n / 2, 0.0) if cross > 0 else cross) / spread if spread else 0.0
    down, up = ((p - low), (high_too - q)), ((high - p), (q - low_too))
    half = [math.sqrt(max(a * a - 2 * phi * a * b + b * b, 0.0)) for a, b in (down, up)]
    return p - q - half[0], p - q + half[1]


def resampled_mean(values: Sequence[float]) -> tuple[float | None, float | None]:
    """The percentile interval of a mean by a bootstrap over the values; (None, None) below two."""
    if len(values) < 2:
        return None, None
    random = Random(0)
    means = sorted(fmean(random.choices(values, k=len(values))) for _ in range(_DRAWS))
    return means[round(0.025 * (_DRAWS - 1))], means[round(0.975 * (_DRAWS - 1))]


def _interval(row: Mapping[str, Any], name: str, sign: str) -> str:
    lo, hi = ("lo", "hi") if name == "mean" else (f"{name}_lo", f"{name}_hi")
    if row[name] is None:
        return "–"
    if row[lo] is None:
        return f"{row[name]:{sign}.2f}"
    return f"{row[name]:{sign}.2f} [{row[lo]:{sign}.2f}, {row[hi]:{sign}.2f}]"
