"""The report of a transfer: who stands where units are left out, the matrix of pairs, and every figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from liescope.common.figures import MatrixCell, matrix, svg
from liescope.common.report.contents import Estimate, Report, Section, Table
from liescope.detectors.study.across import AFTER, MAIN, MEAN, PLAYER_WITHIN, SLICES, WORST, Place, main_figure
from liescope.detectors.study.controls import scorer_words
from liescope.detectors.study.figures import Figure as Row
from liescope.detectors.study.figures import figure_table
from liescope.detectors.study.metrics import METRICS, POOLED, WITHIN, words_of
from liescope.detectors.study.plans import LEFT_OUT, PAIR, with_labels
from liescope.detectors.study.scores import scripted_warning
from liescope.detectors.study.transfer_result import TransferResult, findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MATRIX = (
    "Trained on the row, tested on the column. On the diagonal, and wherever both share games, a statement is scored "
    "by a detector that learned from other games (cross-validation by game)."
)
_LEFT_OUT = (
    "Trained on every game in which the unit does not speak, tested on what it says. After the game: by the "
    "probability that the speaker deceives, of all at the table. AUROC of players: over those of the unit. Who is "
    "named: the most suspect of the table, or of all but the villager in whose seat the detector is put, in games "
    "whose number of deceivers is known. Who was killed at night is not counted; equals share. The surer half: the "
    "games where the suspicion is most concentrated."
)
_LABELS = (
    "Trained on every game in which the unit does not speak, and on that many labelled games of the unit, drawn at "
    "random. Every row of a unit is of the same games, which were never drawn."
)
_BESIDE = (
    "In brackets: the 95% interval over whole games; that of the worst allows for its having been picked. The mean is "
    "over the units. Controls know one thing, and learn from what detectors learn from. Judges came with the data."
)
_MAIN = {
    True: "AUROC of the players within games, after the whole game; of single statements where the target is one of "
    "statements, and over all of a unit's where no game has both classes, as with conversations.",
    False: "AUROC of single statements within games, by what was said so far; over all of a unit's where no game has "
    "both classes.",
}
_WHEN = {True: "after the whole game", False: "while it is played"}


def report(result: TransferResult) -> Report:
    """The report: the first unit and detector on top, sections for each."""
    drawn = {
        f"matrix_{by}_{kind}": figure for by, kind in result.parts if (figure := _matrix(result, by, kind)) is not None
    }
    by, kind = result.parts[0]
    first = f"matrix_{by}_{kind}"
    sections = [section for by in result.settings["by"] for section in _side_by_side(result, by)]
    sections += [section for part in result.parts for section in _sections(result, *part, drawn, first)]
    targets = ", ".join(f"{corpus} ({target})" for corpus, target in result.targets.items())
    made = (
        "Options were chosen on inner folds that leave units out too, by the AUROC within games where it is defined; "
        f"intervals are over whole games, seed {result.settings['seed']}, "
        "and from leaving games out."
    )
    closing = [
        Section("empty", "What is empty, and why", tuple(_empty(result)), printed=True),
        Section("notes", "Left out", result.notes, printed=True),
    ]
    return Report(
        title=f"Transfer: {', '.join(result.targets)}",
        findings=tuple(found.words for found in findings(result, by, kind))[:3],
        figure=svg(drawn[first], first) if first in drawn else "",
        figure_alt=_alt(by, kind),
        notes=tuple(filter(None, [scripted_warning(result.sources)])),
        meta=f"Corpora and their targets: {targets}. {result.units.say(made)}",
        sections=(*sections, *(section for section in closing if section.paragraphs)),
        tables={"report": figure_table(result.rows), "choices": result.choices},
        files={
            "report.json": result.to_json(),
            "scores.parquet": result.scores,
            **{f"{name}.{kind}": figure for name, figure in drawn.items() for kind in ("svg", "png")},
        },
        picture=f"{first}.svg" if first in drawn else "",
    )


def _alt(by: str, kind: str) -> str:
    return f"AUROC of {kind}, a row for each {by} trained on and a column for each tested"


def _pairs(result: TransferResult, by: str, kind: str) -> tuple[str, list[tuple[Place, Row]]]:
    """The AUROC of each pair, and which: within games, or pooled where no game has both classes."""
    for metric in (WITHIN, POOLED):
        rows = [(result.places[row.where], row) for row in result.of(kind, by, PAIR) if row.metric == metric]
        if any(row.value is not None for _, row in rows):
            return result.units.say(words_of(metric)), rows
    return "", []


def _matrix(result: TransferResult, by: str, kind: str) -> Figure | None:
    """The matrix of AUROCs, the diagonal framed; units without any are left out of it."""
    words, rows = _pairs(result, by, kind)
    cells = {
        (place.train, place.test): MatrixCell(row.value, row.lo, row.hi, place.train == place.test)
        for place, row in rows
        if row.value is not None
    }
    units = sorted({unit for cell in cells for unit in cell})
    return (
        matrix(units, units, cells, words, middle=0.5, row_axis="trained on", column_axis="tested on")
        if cells
        else None
    )


def _side_by_side(result: TransferResult, by: str) -> Iterator[Section]:
    """Every detector, control and judge, a row each: the mean and the worst, and each unit that is left out."""
    found = {(row.scorer, row.where, row.metric): row for row in result.rows if row.against is None}
    scorers = list(dict.fromkeys(row.scorer for row in result.rows))
    here = [place for place in result.places.values() if (place.by, place.protocol) == (by, LEFT_OUT)]
    for family in dict.fromkeys(place.family for place in here):
        units = {one.test: one for one in here if one.family == family and not (one.part or one.after)}
        shown = list[list[object]]()
        for after in (True, False):
            ends = {
                (scorer, place.part): (place.test, row)
                for place in here
                for scorer in scorers
                if (place.family, place.after) == (family, after) and (row := found.get((scorer, place.where, MAIN)))
            }
            short, rows = list[list[object]](), list[list[object]]()
            for scorer in (one for one in scorers if (one, MEAN) in ends):
                (at, least), (_, mean) = ends.get((scorer, WORST), ("", None)), ends[scorer, MEAN]
                short.append([scorer_words(scorer), _cell(mean), _cell(least), at])
                each = (_of_unit(found, scorer, place, after, scorers) for place in units.values())
                rows.append([scorer_words(scorer), *map(_cell, each)])
            if not rows or rows == shown:  # conversations have no players to judge at the end
                continue
            shown = rows
            name = f"{by}-{family or 'all'}-{'after' if after else 'online'}"
            title = f"Each {by}{f' of {family}' if family else ''} left out, side by side: {_WHEN[after]}"
            table = Table(["scorer", "mean", "worst", "the worst"], short)
            yield Section(name, title, (_MAIN[after],), _BESIDE, table=table, printed=True, file="report.csv")
            every = Table(["scorer", *units], rows)
            yield Section(f"{name}-each", f"{title}, each", table=every, folded=True, file="report.csv")


def _of_unit(
    found: dict[tuple[str, str, str], Row], scorer: str, place: Place, after: bool, scorers: Sequence[str]
) -> Row | None:
    """The figure by which scorers are compared on a unit."""
    within = found.get((scorer, place.where, WITHIN))
    later = f"{place.where}:{AFTER}"
    seated = any((one, later, PLAYER_WITHIN) in found for one in scorers)
    if within is None:
        return None
    whole, metric = main_figure(within, after and seated)
    return found.get((scorer, later if whole else place.where, metric))


def _sections(result: TransferResult, by: str, kind: str, drawn: dict[str, Figure], first: str) -> Iterator[Section]:
    name, chapter, say = f"matrix_{by}_{kind}", f"By {by}: {kind}", result.units.say
    words = tuple(found.words for found in findings(result, by, kind))
    told = (by, kind) == result.parts[0]  # at the top of the page
    yield Section(f"{by}-{kind}-found", f"What was found by {by}: {kind}", words, chapter=chapter, printed=not told)
    if name in drawn:
        what, rows = _pairs(result, by, kind)
        cells = {(place.train, place.test): _cell(row) for place, row in rows}
        trains, tests = (sorted({cell[at] for cell in cells}) for at in (0, 1))
        yield Section(
            f"{by}-{kind}-matrix",
            f"Trained on one {by}, tested on another ({kind}): {what}",
            (say(_MATRIX),),
            figure="" if name == first else svg(drawn[name], name),
            picture="" if name == first else f"{name}.svg",
            figure_alt=_alt(by, kind),
            table=Table(["train", *tests], [[one, *(cells.get((one, other)) for other in tests)] for one in trains]),
            folded=True,
            file="report.csv",
            chapter=chapter,
        )
    slices = {(LEFT_OUT, name): words for name, words in SLICES.items()}
    labels = {(with_labels(games), ""): games for games in (0, *result.settings["labels"])}
    for name, title, reading, table in (
        ("left-out", f"Each {by} left out", _LEFT_OUT, _wide(result, by, kind, {(LEFT_OUT, ""): ""})),
        ("slices", f"Parts of the games of each {by} left out", "", _wide(result, by, kind, slices, "part")),
        (
            "labels",
            f"Each {by} left out: a few of its games labelled",
            _LABELS,
            _wide(result, by, kind, labels, "labelled games"),
        ),
    ):
        if table.rows():
            said = (say(reading),) if reading else ()
            yield Section(
                f"{by}-{kind}-{name}", f"{title} ({kind})", said, table=table, file="report.csv", chapter=chapter
            )


def _wide(
    result: TransferResult, by: str, kind: str, parts: Mapping[tuple[str, str], object], column: str = ""
) -> Table:
    """A row for each place that has a figure, a column for each metric, so far and after the game. parts: what the
    column says of a protocol and a part of the games; no column where it has no name.
    """
    found: dict[tuple[str, object], dict[tuple[bool, str], Row]] = {}
    for ((protocol, part), words), after in product(parts.items(), (False, True)):
        for row in result.of(kind, by, protocol, part, after):
            found.setdefault((result.places[row.where].test, words), {})[after, row.metric] = row
    ordered = sorted(found.items(), key=lambda item: item[0][0])
    kept = [(key, rows) for key, rows in ordered if any(row.value is not None for row in rows.values())]
    metrics = [(after, one.name) for after in (False, True) for one in METRICS]
    metrics = [one for one in metrics if any(one in rows for _, rows in kept)]
    say = result.units.say
    named = [say(words_of(name)) + (f", {AFTER}" if after else "") for after, name in metrics]
    columns = ["left out", *([column] if column else []), *result.units, "deceptive", *named]
    values = []
    for (test, words), rows in kept:
        whole = rows.get((False, POOLED)) or next(iter(rows.values()))
        counts = [whole.statements, whole.games, whole.prevalence]
        values.append([test, *([words] if column else []), *counts, *(_cell(rows.get(one)) for one in metrics)])
    return Table(columns, values)


def _cell(row: Row | None) -> Estimate | None:
    return None if row is None else Estimate(row.value, row.lo, row.hi)


def _empty(result: TransferResult) -> Iterator[str]:
    """Why places are empty, each reason once with how many it empties."""
    why: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row in result.rows:
        place = result.places[row.where]
        if row.why and row.metric in (WITHIN, POOLED) and not place.part:
            why.setdefault((place.by, row.why), set()).add((row.scorer, row.where))
    for (by, reason), places in why.items():
        yield f"by {by}: {reason} ({len(places)} {'cell' if len(places) == 1 else 'cells'})"
