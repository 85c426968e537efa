"""What a report tells: the fit, the methods on counts and the analyses, as parts in chapters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.report import Findings, overview, page_section
from liescope.benchmark.analyses.report import notes as notes_on_games
from liescope.benchmark.analyses.sources import GameSet, settings
from liescope.benchmark.capability.drawn import ROLES
from liescope.benchmark.capability.identification import PARAMETERS
from liescope.benchmark.capability.page import fit_page
from liescope.benchmark.capability.results import scores, stacked
from liescope.benchmark.capability.write import tables
from liescope.benchmark.counting.counts import Counts, stated
from liescope.benchmark.fitting import FitResult
from liescope.benchmark.parts import Part
from liescope.benchmark.ratings.scores import Scores, ranks
from liescope.benchmark.reporting import chapters
from liescope.benchmark.reporting.methods import Method
from liescope.common.errors import LiescopeError
from liescope.common.people import PEOPLE
from liescope.common.report_page import Section, with_interval

_SCORES = "Scores of the models"
_NO_GAMES = "counts alone say who won, not what was said or done"


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a report is made of.

    conditions: the counts of each condition, empty where no game can be counted. fit: the fit, None without one; unfit:
    why not. games: the games, None for counts alone; findings: what their analyses found.
    """

    conditions: Mapping[str, Counts]
    fit: FitResult | None
    unfit: str
    games: GameSet | None
    findings: Findings | None

    @property
    def counts(self) -> pl.DataFrame:
        """The counts, with the column condition where there are several."""
        return stacked({name: part.cells for name, part in self.conditions.items()}, len(self.conditions) > 1)


def parts(gathered: Gathered) -> list[tuple[str, Part]]:
    """The parts of the report with the title of their chapter, in order."""
    own = {chapters.CAPABILITIES: _capabilities, chapters.PEOPLE: _people, chapters.SETTINGS: _settings}
    found = []
    for chapter in chapters.CHAPTERS:
        if chapter.title in own:
            found.append((chapter.title, own[chapter.title](gathered)))
        if chapter.method and gathered.conditions:
            found.append((chapter.title, _on_counts(chapter, chapter.method, gathered)))
        if gathered.findings and gathered.games:
            found.append((chapter.title, _analyses(_chosen(chapter, gathered.findings), gathered.games)))
    return found


def _capabilities(gathered: Gathered) -> Part:
    fit = gathered.fit
    if fit is None:
        words = f"There are no capability scores: {gathered.unfit}."
        return Part((Section("scores", _SCORES, (words,)),), missing={_SCORES: gathered.unfit})
    held = {_file(name): table for name, table in tables(fit).items() if not table.is_empty()}
    sections = (replace(one, file=_file(one.file)) for one in fit_page(fit).sections)
    unfit = {f"{_SCORES}: {stated(name)}": reason for name, reason in fit.unfit.items()}
    return Part(tuple(sections), held, fit.notes, unfit)


def _file(name: str) -> str:
    """A file of a fit's folder, by its name in that of a report."""
    return f"capability_{name}" if name and not name.startswith("capability") else name


def _on_counts(chapter: chapters.Chapter, method: Method, gathered: Gathered) -> Part:
    try:
        return method(gathered.conditions, gathered.fit)
    except LiescopeError as error:
        return Part(missing={chapter.title: str(error)})


def _chosen(chapter: chapters.Chapter, findings: Findings) -> Findings:
    """The analyses of one chapter."""
    named = {module for one in chapters.CHAPTERS for module in one.modules}

    def here(analysis: Analysis) -> bool:
        module = analysis.table.__module__.rpartition(".")[2]
        return module in chapter.modules or (chapter.rest and module not in named)

    return replace(
        findings,
        sections=tuple(one for one in findings.sections if here(one.analysis)),
        nothing=tuple((analysis, reason) for analysis, reason in findings.nothing if here(analysis)),
    )


def _analyses(findings: Findings, games: GameSet) -> Part:
    return Part(
        tuple(page_section(section, games.frames) for section in findings.sections),
        {section.analysis.name: section.table for section in findings.sections},
        missing={analysis.title: reason for analysis, reason in findings.nothing},
    )


def _people(gathered: Gathered) -> Part:
    """What people score beside the models, where they played."""
    if gathered.fit is None or PEOPLE not in gathered.fit.scores["model"]:
        why = "no person held a seat in the games that were counted" if gathered.fit else gathered.unfit
        return Part(missing={"Capability scores of people": why})
    sentences = []
    for one in gathered.fit.fits:
        among = f" ({stated(one.condition)})" if len(gathered.fit.fits) > 1 else ""
        table = scores(one.posterior).filter(pl.col("model") == PEOPLE)
        for row, name in product(table.to_dicts(), PARAMETERS):
            if row[name] is None:
                sentences.append(f"No {ROLES[name]} was a person{among}, or the model has no {name} of its own.")
                continue
            shown = with_interval(row[name], row[f"{name}_lo"], row[f"{name}_hi"])
            names = one.posterior.names[name]
            place = ranks(Scores(names, one.posterior.flat()[name])).row(
                by_predicate=pl.col("model") == PEOPLE, named=True
            )
            sentences.append(
                f"{name} of people{among}: {shown}; among {len(names)} players its place is between {place['lo']} and "
                f"{place['hi']} with 95% probability."
            )
    return Part((Section("people", "People among the models", tuple(sentences)),))


def _settings(gathered: Gathered) -> Part:
    games = gathered.games
    if games is None or gathered.findings is None:
        return Part(missing={"What was said and done": _NO_GAMES})
    words = gathered.findings.sentences if gathered.fit else ()
    table = settings(games.runs)
    return Part(
        (
            Section("games", "The games", words, table=overview(games.frames)),
            Section("settings", "Settings of the runs", table=table, file="settings.csv"),
        ),
        {"settings": table},
        tuple(notes_on_games(games)),
    )
