"""What an adaptation has brought, as the terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator

from liescope.common.text import plain
from liescope.detectors.adapt.run import AdaptResult


def adapt_lines(result: AdaptResult) -> Iterator[str]:
    """What the adaptation has brought, for a terminal of 80 columns."""
    facts = result.adapted
    known = [f"labels of {facts.labelled:,} games, each counted {facts.weight} times"] if facts.labelled else []
    guessed = [f"{facts.guessed:,} games labelled by itself, rounds: {facts.rounds}"] if facts.rounds else []
    yield "; ".join((*known, *guessed))
    yield f"{'':10} {'':21} before  after after − before [95%]"
    for gain in facts.gains:
        before, after = ("–" if value is None else f"{value:.3f}" for value in (gain.before, gain.after))
        change = "–"
        if gain.before is not None and gain.after is not None:
            change = f"{gain.after - gain.before:+.3f}"
            change += "" if gain.lo is None else f" [{gain.lo:+.3f}, {gain.hi:+.3f}]"
        verdict = gain.verdict if gain.verdict in ("better", "worse") else ""
        yield f"{gain.where:10} {gain.metric:21} {before:>6} {after:>6} {change:23} {verdict}".rstrip()
    yield "AUROC is within games (pairs of statements of one game) unless called pooled"
    for where, games in {gain.where: gain.games for gain in sorted(facts.gains, key=lambda one: one.games)}.items():
        yield f"{where}: {games:,}, with labels that neither detector has seen"
    for gain in facts.gains:
        if gain.verdict == "worse":
            yield f"worse than doing nothing: {gain.metric}, {gain.where}"
    for note in result.notes:
        yield f"note: {plain(note)}"
    yield f"model: {result.model}"
