"""`fit`: the capability model of a set of games, for each condition, with and without games that have drawn votes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from liescope.benchmark.benchmark_settings import DrawnVotes, FitSettings
from liescope.benchmark.capability import effects
from liescope.benchmark.capability.backend import Settings
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.benchmark.capability.counts import Counts, stated
from liescope.benchmark.capability.model import (
    DEFAULT,
    Variant,
    check_identified,
    identified_variant,
    rows_for,
    variant,
)
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.posterior import fit as sample_posterior
from liescope.benchmark.capability.results import (
    Goodness,
    against_each_other,
    beside,
    goodness,
    labelled,
    predictions,
    scores,
    to_json,
    win_rate_differences,
)
from liescope.common.console import progress as progress_bars
from liescope.common.errors import NotConverged, UsageError
from liescope.common.report.contents import Report
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import takes


@dataclass(frozen=True, slots=True)
class ConditionFit:
    """The fit of one condition.

    condition: how it differs from the others, "" if there is only one. counts: the games that were counted.
    posterior: the sample. goodness: how well it fits. other: the sample for the opposite choice about games with a
    drawn vote; None if there are no such games, or if that fit failed (other_failure says why).
    """

    condition: str
    counts: Counts
    posterior: Posterior
    goodness: Goodness
    other: Posterior | None = None
    other_failure: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class FitResult:
    """What `fit` found.

    fits: one for each condition that could be fitted; unfit: why others could not, by their names. drawn_votes: whether
    games with a drawn vote were kept. scores: one row for each condition and model, highest m first: condition (where
    there are several), model, m, m_sd, m_lo, m_hi, m_games and the same of d and v
    (`liescope.benchmark.capability.results.scores`). cells: the counts with their predictions (`predictions`). drawn:
    m, d and v with and without those games, empty if there are none. differences: of m, d and v between conditions,
    win_rates: of win rates; both empty for one condition. findings: three sentences on who leads, if that is settled;
    notes: sentences that must accompany these figures. parts: report sections besides the scores: effects and slips
    (`liescope.benchmark.capability.effects`). report: the page, None if none was requested.
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
    parts: tuple[Report, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict)
    report: Path | None = None

    def __repr__(self) -> str:
        games = int(self.cells["games"].sum())
        conditions = f", {len(self.fits)} conditions" if len(self.fits) > 1 else ""
        return f"<FitResult: {self.scores['model'].n_unique()} models, {games} games{conditions}>"

    def to_json(self) -> dict[str, Any]:
        """What `liescope fit --json` prints: the model, its scores, diagnostics and goodness of fit; with several
        conditions a list of these under "conditions", and the reasons for missing fits under "unfit".
        """
        parts = [
            (
                part.condition,
                {
                    **to_json(scores(part.posterior), part.posterior),
                    "goodness": asdict(part.goodness) | {"separated": list(part.goodness.separated)},
                    **effects.to_json(part.posterior),
                },
            )
            for part in self.fits
        ]
        if len(parts) + len(self.unfit) == 1:
            return parts[0][1]
        unfit = {"unfit": dict(self.unfit)} if self.unfit else {}
        return {"conditions": [{"condition": name, **data} for name, data in parts], **unfit}


@takes(FitSettings)
def fit(
    sources: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> FitResult:
    """Fit a capability model to the games of runs or corpora, or to tables of counts.

    Models and terms are those of `liescope.benchmark.capability.model`; "paper" is the published logit
    p = v (m - d). If there are games with a drawn vote, the result has a fit with them and one without.
    Conditions that cannot be fitted are left out, with the reason in the result.

    Parameters
    ----------
    sources : path, or several
        Runs, corpora (folders, or USER/NAME on the Hub) and CSV files of counts.
    out : str or path, optional
        A folder for the report.
    progress : bool
        Show bars on standard error.
    **settings

    Raises
    ------
    UsageError
        If the counts cannot determine the parameters, if sources that would be added up agree too well to hold
        different games, or if `out` cannot be written.
    UnknownName
        For a model that is not in the family.
    BadData
        For a source that cannot be read.
    MissingExtra
        Without PyMC.
    NotConverged
        If a sampler's diagnostics fail by far; a result that fails by little says so.
    """
    own = FitSettings.of(settings)
    variant(own.model or DEFAULT.base, own.term)  # refuse an unknown one before anything is read
    folder = None if out is None else Path(out)
    if folder is not None:
        check_report_folder(folder, own.overwrite)
    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    conditions = load_conditions(named, own.without, own.pool_conditions, own.condition, own.independent)
    result = fit_counts(conditions, own, progress)
    if folder is None:
        return result
    from liescope.benchmark.capability.fit_report import fit_report

    write(fit_report(result), folder)
    return replace(result, report=folder / "report.html")


def fit_counts(conditions: Mapping[str, Counts], own: FitSettings, progress: bool = False) -> FitResult:
    """`fit` for counted games, by condition. own: all of its settings."""
    drawn_votes = own.drawn_votes
    chosen = variant(own.model, own.term) if own.model else None
    sampling = Settings(own.draws, own.tune, own.chains, own.seed, own.target_accept, own.sampler)
    variants: dict[str, Variant] = {}
    unfit: dict[str, str] = {}
    for name, counts in conditions.items():
        try:
            rows = rows_for(counts, own.term, drawn_votes == "keep")
            found = chosen or identified_variant(rows, own.term)
            check_identified(rows, found)
            variants[name] = found
        except UsageError as error:
            if len(conditions) == 1:
                raise
            unfit[name] = str(error)
    with progress_bars(progress) as bar:
        fitted = {name: conditions[name] for name in variants}
        task = bar.add_task("sampling", total=sum(map(_samples, fitted.values())), note="")
        fits = []
        for name, counts in fitted.items():
            games = int(counts.cells["games"].sum())
            bar.update(task, note=f"{games} games, {counts.cells.height} combinations {name}".strip())
            try:
                fits.append(_fit(name, counts, variants[name], drawn_votes, sampling))
            except NotConverged as error:
                if len(conditions) == 1:
                    raise
                unfit[name] = str(error)
            bar.update(task, advance=_samples(counts))
    if not fits:
        reasons = "; ".join(f"{stated(name)}: {reason}" for name, reason in unfit.items())
        raise UsageError(f"none of {len(conditions)} conditions can be fitted on its own: {reasons}")
    return _result(tuple(fits), drawn_votes, unfit)


def _samples(counts: Counts) -> int:
    """How many fits a condition needs: a second one if it has drawn votes."""
    return 2 if counts.drawn_games else 1


def _fit(condition: str, counts: Counts, variant: Variant, drawn_votes: DrawnVotes, settings: Settings) -> ConditionFit:
    def sampled(votes: str) -> Posterior:
        return sample_posterior(rows_for(counts, variant.terms, votes == "keep"), settings, variant)

    posterior = sampled(drawn_votes)
    part = ConditionFit(condition, counts, posterior, goodness(posterior))
    if not counts.drawn_games:
        return part
    try:
        other = sampled("leave-out" if drawn_votes == "keep" else "keep")
    except (UsageError, NotConverged) as error:
        return replace(part, other_failure=str(error))
    return replace(part, other_failure="; ".join(other.faults)) if other.faults else replace(part, other=other)


def _result(fits: tuple[ConditionFit, ...], drawn_votes: DrawnVotes, unfit: Mapping[str, str]) -> FitResult:
    from liescope.benchmark.capability.sentences import findings, notes

    several = len(fits) > 1
    converged = {part.condition: part.posterior for part in fits if not part.posterior.faults}
    beside_scores = effects.part({part.condition: part.posterior for part in fits})
    return FitResult(
        fits,
        drawn_votes,
        scores=labelled({part.condition: scores(part.posterior) for part in fits}, several),
        cells=labelled({part.condition: predictions(part.posterior) for part in fits}, several),
        drawn=labelled({part.condition: beside(*_both(part, drawn_votes)) for part in fits if part.other}, several),
        differences=against_each_other(converged),
        win_rates=win_rate_differences({part.condition: part.posterior.cells for part in fits}),
        findings=findings(fits),
        notes=tuple(notes(fits, drawn_votes, unfit)),
        parts=(beside_scores,) if beside_scores.sections else (),
        unfit=unfit,
    )


def _both(part: ConditionFit, drawn_votes: DrawnVotes) -> tuple[Posterior, Posterior]:
    """The fit that keeps games with a drawn vote, and the one that leaves them out."""
    assert part.other is not None
    return (part.posterior, part.other) if drawn_votes == "keep" else (part.other, part.posterior)
