"""What a transfer report says in words and shows as tables, in Markdown and on the page alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from liescope.common.figures import MatrixCell
from liescope.common.report.contents import with_interval
from liescope.common.text import OF_GAMES, Units
from liescope.detectors.study.metrics import POOLED, WITHIN, words_of
from liescope.detectors.transfer.cells import (
    EVERYTHING,
    FORMS,
    K_OF_N,
    MAIN,
    MAIN_FIGURE,
    NAMES,
    NAMES_HALF,
    NAMES_VILLAGER,
    NAMES_VILLAGER_HALF,
    ONLINE,
    OVER_ROLE,
    PLAYER_METRICS,
    RETROSPECTIVE,
    SLICE_WORDS,
    STATEMENT,
    WITHIN_ROLE,
)
from liescope.detectors.transfer.matrix import LEFT_OUT, PAIR, with_labels

NOT_DEFINED = "–"
_CHANCE = 0.5
OTHER_FIGURES = {
    "average_precision": "average precision",
    WITHIN_ROLE: "AUROC within deceptive roles, pooled",
    OVER_ROLE: "pooled AUROC minus role oracle",
}
PROTOCOLS = {
    PAIR: "Trained on the row, tested on the column. On the diagonal, and wherever both share games, a statement is "
    "scored by a detector that learned from other games (cross-validation by game).",
    LEFT_OUT: "Trained on every game in which the unit does not speak, tested on what it says.",
}


def sentences(
    by: str, detector: str, headline: pl.DataFrame, cells: pl.DataFrame, units: Units = OF_GAMES
) -> tuple[str, ...]:
    """What was found for one kind of unit and one detector. The answers first: across, left out, and at home; then what
    stands beside them, and who is named.
    """
    mine = headline.filter((pl.col("by") == by) & (pl.col("detector") == detector))
    rows = {(row["protocol"], row["kind"], row["metric"]): row for row in mine.to_dicts()}
    protocols = [protocol for protocol in (PAIR, LEFT_OUT) if (protocol, ONLINE, WITHIN) in rows]
    found = [_answer(by, detector, protocol, rows, units) for protocol in protocols]
    if PAIR in protocols and (home := _at_home(by, detector, cells, units)):
        found.append(home)
    beside = dict.fromkeys(words for protocol in protocols for words in _beside(by, protocol, rows, units))
    control = _control(by, cells, units) if beside else ()
    return (*found, *beside, *control, *_named(by, rows, cells, units))


_WHERE = {PAIR: "Trained on one {by} and tested on another", LEFT_OUT: "Tested on a {by} that was left out of training"}
_NOWHERE = {
    PAIR: "No {by} could be tested by a detector trained on another: the appendix says why each pair is empty.",
    LEFT_OUT: "No {by} could be left out of training: the appendix says why.",
}
_ONLY_POOLED = (
    "No game that could be tested has both deceptive and honest statements, so that only the AUROC over all games is "
    "defined."
)
_Rows = Mapping[tuple[str, str, str], Mapping[str, Any]]


def _answer(by: str, detector: str, protocol: str, rows: _Rows, units: Units) -> str:
    """Whether it beats chance there, by the AUROC within games; by the pooled one where no game has both classes."""
    metric = next((name for name in (WITHIN, POOLED) if rows[protocol, ONLINE, name]["worst"] is not None), "")
    if not metric:
        return _NOWHERE[protocol].format(by=by)
    row = rows[protocol, ONLINE, metric]
    within = "within games" if metric == WITHIN else "over all games"
    reached = units.say(f"it has an AUROC {within} of")
    said = f"{_WHERE[protocol].format(by=by)}, {detector} {_beats_chance(row, units)}: {reached} {_worst(row)}"
    return f"{said}, where 0.50 is chance."


def _beats_chance(row: Mapping[str, Any], units: Units) -> str:
    lo, hi = row["worst_lo"], row["worst_hi"]
    if lo is None or lo == hi:  # without an interval, or with one without width, which few games make
        return f"cannot be judged from so few {units.games}"
    if lo > _CHANCE:
        return "does better than chance" + ("" if row["cells"] == 1 else ", even in the worst case")
    if hi < _CHANCE:
        return "does worse than chance" + ("" if row["cells"] == 1 else " in the worst case")
    if row["cells"] > 1 and row["mean_lo"] is not None and row["mean_lo"] > _CHANCE:
        return "does better than chance on average, but is not shown to in the worst case"
    return "is not shown to do better than chance"


def _beside(by: str, protocol: str, rows: _Rows, units: Units) -> Iterator[str]:
    """What scores after the whole game reach, and pooled figures, or why there are no others."""
    if rows[protocol, ONLINE, WITHIN]["worst"] is None and rows[protocol, ONLINE, POOLED]["worst"] is not None:
        yield units.say(_ONLY_POOLED)
    later = rows[protocol, RETROSPECTIVE, WITHIN]
    if later["worst"] is not None:
        said = units.say("scores that use the whole game have an AUROC within games of")
        yield f"{_WHERE[protocol].format(by=by)}, {said} {_worst(later)}."
    online, after = (rows[protocol, kind, POOLED] for kind in (ONLINE, RETROSPECTIVE))
    if rows[protocol, ONLINE, WITHIN]["worst"] is not None and online["worst"] is not None:
        said = units.say("Pooled over all games, the AUROC is")
        whole = "" if after["worst"] is None else units.say("; of scores that use the whole game, ") + _worst(after)
        yield f"{said} {_worst(online)}{whole}."


def _worst(row: Mapping[str, Any]) -> str:
    worst, mean = (with_interval(row[name], row[f"{name}_lo"], row[f"{name}_hi"]) for name in ("worst", "mean"))
    where = row["test"] if row["train"] == EVERYTHING else f"from {row['train']} to {row['test']}"
    if row["cells"] == 1:
        return f"{worst}, {where}, the only case"
    return f"{worst} at worst ({where}), and {mean} on average over {row['cells']} cases"


def _control(by: str, cells: pl.DataFrame, units: Units) -> Iterator[str]:
    """What is reached without a word, by the number of those who deceive alone."""
    here = (pl.col("by") == by) & (pl.col("score") == K_OF_N) & (pl.col("metric") == POOLED)
    found = cells.filter(here)["value"].drop_nulls().to_list()
    if found:
        reach = f"{min(found):.2f}" + ("" if f"{min(found):.2f}" == f"{max(found):.2f}" else f" to {max(found):.2f}")
        said = units.say("A scorer that knows only how many deceive in each game, and not who, has a pooled AUROC of")
        yield f"{said} {reach}, and 0.50 within {units.games}."


def _at_home(by: str, detector: str, cells: pl.DataFrame, units: Units) -> str:
    """What is reached on the same unit; "" where nothing is defined."""
    for metric, words in ((WITHIN, "within games"), (POOLED, "over all games")):
        here = statement_cells(by, detector, PAIR, cells, metric).filter(pl.col("train") == pl.col("test"))
        if home := here["value"].drop_nulls().to_list():
            low, high = f"{min(home):.2f}", f"{max(home):.2f}"
            reached = low if low == high else f"{low} to {high}"
            said = units.say(f"(cross-validated by game), the AUROC {words} is")
            return f"For comparison, trained and tested on the same {by} {said} {reached}."
    return ""


def _named(by: str, rows: _Rows, cells: pl.DataFrame, units: Units) -> Iterator[str]:
    """How often the most suspect player deceives, units left out; said of games alone."""
    if not units.are_games:
        return
    for metric, half, who in (
        (NAMES, NAMES_HALF, "the player it suspects most after the whole game deceives"),
        (NAMES_VILLAGER, NAMES_VILLAGER_HALF, "a detector in a villager's seat names a deceiver"),
    ):
        found, surer = (rows.get((LEFT_OUT, RETROSPECTIVE, name)) for name in (metric, half))
        if found and surer and found["worst"] is not None:
            here = (pl.col("by") == by) & (pl.col("test") == found["test"]) & (pl.col("metric") == metric)
            chance = cells.filter(here & (pl.col("protocol") == LEFT_OUT))["prevalence"].drop_nulls().item(0)
            yield (
                f"With one {by} left out, {who} in {_percent(found)} of the games in the worst case "
                f"({found['test']}), where {chance:.1%} is chance; in the half of the games where it is surest, in "
                f"{_percent(surer)} in the worst case ({surer['test']})."
            )


def _percent(row: Mapping[str, Any]) -> str:
    interval = "" if row["worst_lo"] is None else f" ({row['worst_lo']:.1%} to {row['worst_hi']:.1%})"
    return f"{row['worst']:.1%}{interval}"


def statement_cells(by: str, detector: str, protocol: str, cells: pl.DataFrame, metric: str = WITHIN) -> pl.DataFrame:
    """The AUROC of single statements, one row a cell."""
    here = (pl.col("by") == by) & (pl.col("detector") == detector) & (pl.col("protocol") == protocol)
    return cells.filter(here & (pl.col("score") == STATEMENT) & (pl.col("metric") == metric))


def matrix_cells(found: pl.DataFrame) -> dict[tuple[str, str], MatrixCell]:
    """The cells of the figure, the diagonal framed."""
    return {
        (row["train"], row["test"]): MatrixCell(row["value"], row["lo"], row["hi"], row["train"] == row["test"])
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
    mine = cells.filter(here & pl.col("metric").is_in([WITHIN, POOLED]))
    rows = []
    for test in mine["test"].unique(maintain_order=True):
        its = {(row["score"], row["metric"]): row for row in mine.filter(pl.col("test") == test).to_dicts()}
        first, paired = its[STATEMENT, POOLED], its[STATEMENT, WITHIN]
        counts = {name: first[name] for name in ("target", "statements", "games", "prevalence")}
        counts |= {"games with both": paired["games"]}
        named = {f"{kind}: {name}": _cell(its.get((name, WITHIN))) for name, (of, _) in FORMS.items() if of == kind}
        beside = {
            f"{MAIN[kind]}, pooled": _cell(its.get((MAIN[kind], POOLED))),
            f"{K_OF_N}, pooled": _cell(its.get((K_OF_N, POOLED))),
        }
        why = {"why empty": paired["why"]} if paired["why"] else {}
        rows.append({"left out": test, **counts, **named, **beside, **why})
    return pl.DataFrame(rows, infer_schema_length=None)


def families(by: str, headline: pl.DataFrame) -> list[str]:
    """The families of the units that are left out; one without a name where there are none."""
    return headline.filter((pl.col("by") == by) & (pl.col("metric") == MAIN_FIGURE))["family"].unique().sort().to_list()


def side_by_side(by: str, family: str, kind: str, cells: pl.DataFrame, headline: pl.DataFrame) -> pl.DataFrame:
    """A row each detector, floor and judge, a column each unit that is left out, with the `MAIN_FIGURE` of a kind."""
    here = (pl.col("by") == by) & (pl.col("kind") == kind)
    rows = headline.filter(here & (pl.col("family") == family) & (pl.col("metric") == MAIN_FIGURE))
    found = cells.filter(here & (pl.col("family") == family) & (pl.col("metric") == MAIN_FIGURE))
    value = {(row["detector"], row["test"]): row for row in found.to_dicts()}
    units = sorted({unit for _, unit in value})
    return pl.DataFrame(
        [
            {
                "detector": row["detector"],
                "mean": _cell({"value": row["mean"], "lo": row["mean_lo"], "hi": row["mean_hi"]}),
                "worst": _cell({"value": row["worst"], "lo": row["worst_lo"], "hi": row["worst_hi"]}),
                **{unit: _cell(value.get((row["detector"], unit))) for unit in units},
                "CPU seconds": None if row["cpu_seconds"] is None else round(row["cpu_seconds"]),
            }
            for row in rows.to_dicts()
        ],
        infer_schema_length=None,
    )


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
            auroc = {(row["score"], row["metric"]): row for row in mine if row["metric"] in (WITHIN, POOLED)}
            players = {row["metric"]: row for row in mine if row["metric"] in PLAYER_METRICS}
            if auroc.get((STATEMENT, POOLED), {}).get("value") is not None:
                main = {
                    f"{kind}: {words_of(metric)}": _cell(auroc.get((form, metric)))
                    for kind, form in MAIN.items()
                    for metric in (WITHIN, POOLED)
                }
                named = {words: _cell(players.get(name)) for name, words in PLAYER_METRICS.items()}
                scored = auroc[STATEMENT, POOLED]["games"]
                rows.append({"left out": test, "labelled games": games, "games scored": scored, **main, **named})
    return pl.DataFrame(rows, infer_schema_length=None)


def ablation_table(by: str, names: Sequence[str], headline: pl.DataFrame) -> pl.DataFrame:
    """Worst and mean AUROC within games of a detector and of what it is without a field, by protocol and kind."""
    rows = []
    for name in names:
        mine = headline.filter((pl.col("by") == by) & (pl.col("detector") == name))
        found = {"detector": name}
        ranked = pl.col("protocol").is_in([PAIR, LEFT_OUT]) & (pl.col("metric") == WITHIN)
        for row in mine.filter(ranked).to_dicts():
            for what in ("worst", "mean"):
                parts = {"value": row[what], "lo": row[f"{what}_lo"], "hi": row[f"{what}_hi"]}
                found[f"{row['protocol']}, {row['kind']}: {what}"] = _cell(parts)
        rows.append(found)
    return pl.DataFrame(rows, infer_schema_length=None)


def slice_table(by: str, detector: str, slices: pl.DataFrame, kind: str) -> pl.DataFrame:
    """The slices of the units that are left out, by scores of one kind."""
    here = (pl.col("by") == by) & (pl.col("detector") == detector) & (pl.col("protocol") == LEFT_OUT)
    rows: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in slices.filter(here & (pl.col("kind") == kind)).to_dicts():
        rows.setdefault((row["test"], row["slice"]), {})[row["metric"]] = row
    return pl.DataFrame(
        [
            {
                "left out": test,
                "slice": SLICE_WORDS[name],
                **{f"{kind}: {words_of(metric)}": _cell(its[metric]) for metric in (WITHIN, POOLED)},
                **{name: its[POOLED][name] for name in ("statements", "games", "prevalence")},
                "games with both": its[WITHIN]["games"],
            }
            for (test, name), its in rows.items()
            if its[POOLED]["value"] is not None
        ],
        infer_schema_length=None,
    )


def empty_cells(cells: pl.DataFrame) -> list[str]:
    """Why cells are empty, each reason once with how many cells it empties."""
    places = (
        cells.filter(pl.col("why") != "")
        .select("by", "protocol", "train", "test", "detector", "why")
        .unique(maintain_order=True)
    )
    why = places.group_by("by", "why", maintain_order=True).len()
    return [f"by {by}: {reason} ({count} {'cell' if count == 1 else 'cells'})" for by, reason, count in why.iter_rows()]


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["value"] is None:
        return NOT_DEFINED
    if row["lo"] is None:
        return f"{row['value']:.2f}"
    return f"{row['value']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}]"
