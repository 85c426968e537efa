"""The pictures of a game as shapes: votes as arrows, suspicion as lines.

All lengths are units of the picture's own box; templates write them as SVG, with classes for colours.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from liescope.data_cards.tables import RatingRow
from liescope.games.shared_rules import START

WIDE, HIGH = 360, 250  # the box of arrows
_ACROSS, _DOWN, _NODE, _HEAD, _BEND = 105.0, 92.0, 9.0, 9.0, 0.14
PANEL_WIDE, PANEL_HIGH = 240, 90
_LONGEST = 11  # letters of a name in a picture

Shape = dict[str, Any]


def arrows(votes: Sequence[tuple[str, str, bool]], seats: Sequence[str]) -> tuple[list[Shape], list[Shape]]:
    """A ballot as players on an oval, with an arrow for each (voter, target, drawn by the rules).

    A player: name, its beginning (short), votes that it got, x and y of its point and of its name, whose anchor is
    start, middle or end. An arrow: voter, target, drawn, the path of its line, the points of its head, and its place
    in the ballot (vote).
    """
    got = Counter(target for _, target, _ in votes)
    there = [name for name in seats if name in got or any(name == voter for voter, *_ in votes)]
    nodes = {name: _node(name, place / len(there), got[name]) for place, name in enumerate(there)}
    drawn = [
        {"vote": place, "voter": voter, "target": target, "drawn": by_rules, **_arrow(nodes[voter], nodes[target])}
        for place, (voter, target, by_rules) in enumerate(votes)
        if {voter, target} <= nodes.keys()
    ]
    return [*nodes.values()], drawn


def _node(name: str, turn: float, votes: int) -> Shape:
    across, down = math.sin(turn * math.tau), -math.cos(turn * math.tau)
    x, y = WIDE / 2 + _ACROSS * across, HIGH / 2 + _DOWN * down
    anchor = "middle" if abs(across) < 0.2 else "start" if across > 0 else "end"
    beside = 0 if anchor == "middle" else math.copysign(_NODE + 5, across)
    below = (_NODE + 13 if down > 0 else -_NODE - 6) if anchor == "middle" else 4 + 6 * down
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    places = {"x": round(x, 1), "y": round(y, 1), "label_x": round(x + beside, 1), "label_y": round(y + below, 1)}
    return {"name": name, "short": short, "votes": votes, "anchor": anchor, **places}


def _arrow(voter: Shape, target: Shape) -> Shape:
    x, y = voter["x"], voter["y"]
    if voter is target:
        return {"path": f"M{x - 6} {y - 8}c-14 -22 26 -22 13 0", "head": _head(x + 6, y - 9, 1.9)}
    across, down = target["x"] - x, target["y"] - y
    middle_x, middle_y = x + across / 2 - _BEND * down, y + down / 2 + _BEND * across
    out, into = math.atan2(middle_y - y, middle_x - x), math.atan2(target["y"] - middle_y, target["x"] - middle_x)
    x1, y1 = x + (_NODE + 1) * math.cos(out), y + (_NODE + 1) * math.sin(out)
    tip_x, tip_y = target["x"] - (_NODE + 2) * math.cos(into), target["y"] - (_NODE + 2) * math.sin(into)
    x2, y2 = tip_x - _HEAD * 0.7 * math.cos(into), tip_y - _HEAD * 0.7 * math.sin(into)
    path = f"M{x1:.1f} {y1:.1f}Q{middle_x:.1f} {middle_y:.1f} {x2:.1f} {y2:.1f}"
    return {"path": path, "head": _head(tip_x, tip_y, into)}


def _head(x: float, y: float, turn: float) -> str:
    sides = [(x, y)]
    sides += [(x - _HEAD * math.cos(turn + side), y - _HEAD * math.sin(turn + side)) for side in (0.42, -0.42)]
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in sides)


def panels(ratings: Iterable[RatingRow], order: Mapping[str, int], places: Mapping[str, int]) -> list[Shape]:
    """A panel for each observer who gave a suspicion: its name and place, a line for each player that it rated (the
    points, and the last suspicion), and the one it suspects most at the end, None where several tie.

    order: the place of each statement, by its id, from 0; places: that of each seat, by its name.
    """
    moved: dict[str, dict[str, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for rating in ratings:
        if rating.suspicion is not None and rating.statement_id in order:
            moved[rating.observer][rating.speaker].append((order[rating.statement_id], rating.running_suspicion))
    found = []
    for observer in sorted(moved, key=lambda name: places.get(name, len(places))):
        lines = [_line(target, steps, max(len(order) - 1, 1)) for target, steps in moved[observer].items()]
        highest = max(line["last"] for line in lines)
        top = [line for line in lines if line["last"] == highest]
        most = top[0] if len(top) == 1 else None
        found.append({"observer": observer, "place": places.get(observer, ""), "lines": lines, "top": most})
    return found


def _line(target: str, steps: Sequence[tuple[int, float]], last: int) -> Shape:
    """From the first value to the end of the game; it stays where it is until the next rating."""
    points, before = [], START
    for place, value in steps:
        x = PANEL_WIDE * place / last
        points += [(x, before), (x, value)]
        before = value
    points.append((PANEL_WIDE, before))
    shape = " ".join(f"{x:.0f},{PANEL_HIGH * (1 - y):.0f}" for x, y in points)
    return {"target": target, "points": shape, "last": before}
