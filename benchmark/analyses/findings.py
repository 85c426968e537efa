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
from liescope.benchmark.analyses.intervals import RULE, game_difference, game_means, shares
from liescope.benchmark.analyses.outcomes import wins_by
from liescope.benchmark.analyses.standings import answers, points, rows_of_games
from liescope.benchmark.analyses.votes import honest_votes
from liescope.common.colours import page_of
from liescope.common.figures import style, svg
from liescope.common.model_names import PEOPLE
from liescope.common.report.contents import Report, Section
from liescope.common.statistics import CHANGE, LEVEL, holm, p_value
from liescope.games.game_registry import PROMPTS
from liescope.games.record import Source


def headline_sentences(frames: Frames) -> tuple[str, str, str]:
    """Who won, whether those whose role deceives were voted for, whether their statements were noticed; for each kind
    of game, with 95% intervals (Wilson's for wins, else from a jackknife over games).
    """
    open_ = _unsettled(frames)
    return _who_won(frames), _who_was_found(frames, open_), _who_was_noticed(frames, open_)


def _unsettled(frames: Frames) -> set[tuple[str, str]]:
    """The games and roles whose votes, and the games (role "") whose flags, cannot be told from blind ones, corrected
    for the number of questions (Holm).
    """
    found: dict[tuple[str, str], float | None] = {}
    for name, part in _games(honest_votes(frames)):
        beyond = part.with_columns(beyond=pl.col("hit") - pl.col("chance"))
        for row in game_means(beyond, ["voter_role"], "beyond", CHANGE).iter_rows(named=True):
            found[name, row["voter_role"]] = p_value(row["mean"], (row["lo"], row["hi"]), row["games"])
    for name, part in _games(_flags(frames)):
        if _both(part):
            *_, gap, lo, hi = _gap(part)
            games = min(side["family"].n_unique() for side in part.partition_by("label_role"))
            found[name, ""] = p_value(gap, (lo, hi), games)
    corrected = zip(found, holm(list(found.values())), strict=True)
    return {asked for asked, p in corrected if p is None or p >= 1 - LEVEL}


def _games(rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [(part["game"].item(0), part) for part in rows.sort("game", maintain_order=True).partition_by("game")]


def _who_won(frames: Frames) -> str:
    said = []
    for name, part in _games(wins_by(frames, ["game"]).filter(pl.col("faction") != UNKNOWN)):
        ranked = shares(part, ["faction"], "won").sort("rate", descending=True, maintain_order=True)
        won = [
            f"{'nobody' if side == NOBODY else f'the {side}'} won {_share(*figures)}"
            for side, *figures in ranked.select("faction", "rate", "lo", "hi").iter_rows()
        ]
        games = frames.games.filter((pl.col("game") == name) & (pl.col("winner") != UNKNOWN)).height
        said.append(f"in {games} {'game' if games == 1 else 'games'} of {name}, {_listed(won)}")
    return _sentence(said) or "The sources do not say who won."


def _who_was_found(frames: Frames, unsettled: set[tuple[str, str]]) -> str:
    said = []
    for name, part in _games(honest_votes(frames)):
        by_role = game_means(part, ["voter_role"], "hit").sort("n", descending=True).to_dicts()
        shares = [
            f"of the votes of the {row['voter_role']} {_share(row['mean'], row['lo'], row['hi'])}" for row in by_role
        ]
        blind = float(part["chance"].to_numpy().mean())
        roles = [f"the {row['voter_role']}" for row in by_role if (name, row["voter_role"]) in unsettled]
        open_ = f", and these games do not settle whether {_listed(roles)} did better" if roles else ""
        said.append(
            f"in {name}, {_listed(shares)} went to a player whose role deceives; blind votes would give "
            f"{blind:.0%}{open_}{_drawn(frames, name)}"
        )
    return _sentence(said) or "Nobody chose whom to vote for, so these games do not show whether deceivers are found."


def _drawn(frames: Frames, name: str) -> str:
    """A remark that votes drawn by the rules do not count, with their number."""
    votes = frames.votes.filter(pl.col("game") == name)
    drawn = int(votes["drawn"].sum())
    return f" (votes that the rules drew, {drawn} of {votes.height}, do not count)" if drawn else ""


def _who_was_noticed(frames: Frames, unsettled: set[tuple[str, str]]) -> str:
    said = []
    for name, part in _games(_flags(frames)):
        if _both(part):
            told, other, gap, lo, hi = _gap(part)
            doubt = ", so these games do not settle whether they can tell the two apart"
            open_ = doubt if (name, "") in unsettled else ""
            sign = "more" if gap >= 0 else "less"
            said.append(
                f"in {name}, listeners flagged what a role that deceives said in {told:.0%} of their ratings and what "
                f"the others said in {other:.0%}: {points(gap, lo, hi)} {sign}{open_}"
            )
    return _sentence(said) or (
        "Nobody on the other side rated statements of both kinds, so these games do not show whether listeners notice "
        "deception."
    )


def _flags(frames: Frames) -> pl.DataFrame:
    """Ratings by players whose role does not deceive, of statements of known roles."""
    side = frames.seats.select("game_id", "name", _own="deceives")
    rated = frames.ratings.drop_nulls(["flag", "label_role"])
    return rated.join(side, left_on=["game_id", "observer"], right_on=["game_id", "name"]).filter(~pl.col("_own"))


def _both(flags: pl.DataFrame) -> bool:
    return flags["label_role"].n_unique() == 2


def _gap(flags: pl.DataFrame) -> tuple[float, float, float, float | None, float | None]:
    """The flagged shares of deceivers' and of others' statements, the first minus the second, and its interval."""
    sides = flags.filter("label_role"), flags.filter(~pl.col("label_role"))
    told, other = (float(side["flag"].to_numpy().mean()) for side in sides)
    _, lo, hi = game_difference(*sides, "flag")
    return told, other, told - other, lo, hi


def _share(value: float, lo: float | None, hi: float | None) -> str:
    return f"{value:.0%}" if lo is None or hi is None else f"{value:.0%} ({lo:.0%} to {hi:.0%})"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _sentence(parts: list[str]) -> str:
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


FOLDED = 6  # beyond so many rows, a table with a figure is folded
TITLE = "Who deceived whom, and how well"
PAPERS = {"mini-mafia": MINI_MAFIA, "werewolf": TRIADIC, "dyadic-werewolf": TRIADIC}
"""The games that a paper tells of, whose prompts ours do not repeat."""
_READING = (
    "Intervals are of 95% and take the game as the unit unless a section says otherwise: statements of one game are no "
    f"independent draws. {RULE} The first sentences call settled what is so when corrected for the number of roles and "
    "games that they ask about (Holm). A dash stands where a value is not defined. Days count from 1. A section may "
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
    before them three sentences that say what was found. watch: called with the title of each as it begins. draw: their
    figures too.

    The columns condition and rater are left out if they are the same for all games.
    """
    sections, tables, missing = [], {}, {}
    raters = pl.concat([frames.statements[RATER], frames.guesses[RATER], frames.tags[RATER]])
    hidden = [
        name for name, values in (("condition", frames.games["condition"]), (RATER, raters)) if values.n_unique() < 2
    ]
    with page_of(frames.seats["seat_model"].drop_nulls().unique()):
        for analysis in analyses:
            watch(analysis.title)
            if lacks := analysis.lacks(frames):
                missing[analysis.title] = "; ".join(lacks)
                continue
            table = analysis.found(frames)
            if table.is_empty():
                missing[analysis.title] = analysis.otherwise
                continue
            tables[analysis.name] = table.drop(hidden, strict=False)
            sections.append(_section(analysis, table, tables[analysis.name], frames, draw))
        compared = answers(rows_of_games(frames)) if draw else Report()
        return Report(
            findings=headline_sentences(frames),
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
            f"Left out of {run.name}: {count} games that failed ({why})." for why, count in run.failed.most_common()
        ]
    return said


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
    games = seats["game_id"].n_unique()
    held = f"{seats.height} seat{'' if seats.height == 1 else 's'} in {games} game{'' if games == 1 else 's'}"
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
            Section("games", "The games", (_READING,), table=overview(games_set.frames)),
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
