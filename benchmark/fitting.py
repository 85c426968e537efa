"""`fit`: the capability model of a set of games, for each condition, with and without the votes that were drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from liescope.benchmark.capability.backend import Settings
from liescope.benchmark.capability.compare import against_each_other, beside, win_rate_differences
from liescope.benchmark.capability.identification import check_identified
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.posterior import fit as sample_posterior
from liescope.benchmark.capability.results import predictions, scores, stacked, to_json
from liescope.benchmark.counting.counts import Counts
from liescope.benchmark.counting.sources import load_conditions
from liescope.benchmark.folders import check_report_folder
from liescope.common.console import progress as progress_bars
from liescope.common.errors import NotConverged, UnknownName, UsageError

DrawnVotes = Literal["keep", "leave-out"]


@dataclass(frozen=True, slots=True)
class ConditionFit:
    """The fit of one condition.

    condition: what tells it from the others, "" if there is only one. counts: the games that were counted.
    posterior: the sample. other: the sample with the games that hold a drawn vote left out if they were kept, or kept
    if they were left out; None if there are no such games, and where that fit failed, for the reason in
    other_failure.
    """

    condition: str
    counts: Counts
    posterior: Posterior
    other: Posterior | None = None
    other_failure: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class FitResult:
    """What `fit` found.

    fits: one for each condition. drawn_votes: whether games with a drawn vote were kept. scores: one row for each
    condition and model, best deceiver first: condition (where there are several), model, m, m_sd, m_lo, m_hi, m_games
    and the same of d and v (`liescope.benchmark.capability.results.scores`). cells: the counts with their predictions
    (`predictions`). drawn: m, d and v with and without those games, empty if there are none. differences: of m, d
    and v between conditions, win_rates: of win rates; both empty for one condition. findings: three sentences that say
    who leads, and how surely; notes: others that must accompany these figures. report: the page, None if none was
    requested.
    """

    fits: tuple[ConditionFit, ...]
    drawn_votes: DrawnVotes
    scores: pl.DataFrame
    cells: pl.DataFrame
    drawn: pl.DataFrame
    differences: pl.DataFrame
    win_rates: pl.DataFrame
    findings: tuple[str, str, str]
    notes: tuple[str, ...]
    report: Path | None = None

    def __repr__(self) -> str:
        games = int(self.cells["games"].sum())
        conditions = f", {len(self.fits)} conditions" if len(self.fits) > 1 else ""
        return f"<FitResult: {self.scores['model'].n_unique()} models, {games} games{conditions}>"

    def to_json(self) -> dict[str, Any]:
        """What `liescope fit --json` prints: models and diagnostics; with several conditions a list of both for each,
        under "conditions".
        """
        parts = [(part.condition, to_json(scores(part.posterior), part.posterior)) for part in self.fits]
        if len(parts) == 1:
            return parts[0][1]
        return {"conditions": [{"condition": name, **data} for name, data in parts]}


def fit(
    sources: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    without: Sequence[str] = (),
    drawn_votes: DrawnVotes = "keep",
    pool_conditions: bool = False,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    seed: int = 1,
    target_accept: float = 0.9,
    sampler: str = "",
    progress: bool = False,
) -> FitResult:
    """Fit the capability model, logit p = v (m - d), to the games of runs or corpora, or to tables of counts.

    sources: runs, corpora (folders, or USER/NAME on the Hub) and CSV files of counts, one or several. out: a folder
    for the report. without: models whose games are left out. drawn_votes: "keep" or "leave-out" games with a vote
    drawn by the rules; if there are any, the result has both fits. pool_conditions: pool games with different settings;
    otherwise each condition is fitted separately. draws, tune: of each chain; chains: how many. target_accept:
    acceptance rate to tune the steps for. sampler: "nutpie" or "pymc", "" for nutpie if it is installed. progress: show
    bars on standard error.

    Raises UsageError if the counts cannot determine the parameters or `out` cannot be written, BadData for a source
    that cannot be read, MissingExtra without PyMC, and NotConverged if a sampler's diagnostics fail.
    """
    if drawn_votes not in get_args(DrawnVotes):
        raise UnknownName("way to treat games with a drawn vote", drawn_votes, get_args(DrawnVotes))
    settings = Settings(draws, tune, chains, seed, target_accept, sampler)
    folder = None if out is None else Path(out)
    if folder is not None:
        check_report_folder(folder)
    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    conditions = load_conditions(named, without, pool_conditions)
    for condition, counts in conditions.items():
        _check(condition, _chosen(counts, drawn_votes), len(conditions))
    with progress_bars(progress) as bar:
        samples = sum(2 if counts.drawn_games else 1 for counts in conditions.values())
        task = bar.add_task("sampling", total=samples, note="")
        fits = []
        for condition, counts in conditions.items():
            games = int(counts.cells["games"].sum())
            bar.update(task, note=f"{games} games, {counts.cells.height} combinations {condition}".strip())
            fits.append(_fit(condition, counts, drawn_votes, settings))
            bar.update(task, advance=2 if counts.drawn_games else 1)
    result = _result(tuple(fits), drawn_votes)
    if folder is None:
        return result
    from liescope.benchmark.capability.write import write_fit

    return write_fit(folder, result)


def _check(condition: str, cells: pl.DataFrame, conditions: int) -> None:
    try:
        check_identified(cells)
    except UsageError as error:
        if conditions == 1:
            raise
        raise UsageError(
            f"the games with {condition or 'unstated settings'} are fitted separately, and {error}; or "
            "pool all conditions: --pool-conditions"
        ) from None


def _chosen(counts: Counts, drawn_votes: DrawnVotes) -> pl.DataFrame:
    return counts.cells if drawn_votes == "keep" else counts.undrawn


def _fit(condition: str, counts: Counts, drawn_votes: DrawnVotes, settings: Settings) -> ConditionFit:
    posterior = sample_posterior(_chosen(counts, drawn_votes), settings)
    if not counts.drawn_games:
        return ConditionFit(condition, counts, posterior)
    try:
        other = sample_posterior(_chosen(counts, "leave-out" if drawn_votes == "keep" else "keep"), settings)
    except (UsageError, NotConverged) as error:
        return ConditionFit(condition, counts, posterior, other_failure=str(error))
    return ConditionFit(condition, counts, posterior, other)


def _result(fits: tuple[ConditionFit, ...], drawn_votes: DrawnVotes) -> FitResult:
    from liescope.benchmark.capability.findings import findings
    from liescope.benchmark.capability.text import notes

    several = len(fits) > 1
    return FitResult(
        fits,
        drawn_votes,
        scores=stacked({part.condition: scores(part.posterior) for part in fits}, several),
        cells=stacked({part.condition: predictions(part.posterior) for part in fits}, several),
        drawn=stacked({part.condition: beside(*_both(part, drawn_votes)) for part in fits if part.other}, several),
        differences=against_each_other({part.condition: part.posterior for part in fits}),
        win_rates=win_rate_differences({part.condition: part.posterior.cells for part in fits}),
        findings=findings(fits),
        notes=tuple(notes(fits, drawn_votes)),
    )


def _both(part: ConditionFit, drawn_votes: DrawnVotes) -> tuple[Posterior, Posterior]:
    """The fit that keeps games with a drawn vote, and the one that leaves them out."""
    assert part.other is not None
    return (part.posterior, part.other) if drawn_votes == "keep" else (part.other, part.posterior)
