"""The report of a set of games: every analysis as a section of one self-contained HTML page.

Figures are embedded, styles are inline, and outside text (names of models, lessons) is escaped.
"""

from __future__ import annotations

import base64
import io
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL, PLAYERS, RATER
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.sources import GameSet, settings
from liescope.common.text import markdown as escaped
from liescope.games.record import Source

LONG = 24  # rows beyond which a table folds
DRAWN = 24  # models that a figure has room for
WIDEST = 28  # characters of a model's name in a figure
MOST = 400  # rows that a page shows; the CSV file has them all
TITLE = "Who deceived whom, and how well"

_SOURCES = {
    Source.SCRIPTED: "Scripted players spoke in these games: the figures test the tool and are not findings about "
    "models or people.",
    Source.HUMAN: "People played in these games, under the names of their seats' models.",
    Source.IMPORTED: "Some of these games were played elsewhere and imported.",
}


@dataclass(frozen=True, slots=True)
class Section:
    """One analysis that found something. svg: its figure, "" if it has none or too many models for one."""

    analysis: Analysis
    table: pl.DataFrame
    svg: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """sections: the analyses with results; nothing: the others, each with what the games lack."""

    sections: tuple[Section, ...]
    nothing: tuple[tuple[Analysis, str], ...]


def run_analyses(
    analyses: Sequence[Analysis], frames: Frames, watch: Callable[[str], None] = lambda _: None
) -> Findings:
    """Every analysis of the frames with its figure. watch: called with the title of each as it begins.

    The columns condition and rater are left out of the tables where all games have one and the same.
    """
    sections, nothing = [], []
    raters = pl.concat([frames.statements[RATER], frames.guesses[RATER], frames.tags[RATER]])
    hidden = [
        name for name, values in (("condition", frames.games["condition"]), (RATER, raters)) if values.n_unique() < 2
    ]
    for analysis in analyses:
        watch(analysis.title)
        if lacks := analysis.lacks(frames):
            nothing.append((analysis, "; ".join(lacks)))
            continue
        table = analysis.table(frames)
        if table.is_empty():
            nothing.append((analysis, analysis.otherwise))
        else:
            sections.append(Section(analysis, table.drop(hidden, strict=False), _svg(analysis, table)))
    return Findings(tuple(sections), tuple(nothing))


def _svg(analysis: Analysis, table: pl.DataFrame) -> str:
    """The figure as SVG with text as shapes; the bytes are reproducible."""
    if analysis.plot is None or ("model" in table.columns and table["model"].n_unique() > DRAWN):
        return ""
    from matplotlib import rc_context

    drawn = io.StringIO()
    with rc_context({"svg.hashsalt": analysis.name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        analysis.plot(_with_short_names(table)).savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return drawn.getvalue()


def _with_short_names(table: pl.DataFrame) -> pl.DataFrame:
    """The table with model names shortened for a figure, still distinct."""
    if "model" not in table.columns:
        return table
    short: dict[str, str] = {}
    for name in table["model"].drop_nulls().unique(maintain_order=True):
        cut = name if len(name) <= WIDEST else f"{name[: WIDEST - 9]}…{name[-8:]}"
        short[name] = cut if cut not in short.values() else f"{cut} ({len(short) + 1})"
    return table.with_columns(pl.col("model").replace(short))


def notes(games_set: GameSet) -> list[str]:
    """Sentences that must accompany any figure from these games: whose words, whose ratings, what is missing."""
    said = [words for source, words in _SOURCES.items() if source in games_set.sources]
    said += _judged(games_set.frames)
    said += _mixed(games_set)
    for run in games_set.runs:
        if not run.finished:
            said.append(f"{run.name} has no finished game.")
        said += [
            f"Left out of {run.name}: {count} games that failed ({why})." for why, count in run.failed.most_common()
        ]
    return said


def _judged(frames: Frames) -> list[str]:
    """How many games each judge rated, and whether all others are without a judge."""
    rated = frames.statements.select("game_id", RATER).unique()
    judges = rated.filter(pl.col(RATER) != PLAYERS)
    if judges.is_empty():
        return []
    names = judges.group_by(RATER).len().sort(RATER).rows()
    of = frames.games.height
    counts = ", ".join(f"{name} ({count} of {of} games)" for name, count in names)
    alone = judges[RATER].n_unique() == 1 and not rated.filter(pl.col(RATER) == PLAYERS).height
    which = "All ratings and reports" if alone else "Some ratings and reports"
    return [f"{which} were given by a judge after the game, from its log: {counts}."]


def _mixed(games_set: GameSet) -> list[str]:
    """A sentence if conditions are pooled, and one for each cell of games with unknown, visibly different settings."""
    frames = games_set.frames
    said = []
    conditions = frames.games["settings"].n_unique()
    if games_set.pooled and conditions > 1:
        said.append(f"Games with {conditions} different settings are pooled; their figures describe a mixture.")
    rosters = frames.seats.group_by("game_id").agg(roster=pl.col("role").sort().str.join(" "))
    kinds = {"seating": "ways of seating", "roster": "rosters"}
    cells = (
        frames.games.filter(pl.col("settings").fill_null("{}") == "{}")
        .join(rosters, on="game_id", how="left")
        .group_by(CELL)
        .agg(pl.col(name).n_unique() for name in kinds)
        .sort(CELL)
    )
    for row in cells.iter_rows(named=True):
        of = [words for name, words in kinds.items() if row[name] > 1]
        if of:
            learns = f"learning {'on' if row['learning'] else 'off'}"
            said.append(
                f"The games of {row['game']} by {row['model']} with {learns} have different {' and '.join(of)}, so "
                "their figures describe a mixture: analyse such runs one at a time."
            )
    return said


def overview(frames: Frames) -> pl.DataFrame:
    """Which games: game, condition (where there are several), model, learning, seating, source, games, won by each
    winner (as text).
    """
    several = frames.games["condition"].n_unique() > 1
    keys = ["game", *(["condition"] if several else []), "model", "learning", "seating", "source"]
    return (
        frames.games.group_by(keys)
        .agg(games=pl.len(), winners=pl.col("winner").value_counts(sort=True))
        .sort(keys)
        .with_columns(
            pl.col("winners").map_elements(
                lambda found: ", ".join(f"{row['winner']} {row['count']}" for row in found), return_dtype=pl.String
            )
        )
    )


def headline(frames: Frames) -> dict[str, dict[str, int]]:
    """Games won, by game and winner, the most frequent winner first."""
    counts = (
        frames.games.group_by("game", "winner").len().sort("game", "len", "winner", descending=[False, True, False])
    )
    wins: dict[str, dict[str, int]] = {}
    for game, winner, count in counts.iter_rows():
        wins.setdefault(game, {})[winner] = count
    return wins


def html(games_set: GameSet, findings: Findings) -> str:
    """The page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("liescope.benchmark.analyses", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(shown=shown, embedded=_embedded, numeric=_numeric, heading=_heading)
    return environment.get_template("report.html.jinja").render(
        title=TITLE,
        runs=games_set.runs,
        games=games_set.frames.games.height,
        notes=notes(games_set),
        overview=overview(games_set.frames),
        findings=findings,
        settings=settings(games_set.runs),
        version=version("liescope"),
        long=LONG,
        most=MOST,
    )


def markdown(table: pl.DataFrame) -> str:
    """A table of Markdown, rounded as on the page."""
    head = [_heading(name) for name in table.columns]
    rule = ["---:" if _numeric(table, name) else "---" for name in table.columns]
    lines = [head, rule, *([escaped(shown(value)) for value in row] for row in table.iter_rows())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def markdown_report(games_set: GameSet, findings: Findings) -> str:
    """The main sections as Markdown, with the notes that must accompany them."""
    chosen = [section for section in findings.sections if section.analysis.main]
    parts = [
        f"# {TITLE}\n",
        *(f"> {escaped(note)}\n" for note in notes(games_set)),
        markdown(overview(games_set.frames)),
    ]
    for section in chosen:
        analysis = section.analysis
        parts += [
            f"## {analysis.title}\n",
            " ".join(filter(None, (analysis.note, analysis.interval.caption, _in_paper(analysis)))) + "\n",
            markdown(section.table),
        ]
    return "\n".join(parts)


def _in_paper(analysis: Analysis) -> str:
    return f"({analysis.source} of the paper.)" if analysis.source else ""


def shown(value: Any) -> str:
    """A value as shown to readers: at most three decimals, a dash for a missing value."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
    if isinstance(value, list | pl.Series):
        return "; ".join(map(shown, value))
    return str(value)


def _heading(column: str) -> str:
    return column.replace("_", " ")


def _numeric(table: pl.DataFrame, column: str) -> bool:
    return table.schema[column].is_numeric()


def _embedded(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
