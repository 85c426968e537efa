"""`fit`: the capability model of a set of games, for each condition, with and without games that have drawn votes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from liescope.benchmark.benchmark_settings import FitSettings
from liescope.benchmark.capability import effects
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.benchmark.capability.counts import Counts, stated
from liescope.benchmark.capability.forms import RoleForm, form_of
from liescope.benchmark.capability.model import identified, rows_for, variant
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.posterior import fit as sample_posterior
from liescope.benchmark.capability.results import Goodness, goodness, labelled, predictions, scores, to_json
from liescope.benchmark.capability.sentences import findings, notes
from liescope.common.console import progress as progress_bars
from liescope.common.errors import NotConverged, UsageError
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import several, takes
from liescope.common.stores import stored


@dataclass(frozen=True, slots=True)
class ConditionFit:
    """The fit of one condition.

    condition: how it differs from the others, "" if there is only one. counts: the games that were counted, those with
    a drawn vote among them. posterior: the sample. goodness: how well it fits.
    """

    condition: str
    counts: Counts
    posterior: Posterior
    goodness: Goodness


@dataclass(frozen=True, slots=True, repr=False)
class FitResult:
    """What `fit` found.

    fits: one for each condition that could be fitted; unfit: why others could not, by their names. scores: one row for
    each condition and model, highest m first: condition (where there are several), model, m, m_sd, m_lo, m_hi, m_games
    and the same of d and v (`liescope.benchmark.capability.results.scores`); of contests, of m and v. cells: the counts
    with their predictions (`predictions`). findings: who leads, if that is settled; notes: what must stand beside
    these figures. report: the page, None if none was requested.
    """

    fits: tuple[ConditionFit, ...]
    scores: pl.DataFrame
    cells: pl.DataFrame
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    unfit: Mapping[str, str] = field(default_factory=dict)
    report: Path | None = None

    @property
    def form(self) -> RoleForm:
        return form_of(self.cells)

    def __repr__(self) -> str:
        games = int(self.cells[self.form.of].sum())
        conditions = f", {len(self.fits)} conditions" if len(self.fits) > 1 else ""
        return f"<FitResult: {self.scores['model'].n_unique()} models, {games} {self.form.of}{conditions}>"

    @property
    def posteriors(self) -> dict[str, Posterior]:
        """The samples by condition."""
        return {part.condition: part.posterior for part in self.fits}

    def to_json(self) -> dict[str, Any]:
        """What `liescope fit --json` prints: the model, its scores, diagnostics and goodness of fit; with several
        conditions a list of these under "conditions", and the reasons for missing fits under "unfit".
        """
        found, parts = effects.tables(self.posteriors), []
        for part in self.fits:
            data = {**to_json(part.posterior), "goodness": asdict(part.goodness)}
            for name, table in found.items():
                mine = table.filter(condition=part.condition).drop("condition") if len(self.fits) > 1 else table
                data[name] = mine.to_dicts()
            parts.append((part.condition, data))
        if len(parts) + len(self.unfit) == 1:
            return parts[0][1]
        unfit = {"unfit": dict(self.unfit)} if self.unfit else {}
        return {"conditions": [{"condition": name, **data} for name, data in parts], **unfit}


@takes(FitSettings)
@stored
def fit(
    sources: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> FitResult:
    """Fit a capability model to the games of runs or corpora, or to tables of counts.

    Models and terms are those of `liescope.benchmark.capability.model`; "paper" is the published logit
    p = v (m - d). Games whose rules tell who tried to deceive whom (`PlayableGame.contests`) have logit p = m - v.
    Conditions that cannot be fitted are left out, with the reason in the result.

    Parameters
    ----------
    sources : path, or several
        Runs, corpora (folders, or USER/NAME on the Hub) and CSV files of counts.
    **settings

    Raises
    ------
    UsageError
        If the counts cannot determine the parameters, if games could count twice, or if `out` cannot be written.
    UnknownName
        For a model or a term that does not exist.
    BadData
        For a source that cannot be read.
    MissingExtra
        Without the extra bayes.
    NotConverged
        If a sampler's diagnostics fail by far; a result that fails by little says so.
    """
    own = FitSettings.of(settings)
    variant(own.model, own.term)  # refuse an unknown one before anything is read
    folder = check_report_folder(out, own.overwrite)
    conditions = load_conditions(
        list(several(sources)), own.without, own.pool_conditions, own.independent, own.count_silent
    )
    result = fit_counts(conditions, own, progress)
    if folder is None:
        return result
    from liescope.benchmark.capability.fit_report import fit_report

    write(fit_report(result), folder)
    return replace(result, report=folder / "report.html")


def fit_counts(conditions: Mapping[str, Counts], own: FitSettings, progress: bool = False) -> FitResult:
    """`fit` for counted games, by condition. own: all of its settings."""
    fits: list[ConditionFit] = []
    unfit: dict[str, str] = {}
    with progress_bars(progress) as bar:
        task = bar.add_task("sampling", total=len(conditions), note="")
        for name, counts in conditions.items():
            bar.update(task, note=f"{counts.games} {counts.form.of}, {counts.cells.height} combinations {name}".strip())
            try:
                model = variant(own.model, own.term, counts.form)
                rows = rows_for(counts if own.drawn_votes == "keep" else counts.undrawn, own.term)
                chosen = identified(rows, model)
                posterior = sample_posterior(rows, own, chosen)
                fits.append(ConditionFit(name, counts, posterior, goodness(posterior)))
            except (UsageError, NotConverged) as error:
                if len(conditions) == 1:
                    raise
                unfit[name] = str(error)
            bar.update(task, advance=1)
    if not fits:
        reasons = "; ".join(f"{stated(name)}: {reason}" for name, reason in unfit.items())
        raise UsageError(f"none of {len(conditions)} conditions can be fitted on its own: {reasons}")
    return result_of(fits, own.drawn_votes, unfit)


def result_of(fits: Sequence[ConditionFit], drawn_votes: str, unfit: Mapping[str, str]) -> FitResult:
    """The result of fits, one for each condition. unfit: why others have none."""
    several = len(fits) > 1
    return FitResult(
        tuple(fits),
        labelled({part.condition: scores(part.posterior) for part in fits}, several),
        labelled({part.condition: predictions(part.posterior) for part in fits}, several),
        findings(fits),
        tuple(notes(fits, drawn_votes, unfit)),
        unfit,
    )
