"""How closely two things go together, as Cramér's V with an interval over games; who is missing, by model and role."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from liescope.common.statistics import Floats, codes, game_weights, resampled, turned
from liescope.detectors.audit import findings as f
from liescope.detectors.audit.bench import Audited, share_of
from liescope.detectors.audit.findings import AuditRow, Finding, graded
from liescope.detectors.examples import target_column
from liescope.generate.corpus.read import silent_turns

_MOST = 20  # values of each column; rarer ones count as one
_ENOUGH = 30  # rows of a value; rarer ones are left out, since their V is mostly chance


def cramers_v(table: pl.DataFrame, one: str, other: str, draws: int, seed: int) -> tuple[float, float, float]:
    """(value, lo, hi) of Cramér's V of two columns of a table with `game_id`, 0 for independent, 1 for one-to-one.

    Chance alone makes V positive, and more so where the rows of a game depend on each other. So its square is corrected
    by what resampling games adds to it, and the interval is the basic bootstrap's. Values of fewer than 30 rows are
    left out.
    """
    table = _frequent(table, one, other)
    if min(table[one].n_unique(), table[other].n_unique()) < 2:
        return 0.0, 0.0, 0.0
    game, games = codes(table["game_id"].to_numpy().astype(np.str_))
    left, right = _numbered(table[one]), _numbered(table[other])
    shape = int(left.max()) + 1, int(right.max()) + 1
    counts = np.zeros((games, shape[0] * shape[1]))
    np.add.at(counts, (game, left * shape[1] + right), 1)
    square = _square((game_weights(games, draws, seed) @ counts).reshape(-1, *shape))
    corrected = [2 * square[0] - resampled(square).mean(), *turned(square, square[0])]
    found = np.sqrt(np.clip(corrected, 0, 1))
    return float(found[0]), float(found[1]), float(found[2])


def _frequent(table: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    return table.filter(pl.len().over(one) >= _ENOUGH, pl.len().over(other) >= _ENOUGH)


def _square(counts: Floats) -> Floats:
    """(draws,): V squared of (draws, a, b) counts; values that a resample lacks do not count as categories."""
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


def associations(data: Audited, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """Rows and sentences for what should not go together."""
    said = data.table.with_columns(label=pl.col(target_column(data.target)).cast(pl.String))
    seats = data.games.select("game_id", "seats").explode("seats").unnest("seats").filter(pl.col("role") != "")
    known = data.spoken.filter(pl.col("speaker_role") != "").with_columns(at=pl.col("position").clip(upper_bound=_MOST))
    rows: list[AuditRow] = []
    found: list[Finding] = []
    pairs: tuple[tuple[str, pl.DataFrame, str, str], ...] = (
        ("label and speaking model", said, "speaker_model", "label"),
        ("role and name", seats, "name", "role"),
        ("role and model", seats, "model", "role"),
        ("role and position", known, "at", "speaker_role"),
    )
    for name, table, one, other in pairs:
        if table.is_empty():
            continue
        value, lo, hi = cramers_v(table, one, other, draws, seed)
        counted = table.height, table["game_id"].n_unique()
        rows.append(AuditRow("association", name, "", "cramers_v", value, lo, hi, *counted))
        severity = graded(lo, f.ASSOCIATED, f.LARGE_ASSOCIATION)
        if severity != f.PLAIN:
            strength = f"Cramér's V {value:.2f} ({lo:.2f} to {hi:.2f})"
            words = f"{name[0].upper()}{name[1:]} go together: {strength}{_extreme(table, one, other)}."
            found.append(Finding("association", name, severity, words))
    return rows, found


def _extreme(table: pl.DataFrame, one: str, other: str) -> str:
    """The cell that strays most from independence, in words."""
    table = _frequent(table, one, other)
    cells = (
        table.group_by(one, other)
        .agg(n=pl.len())
        .with_columns(of_one=pl.col("n").sum().over(one), of_other=pl.col("n").sum().over(other))
    )
    odd = cells.with_columns(share=pl.col("n") / pl.col("of_one"), usual=pl.col("of_other") / table.height)
    stray = (pl.col("share") - pl.col("usual")) ** 2 / pl.col("usual") * pl.col("of_one")
    most = odd.sort(stray, one, other, descending=[True, False, False]).row(0, named=True)
    what = {"true": "deceptive", "false": "honest"}.get(most[other], most[other])
    who = f"place {most[one]}" if one == "at" else str(most[one])
    return f"; {who} is {what} in {most['share']:.0%}, all together in {most['usual']:.0%}"


_LEAST_ROWS = 30  # statements or turns of a group that a sentence names
_BY = {"speaker_model": "model", "speaker_role": "role"}


@dataclass(frozen=True, slots=True)
class _Loss:
    """A column of flags that says what a row lacks. what, of: in words."""

    table: pl.DataFrame
    column: str
    what: str
    of: str


def missing(data: Audited, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """Rows for every model and role, and a sentence for each kind of loss; an alarm where it is not alike for all."""
    rows: list[AuditRow] = []
    found: list[Finding] = []
    for loss in (
        _Loss(data.spoken.filter(~pl.col("lost")), "missing", f"no {data.target} label", "statements"),
        _Loss(data.spoken, "lost", "a lost text", "statements"),
        _Loss(silent_turns(data.spoken, data.games), "silent", "silence instead of a statement", "turns to speak"),
    ):
        if loss.table.is_empty() or not loss.table[loss.column].any():
            continue
        everyone = share_of(loss.table, loss.table[loss.column].to_numpy(), draws, seed)
        rows.append(everyone.row("missing", f"{loss.what}: all", "", "share"))
        words = f"{everyone:.1%} of the {loss.of} have {loss.what}"
        uneven: list[Finding] = []
        for by, word in _BY.items():
            more, sentences = _by(loss, by, word, draws, seed)
            rows += more
            uneven += [replace(one, sentence=f"{words}, {one.sentence}") for one in sentences]
        plain = Finding("missing", loss.what, f.PLAIN, f"{words}, about alike for every model and role.")
        found += uneven or [plain]
    return rows, found


def _by(loss: _Loss, by: str, word: str, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """Rows for every value of a column, and the end of a sentence if the loss is not alike for them."""
    table, column = loss.table, loss.column
    shares = {
        group or "unknown": share_of(part, part[column].to_numpy(), draws, seed)
        for (group,), part in sorted(table.partition_by(by, as_dict=True).items())
    }
    value, lo, hi = cramers_v(table, by, column, draws, seed)
    name = f"{loss.what}: by {word}"
    rows = [figure.row("missing", f"{loss.what}: {word} {group}", "", "share") for group, figure in shares.items()]
    rows.append(AuditRow("missing", name, "", "cramers_v", value, lo, hi, table.height, table["game_id"].n_unique()))
    enough = {group: figure.value for group, figure in shares.items() if figure.statements >= _LEAST_ROWS}
    severity = graded(lo, f.ASSOCIATED, f.LARGE_ASSOCIATION)
    if severity == f.PLAIN or len(enough) < 2:
        return rows, []
    least, most = min(enough, key=lambda group: enough[group]), max(enough, key=lambda group: enough[group])
    words = (
        f"and not alike for every {word}: {enough[most]:.0%} of {most}'s, {enough[least]:.0%} of {least}'s (Cramér's V "
        f"{value:.2f}, {lo:.2f} to {hi:.2f}). Figures over the rest say least about {most}."
    )
    return rows, [Finding("missing", name, severity, words)]
