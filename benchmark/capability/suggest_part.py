"""The games to play next, as a part of the report."""

from __future__ import annotations

from liescope.benchmark.capability.suggest import Suggestion
from liescope.benchmark.parts import Part
from liescope.common.report_page import Section

FILE = "suggest.csv"


def part(suggestion: Suggestion) -> Part:
    """A section of the page, and the table that `play --cells` takes."""
    section = Section(
        "suggest",
        "Games to play next",
        (
            summary(suggestion),
            "They were chosen one after the other, each to lower the sum of the variances of all m, d and v most, if "
            "the fitted model holds (A-optimal: not the games of the highest expected information). To play them: "
            f"liescope play mini-mafia --cells {FILE} --out runs/NAME, with a --player NAME=PLAYER for each name in "
            "the file that is no player. Then fit again: games chosen in two steps tell more than in one.",
        ),
        table=suggestion.plan,
        file=FILE,
    )
    return Part((section,), {FILE.removesuffix(".csv"): suggestion.plan})


def summary(suggestion: Suggestion) -> str:
    """How much the games are expected to tell, in a sentence."""
    plan = suggestion.plan
    return (
        f"{plan['games'].sum()} games in {plan.height} combinations, chosen for small variances of the scores. Their "
        f"standard deviation (root mean square) is {suggestion.now:.3f} now and should be {suggestion.then:.3f} with "
        f"these games, or {suggestion.evenly:.3f} with as many spread evenly over all combinations."
    )
