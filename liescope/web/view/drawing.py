"""The pictures of a game as shapes: votes as arrows, suspicion as lines, detectors' scores as bars.

All lengths are units of the picture's own box; templates write them as SVG, with classes for colours.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from liescope.data_cards.tables import RatingRow
from liescope.games.table_rules import START

WIDE, HIGH = 360, 250  # the box of arrows
_ACROSS, _DOWN, _NODE, _HEAD, _BEND = 105.0, 92.0, 9.0, 9.0, 0.14
PANEL_WIDE, PANEL_HIGH = 240, 90
STRIP_HIGH = 40
_LONGEST = 11  # letters of a name in a picture


@dataclass(frozen=True, slots=True)
class Node:
    """A player among arrows. anchor: of the name, start, middle or end; votes: how many it got."""

    name: str
    x: float
    y: float
    label_x: float
    label_y: float
    anchor: str
    votes: int

    @property
    def short(self) -> str:
        return shortened(self.name)


@dataclass(frozen=True, slots=True)
class Arrow:
    """A vote: the path of its line and the points of its head. vote: its place in the ballot."""

    vote: int
    voter: str
    target: str
    path: str
    head: str
    drawn: bool


@dataclass(frozen=True, slots=True)
class SuspicionLine:
    """One observer's suspicion of one player over the game. points: of the line; last: the suspicion at the end."""

    target: str
    points: str
    last: float


@dataclass(frozen=True, slots=True)
class Panel:
    """One observer's suspicion of all others. top: whom it suspects most at the end; None where several tie."""

    observer: str
    lines: tuple[SuspicionLine, ...]
    top: SuspicionLine | None


@dataclass(frozen=True, slots=True)
class Bar:
    index: int
    x: float
    y: float
    width: float
    height: float
    speaker: str


@dataclass(frozen=True, slots=True)
class Strip:
    """A detector's scores along the transcript. lowest, highest: the ends of its scale; cut: the threshold, and at: how
    far down the picture that is.
    """

    detector: str
    width: float
    bars: tuple[Bar, ...]
    lowest: float
    highest: float
    cut: float
    at: float


def shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def arrows(votes: Sequence[tuple[str, str, bool]], seats: Sequence[str]) -> tuple[tuple[Node, ...], tuple[Arrow, ...]]:
    """A ballot as players on an oval, with an arrow for each (voter, target, drawn by the rules)."""
    got = Counter(target for _, target, _ in votes)
    there = [name for name in seats if name in got or any(name == voter for voter, *_ in votes)]
    nodes = {name: _node(name, place / len(there), got[name]) for place, name in enumerate(there)}
    known = [(place, vote) for place, vote in enumerate(votes) if {vote[0], vote[1]} <= nodes.keys()]
    drawn = (_arrow(place, nodes[voter], nodes[target], by_rules) for place, (voter, target, by_rules) in known)
    return tuple(nodes.values()), tuple(drawn)


def _node(name: str, turn: float, votes: int) -> Node:
    across, down = math.sin(turn * math.tau), -math.cos(turn * math.tau)
    x, y = WIDE / 2 + _ACROSS * across, HIGH / 2 + _DOWN * down
    anchor = "middle" if abs(across) < 0.2 else "start" if across > 0 else "end"
    beside = 0 if anchor == "middle" else math.copysign(_NODE + 5, across)
    below = (_NODE + 13 if down > 0 else -_NODE - 6) if anchor == "middle" else 4 + 6 * down
    return Node(name, round(x, 1), round(y, 1), round(x + beside, 1), round(y + below, 1), anchor, votes)


def _arrow(vote: int, voter: Node, target: Node, drawn: bool) -> Arrow:
    if voter.name == target.name:
        x, y = voter.x, voter.y
        return Arrow(
            vote, voter.name, target.name, f"M{x - 6} {y - 8}c-14 -22 26 -22 13 0", _head(x + 6, y - 9, 1.9), drawn
        )
    across, down = target.x - voter.x, target.y - voter.y
    middle_x, middle_y = voter.x + across / 2 - _BEND * down, voter.y + down / 2 + _BEND * across
    out, into = (
        math.atan2(middle_y - voter.y, middle_x - voter.x),
        math.atan2(target.y - middle_y, target.x - middle_x),
    )
    x1, y1 = voter.x + (_NODE + 1) * math.cos(out), voter.y + (_NODE + 1) * math.sin(out)
    tip_x, tip_y = target.x - (_NODE + 2) * math.cos(into), target.y - (_NODE + 2) * math.sin(into)
    x2, y2 = tip_x - _HEAD * 0.7 * math.cos(into), tip_y - _HEAD * 0.7 * math.sin(into)
    path = f"M{x1:.1f} {y1:.1f}Q{middle_x:.1f} {middle_y:.1f} {x2:.1f} {y2:.1f}"
    return Arrow(vote, voter.name, target.name, path, _head(tip_x, tip_y, into), drawn)


def _head(x: float, y: float, turn: float) -> str:
    sides = [(x, y)]
    sides += [(x - _HEAD * math.cos(turn + side), y - _HEAD * math.sin(turn + side)) for side in (0.42, -0.42)]
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in sides)


def panels(ratings: Iterable[RatingRow], order: Mapping[str, int], observers: Sequence[str]) -> tuple[Panel, ...]:
    """A panel for each observer who gave a suspicion. order: the place of each statement, by its id, from 0."""
    moved: dict[str, dict[str, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for rating in ratings:
        if rating.suspicion is not None and rating.statement_id in order:
            moved[rating.observer][rating.speaker].append((order[rating.statement_id], rating.running_suspicion))
    last = max(len(order) - 1, 1)
    found = []
    for observer in sorted(moved, key=lambda name: observers.index(name) if name in observers else len(observers)):
        lines = tuple(_line(target, steps, last) for target, steps in moved[observer].items())
        highest = max(line.last for line in lines)
        top = [line for line in lines if line.last == highest]
        found.append(Panel(observer, lines, top[0] if len(top) == 1 else None))
    return tuple(found)


def _line(target: str, steps: Sequence[tuple[int, float]], last: int) -> SuspicionLine:
    """From the first value to the end of the game; it stays where it is until the next rating."""
    points, before = [], START
    for place, value in steps:
        x = PANEL_WIDE * place / last
        points += [(x, before), (x, value)]
        before = value
    points.append((PANEL_WIDE, before))
    return SuspicionLine(target, " ".join(f"{x:.0f},{PANEL_HIGH * (1 - y):.0f}" for x, y in points), before)


def strips(
    scores: Sequence[tuple[int, str, Mapping[str, float]]], thresholds: Mapping[str, float]
) -> tuple[Strip, ...]:
    """A strip for each detector, of (index, speaker, scores by detector) of each statement in order of play."""
    width = max(2.0, min(12.0, 600 / max(len(scores), 1)))
    there = {name for *_, given in scores for name in given}
    return tuple(_strip(name, scores, width, cut) for name, cut in thresholds.items() if name in there)


def _strip(name: str, scores: Sequence[tuple[int, str, Mapping[str, float]]], width: float, cut: float) -> Strip:
    values = [given[name] for *_, given in scores if name in given]
    lowest, highest = min(0.0, cut, *values), max(1.0, cut, *values)
    bars = []
    for place, (index, speaker, given) in enumerate(scores):
        if name in given:
            tall = max(1.0, STRIP_HIGH * (given[name] - lowest) / (highest - lowest))
            sizes = (round(place * width, 1), round(STRIP_HIGH - tall, 1), round(width * 0.8, 1), round(tall, 1))
            bars.append(Bar(index, *sizes, speaker))
    at = STRIP_HIGH * (1 - (cut - lowest) / (highest - lowest))
    return Strip(name, round(len(scores) * width, 1), tuple(bars), lowest, highest, cut, round(at, 1))
