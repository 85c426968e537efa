"""What a report tells: the fit, the methods on counts and the analyses, as parts in chapters.

The chapters stand in the order of the Mini-Mafia paper's sections.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import product
from pathlib import PurePath

import polars as pl

from liescope.benchmark.analyses.analysed_games import GameSet, settings
from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.analysis_registry import SUBJECTS
from liescope.benchmark.analyses.findings import TITLE as TITLE_OF_GAMES
from liescope.benchmark.analyses.findings import notes as notes_on_games
from liescope.benchmark.analyses.findings import overview
from liescope.benchmark.capability.counts import Counts, stated
from liescope.benchmark.capability.fit_report import fit_page, forest, tables
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.results import ROLES, labelled, scores
from liescope.benchmark.capability.sentences import TITLE as TITLE_OF_FIT
from liescope.benchmark.capability.variants import PARAMETERS
from liescope.benchmark.fitting import FitResult
from liescope.benchmark.ratings.rank_order import JointScores, ranks
from liescope.common.errors import LiescopeError
from liescope.common.figures import svg
from liescope.common.model_names import PEOPLE
from liescope.common.report.contents import MISSING, Report, Section, by_condition, with_interval

Method = Callable[[Mapping[str, Counts], FitResult | None], Report]


def backgrounds(conditions: Mapping[str, Counts], fit: FitResult | None) -> Report:
    """Scores against fixed backgrounds, and their agreement with the capability model."""
    from liescope.benchmark.ratings.background_report import part_of_conditions

    return part_of_conditions({name: counts.cells for name, counts in conditions.items()}, _posteriors(fit))


def ratings(conditions: Mapping[str, Counts], fit: FitResult | None) -> Report:
    """Ratings of the games of each condition, and where methods disagree."""
    from liescope.benchmark.ratings.ratings_report import part

    posteriors = _posteriors(fit)
    return by_condition({name: part(counts.cells, posteriors.get(name)) for name, counts in conditions.items()})


def _posteriors(fit: FitResult | None) -> dict[str, Posterior]:
    return {one.condition: one.posterior for one in fit.fits} if fit else {}


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter. For a method on counts, put its function into `method`; to move analyses here, name their subject.

    title: its heading. method: of counts (`liescope.benchmark.reporting.gathering`). subjects: of the analyses that
    stand here. rest: also those that no chapter names.
    """

    title: str
    method: Method | None = None
    subjects: tuple[str, ...] = ()
    rest: bool = False

    @property
    def analyses(self) -> list[Analysis]:
        return [analysis for subject in self.subjects for analysis in SUBJECTS[subject]]


CAPABILITIES = "Who deceives, who detects, who discloses"
ABOUT_PEOPLE = "People"
SETTINGS = "Games and settings"

CHAPTERS = (
    Chapter(CAPABILITIES),
    Chapter("Against fixed backgrounds", backgrounds),
    Chapter("Ratings", ratings),
    Chapter("Votes, names and the last word", subjects=("accuracy", "names", "last word")),
    Chapter(
        "What players disclose, claim and leave unsaid",
        subjects=(
            *("disclosure", "counter accusation", "first claim"),
            *("lengths", "bidding", "fingerprint"),
        ),
    ),
    Chapter("Silences, unusable replies and drawn votes", subjects=("silence", "mishaps", "influence")),
    Chapter(
        "Does the lie work",
        subjects=(
            *("moves", "lies", "forks", "deception", "suspicion", "calibration", "detection"),
            *("predictors", "judges"),
        ),
    ),
    Chapter("Who wins, and who is voted out", rest=True),
    Chapter("The same games under other conditions", subjects=("conditions",)),
    Chapter(ABOUT_PEOPLE, subjects=("people",)),
    Chapter(SETTINGS, subjects=("configuration",)),
)


_SCORES = "Scores of the models"
_NO_GAMES = "counts alone say who won, not what was said or done"


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a report is made of.

    conditions: the counts of each condition, empty where no game can be counted. fit: the fit, None without one; unfit:
    why not. games: the games, None for counts alone; told: what their analyses found.
    """

    conditions: Mapping[str, Counts]
    fit: FitResult | None
    unfit: str
    games: GameSet | None
    told: Report | None

    @property
    def counts(self) -> pl.DataFrame:
        """The counts, with the column condition where there are several."""
        return labelled({name: part.cells for name, part in self.conditions.items()}, len(self.conditions) > 1)


def parts(gathered: Gathered) -> list[tuple[str, Report]]:
    """The parts of the report with the title of their chapter, in order."""
    own = {CAPABILITIES: _capabilities, ABOUT_PEOPLE: _people, SETTINGS: _settings}
    found = []
    for chapter in CHAPTERS:
        if chapter.title in own:
            found.append((chapter.title, own[chapter.title](gathered)))
        if chapter.method and gathered.conditions:
            found.append((chapter.title, _on_counts(chapter, chapter.method, gathered)))
        if gathered.told:
            found.append((chapter.title, _analyses(chapter, gathered.told)))
    return found


def _capabilities(gathered: Gathered) -> Report:
    fit = gathered.fit
    if fit is None:
        words = f"There are no capability scores: {gathered.unfit}."
        return Report(sections=(Section("scores", _SCORES, (words,)),), missing={_SCORES: gathered.unfit})
    held = {_file(name): table for name, table in tables(fit).items() if not table.is_empty()}
    sections = (replace(one, file=_file(one.file)) for one in fit_page(fit).sections)
    unfit = {f"{_SCORES}: {stated(name)}": reason for name, reason in fit.unfit.items()}
    return Report(sections=tuple(sections), tables=held, notes=fit.notes, missing=unfit)


def _file(name: str) -> str:
    """A file of a fit's folder, by its name in that of a report."""
    return f"capability_{name}" if name and not name.startswith("capability") else name


def _on_counts(chapter: Chapter, method: Method, gathered: Gathered) -> Report:
    try:
        return method(gathered.conditions, gathered.fit)
    except LiescopeError as error:
        return Report(missing={chapter.title: str(error)})


def _analyses(chapter: Chapter, told: Report) -> Report:
    """What the analyses of one chapter found."""
    others = [one for one in CHAPTERS if one is not chapter] if chapter.rest else [chapter]
    chosen = [analysis for one in others for analysis in one.analyses]
    names, titles = {analysis.name for analysis in chosen}, {analysis.title for analysis in chosen}
    return Report(
        sections=tuple(section for section in told.sections if (section.name in names) != chapter.rest),
        tables={name: table for name, table in told.tables.items() if (name in names) != chapter.rest},
        missing={title: reason for title, reason in told.missing.items() if (title in titles) != chapter.rest},
    )


def _people(gathered: Gathered) -> Report:
    """What people score beside the models, where they played."""
    if gathered.fit is None or PEOPLE not in gathered.fit.scores["model"]:
        why = "no person held a seat in the games that were counted" if gathered.fit else gathered.unfit
        return Report(missing={"Capability scores of people": why})
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
            place = ranks(JointScores(names, one.posterior.flat()[name])).row(
                by_predicate=pl.col("model") == PEOPLE, named=True
            )
            sentences.append(
                f"{name} of people{among}: {shown}; among {len(names)} players its place is between {place['lo']} and "
                f"{place['hi']} with 95% probability."
            )
    return Report(sections=(Section("people", "People among the models", tuple(sentences)),))


def _settings(gathered: Gathered) -> Report:
    games = gathered.games
    if games is None or gathered.told is None:
        return Report(missing={"What was said and done": _NO_GAMES})
    words = gathered.told.findings if gathered.fit else ()
    table = settings(games.runs)
    return Report(
        sections=(
            Section("games", "The games", words, table=overview(games.frames)),
            Section("settings", "Settings of the runs", table=table, file="settings.csv"),
        ),
        tables={"settings": table},
        notes=tuple(notes_on_games(games)),
    )


_READING = (
    "Intervals are of 95% and take the game as the unit unless a section says otherwise. A dash stands where a value "
    "is not defined. Every table is a CSV file in the folder tables, named beside its heading; report.json holds them "
    "all, with the counts and the settings."
)


def findings(gathered: Gathered) -> tuple[str, ...]:
    """What was found, in up to three sentences."""
    if gathered.fit:
        return gathered.fit.findings
    if gathered.told:
        return gathered.told.findings
    cells = gathered.counts
    games, wins = int(cells["games"].sum()), int(cells["mafia_wins"].sum())
    return (f"The mafia won {wins / games:.1%} of {games} games; no player can be told from another.",)


def page(title: str, gathered: Gathered, parts: Sequence[tuple[str, Report]], sources: Sequence[str]) -> Report:
    """The page. parts: with the titles of their chapters."""
    fit = gathered.fit
    figure, alt = "", ""
    if fit:
        figure, alt = svg(forest(fit.scores), "forest"), "Scores of the models with their 95% intervals."
    elif gathered.told:
        figure, alt = gathered.told.figure, gathered.told.figure_alt
    sections = [
        replace(section, name=f"{at}-{section.name}", chapter=chapter, file=_place(section.file))
        for at, (chapter, part) in enumerate(parts, start=1)
        for section in part.sections
    ]
    missing = {title: reason for _, part in parts for title, reason in part.missing.items()}
    return Report(
        title or (TITLE_OF_FIT if fit or gathered.games is None else TITLE_OF_GAMES),
        findings(gathered),
        figure,
        alt,
        tuple(dict.fromkeys(note for _, part in parts for note in part.notes)),
        f"{_READING} Made from {', '.join(sources)} with Liescope {version('liescope')}.",
        (*sections, *([] if missing else [Section("missing", MISSING, ("Everything could be shown.",))])),
        missing,
        _tables(parts),
    )


def _tables(parts: Sequence[tuple[str, Report]]) -> dict[str, pl.DataFrame]:
    """Every table by its name. Raises ValueError if two parts give a table the same name."""
    found: dict[str, pl.DataFrame] = {}
    for _, part in parts:
        if both := found.keys() & part.tables.keys():
            raise ValueError(f"two parts of a report have a table {min(both)}")
        found |= part.tables
    return found


def _place(file: str) -> str:
    return f"tables/{PurePath(file).name}" if file else ""
