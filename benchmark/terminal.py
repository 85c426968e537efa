"""What `fit` prints: lines of at most 80 columns, safe for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

import polars as pl

from liescope.benchmark.capability.effects import effects, slip_rates
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.results import left_sentence
from liescope.benchmark.capability.sentences import covered, goodness_sentences
from liescope.benchmark.capability.suggest import FILE, Suggestion, summary
from liescope.benchmark.capability.variants import PARAMETERS
from liescope.benchmark.counting.counts import PLAYERS, stated
from liescope.benchmark.fitting import FitResult
from liescope.common.text import plain
from liescope.generate.players.player_registry import PLAYERS as KINDS

WIDTH = 79
_NAME, _FIGURE, _PLAYER = 17, 20, 23
_SHOWN = 10  # combinations of a suggestion


def wrapped(text: str) -> str:
    """Outside text in lines that fit; long words such as paths are not split."""
    return textwrap.fill(plain(text), WIDTH, break_long_words=False, break_on_hyphens=False)


def fit_lines(result: FitResult) -> Iterator[str]:
    """The summary of a fit: findings, notes, a table of scores for each condition, diagnostics, where the report is."""
    yield from (wrapped(sentence) for sentence in (*result.findings, *result.notes))
    for part in result.fits:
        several = len(result.fits) > 1
        table = result.scores.filter(pl.col("condition") == part.condition) if several else result.scores
        yield ""
        if several:
            yield wrapped(stated(part.condition))
        heads = ("m deceives", "d discloses", "v responds")
        yield " ".join([f"{'model':{_NAME}}", *(f"{head:>{_FIGURE}}" for head in heads)])
        for row in table.iter_rows(named=True):
            yield " ".join([_short(row["model"]), *(f"{_figure(row, name):>{_FIGURE}}" for name in PARAMETERS)])
        if left := left_sentence(part.posterior):
            yield wrapped(left)
        yield from _effects(part.posterior)
    if not result.compared.is_empty():
        yield ""
        yield wrapped("Log score a game on combinations not seen, and the difference from the highest:")
        for row in result.compared.iter_rows(named=True):
            yield (
                f"{_short(row['method'], 34)} {row['log_score']:.4f} {row['difference']:+.4f} "
                f"({row['difference_lo']:+.4f}, {row['difference_hi']:+.4f})"
            )
    yield ""
    for part in result.fits:
        found = part.posterior.diagnostics
        divergent = f"{found.divergences} divergences" if found.divergences else "no divergences"
        least = min(found.ess_bulk_min, found.ess_tail_min)
        yield wrapped(
            f"r-hat at most {found.r_hat_max:.4f}, ESS at least {least:.0f}, {divergent}"
            + (f" ({stated(part.condition)})" if len(result.fits) > 1 else "")
        )
    yield from (wrapped(sentence) for sentence in goodness_sentences(result.fits))
    yield f"{covered(result.cells):.0%} of {result.cells.height} combinations in their 95% interval"
    if result.suggestion is not None:
        yield ""
        yield from _suggested(result.suggestion, result.report)
        yield ""
    if result.report is not None:
        yield f"wrote {plain(str(result.report))}"


def _suggested(suggestion: Suggestion, report: Path | None) -> Iterator[str]:
    """The first games of a suggestion, and how to play all of them."""
    plan = suggestion.plan
    yield wrapped(summary(suggestion))
    yield " ".join([*(f"{role:{_PLAYER}}" for role in PLAYERS), "games"])
    for *cell, games in plan.head(_SHOWN).rows():
        yield " ".join([*(_short(name, _PLAYER) for name in cell), f"{games:5}"])
    if (rest := plan.slice(_SHOWN)).height:
        yield f"and {rest['games'].sum()} games in {rest.height} more combinations"
    if report is None:
        return
    yield f"liescope play mini-mafia --out runs/NAME \\\n    --cells {quote(plain(str(report.parent / FILE)))}"
    names = sorted({name for role in PLAYERS for name in plan[role] if name.partition(":")[0] not in KINDS})
    if names:
        yield wrapped(f'and a --player "NAME=PLAYER" for each of the names {", ".join(names)}')


def _effects(posterior: Posterior) -> Iterator[str]:
    """What names, last speakers, seats and slips do, where the model has such terms."""
    if (shifts := effects(posterior)).height:
        yield f"{'':{_NAME}} {'adds to the logit':>{_FIGURE}}"
        for row in shifts.to_dicts():
            yield f"{_short(row['term'] + ' ' + row['level'])} {_figure(row, 'effect'):>{_FIGURE}}"
    if (slips := slip_rates(posterior)).height:
        yield f"{'share of votes':{_NAME}} {'role':9} {'slips':>{_FIGURE}} {'drawn':>{_FIGURE}}"
        for row in slips.to_dicts():
            figures = (f"{_figure(row, name):>{_FIGURE}}" for name in ("slip", "drawn"))
            yield " ".join([_short(row["model"]), f"{row['role']:9}", *figures])


def _short(name: str, width: int = _NAME) -> str:
    shown = " ".join(plain(name).split())
    return f"{shown if len(shown) <= width else shown[: width - 1] + '…':{width}}"


def _figure(row: dict[str, Any], name: str) -> str:
    if row[name] is None:
        return "–"
    return f"{row[name]:z.2f} ({row[f'{name}_lo']:z.2f}, {row[f'{name}_hi']:z.2f})"
