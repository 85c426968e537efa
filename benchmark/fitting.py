"""`fit`: the capability model of a set of games, for each condition, with and without the votes that were drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from liescope.benchmark.benchmark_settings import DrawnVotes, FitSettings
from liescope.benchmark.capability import effects
from liescope.benchmark.capability.backend import Settings
from liescope.benchmark.capability.count_sources import check_different, load_conditions
from liescope.benchmark.capability.counts import Counts, stated
from liescope.benchmark.capability.extend import OldReport, anchored, read_report
from liescope.benchmark.capability.extend import part as old_beside_new
from liescope.benchmark.capability.goodness import Goodness, against_each_other, beside, goodness, win_rate_differences
from liescope.benchmark.capability.held_out import HeldOut, held_out
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.posterior import fit as sample_posterior
from liescope.benchmark.capability.results import labelled, predictions, scores, to_json
from liescope.benchmark.capability.suggest import Suggestion, check_suggestible
from liescope.benchmark.capability.suggest import part as games_to_play
from liescope.benchmark.capability.suggest import suggest as suggest_games
from liescope.benchmark.capability.variants import (
    FAMILY,
    PAPER,
    Variant,
    check_identified,
    identified_variant,
    rows_for,
    variant,
)
from liescope.common.console import progress as progress_bars
from liescope.common.errors import NotConverged, UsageError
from liescope.common.report.contents import Report
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import resolve, takes


@dataclass(frozen=True, slots=True)
class ConditionFit:
    """The fit of one condition.

    condition: what tells it from the others, "" if there is only one. counts: the games that were counted.
    posterior: the sample. goodness: how well it fits. other: the sample with the games that hold a drawn vote left out
    if they were kept, or kept if they were left out; None if there are no such games, and where that fit failed, for
    the reason in other_failure. compared: the family of models on combinations that they had not seen, None if that was
    not asked for; left_aside: models of the family that could not be compared, with the reason.
    """

    condition: str
    counts: Counts
    posterior: Posterior
    goodness: Goodness
    other: Posterior | None = None
    other_failure: str = ""
    compared: HeldOut | None = None
    left_aside: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class FitResult:
    """What `fit` found.

    fits: one for each condition that could be fitted; unfit: why others could not, by their names. drawn_votes: whether
    games with a drawn vote were kept. scores: one row for each condition and model, highest m first: condition (where
    there are several), model, m, m_sd, m_lo, m_hi, m_games and the same of d and v
    (`liescope.benchmark.capability.results.scores`). cells: the counts with their predictions (`predictions`). drawn:
    m, d and v with and without those games, empty if there are none. differences: of m, d and v between conditions,
    win_rates: of win rates; both empty for one condition. findings: three sentences that say who leads where that is
    settled; notes: others that must accompany these figures. parts: of the report, what stands beside the scores:
    effects and slips (`liescope.benchmark.capability.effects`), and what was asked for; suggestion: the games to play
    next, None if they were not asked for. report: the page, None if none was requested.
    """

    fits: tuple[ConditionFit, ...]
    drawn_votes: DrawnVotes
    scores: pl.DataFrame
    cells: pl.DataFrame
    drawn: pl.DataFrame
    differences: pl.DataFrame
    win_rates: pl.DataFrame
    compared: pl.DataFrame
    held_out: pl.DataFrame
    findings: tuple[str, str, str]
    notes: tuple[str, ...]
    parts: tuple[Report, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict)
    suggestion: Suggestion | None = None
    report: Path | None = None

    def __repr__(self) -> str:
        games = int(self.cells["games"].sum())
        conditions = f", {len(self.fits)} conditions" if len(self.fits) > 1 else ""
        return f"<FitResult: {self.scores['model'].n_unique()} models, {games} games{conditions}>"

    def to_json(self) -> dict[str, Any]:
        """What `liescope fit --json` prints: the model, its scores, diagnostics and goodness of fit; with several
        conditions a list of these for each, under "conditions", and why others have no fit under "unfit".
        """
        parts = [
            (
                part.condition,
                {
                    **to_json(scores(part.posterior), part.posterior),
                    "goodness": part.goodness.to_json(),
                    **effects.to_json(part.posterior),
                },
            )
            for part in self.fits
        ]
        if len(parts) + len(self.unfit) == 1:
            plan = {"suggest": self.suggestion.to_json()} if self.suggestion else {}
            return {**parts[0][1], **plan}
        unfit = {"unfit": dict(self.unfit)} if self.unfit else {}
        return {"conditions": [{"condition": name, **data} for name, data in parts], **unfit}


@takes(FitSettings)
def fit(
    sources: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[FitSettings],
) -> FitResult:
    """Fit a capability model to the games of runs or corpora, or to tables of counts.

    A model is a base and terms (`liescope.benchmark.capability.variants`), "paper" for the published
    logit p = v (m - d). With `extend`, the older report's model is fitted if none is named, and games of the sources
    must not be among its own. If there are games with a drawn vote, the result has a fit with them and one without.
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
    own = resolve(FitSettings, settings)
    old = None if own["extend"] is None else read_report(Path(own["extend"]))
    if own["model"]:
        variant(own["model"])  # an unknown one is refused before anything is read
    folder = None if out is None else Path(out)
    if folder is not None:
        check_report_folder(folder, own["overwrite"])
    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    conditions = load_conditions(named, own["without"], own["pool_conditions"], own["condition"], own["independent"])
    result = fit_counts(conditions, own, old, progress)
    if folder is None:
        return result
    from liescope.benchmark.capability.fit_report import fit_report

    write(fit_report(result), folder)
    return replace(result, report=folder / "report.html")


def fit_counts(
    conditions: Mapping[str, Counts], own: FitSettings, old: OldReport | None = None, progress: bool = False
) -> FitResult:
    """`fit` of games that are counted, by condition. own: all of its settings; old: the report that is extended."""
    suggest, drawn_votes = own["suggest"], own["drawn_votes"]
    chosen = variant(name) if (name := own["model"] or (old.variant if old else "")) else None
    sampling = Settings(own["draws"], own["tune"], own["chains"], own["seed"], own["target_accept"], own["sampler"])
    if old:
        known = {str(old.folder): old.counts.cells}
        conditions = {
            name: replace(
                counts,
                notes=(
                    *counts.notes,
                    *check_different({**known, "the new games": counts.cells}, own["independent"]),
                ),
            )
            for name, counts in conditions.items()
        }
        conditions = old.joined(conditions, own["without"])
    check_suggestible(conditions, suggest, own["suggest_for"])
    variants: dict[str, Variant] = {}
    unfit: dict[str, str] = {}
    for name, counts in conditions.items():
        try:
            variants[name] = _variant(_rows(counts, chosen or PAPER, drawn_votes), chosen)
        except UsageError as error:
            if len(conditions) == 1:
                raise
            unfit[name] = str(error)
    with progress_bars(progress) as bar:
        fitted = {name: conditions[name] for name in variants}
        samples = sum(
            (2 if counts.drawn_games else 1) + own["compare"] * (len(FAMILY) + 1) for counts in fitted.values()
        )
        task = bar.add_task("sampling", total=samples, note="")
        fits = []
        for name, counts in fitted.items():
            games = int(counts.cells["games"].sum())
            bar.update(task, note=f"{games} games, {counts.cells.height} combinations {name}".strip())
            try:
                part = _fit(name, counts, variants[name], drawn_votes, sampling, old)
            except NotConverged as error:
                if len(conditions) == 1:
                    raise
                unfit[name] = str(error)
                continue
            bar.update(task, advance=2 if counts.drawn_games else 1)
            if own["compare"]:
                part = _compared(part, drawn_votes, lambda name: bar.update(task, advance=1, note=f"held out: {name}"))
            fits.append(part)
    if not fits:
        reasons = "; ".join(f"{stated(name)}: {reason}" for name, reason in unfit.items())
        raise UsageError(f"none of {len(conditions)} conditions can be fitted on its own: {reasons}")
    result = _result(tuple(fits), drawn_votes, unfit)
    if old:
        result = _with(result, old_beside_new(old, result.scores))
    if suggest:
        suggestion = suggest_games(fits[0].posterior, suggest, own["suggest_for"])
        result = replace(_with(result, games_to_play(suggestion)), suggestion=suggestion)
    return result


def _rows(counts: Counts, variant: Variant, drawn_votes: str) -> pl.DataFrame:
    return rows_for(counts, variant, drawn_votes == "keep")


def _variant(cells: pl.DataFrame, chosen: Variant | None) -> Variant:
    """The model to fit to a condition. Raises UsageError if its games identify none."""
    if chosen is None:
        return identified_variant(cells)
    check_identified(cells, chosen)
    return chosen


def _fit(
    condition: str,
    counts: Counts,
    variant: Variant,
    drawn_votes: DrawnVotes,
    settings: Settings,
    old: OldReport | None,
) -> ConditionFit:
    def sampled(votes: str) -> Posterior:
        posterior = sample_posterior(_rows(counts, variant, votes), settings, variant)
        return anchored(posterior, old.reference) if old else posterior

    posterior = sampled(drawn_votes)
    part = ConditionFit(condition, counts, posterior, goodness(posterior))
    if not counts.drawn_games:
        return part
    try:
        other = sampled("leave-out" if drawn_votes == "keep" else "keep")
    except (UsageError, NotConverged) as error:
        return replace(part, other_failure=str(error))
    return replace(part, other=other)


def _with(result: FitResult, part: Report) -> FitResult:
    return replace(result, parts=(*result.parts, part), notes=(*result.notes, *part.notes))


def _compared(part: ConditionFit, drawn_votes: DrawnVotes, watch: Callable[[str], None]) -> ConditionFit:
    """The fit with the family, and its own model, compared on its games; models that these cannot identify are left
    aside.
    """
    rows: dict[Variant, pl.DataFrame] = {}
    aside = {}
    for one in dict.fromkeys((*FAMILY, part.posterior.variant)):
        try:
            rows[one] = _rows(part.counts, one, drawn_votes)
            check_identified(rows[one], one)
        except UsageError as error:
            rows.pop(one, None)
            aside[one.name] = str(error)
    return replace(part, compared=held_out(rows, watch=watch), left_aside=aside)


def _result(
    fits: tuple[ConditionFit, ...], drawn_votes: DrawnVotes, unfit: Mapping[str, str] | None = None
) -> FitResult:
    from liescope.benchmark.capability.sentences import findings, notes

    several = len(fits) > 1
    beside_scores = effects.part({part.condition: part.posterior for part in fits})
    return FitResult(
        fits,
        drawn_votes,
        scores=labelled({part.condition: scores(part.posterior) for part in fits}, several),
        cells=labelled({part.condition: predictions(part.posterior) for part in fits}, several),
        drawn=labelled({part.condition: beside(*_both(part, drawn_votes)) for part in fits if part.other}, several),
        differences=against_each_other({part.condition: part.posterior for part in fits}),
        win_rates=win_rate_differences({part.condition: part.posterior.cells for part in fits}),
        compared=labelled({part.condition: part.compared.table for part in fits if part.compared}, several),
        held_out=labelled({part.condition: part.compared.cells for part in fits if part.compared}, several),
        findings=findings(fits),
        notes=tuple(notes(fits, drawn_votes, unfit or {})),
        parts=(beside_scores,) if beside_scores.sections else (),
        unfit=unfit or {},
    )


def _both(part: ConditionFit, drawn_votes: DrawnVotes) -> tuple[Posterior, Posterior]:
    """The fit that keeps games with a drawn vote, and the one that leaves them out."""
    assert part.other is not None
    return (part.posterior, part.other) if drawn_votes == "keep" else (part.other, part.posterior)
