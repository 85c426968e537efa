"""The folder of a transfer report: frames for programs, text and one page for people, and the scores of each fit."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.figures import MatrixCell, matrix, svg
from liescope.common.folders import take_lock
from liescope.common.report.contents import Report, Section
from liescope.common.text import Units, plain
from liescope.detectors.study.metrics import POOLED, WITHIN
from liescope.detectors.study.scores import scripted_warning
from liescope.detectors.transfer import transfer_findings
from liescope.detectors.transfer.cells import FORMS, K_OF_N, ONLINE, RETROSPECTIVE
from liescope.detectors.transfer.floors import FLOORS
from liescope.detectors.transfer.matrix import LEFT_OUT, PAIR
from liescope.detectors.transfer.transfer_findings import empty_cells, sentences
from liescope.detectors.transfer.transferring import TransferResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_FITS = "fits"
_ALT = "{auroc} of {detector}, a row for each {by} trained on and a column for each tested"
_INTERVALS = (
    "AUROC within games, over pairs of statements of one game, unless it is called pooled. In brackets: the 95% "
    "interval over whole games."
)


@contextmanager
def open_report(out: Path) -> Iterator[Path]:
    """The folder of the fits' scores inside the report's folder, for one process at a time. Raises UsageError if `out`
    holds something else, cannot be written, or is in use.
    """
    fits = out / _FITS
    if out.exists() and not fits.is_dir() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not a report of transfer; choose another --out")
    try:
        fits.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out} cannot be written ({error.strerror or error}); choose another --out") from error
    lock = take_lock(fits)
    try:
        yield fits
    finally:
        os.close(lock)


def report(result: TransferResult) -> Report:
    """The report: the first unit and detector on top, sections for each."""
    by, detector = _parts(result)[0]
    sections = [section for unit in result.settings["by"] for section in _side_by_side(result, unit)]
    sections += [section for part in _parts(result) for section in _sections(result, *part)]
    drawn = [(f"matrix_{by}_{detector}", _matrix(result, by, detector)) for by, detector in _drawn(result)]
    return Report(
        title=f"Transfer: {', '.join(result.targets)}",
        findings=_sentences(result, by, detector)[:3],
        figure=_figure(result, by, detector) if _drawn(result) else "",
        figure_alt=_alt(result, by, detector),
        notes=_warnings(result),
        meta=_meta(result),
        sections=(*sections, *_closing(result)),
        tables={"cells": result.cells, "slices": result.slices, "choices": result.choices},
        files={
            "report.json": result.to_json(),
            "scores.parquet": result.scores,
            "players.parquet": result.players,
            **{f"{name}.{kind}": figure for name, figure in drawn for kind in ("svg", "png")},
        },
        picture=f"matrix_{by}_{detector}.svg" if _drawn(result) else "",
    )


def _parts(result: TransferResult) -> list[tuple[str, str]]:
    """Kinds of unit and detectors, in the order they were given."""
    return [(by, kind) for by in result.settings["by"] for kind in result.settings["detectors"]]


def _sentences(result: TransferResult, by: str, detector: str) -> tuple[str, ...]:
    return sentences(by, detector, result.headline, result.cells, result.units)


def _drawn(result: TransferResult) -> list[tuple[str, str]]:
    """Those that have a matrix with something in it."""
    return [part for part in _parts(result) if _cells_drawn(result, *part)[1]]


def _cells_drawn(result: TransferResult, by: str, detector: str) -> tuple[str, dict[tuple[str, str], MatrixCell]]:
    """(what they are, the cells of the matrix): within games, or pooled where no game has both classes."""
    for metric, words in ((WITHIN, "AUROC within games"), (POOLED, "AUROC over all games")):
        found = transfer_findings.statement_cells(by, detector, PAIR, result.cells, metric)
        if cells := transfer_findings.matrix_cells(found):
            return result.units.say(words), cells
    return "", {}


def _alt(result: TransferResult, by: str, detector: str) -> str:
    return _ALT.format(auroc=_cells_drawn(result, by, detector)[0], detector=detector, by=by)


def _side_by_side(result: TransferResult, by: str) -> list[Section]:
    """Every detector, floor and judge, a row each, on every unit that is left out."""
    made: list[Section] = []
    for family in transfer_findings.families(by, result.headline):
        shown: list[tuple[object, ...]] = []
        for kind in (RETROSPECTIVE, ONLINE):
            table = transfer_findings.side_by_side(by, family, kind, result.cells, result.headline)
            if kind == ONLINE and table.rows() == shown:  # conversations have no players to judge at the end
                continue
            shown = table.rows()
            of = f" of {family}" if family else ""
            title = f"Each {by}{of} left out, side by side: {_TIMES[kind]}"
            words = (_SIDE_BY_SIDE[kind], _FLOORS)
            made.append(Section(f"{by}-{family or 'all'}-{kind}", title, words, table=table, file="cells.csv"))
    return made


_TIMES = {RETROSPECTIVE: "after the whole game", ONLINE: "while it is played"}
_SIDE_BY_SIDE = {
    RETROSPECTIVE: "AUROC of the players within games, after the whole game; of single statements where the target is "
    "one of statements, and over all of a unit's where no game has both classes, as with conversations.",
    ONLINE: "AUROC of single statements within games, by what was said so far; over all of a unit's where no game has "
    "both classes.",
}
_FLOORS = (
    "In brackets: the 95% interval over whole games; that of the worst allows for its having been picked. The mean is "
    "over the units. Floors learn from what detectors learn from: "
    + "; ".join(f"{name}: {what}" for name, what in FLOORS.items())
    + ". A scorer that knows only how many deceive in each game has 0.50 by definition. Judges came with the data."
)


def _sections(result: TransferResult, by: str, detector: str) -> list[Section]:
    name, say = f"{by}-{detector}", result.units.say
    pairs = transfer_findings.statement_cells(by, detector, PAIR, result.cells)
    shown = (by, detector) in _drawn(result)[1:]
    found = Section(f"{name}-found", "What was found", _sentences(result, by, detector))
    made = [
        Section(
            f"{name}-matrix",
            f"Trained on one {by}, tested on another ({detector})",
            (say(transfer_findings.PROTOCOLS[PAIR]),),
            caption=_INTERVALS,
            figure=_figure(result, by, detector) if shown else "",
            picture=f"matrix_{by}_{detector}.svg" if shown else "",
            figure_alt=_alt(result, by, detector),
            table=transfer_findings.matrix_table(pairs),
            folded=True,
            file="cells.csv",
        ),
        Section(
            f"{name}-pooled",
            f"{say('The same, pooled over all games')} ({detector})",
            (say(_POOLED),),
            caption="In brackets: the 95% interval over whole games.",
            table=transfer_findings.matrix_table(
                transfer_findings.statement_cells(by, detector, PAIR, result.cells, POOLED)
            ),
            folded=True,
            file="cells.csv",
        ),
    ]
    for kind in (ONLINE, RETROSPECTIVE):
        meaning = "; ".join(f"{form}: {words}" for form, (of, words) in FORMS.items() if of == kind)
        table = transfer_findings.left_out_table(by, detector, result.cells, kind)
        words = tuple(map(say, (transfer_findings.PROTOCOLS[LEFT_OUT], f"{_KINDS[kind]} {meaning}.")))
        title = f"Each {by} left out: {kind} scores ({detector})"
        made.append(Section(f"{name}-{kind}", title, words, _INTERVALS, table=table, file="cells.csv"))
    players = transfer_findings.player_table(by, detector, result.cells)
    title = f"Each {by} left out: players, after the whole game ({detector})"
    made.append(Section(f"{name}-players", title, _PLAYERS, _INTERVALS, table=players, file="cells.csv"))
    parts = (say("Parts of the games of each unit that is left out; a part without both classes is not shown."),)
    for kind in (ONLINE, RETROSPECTIVE):
        slices = transfer_findings.slice_table(by, detector, result.slices, kind)
        title = f"Slices, each {by} left out: {kind} scores ({detector})"
        made.append(Section(f"{name}-slices-{kind}", title, parts, _INTERVALS, table=slices, file="slices.csv"))
    labels = transfer_findings.label_table(by, detector, result.cells, result.settings["labels"])
    title = f"Each {by} left out: a few of its games labelled ({detector})"
    made.append(Section(f"{name}-labels", title, tuple(map(say, _LABELS)), _INTERVALS, table=labels, file="cells.csv"))
    if variants := [one for one in result.settings["ablations"] if one.startswith(f"{detector} without ")]:
        table = transfer_findings.ablation_table(by, [detector, *variants], result.headline)
        title = f"What each field brings ({by}, {detector})"
        made.append(Section(f"{name}-ablations", title, _ABLATIONS, _INTERVALS, table=table))
    other = transfer_findings.other_figures(by, detector, result.cells)
    beside = (
        "Within deceptive roles and the gain over the role oracle (a scorer that knows the speaker's role) are defined "
        "where the target is not the role.",
    )
    title = f"Other figures ({by}, {detector})"
    made.append(Section(f"{name}-other", title, beside, _INTERVALS, table=other, folded=True, file="cells.csv"))
    kept = [section for section in made if section.table is not None and section.table.rows()]
    worded = [replace(one, caption=say(one.caption), table=_in_words(one.table, result.units)) for one in kept]
    return [replace(section, chapter=f"By {by}: {detector}") for section in (found, *worded)]


def _in_words(table: Any, units: Units) -> Any:
    """The table with columns in the words of the corpora."""
    return table.rename({name: units.say(name) for name in table.columns}) if isinstance(table, pl.DataFrame) else table


_POOLED = (
    "Every deceptive statement against every honest one, of whatever game: this also rewards knowing in which games "
    f"many deceive. {K_OF_N}: what is reached by knowing that and nothing else."
)

_PLAYERS = (
    "AUROC: over the players of the unit. The others say how often the player that is named deceives, in games whose "
    "number of deceivers is known: the most suspect of the table, or of all but the villager in whose seat the "
    "detector is put. Who was killed at night is not counted; equals share. The surer half: the games where the "
    "suspicion is most concentrated.",
)

_LABELS = (
    "Trained on every game in which the unit does not speak, and on that many labelled games of the unit, drawn at "
    "random. Every row of a unit is of the same games, which were never drawn.",
)
_ABLATIONS = (
    "The AUROC within games of the same detector when it does not read one of its fields, or the votes: worst and "
    "mean.",
)

_KINDS = {
    ONLINE: "These use only what was said so far.",
    RETROSPECTIVE: "These use the whole game, so they are known only after it.",
}


def _closing(result: TransferResult) -> list[Section]:
    empty = transfer_findings.empty_cells(result.cells)
    made = [Section("empty", "Empty cells, and why", tuple(empty)), Section("notes", "Left out", result.notes)]
    return [section for section in made if section.paragraphs]


def _warnings(result: TransferResult) -> tuple[str, ...]:
    return tuple(filter(None, [scripted_warning(result.sources)]))


def _meta(result: TransferResult) -> str:
    targets = ", ".join(f"{corpus} ({target})" for corpus, target in result.targets.items())
    made = (
        "Options were chosen on inner folds that leave units out too, by the AUROC within games where it is defined; "
        f"intervals are from {result.settings['draws']:,} resamples of whole games, seed {result.settings['seed']}, "
        "and from leaving games out. The interval of a worst case allows for its having been picked."
    )
    return f"Corpora and their targets: {targets}. {result.units.say(made)}"


def _matrix(result: TransferResult, by: str, detector: str) -> Figure:
    """The matrix of AUROCs; units without any are left out of it."""
    words, cells = _cells_drawn(result, by, detector)
    units = sorted({unit for cell in cells for unit in cell})
    return matrix(units, units, cells, words, middle=0.5, row_axis="trained on", column_axis="tested on")


def _figure(result: TransferResult, by: str, detector: str) -> str:
    return svg(_matrix(result, by, detector), f"matrix_{by}_{detector}")


_WIDTH, _SHOWN = 79, 5


def transfer_lines(result: TransferResult) -> Iterator[str]:
    """What was found for each kind of unit and detector, why cells are empty, and where the report is."""
    if warning := scripted_warning(result.sources):
        yield _wrapped(warning)
    for by in result.settings["by"]:
        for detector in result.settings["detectors"]:
            yield f"\nby {by}, {detector}"
            for sentence in _sentences(result, by, detector):
                yield _wrapped(sentence, "- ")
    notes = [*result.notes, *(f"empty: {reason}" for reason in empty_cells(result.cells))]
    yield ""
    yield from (_wrapped(f"note: {note}") for note in notes[:_SHOWN])
    if len(notes) > _SHOWN:
        yield f"more notes in the report: {len(notes) - _SHOWN}"
    yield from (str(path) for path in result.files)


def _wrapped(text: str, mark: str = "") -> str:
    """Text in lines that fit; long words such as names of models are not split."""
    return textwrap.fill(
        plain(text),
        _WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
