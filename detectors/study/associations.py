"""What goes together that should not, and who is missing. How closely two things go together is Cramér's V."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from liescope.common.statistics import REAL, Bounds, Floats, codes, estimate, game_weights, unbiased
from liescope.detectors.examples import target_column
from liescope.detectors.study.alarms import ASSOCIATED, PLAIN, Examined, graded
from liescope.detectors.study.audited import Audited
from liescope.detectors.study.figures import Figure, Finding
from liescope.detectors.study.metrics import ASSOCIATION, SHARE
from liescope.generate.corpus.read import silent_turns

MISSING, ASSOCIATIONS = "missing", "association"
_MOST = 20  # values of each column; rarer ones count as one
_ENOUGH = 30  # rows of a value; rarer ones are left out, since their V is mostly chance


def cramers_v(table: pl.DataFrame, one: str, other: str, seed: int) -> tuple[float, Bounds]:
    """Value and interval of Cramér's V of two columns of a table with `game_id`, 0 for independent, 1 for one-to-one.

    Chance alone makes V positive, and more so where the rows of a game depend on each other. So its square is corrected
    by the jackknife's estimate of that, and has its interval. Values of fewer than 30 rows are left out.
    """
    table = _frequent(table, one, other)
    game, games = codes(table["game_id"].to_numpy().astype(np.str_))
    if min(table[one].n_unique(), table[other].n_unique(), games) < 2:
        return 0.0, (0.0, 0.0)
    left, right = _numbered(table[one]), _numbered(table[other])
    shape = int(left.max()) + 1, int(right.max()) + 1
    counts = np.zeros((games, shape[0] * shape[1]))
    np.add.at(counts, (game, left * shape[1] + right), 1)
    square = _square((game_weights(games, seed) @ counts).reshape(-1, *shape))
    found = np.sqrt(np.clip(np.array(estimate(unbiased(square, games), games, REAL), np.float64), 0, 1))
    return float(found[0]), (float(found[1]), float(found[2]))


def _frequent(table: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    return table.filter(pl.len().over(one) >= _ENOUGH, pl.len().over(other) >= _ENOUGH)


def _square(counts: Floats) -> Floats:
    """(weights,): V squared of (weights, a, b) counts; values that one lacks do not count as categories."""
    total = counts.sum(axis=(1, 2))
    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    expected = rows[:, :, None] * columns[:, None, :] / total[:, None, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        chi = np.nansum((counts - expected) ** 2 / np.where(expected > 0, expected, np.nan), axis=(1, 2))
        least = np.minimum((rows > 0).sum(axis=1), (columns > 0).sum(axis=1)) - 1
        return np.where(least > 0, chi / (total * least), 0.0)


def _numbered(values: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Values numbered by how often they occur; all beyond the most frequent share the last number."""
    name = values.name
    counted = values.value_counts().sort(["count", name], descending=[True, False]).with_row_index("number")
    number = pl.DataFrame({name: values}).join(counted, on=name, how="left", maintain_order="left")["number"]
    return number.clip(upper_bound=_MOST - 1).to_numpy().astype(np.int64)


def associations(data: Audited) -> Examined:
    """Figures for what should not go together, and a sentence for what does."""
    said = data.labelled.with_columns(label=pl.col(target_column(data.plan.target)).cast(pl.String))
    seats = data.games.select("game_id", "seats").explode("seats").unnest("seats").filter(pl.col("role") != "")
    known = data.spoken.filter(pl.col("speaker_role") != "").with_columns(at=pl.col("position").clip(upper_bound=_MOST))
    pairs = [("label and speaking model", said, "speaker_model", "label")]
    if data.units.are_games:  # who is called assistant, and speaks second, gives no lie away
        pairs += [
            ("role and name", seats, "name", "role"),
            ("role and model", seats, "model", "role"),
            ("role and position", known, "at", "speaker_role"),
        ]
    figures, found = list[Figure](), list[Finding]()
    for name, table, one, other in pairs:
        if not table.is_empty():
            figures.append(_together(name, "all", table, one, other, data))
            severity = graded(figures[-1].lo or 0.0, ASSOCIATED)
            if severity != PLAIN:
                words = f"{name[0].upper()}{name[1:]} are associated: {_v(figures[-1])}{_extreme(table, one, other)}."
                found.append(Finding(words, (figures[-1],), severity))
    return Examined(ASSOCIATIONS, figures, found)


def _together(name: str, where: str, table: pl.DataFrame, one: str, other: str, data: Audited) -> Figure:
    value, bounds = cramers_v(table, one, other, data.plan.seed)
    counted = table.height, table["game_id"].n_unique()
    return Figure(name, data.plan.target, where, ASSOCIATION, value, *bounds, *counted)


def _v(figure: Figure) -> str:
    return f"Cramér's V {figure.value:.2f} ({figure.lo:.2f} to {figure.hi:.2f})"


def _extreme(table: pl.DataFrame, one: str, other: str) -> str:
    """The cell that strays most from independence, in words."""
    table = _frequent(table, one, other)
    cells = (
        table.group_by(one, other)
        .agg(n=pl.len())
        .with_columns(
            share=pl.col("n") / pl.col("n").sum().over(one), usual=pl.col("n").sum().over(other) / table.height
        )
    )
    stray = (pl.col("share") - pl.col("usual")) ** 2 / pl.col("usual") * pl.col("n") / pl.col("share")
    most = cells.sort(stray, one, other, descending=[True, False, False]).row(0, named=True)
    what = {"true": "deceptive", "false": "honest"}.get(most[other], most[other])
    who, verb = (f"speakers in place {most[one]}", "are") if one == "at" else (str(most[one]), "is")
    return f"; {who} {verb} {what} in {most['share']:.0%} of cases, everybody in {most['usual']:.0%}"


_LEAST_ROWS = 30  # statements or turns of a group that a sentence names
_BY = {"speaker_model": "model", "speaker_role": "role"}


def missing(data: Audited) -> Examined:
    """Figures for every model and role, and a sentence for each loss; an alarm where it is not alike for all."""
    spoken, units = data.spoken, data.units
    if not units.are_games:  # what a user or a system prompt says has no label, and is no loss
        roles = spoken.filter(~pl.col("missing"))["speaker_role"].unique()
        spoken = spoken.filter(pl.col("speaker_role").is_in(roles.implode()))
    losses = (
        (f"no {data.plan.target} label", "missing", spoken.filter(~pl.col("lost")), units.statements),
        ("a lost text", "lost", spoken, units.statements),
        ("silence instead of a statement", "silent", silent_turns(spoken, data.games), "turns to speak"),
    )
    figures, found = list[Figure](), list[Finding]()
    for what, column, table, of in losses:
        if table.is_empty() or not table[column].any():
            continue
        everyone = data.share_of(table, table[column].to_numpy())
        all_of = everyone.figure(what, data.plan.target, "all", SHARE)
        words = f"{everyone:.1%} of the {of} have {what}"
        uneven = list[Finding]()
        figures.append(all_of)
        for by, word in _BY.items():
            mine = list(_by(what, column, table, by, data))
            figures += mine
            uneven += _uneven(words, word, mine)
        whose = "model and role" if units.are_games else "model"
        found += uneven or [Finding(f"{words}, about as many for every {whose}.", (all_of,), PLAIN)]
    return Examined(MISSING, figures, found)


def _by(what: str, column: str, table: pl.DataFrame, by: str, data: Audited) -> Iterator[Figure]:
    """The share for every value of a column, and last how unevenly it is spread."""
    word, target = _BY[by], data.plan.target
    for (group,), part in sorted(table.partition_by(by, as_dict=True).items()):
        share = data.share_of(part, part[column].to_numpy())
        yield share.figure(what, target, f"{word}={group or 'unknown'}", SHARE)
    yield _together(what, f"by {word}", table, by, column, data)


def _uneven(words: str, word: str, figures: list[Figure]) -> Iterator[Finding]:
    *shares, spread = figures
    enough = sorted((one for one in shares if one.statements >= _LEAST_ROWS), key=lambda one: one.value or 0.0)
    severity = graded(spread.lo or 0.0, ASSOCIATED)
    if severity == PLAIN or len(enough) < 2:
        return
    most, least = enough[-1], enough[0]
    who = most.where.partition("=")[2]
    sentence = (
        f"{words}, but not the same share for every {word}: {most.value:.0%} for {word} {who}, {least.value:.0%} for "
        f"{word} {least.where.partition('=')[2]} ({_v(spread)}). The other figures say least about {who}."
    )
    yield Finding(sentence, (most, least, spread), severity)
