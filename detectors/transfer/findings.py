"""What a transfer report says in words and shows as tables, in Markdown and on the page alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from liescope.common.matrix import Cell
from liescope.common.report_page import with_interval
from liescope.detectors.transfer.cells import AUROC, OVER_ROLE, SLICE_WORDS, WITHIN_ROLE
from liescope.detectors.transfer.forms import FORMS, MAIN, ONLINE, RETROSPECTIVE, STATEMENT
from liescope.detectors.transfer.plan import LEFT_OUT, PAIR, with_labels
from liescope.detectors.transfer.player_figures import (
    NAMES,
    NAMES_HALF,
    NAMES_VILLAGER,
    NAMES_VILLAGER_HALF,
    PLAYER_METRICS,
)

NOT_DEFINED = "–"
OTHER_FIGURES = {
    "average_precision": "average precision",
    WITHIN_ROLE: "AUROC within deceptive roles",
    OVER_ROLE: "AUROC minus role oracle",
}
PROTOCOLS = {
    PAIR: "Trained on the row, tested on the column. On the diagonal, and wherever both share games, a statement is "
    "scored by a detector that learned from other games (cross-validation by game).",
    LEFT_OUT: "Trained on every game in which the unit does not speak, tested on what it says.",
}


def sentences(by: str, detector: str, headline: pl.DataFrame, cells: pl.DataFrame) -> tuple[str, ...]:
    """What was found for one kind of unit and one detector: across, left out, who is named, and at home."""
    mine = headline.filter((pl.col("by") == by) & (pl.col("detector") == detector))
    rows = {(row["protocol"], row["kind"]): row for row in mine.to_dicts()}
    found = []
    if (PAIR, ONLINE) in rows:
        found.append(_across(by, detector, rows[PAIR, ONLINE]) + _afterwards(rows[PAIR, RETROSPECTIVE]))
    if (LEFT_OUT, ONLINE) in rows:
        found.append(_left_out(by, rows[LEFT_OUT, ONLINE]) + _afterwards(rows[LEFT_OUT, RETROSPECTIVE]))
    found += _named(by, detector, cells)
    if (PAIR, ONLINE) in rows:
        found.append(_at_home(by, detector, cells))
    return tuple(found)


def _at_home(by: str, detector: str, cells: pl.DataFrame) -> str:
    home = (
        statement_cells(by, detector, PAIR, cells)
        .filter(pl.col("train") == pl.col("test"))["value"]
        .drop_nulls()
        .to_list()
    )
    own = f"from {min(home):.2f} to {max(home):.2f}" if home else "not defined"
    return f"Trained and tested on the same {by}, by cross-validation over games, the AUROC is {own}."


def _afterwards(row: Mapping[str, Any]) -> str:
    if row["worst"] is None:
        return ""
    worst, mean = (with_interval(row[name], row[f"{name}_lo"], row[f"{name}_hi"]) for name in ("worst", "mean"))
    return f" After the whole game it is {worst} at worst ({row['test']}), and the mean is {mean}."


def _named(by: str, detector: str, cells: pl.DataFrame) -> Iterator[str]:
    """How often the most suspect player deceives, units left out."""
    here = (pl.col("by") == by) & (pl.col("detector") == detector) & (pl.col("protocol") == LEFT_OUT)
    for metric, half, who in (
        (NAMES, NAMES_HALF, "the player that is most suspect after the whole game deceives"),
        (NAMES_VILLAGER, NAMES_VILLAGER_HALF, "a detector in the seat of a villager names one who deceives"),
    ):
        found, surer = (cells.filter(here & (pl.col("metric") == name)).drop_nulls("value") for name in (metric, half))
        if not found.is_empty():
            worst, sure = found.sort("value").row(0, named=True), surer.sort("value").row(0, named=True)
            yield (
                f"With one {by} left out, {who} in {_percent(worst)} of its games at worst, {worst['test']}, where "
                f"{worst['prevalence']:.1%} is chance; in the half of the games where it is surest, in "
                f"{_percent(sure)} at worst, {sure['test']}."
            )


def _percent(row: Mapping[str, Any]) -> str:
    interval = "" if row["lo"] is None else f" ({row['lo']:.1%} to {row['hi']:.1%})"
    return f"{row['value']:.1%}{interval}"


def _across(by: str, detector: str, row: Mapping[str, Any]) -> str:
    if row["worst"] is None:
        return f"No {by} can be tested on another: every cell off the diagonal is empty."
    worst, mean = (with_interval(row[name], row[f"{name}_lo"], row[f"{name}_hi"]) for name in ("worst", "mean"))
    return (
        f"Trained on one {by} and tested on another, {detector} has AUROC {worst} at worst, from {row['train']} "
        f"to {row['test']}; the mean of {row['cells']} such cells is {mean}."
    )


def _left_out(by: str, row: Mapping[str, Any]) -> str:
    if row["worst"] is None:
        return f"No {by} can be left out: without its games there is nothing to learn from."
    worst, mean = (with_interval(row[name], row[f"{name}_lo"], row[f"{name}_hi"]) for name in ("worst", "mean"))
    return (
        f"With one {by} left out of training, the worst is {row['test']} with AUROC {worst}; the mean over "
        f"{row['cells']} is {mean}."
    )


def statement_cells(by: str, detector: str, protocol: str, cells: pl.DataFrame) -> pl.DataFrame:
    """The AUROC of single statements, one row a cell."""
    here = (pl.col("by") == by) & (pl.col("detector") == detector) & (pl.col("protocol") == protocol)
    return cells.filter(here & (pl.col("score") == STATEMENT) & (pl.col("metric") == AUROC))


def matrix_cells(found: pl.DataFrame) -> dict[tuple[str, str], Cell]:
    """The cells of the figure, the diagonal framed."""
    return {
        (row["train"], row["test"]): Cell(row["value"], row["lo"], row["hi"], row["train"] == row["test"])
        for row in found.to_dicts()
        if row["value"] is not None
    }


def matrix_table(found: pl.DataFrame) -> pl.DataFrame:
    """The matrix as text: a row for each unit that is learned from, a column for each that is tested."""
    tests = found["test"].unique().sort().to_list()
    rows = {(row["train"], row["test"]): row for row in found.to_dicts()}
    return pl.DataFrame(
        [
            {"train": train, **{test: _cell(rows.get((train, test))) for test in tests}}
            for train in found["train"].unique().sort()
        ]
    )


def left_out_table(by: str, detector: str, cells: pl.DataFrame, kind: str) -> pl.DataFrame:
    """Units left out, with the AUROC of every form of the score of one kind, online or retrospective."""
    here = (pl.col("by") == by) & (pl.col("detector") == detector) & (pl.col("protocol") == LEFT_OUT)
    mine = cells.filter(here & (pl.col("metric") == AUROC))
    rows = []
    for test in mine["test"].unique(maintain_order=True):
        its = mine.filter(pl.col("test") == test)
        forms = {row["score"]: row for row in its.to_dicts()}
        first = forms[STATEMENT]
        counts = {name: first[name] for name in ("target", "statements", "games", "prevalence")}
        named = {f"{kind}: {name}": _cell(forms.get(name)) for name, (of, _) in FORMS.items() if of == kind}
        rows.append({"left out": test, **counts, **named, **({"why empty": first["why"]} if first["why"] else {})})
    return pl.DataFrame(rows, infer_schema_length=None)


def other_figures(by: str, detector: str, cells: pl.DataFrame) -> pl.DataFrame:
    """What is measured beside the AUROC of all statements, a column a figure."""
    here = (pl.col("by") == by) & (pl.col("detector") == detector) & pl.col("metric").is_in(list(OTHER_FIGURES))
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in cells.filter(here).to_dicts():
        where = {name: row[name] for name in ("protocol", "train", "test", "target")}
        own = rows.setdefault(tuple(where.values()), {**where, "prevalence": row["prevalence"]})
        own[OTHER_FIGURES[row["metric"]]] = _cell(row)
    return pl.DataFrame(list(rows.values()), infer_schema_length=None)


def player_table(by: str, detector: str, cells: pl.DataFrame) -> pl.DataFrame:
    """What the posterior of players is worth, units left out: a row a unit, a column a figure."""
    here = (pl.col("by") == by) & (pl.col("detector") == detector) & (pl.col("protocol") == LEFT_OUT)
    mine = cells.filter(here & pl.col("metric").is_in(list(PLAYER_METRICS)))
    rows = []
    for test in mine["test"].unique(maintain_order=True):
        its = {row["metric"]: row for row in mine.filter(pl.col("test") == test).to_dicts()}
        most = max(row["games"] for row in its.values())
        chance = its[NAMES]["prevalence"] if NAMES in its else None
        figures = {words: _cell(its.get(name)) for name, words in PLAYER_METRICS.items()}
        rows.append({"left out": test, "games": most, "by chance": chance, **figures})
    return pl.DataFrame(rows, infer_schema_length=None)


def label_table(by: str, detector: str, cells: pl.DataFrame, labels: Sequence[int]) -> pl.DataFrame:
    """What labelled games of a unit bring: a row for each number of them, on the same games."""
    here = (pl.col("by") == by) & (pl.col("detector") == detector)
    rows = []
    for test in cells.filter(here)["test"].unique(maintain_order=True) if labels else ():
        for games in (0, *labels):
            mine = cells.filter(here & (pl.col("test") == test) & (pl.col("protocol") == with_labels(games))).to_dicts()
            auroc = {row["score"]: row for row in mine if row["metric"] == AUROC}
            players = {row["metric"]: row for row in mine if row["metric"] in PLAYER_METRICS}
            if auroc.get(STATEMENT, {}).get("value") is not None:
                main = {f"{kind}: AUROC": _cell(auroc.get(form)) for kind, form in MAIN.items()}
                named = {words: _cell(players.get(name)) for name, words in PLAYER_METRICS.items()}
                scored = auroc[STATEMENT]["games"]
                rows.append({"left out": test, "labelled games": games, "games scored": scored, **main, **named})
    return pl.DataFrame(rows, infer_schema_length=None)


def ablation_table(by: str, names: Sequence[str], headline: pl.DataFrame) -> pl.DataFrame:
    """Worst and mean AUROC of a detector and of what it is without a field, by protocol and kind of score."""
    rows = []
    for name in names:
        mine = headline.filter((pl.col("by") == by) & (pl.col("detector") == name))
        found = {"detector": name}
        for row in mine.filter(pl.col("protocol").is_in([PAIR, LEFT_OUT])).to_dicts():
            for what in ("worst", "mean"):
                parts = {"value": row[what], "lo": row[f"{what}_lo"], "hi": row[f"{what}_hi"]}
                found[f"{row['protocol']}, {row['kind']}: {what}"] = _cell(parts)
        rows.append(found)
    return pl.DataFrame(rows, infer_schema_length=None)


def slice_table(by: str, detector: str, slices: pl.DataFrame, kind: str) -> pl.DataFrame:
    """The slices of the units that are left out, by scores of one kind."""
    here = (pl.col("by") == by) & (pl.col("detector") == detector) & (pl.col("protocol") == LEFT_OUT)
    mine = slices.filter(here & (pl.col("kind") == kind))
    return pl.DataFrame(
        [
            {
                "left out": row["test"],
                "slice": SLICE_WORDS[row["slice"]],
                f"{kind}: AUROC": _cell(row),
                **{name: row[name] for name in ("statements", "games", "prevalence")},
            }
            for row in mine.to_dicts()
            if row["value"] is not None
        ],
        infer_schema_length=None,
    )


def empty_cells(cells: pl.DataFrame) -> list[str]:
    """Why cells are empty, each reason once with how many cells it empties."""
    why = cells.filter(pl.col("why") != "").group_by("by", "why", maintain_order=True).len()
    return [f"by {by}: {reason} ({count} {'cell' if count == 1 else 'cells'})" for by, reason, count in why.iter_rows()]


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["value"] is None:
        return NOT_DEFINED
    if row["lo"] is None:
        return f"{row['value']:.2f}"
    return f"{row['value']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}]"
