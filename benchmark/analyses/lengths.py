"""How long statements are, and how many lost words on their way to the others or to us."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import MINI_MAFIA, Analysis
from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.corrections import Alike
from liescope.benchmark.analyses.figures import by_model, cell_names, dots, of_game
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.needs import SAID
from liescope.common.statistics import POSITIVE
from liescope.labeling.label import CUT_NOTES, LOST_TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LENGTH = pl.col("text").str.len_chars()
_KEYS = [*CELL, "speaker_role"]
_LOSSES = {
    "cut at the limit": pl.col("truncated"),
    "seems cut by its source": ~pl.col("truncated")
    & pl.col("read_notes").list.set_intersection(CUT_NOTES).list.len().gt(0),
    "lost": pl.col("read_notes").list.contains(LOST_TEXT),
}


def statement_lengths(frames: Frames) -> pl.DataFrame:
    """Characters a statement, by model and role; those without text are left out (Appendix A.1 sets a limit of 200).

    Columns: game, condition, model, learning, speaker_role, mean, lo, hi (over games), median, longest, n
    (statements), games.
    """
    said = _said(frames).filter(~_LOSSES["lost"]).with_columns(characters=_LENGTH)
    spread = said.group_by(_KEYS).agg(median=pl.col("characters").median(), longest=pl.col("characters").max())
    table = game_means(said, _KEYS, "characters", POSITIVE).join(spread, on=_KEYS, how="left", maintain_order="left")
    return table.select(*_KEYS, "mean", "lo", "hi", "median", pl.col("longest").cast(pl.Int64), "n", "games")


def cut_statements(frames: Frames) -> pl.DataFrame:
    """The share of statements that are not whole, by model and role; those that made none are left out.

    Columns: game, condition, model, learning, speaker_role, loss (cut at the limit: by the rules, for everybody at the
    table; seems cut by its source: as the notes of reading say; lost: no word is left), mean (the share), lo, hi
    (over games), n (statements), games.
    """
    flags = [flag.fill_null(False).alias(loss) for loss, flag in _LOSSES.items()]
    said = _said(frames).select("game_id", "family", *_KEYS, *flags)
    rows = said.unpivot(list(_LOSSES), index=["game_id", "family", *_KEYS], variable_name="loss", value_name="holds")
    some = rows.filter(pl.col("holds").any().over([*_KEYS, "loss"]))
    return game_means(some, [*_KEYS, "loss"], "holds")


def _said(frames: Frames) -> pl.DataFrame:
    """The statements, each once, whoever rated them."""
    return frames.statements.unique("statement_id", maintain_order=True)


def plot_statement_lengths(table: pl.DataFrame) -> Figure:
    """One panel per role, a row a cell."""
    cells, roles = cell_names(table), of_game(table, "speaker_role")
    return dots(table, "mean", "characters a statement", cells, roles, colours=by_model(table, cells))


def plot_cut_statements(table: pl.DataFrame) -> Figure:
    """One panel per kind of loss, a row a cell, a dot a role."""
    return dots(table, "mean", "share of statements", cell_names(table), "loss", of_game(table, "speaker_role"))


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "statement_lengths",
        "Lengths of statements",
        statement_lengths,
        plot_statement_lengths,
        needs=(SAID,),
        otherwise="the text of every statement was lost",
        interval=Interval.MEANS,
        source="Appendix A.1",
        paper=MINI_MAFIA,
        note="In characters, as the others at the table heard them; statements without text are left out.",
        corrections=(Alike(("learning", "speaker_role")),),
    ),
    Analysis(
        "cut_statements",
        "Statements that are not whole",
        cut_statements,
        plot_cut_statements,
        needs=(SAID,),
        otherwise="every statement is whole",
        interval=Interval.MEANS,
        source="Appendix A.1",
        paper=MINI_MAFIA,
        note="Cut at the limit of the rules, cut in what the source published as far as its marks tell, or lost whole. "
        "Models without any are left out.",
    ),
)
