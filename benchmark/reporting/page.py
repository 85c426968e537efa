"""The page of a report: its parts as chapters, what was found above them, what is missing below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import PurePath

import polars as pl

from liescope.benchmark.analyses import headline
from liescope.benchmark.analyses.report import TITLE as TITLE_OF_GAMES
from liescope.benchmark.capability.plots import forest
from liescope.benchmark.capability.text import TITLE as TITLE_OF_FIT
from liescope.benchmark.parts import Part
from liescope.benchmark.reporting import chapters
from liescope.benchmark.reporting.gathering import Gathered
from liescope.common.figures import svg
from liescope.common.report_page import Page, Section, Table

_READING = (
    "Intervals are of 95% and take the game as the unit unless a section says otherwise. A dash stands where a value "
    "is not defined. Every table is a CSV file in the folder tables, named beside its heading; report.json holds them "
    "all, with the counts and the settings."
)


def findings(gathered: Gathered) -> tuple[str, ...]:
    """What was found, in up to three sentences."""
    if gathered.fit:
        return gathered.fit.findings
    if gathered.findings:
        return gathered.findings.sentences
    cells = gathered.counts
    games, wins = int(cells["games"].sum()), int(cells["mafia_wins"].sum())
    return (f"The mafia won {wins / games:.1%} of {games} games; no player can be told from another.",)


def page(title: str, gathered: Gathered, parts: Sequence[tuple[str, Part]], sources: Sequence[str]) -> Page:
    """The page. parts: with the titles of their chapters."""
    fit = gathered.fit
    figure, alt = "", ""
    if fit:
        figure, alt = svg(forest(fit.scores), "forest"), "Scores of the models with their 95% intervals."
    elif gathered.findings:
        figure, alt = gathered.findings.svg, headline.FIGURE_ALT
    sections = [
        replace(section, name=f"{at}-{section.name}", chapter=chapter, file=_place(section.file))
        for at, (chapter, part) in enumerate(parts, start=1)
        for section in part.sections
    ]
    return Page(
        title or (TITLE_OF_FIT if fit or gathered.games is None else TITLE_OF_GAMES),
        findings(gathered),
        figure,
        alt,
        tuple(notes(parts)),
        f"{_READING} Made from {', '.join(sources)} with Liescope {version('liescope')}.",
        (*sections, _missing(missing(parts))),
    )


def notes(parts: Sequence[tuple[str, Part]]) -> list[str]:
    """The sentences that must accompany the report, each once."""
    return list(dict.fromkeys(note for _, part in parts for note in part.notes))


def missing(parts: Sequence[tuple[str, Part]]) -> dict[str, str]:
    """What cannot be shown, by its title, with the reason."""
    return {title: reason for _, part in parts for title, reason in part.missing.items()}


def tables(parts: Sequence[tuple[str, Part]]) -> dict[str, pl.DataFrame]:
    """Every table by its name. Raises ValueError if two parts give a table the same name."""
    found: dict[str, pl.DataFrame] = {}
    for _, part in parts:
        if both := found.keys() & part.tables.keys():
            raise ValueError(f"two parts of a report have a table {min(both)}")
        found |= part.tables
    return found


def _place(file: str) -> str:
    return f"tables/{PurePath(file).name}" if file else ""


def _missing(reasons: Mapping[str, str]) -> Section:
    table = Table(("what", "why"), list(reasons.items()))
    words = () if reasons else ("Everything could be shown.",)
    return Section("missing", chapters.MISSING, words, table=table)
