"""The report of a set of games: what was found first, then every analysis as a section of one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version

import polars as pl

from liescope.benchmark.analyses.analysis import MINI_MAFIA, TRIADIC, Analysis
from liescope.benchmark.analyses.analysis_figures import DRAWN, Curves
from liescope.benchmark.analyses.conditions_of_play import CELL, NOBODY, PLAYERS, RATER, UNKNOWN
from liescope.benchmark.analyses.frames import Frames, GameSet, settings
from liescope.benchmark.analyses.intervals import RULE, shares
from liescope.benchmark.analyses.outcomes import DECIDED, wins_by
from liescope.benchmark.analyses.standings import answers, rows_of_games
from liescope.benchmark.capability.counts import UNHEARD
from liescope.common.colours import page_of
from liescope.common.figures import style, svg
from liescope.common.model_names import PEOPLE
from liescope.common.report.contents import Report, Section
from liescope.common.text import number_of
from liescope.games.game_registry import PROMPTS
from liescope.games.record import Source


def who_won(frames: Frames) -> str:
    """A sentence: how often each side won each kind of game, with 95% intervals (Wilson's)."""
    wins = wins_by(frames, ["game"]).filter(pl.col("faction") != UNKNOWN).sort("game")
    said = []
    for (game,), part in wins.group_by("game", maintain_order=True):
        won = []
        for row in shares(part, ["faction"], "won").sort("rate", descending=True, maintain_order=True).to_dicts():
            within = "" if row["lo"] is None else f" ({row['lo']:.0%} to {row['hi']:.0%})"
            side = NOBODY if row["faction"] == NOBODY else f"the {row['faction']}"
            won.append(f"{side} won {row['rate']:.0%}{within}")
        said.append(f"in {number_of(part['game_id'].n_unique(), 'game')} of {game}, {', '.join(won)}")
    alone = frames.games.filter(DECIDED & ~pl.col("game").is_in(wins["game"].unique().to_list()))
    for (game,), part in alone.sort("game").group_by("game", maintain_order=True):
        said.append(f"in {number_of(len(part), 'game')} of {game}, all players were on one side")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}." if text else "The sources do not say who won."


FOLDED = 6  # beyond so many rows, a table with a figure is folded
TITLE = "Who deceived whom, and how well"
PAPERS = {"mini-mafia": MINI_MAFIA, "werewolf": TRIADIC, "dyadic-werewolf": TRIADIC}
"""The games that a paper tells of, whose prompts ours do not repeat."""
_READING = (
    "Intervals are of 95% and take the game as the unit unless a section says otherwise: statements of one game are no "
    f"independent draws. {RULE} The first sentences name whoever is ahead of each of the others, corrected for the "
    "number of questions (Holm). A dash stands where a value is not defined. Days count from 1. A section may "
    "name the table or figure of a paper that it corresponds to; the numbers here come from the games below."
)

_SOURCES = {
    Source.SCRIPTED: "Scripted players spoke in these games: the figures test the tool and are not findings about "
    "models or people.",
    Source.IMPORTED: "Some of these games were played elsewhere and imported.",
}


def run_analyses(
    analyses: Sequence[Analysis], frames: Frames, watch: Callable[[str], None] = lambda _: None, draw: bool = True
) -> Report:
    """Every analysis of the frames: a section and a table by its name, or by its title the reason why there is none;
    before them who won, and who deceives, detects and discloses best. watch: called with the title of each as it
    begins. draw: their figures too.

    The columns condition and rater are left out if they are the same for all games.
    """
    sections, tables = [], {}
    missing: dict[str, str] = {}
    raters = pl.concat([frames.statements[RATER], frames.guesses[RATER], frames.tags[RATER]])
    hidden = [
        name for name, values in (("condition", frames.games["condition"]), (RATER, raters)) if values.n_unique() < 2
    ]
    with page_of(frames.seats["seat_model"].drop_nulls().unique()):
        for analysis in analyses:
            watch(analysis.title)
            table = analysis.found(frames)
            if table.is_empty():
                missing |= {analysis.title: analysis.otherwise} if analysis.otherwise else {}
                continue
            tables[analysis.name] = table.drop(hidden, strict=False)
            sections.append(_section(analysis, table, tables[analysis.name], frames, draw))
        compared = answers(rows_of_games(frames), draw)
        return Report(
            findings=(who_won(frames), *compared.findings),
            figure=compared.figure,
            figure_alt=compared.figure_alt,
            sections=tuple(sections),
            tables=tables,
            missing=missing,
        )


def _section(analysis: Analysis, whole: pl.DataFrame, table: pl.DataFrame, frames: Frames, draw: bool) -> Section:
    """An analysis as a section of a page. whole: the table with all its columns."""
    said, figure = [analysis.note], ""
    if analysis.plot and "model" in whole.columns and whole["model"].n_unique() > DRAWN:
        said.append("There are too many models for a figure; the table has them all.")
    elif isinstance(analysis.plot, Curves) and whole[analysis.plot.x].n_unique() < 2:
        said.append(f"There is only one {analysis.plot.x} here, so no curve is drawn.")
    elif analysis.plot and draw:
        with style():
            figure = svg(analysis.plot(whole), analysis.name)
    alike = [name for name in ("game", "learning") if frames.games[name].n_unique() < 2]
    shown = table.drop(alike, strict=False)
    return Section(
        analysis.name,
        analysis.title,
        tuple(said),
        caption=analysis.caption(table),
        figure=figure,
        table=shown,
        folded=bool(figure) and table.height > FOLDED,
        source=analysis.cited,
        file=f"tables/{analysis.name}.csv",
        main=analysis.main,
    )


def notes(games_set: GameSet) -> list[str]:
    """Sentences that must accompany any figure from these games: whose words, whose ratings, what is missing."""
    said = [words for source, words in _SOURCES.items() if source in games_set.sources]
    said += _people(games_set.frames)
    said += _rated(games_set.frames)
    said += _mixed(games_set)
    said += _reworded(games_set)
    for run in games_set.runs:
        if "fork" in run.plan or "recorded" in run.plan:
            said.append(
                f"The games of {run.name} go on from recorded games or play them again: those of one recorded game "
                "count as one draw, and their rates hold for those games."
            )
        if not run.finished:
            said.append(f"{run.name} has no finished game.")
        said += [
            f"Left out of {run.name}: {count} games{f', because {why}' if why == UNHEARD else f' that failed ({why})'}."
            for why, count in run.failed.most_common()
        ]
    return [*said, *games_set.notes]


def _reworded(games_set: GameSet) -> list[str]:
    """A sentence for each paper whose game was played with our own prompts."""
    played = {
        str(run.plan.get("game"))
        for run in games_set.runs
        if run.plan.get("game") in PAPERS and run.plan.get("prompts") in PROMPTS[run.plan["game"]].sets
    }
    return [
        f"The prompts of {game} are worded anew and are not those of the {PAPERS[game]}: results of these games are "
        "not comparable with the paper's, since wording alone can change them."
        for game in sorted(played)
    ]


def _people(frames: Frames) -> list[str]:
    """How many seats people held, and how many different people that was, as far as the games tell."""
    seats = frames.seats.filter(pl.col("seat_model") == PEOPLE)
    if seats.is_empty():
        return []
    persons, unknown = seats["person"].drop_nulls().n_unique(), seats["person"].null_count()
    if unknown:
        who = (
            f"The games do not tell who held {unknown} of these seats: if few persons played them, the intervals, for "
            "which games are independent, are too narrow."
        )
    elif persons == 1:
        who = "All of them were held by one person: the figures describe that person, and not people."
    else:
        who = f"They are {persons} different persons; what a person does in several games is not independent."
    held = f"{number_of(seats.height, 'seat')} in {number_of(seats['game_id'].n_unique(), 'game')}"
    return [f"People held {held}; by model, all of them are “{PEOPLE}”. {who}"]


def _rated(frames: Frames) -> list[str]:
    """How many games each rater rated, and whether all other games have no rater."""
    rated = frames.statements.select("game_id", RATER).unique()
    raters = rated.filter(pl.col(RATER) != PLAYERS)
    if raters.is_empty():
        return []
    names = raters.group_by(RATER).len().sort(RATER).rows()
    of = frames.games.height
    counts = ", ".join(f"{name} ({count} of {of} games)" for name, count in names)
    alone = raters[RATER].n_unique() == 1 and not rated.filter(pl.col(RATER) == PLAYERS).height
    which = "All ratings and reports" if alone else "Some ratings and reports"
    return [f"{which} were given after the game, from its log, by {counts}."]


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


def winners(frames: Frames) -> dict[str, dict[str, int]]:
    """Games won, by game and winner, the most frequent winner first."""
    counts = (
        frames.games.group_by("game", "winner").len().sort("game", "len", "winner", descending=[False, True, False])
    )
    wins: dict[str, dict[str, int]] = {}
    for game, winner, count in counts.iter_rows():
        wins.setdefault(game, {})[winner] = count
    return wins


def page(games_set: GameSet, told: Report) -> Report:
    """The report page. told: what the analyses found."""
    runs = ", ".join(run.name for run in games_set.runs)
    played = settings(games_set.runs)
    return replace(
        told,
        title=TITLE,
        notes=tuple(notes(games_set)),
        meta=f"{games_set.frames.games.height} finished games of {runs}, analysed with Liescope {version('liescope')}.",
        sections=(
            Section("games", "The games", (_READING,)),
            *told.sections,
            Section(
                "settings",
                "Settings of the runs",
                table=played,
                source=f"Table 22 of the {TRIADIC}",
                file="tables/settings.csv",
                main=False,
            ),
        ),
        tables={**told.tables, "settings": played},
    )
