"""Declares an analysis: a function from the frames of a set of games to a tidy table, and facts about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis_tables import Declared
from liescope.benchmark.analyses.conditions_of_play import PLAYERS, RATER, UNKNOWN
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import SMALLER, Correction, Interval
from liescope.common.model_names import PEOPLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Need = Callable[[Frames], str]


def _rows(table: str, lack: str, where: pl.Expr | None = None) -> Need:
    """At least one row of a frame, of those for which `where` is true."""

    def need(frames: Frames) -> str:
        frame: pl.DataFrame = getattr(frames, table)
        return "" if not (frame if where is None else frame.filter(where)).is_empty() else lack

    return need


def _chosen(*conditions: pl.Expr) -> pl.Expr:
    return pl.all_horizontal(~pl.col("drawn").fill_null(False), *conditions)


SAID = _rows("statements", "nothing was said")
REPORTS = _rows("statements", "no speaker reported on a statement", pl.col("label_self").is_not_null())
REPORTED_TYPES = _rows("statements", "no speaker named a kind of deception", pl.col("self_type").is_not_null())
REPORTS_OR_RATINGS = _rows(
    "statements",
    "no statement was reported on or rated",
    pl.col("label_self").is_not_null() | pl.col("peer_rate").is_not_null(),
)
RATINGS = _rows("ratings", "no statement was rated", pl.col("flag").is_not_null())
SUSPICION = _rows("ratings", "no rating names a suspicion", pl.col("suspicion").is_not_null())
CONFIDENCE = _rows("ratings", "no flag came with a confidence", pl.col("flag") & pl.col("confidence").is_not_null())
BALLOTS = _rows("votes", "nobody voted")
VOTES = _rows("votes", "no player chose whom to vote for", _chosen())
RANKS = _rows("ranks", "no voter had rated anybody", _chosen())
KILLS = _rows("nights", "no player chose whom to kill", _chosen(pl.col("act") == "kill"))
PROTECTIONS = _rows("nights", "no player chose whom to protect", _chosen(pl.col("act") == "protection"))
DECEIVERS = _rows("seats", "no role is known to deceive", pl.col("deceives"))
INVESTIGATIONS = _rows("nights", "no role investigates", pl.col("act") == "investigation")
BIDS = _rows("bids", "nobody bid for the floor")
LESSONS = _rows("lessons", "no lesson was learned", pl.col("kept"))
GUESSES = _rows("guesses", "no judge named roles", pl.col("guess").is_not_null())
TAGS = _rows("tags", "no judge tagged lessons")
WINNERS = _rows("games", "the source does not say who won", pl.col("winner") != UNKNOWN)
SIDES_KNOWN = _rows("seats", "the source does not say whose role deceives", pl.col("deceives").is_not_null())
PEOPLE_VOTED = _rows("votes", "no person chose whom to vote for", _chosen(pl.col("model") == PEOPLE))
PEOPLE_RATED = _rows(
    "ratings",
    "no person rated a statement",
    (pl.col(RATER) == PLAYERS) & (pl.col("observer_seat_model") == PEOPLE) & pl.col("flag").is_not_null(),
)
FORKS = _rows(
    "games", "no game goes on from a moment of a recorded one (`liescope fork`)", pl.col("fork_seat").is_not_null()
)
TURNS = _rows("games", "the games do not say which came first", pl.col("turn").is_not_null())


def dealt(role: str) -> Need:
    """Games that deal this role."""
    return _rows("seats", f"no {role} was dealt", pl.col("role") == role)


def both_levels_of_learning(frames: Frames) -> str:
    """Games with learning and without."""
    levels = set(frames.games["learning"])
    if levels == {True, False}:
        return ""
    return "learning was on in every game" if levels == {True} else "learning was off in every game"


def with_and_without(role: str) -> Need:
    """Games that deal this role, and games that do not."""

    def need(frames: Frames) -> str:
        holding = frames.seats.filter(pl.col("role") == role)["game_id"].n_unique()
        if not holding:
            return f"no {role} was dealt"
        return f"a {role} was dealt in every game" if holding == frames.games.height else ""

    return need


def two_raters(frames: Frames) -> str:
    """Statements with reports or ratings of two raters: two judges, or a judge and the players."""
    rated = frames.ratings.filter(pl.col("flag").is_not_null())
    reported = frames.statements.filter(pl.col("label_self").is_not_null())
    raters = set(rated[RATER]) | set(reported[RATER])
    return "" if len(raters) > 1 else "the games have one rater or none"


TRIADIC = "Triadic Werewolf paper"
MINI_MAFIA = "Mini-Mafia paper"


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis. To add one, put it into the tuple of its subject; one of a new subject takes two
    lines in `analysis_registry`.

    name: of its CSV file; title: its heading; table: what is counted and how, as `Means`, `Shares` or `Differences`, or
    a function of its own; plot: draws the figure of a non-empty table, as `Dots`, `Bars`, `Curves` or `Matrix`, or a
    function. needs: what the games must contain, checked before the table is made; otherwise: why the table can still
    be empty. interval: what the columns lo and hi are, where the declaration of the table does not say it.
    source: the corresponding table, figure or section of the paper, "" for none; paper: which one, `TRIADIC` or
    `MINI_MAFIA`. note: how to read it, in one sentence. main: include it in the short report, report.md.
    corrections: how rows are read, against zero or against each other, and so what is added for their number
    (`liescope.benchmark.analyses.intervals`).
    """

    name: str
    title: str
    table: Declared | Callable[[Frames], pl.DataFrame]
    plot: Callable[[pl.DataFrame], Figure] | None = None
    needs: tuple[Need, ...] = ()
    otherwise: str = "no game contains what it counts"
    interval: Interval = Interval.NONE
    source: str = ""
    paper: str = TRIADIC
    note: str = ""
    main: bool = False
    corrections: tuple[Correction, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.table, Declared):
            object.__setattr__(self, "interval", self.table.interval)
            object.__setattr__(self, "corrections", self.corrections or self.table.corrections)

    def found(self, frames: Frames) -> pl.DataFrame:
        """The table with the columns that its corrections add."""
        table = self.table(frames)
        for correction in self.corrections if table.height else ():
            table = correction.added(table)
        return table

    def caption(self, table: pl.DataFrame) -> str:
        """What lo, hi and p of a table found are; "" without any."""
        words = [correction.words(table) for correction in self.corrections]
        return " ".join(filter(None, (self.interval.caption, *words, SMALLER if words else "")))

    @property
    def cited(self) -> str:
        """The source with its paper, as in "Table 7 of the Triadic Werewolf paper"; "" without one."""
        return f"{self.source} of the {self.paper}" if self.source else ""

    def lacks(self, frames: Frames) -> list[str]:
        """What the games lack, each as a clause; empty if the function can be called."""
        return [lack for need in self.needs if (lack := need(frames))]
