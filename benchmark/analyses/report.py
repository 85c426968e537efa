"""The report of a set of games: every analysis as a section of one HTML page that needs nothing beside itself.

Figures are embedded, styles are inline, and whatever comes from outside (names of models, lessons) is escaped.
"""

from __future__ import annotations

import base64
import io
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, cast

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.frames import CELL, Frames
from liescope.benchmark.analyses.sources import GameSet, settings
from liescope.games.record import Source

LONG = 24  # rows beyond which a table folds
DRAWN = 24  # models that a figure has room for
WIDEST = 28  # characters of a model's name in a figure
MOST = 400  # rows that a page shows; the CSV file has them all
TITLE = "Who deceived whom, and what it brought"

_SOURCES = {
    Source.SCRIPTED: "Scripted players spoke in these games: the figures check the tool, they are no finding about "
    "models or people.",
    Source.HUMAN: "People played in these games, under the names of their seats' models.",
    Source.IMPORTED: "Some of these games were played elsewhere and imported.",
}
_LACKS = {
    "statements": "nothing was said",
    "ratings": "no statement was rated",
    "votes": "no vote was cast",
    "nights": "nothing happened at night",
    "bids": "nobody bid for the floor",
    "lessons": "no lesson was drawn",
    "guesses": "no judge named roles",
    "tags": "no judge tagged lessons",
}


@dataclass(frozen=True, slots=True)
class Section:
    """One analysis that found something. svg: its figure, "" where it has none or too many models for one."""

    analysis: Analysis
    table: pl.DataFrame
    svg: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """sections: the analyses that found something; nothing: the others, each with what the games lack for it."""

    sections: tuple[Section, ...]
    nothing: tuple[tuple[Analysis, str], ...]


def run_analyses(
    analyses: Sequence[Analysis], frames: Frames, watch: Callable[[str], None] = lambda _: None
) -> Findings:
    """Every analysis of the frames with its figure. watch: told the title of each as it begins."""
    sections, nothing = [], []
    for analysis in analyses:
        watch(analysis.title)
        table = analysis.table(frames)
        if table.is_empty():
            nothing.append((analysis, _reason(analysis, frames)))
        else:
            sections.append(Section(analysis, table, _svg(analysis, table)))
    return Findings(tuple(sections), tuple(nothing))


class _Watched:
    """Frames that remember which of them were read."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self.read: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.read.append(name)
        return getattr(self._frames, name)


def _reason(analysis: Analysis, frames: Frames) -> str:
    """What the games lack for an analysis that found nothing: by the empty frames that it reads, else by the games."""
    watched = _Watched(frames)
    analysis.table(cast(Frames, watched))
    empty = [
        _LACKS[name] for name in dict.fromkeys(watched.read) if name in _LACKS and getattr(frames, name).is_empty()
    ]
    return "; ".join(empty or _lacks(frames)) or "no game holds what it counts"


def _lacks(frames: Frames) -> list[str]:
    games = frames.games
    lacks = []
    if not games["triadic"].any():
        lacks.append("no jester was dealt")
    if games["triadic"].all():
        lacks.append("a jester was dealt in every game")
    if games["learning"].n_unique() < 2:
        lacks.append("learning was on in every game" if games["learning"].all() else "learning was off in every game")
    return lacks


def _svg(analysis: Analysis, table: pl.DataFrame) -> str:
    """The figure as SVG, its text as shapes, the same bytes each time."""
    if analysis.plot is None or ("model" in table.columns and table["model"].n_unique() > DRAWN):
        return ""
    from matplotlib import rc_context

    drawn = io.StringIO()
    with rc_context({"svg.hashsalt": analysis.name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        analysis.plot(_with_short_names(table)).savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return drawn.getvalue()


def _with_short_names(table: pl.DataFrame) -> pl.DataFrame:
    """The table with names of models short enough for a figure, still distinct."""
    if "model" not in table.columns:
        return table
    short: dict[str, str] = {}
    for name in table["model"].drop_nulls().unique(maintain_order=True):
        cut = name if len(name) <= WIDEST else f"{name[: WIDEST - 9]}…{name[-8:]}"
        short[name] = cut if cut not in short.values() else f"{cut} ({len(short) + 1})"
    return table.with_columns(pl.col("model").replace(short))


def notes(games_set: GameSet) -> list[str]:
    """Sentences that must stand beside any figure of these games: whose words, whose ratings, what is missing."""
    said = [words for source, words in _SOURCES.items() if source in games_set.sources]
    judged = games_set.frames.games["judge"].drop_nulls()
    if len(judged):
        said.append(
            f"In {len(judged)} of {games_set.frames.games.height} games all ratings and reports are a judge's, given "
            f"after the game from the frozen log: {', '.join(judged.unique().sort())}."
        )
    said += _mixed(games_set.frames)
    for run in games_set.runs:
        if not run.finished:
            said.append(f"{run.path} holds no finished game.")
        said += [
            f"Left out of {run.path}: {count} games that failed ({why})." for why, count in run.failed.most_common()
        ]
    return said


def _mixed(frames: Frames) -> list[str]:
    """A sentence for every cell that puts together what does not belong together."""
    rosters = frames.seats.group_by("game_id").agg(roster=pl.col("role").sort().str.join(" "))
    kinds = {"seating": "ways of seating", "judge": "judges, or judged and unjudged games", "roster": "rosters"}
    cells = (
        frames.games.join(rosters, on="game_id", how="left")
        .group_by(CELL)
        .agg(pl.col(name).n_unique() for name in kinds)
        .sort(CELL)
    )
    said = []
    for row in cells.iter_rows(named=True):
        of = [words for name, words in kinds.items() if row[name] > 1]
        if of:
            learns = f"learning {'on' if row['learning'] else 'off'}"
            said.append(
                f"The games of {row['game']} by {row['model']} with {learns} have different {' and '.join(of)}, and "
                "their figures are those of the mixture: analyse such runs apart."
            )
    return said


def overview(frames: Frames) -> pl.DataFrame:
    """Which games: game, model, learning, seating, source, games, won by each winner (as text)."""
    keys = ["game", "model", "learning", "seating", "source"]
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
    environment.filters.update(shown=shown, embedded=_embedded, numeric=_numeric, heading=_heading, interval=interval)
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
    head = [_cell(_heading(name)) for name in table.columns]
    rule = ["---:" if _numeric(table, name) else "---" for name in table.columns]
    lines = [head, rule, *([_cell(shown(value)) for value in row] for row in table.iter_rows())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def markdown_report(games_set: GameSet, findings: Findings, names: Sequence[str]) -> str:
    """The sections with these names as Markdown, with what must stand beside them."""
    chosen = [section for section in findings.sections if section.analysis.name in names]
    parts = [f"# {TITLE}\n", *(f"> {_cell(note)}\n" for note in notes(games_set)), markdown(overview(games_set.frames))]
    for section in chosen:
        analysis = section.analysis
        parts += [
            f"## {analysis.title}\n",
            f"{analysis.note} {interval(section.table)} ({analysis.source} of the paper.)\n",
            markdown(section.table),
        ]
    return "\n".join(parts)


def interval(table: pl.DataFrame) -> str:
    """What lo and hi bound and how they were found, by the columns that the helpers of `intervals` give a table."""
    columns = set(table.columns)
    if "lo" not in columns:
        return ""
    if "regime" in columns:
        return "lo to hi: 95%, Wilson's score interval over games; of a difference Newcombe's."
    if "rate" in columns and "n" not in columns:
        return "lo to hi: 95%, Wilson's score interval over games."
    if "rate" in columns:
        return "lo to hi: 95%, Wilson's score interval over n."
    if "mean" in columns:
        return "lo to hi: 95%, percentiles of a bootstrap over whole games."
    if {"rate_on", "rate_off"} <= columns:
        return "lo to hi: 95%, Newcombe's interval of the difference, over games."
    return "lo to hi: a 95% interval over games."


def flat(table: pl.DataFrame) -> pl.DataFrame:
    """The table with lists as text, as CSV takes it."""
    nested = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    return table.with_columns(pl.col(nested).cast(pl.List(pl.String)).list.join("; ")) if nested else table


def shown(value: Any) -> str:
    """A value as a reader sees it: three decimals at most, a dash for what is not there."""
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


def _cell(text: str) -> str:
    """Text that cannot break a table of Markdown or become markup."""
    return " ".join(text.replace("|", r"\|").replace("<", "&lt;").split())
