"""What a transfer found: every figure with its place, the resulting sentences, and the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from liescope.common.figures import MatrixCell, matrices, svg
from liescope.common.report.contents import Report, Section, Table
from liescope.common.text import Units
from liescope.detectors.detector import ROLE
from liescope.detectors.study.across import PLAYER_WITHIN, Place
from liescope.detectors.study.controls import scorer_words
from liescope.detectors.study.figures import (
    CHANCE,
    MEAN,
    WORST,
    Figure,
    Finding,
    StudyResult,
    as_estimate,
    figure_table,
)
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN, words_of
from liescope.detectors.study.scores import FINISHED, SCORES, scripted_warning
from liescope.detectors.study.trials import LEFT_OUT, PAIR, PROTOCOLS, TrialScores
from liescope.detectors.study.units import UnitTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

WHOSE = ("corpus", "game_id", "player")
"""Whose score it is, beside the columns of every table of scores; a player's has no statement."""


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class TransferResult(StudyResult):
    """What `transfer` found.

    Of its figures, `where` is "pair:UNIT=A > B" (learned from A, tested on B; where they are the same, by
    cross-validation) or "left out:UNIT=A" (learned from all games without A); behind a colon "worst of N" or "mean of
    N" places off the diagonal, and "after the game" for players. places: by `where`. scores: of statements, and of
    players after the game, with the columns of every study, where `scheme` is "pair:UNIT" or "left out:UNIT" and `unit`
    what was learned from, or left out; and `WHOSE`. targets: by corpus. sources: where the words come from. called:
    what statements and games are called.
    """

    places: Mapping[str, Place]
    scores: pl.DataFrame
    targets: Mapping[str, str]
    sources: tuple[str, ...]
    called: Units
    settings: Mapping[str, Any]

    def of(self, scorer: str, by: str, protocol: str) -> Iterator[tuple[Place, Figure]]:
        """The figures of a scorer, without differences, with their places."""
        for row in self.rows:
            place = self.places[row.where]
            if (row.scorer, place.by, place.protocol, row.against) == (scorer, by, protocol, None):
                yield place, row

    def pairs(self, scorer: str, by: str) -> dict[tuple[str, str], Figure]:
        """The AUROC by training and test unit: within games, or pooled where no game has both classes."""
        rows = [(at, row) for at, row in self.of(scorer, by, PAIR) if row.value is not None and not at.after]
        metric = WITHIN if any(row.metric == WITHIN for _, row in rows) else POOLED
        return {(at.train, at.test): row for at, row in rows if row.metric == metric and not at.end}

    @property
    def cases(self) -> list[tuple[str, str]]:
        """Kinds of unit and detectors, in the order they were given."""
        return [(by, kind) for by in self.settings["by"] for kind in self.settings["detectors"]]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Across, left out, and at home, for every kind of unit and detector."""
        return tuple(found for case in self.cases for found in findings(self, *case))

    @property
    def facts(self) -> dict[str, Any]:
        own = {"settings": dict(self.settings), "targets": dict(self.targets)}
        return {**own, "sources": list(self.sources)}


def scores_of(table: UnitTable, scores: Sequence[TrialScores]) -> pl.DataFrame:
    """The scores of all scorers: of statements, and then of players (for the role)."""
    players = table.players.with_columns(target=pl.lit(ROLE))
    every = pl.concat([table.frame, players], how="diagonal").select("statement_id", "target", *WHOSE)
    found = []
    for one in scores:
        number = np.full(len(one.score), FINISHED)
        for fold in one.trial.folds:
            number[fold.score] = fold.number
        scheme, _, unit = one.trial.name.partition("=")
        named = {"scorer": pl.lit(one.scorer), "scheme": pl.lit(scheme), "unit": pl.lit(unit)}
        scored = every.with_columns(**named, fold=pl.Series(number, dtype=SCORES["fold"]), score=pl.Series(one.score))
        found.append(scored.select(*SCORES, *WHOSE).filter(pl.col("score").is_not_nan()))
    return pl.concat(found)


_WHERE = {PAIR: "Trained on one {} and tested on another", LEFT_OUT: "Tested on a {} that was left out of training"}
_NOWHERE = {
    PAIR: "No {} could be tested by a detector trained on another: what is empty is listed with the reason.",
    LEFT_OUT: "No {} could be left out of training: what is empty is listed with the reason.",
}
_RANKED = {
    WITHIN: "AUROC of statements within games of",
    POOLED: "AUROC of statements over all games, since none has both classes, of",
    PLAYER_WITHIN: "AUROC of players within games, once these are over, of",
}
_Ends = dict[tuple[str, str], Figure]  # by metric, the worst and the mean


def findings(result: TransferResult, by: str, detector: str) -> Iterator[Finding]:
    """The answers for one kind of unit and one detector: across, left out, by the players of what is left out, and at
    home.
    """
    cases: dict[tuple[str, str], _Ends] = {}
    for protocol in PROTOCOLS:
        for place, row in result.of(detector, by, protocol):
            ends = cases.setdefault((protocol, place.family), {})
            if place.end in (WORST, MEAN) and row.value is not None and place.after == (row.metric == PLAYER_WITHIN):
                ends[row.metric, place.end] = row
    for key, ends in cases.items():
        yield _answer(result, by, detector, *key, WITHIN if (WITHIN, MEAN) in ends else POOLED, ends)
    for key, ends in cases.items():
        if key[0] == LEFT_OUT and (PLAYER_WITHIN, MEAN) in ends:
            yield _answer(result, by, detector, *key, PLAYER_WITHIN, ends)
    yield from _at_home(result, by, detector)


def _answer(
    result: TransferResult, by: str, detector: str, protocol: str, family: str, metric: str, ends: _Ends
) -> Finding:
    """Whether a detector beats chance and the controls, and the worst case."""
    unit = f"{by} of {family}" if family else by
    if (metric, MEAN) not in ends:
        return Finding(_NOWHERE[protocol].format(unit))
    where, worst, mean = f"{_WHERE[protocol].format(unit)}, {detector}", ends[metric, WORST], ends[metric, MEAN]
    least, cells = result.places[worst.where], result.places[mean.where].cells
    at = f"from {least.train} to {least.test}" if least.train else least.test
    reached = f"{worst:z.2f} at worst ({at}), and {mean:z.2f} on average over {cells} cases"
    reached = reached if cells > 1 else f"{worst:z.2f}, {at}, the only case"
    if worst.lo is None or worst.hi is None or worst.lo == worst.hi:
        beats = f"cannot be judged from so few {result.called.games}"
    elif worst.lo > CHANCE:
        beats = "does better than chance" + ("" if cells == 1 else ", even in the worst case")
    elif worst.hi < CHANCE:
        beats = "does worse than chance" + ("" if cells == 1 else " in the worst case")
    elif cells > 1 and mean.lo is not None and mean.lo > CHANCE:
        beats = "does better than chance on average, but is not shown to in the worst case"
    else:
        beats = "is not shown to do better than chance"
    said = f"{where} {beats}: it has an {result.called.say(_RANKED[metric])} {reached}, where 0.50 is chance"
    leads = [row for row in result.rows if row.metric == metric + DIFFERENCE and row.scorer == detector]
    leads = sorted((row for row in leads if row.where == mean.where), key=lambda row: row.value or 0.0)
    if not leads or mean.lo is None or mean.lo <= CHANCE:
        return Finding(f"{said}.", (worst, mean))
    behind = f"{scorer_words(leads[0].against or '')}, {leads[0]:z.2f} lower on average"
    ahead = leads[0].lo is not None and leads[0].lo > 0
    said += f"; {behind}, comes closest" if ahead else f", but it is not shown to do better than {behind}"
    return Finding(f"{said}.", (worst, mean, leads[0]))


def _at_home(result: TransferResult, by: str, detector: str) -> Iterator[Finding]:
    """What is reached within a unit; nothing if undefined."""
    home = tuple(row for (train, test), row in result.pairs(detector, by).items() if train == test)
    if home:
        low, high = (f"{end(row.value or 0.0 for row in home):.2f}" for end in (min, max))
        within = "within games" if home[0].metric == WITHIN else "over all games"
        said = result.called.say(f"(cross-validated by game), the AUROC {within} is")
        reached = low if low == high else f"{low} to {high}"
        yield Finding(f"For comparison, trained and tested on the same {by} {said} {reached}.", home)


_MADE = (
    "In the matrix, trained on the row, tested on the column: on the diagonal, and wherever both share games, a "
    "statement is scored by a detector that learned from other games (cross-validation by game). Intervals are "
    "over whole games, and from leaving games out; that of the worst allows for its having been picked."
)
_LEFT_OUT = (
    "Trained on every game in which the unit does not speak, tested on what it says: AUROC of its players within games "
    "after the whole game; while it is played, and where the target is one of statements, AUROC of single statements "
    "within games; over all of a unit's where no game has both classes, as with conversations. The mean is over the "
    "units. Controls know one thing, and learn from what detectors learn from. Judges came with the data."
)
_ALT = "The AUROC of pairs: a row for each unit trained on and a column for each tested"
_EVERY = "After the game: players, by the probability that each deceives; who was killed at night is not counted."


def report(result: TransferResult) -> Report:
    """The report: the answer and the matrix of pairs, each unit left out, what else was found, and every figure."""
    words, say = [found.words for found in result.findings], result.called.say
    matrices = {f"matrix_{by}_{kind}": _matrix(result, by, kind) for by, kind in result.cases}
    drawn = {name: figure for name, figure in matrices.items() if figure is not None}
    pictures = [
        Section(name, f"Pairs: {name}", figure=svg(figure, name), figure_alt=_ALT, picture=f"{name}.svg")
        for name, figure in drawn.items()
    ]
    top = pictures[0] if pictures else Section("", "")
    targets = ", ".join(f"{corpus} ({target})" for corpus, target in result.targets.items())
    sections = (
        *(section for by in result.settings["by"] for section in _left_out(result, by)),
        Section("found", "What else was found", tuple(words[3:]), printed=True),
        *pictures[1:],
        Section("every", "Every figure", (say(_EVERY),), table=_every(result), folded=True, file="report.csv"),
        Section("not-shown", "What this does not show", (*_empty(result), *result.notes), printed=True),
    )
    return Report(
        title=f"Transfer: {', '.join(result.targets)}",
        findings=tuple(words[:3]),
        figure=top.figure,
        figure_alt=_ALT,
        notes=tuple(filter(None, [scripted_warning(result.sources)])),
        meta=f"Corpora and their targets: {targets}; seed {result.settings['seed']}. {say(_MADE)}",
        sections=tuple(one for one in sections if one.paragraphs or one.figure or one.table),
        tables={"report": figure_table(result.rows)},
        files={
            "report.json": result.to_json(),
            "scores.parquet": result.scores,
            **{f"{name}.{kind}": figure for name, figure in drawn.items() for kind in ("svg", "png")},
        },
        picture=top.picture,
    )


def _matrix(result: TransferResult, by: str, kind: str) -> Drawing | None:
    """The AUROC of each pair, the diagonal framed; units without any are left out."""
    rows = result.pairs(kind, by)
    if not rows:
        return None
    cells = {key: MatrixCell(row.value or 0.0, row.lo, row.hi, key[0] == key[1]) for key, row in rows.items()}
    units = sorted({unit for cell in cells for unit in cell})
    words = result.called.say(words_of(next(iter(rows.values())).metric))
    return matrices({"": cells}, units, units, words, middle=0.5, row_axis="trained on", column_axis="tested on")


def _left_out(result: TransferResult, by: str) -> Iterator[Section]:
    """A row for every detector, control and judge, after the game and during it: the mean, the worst, and each unit
    left out.
    """
    every = [(result.places[row.where], row) for row in result.rows if row.against is None and row.value is not None]
    every = [(at, row) for at, row in every if (at.by, at.protocol) == (by, LEFT_OUT)]
    for family in dict.fromkeys(at.family for at, _ in every):
        here = [(at, row) for at, row in every if at.family == family]
        there = {row.metric for _, row in here}
        during = WITHIN if WITHIN in there else POOLED
        lines = [("", PLAYER_WITHIN), (", while it is played", during)] if PLAYER_WITHIN in there else [("", during)]
        cells = {(row.scorer, row.metric, at.end or at.test): row for at, row in here}
        units = list(dict.fromkeys(at.test for at, _ in here if not at.end))
        rows = list[list[Any]]()
        for scorer, (when, metric) in product(dict.fromkeys(row.scorer for _, row in here), lines):
            own = [cells.get((scorer, metric, column)) for column in (MEAN, WORST, *units)]
            rows += [[scorer_words(scorer) + when, *map(as_estimate, own)]] if any(own) else []
        title, name = f"Each {by}{f' of {family}' if family else ''} left out", f"{by}-{family or 'all'}"
        said, short = (result.called.say(_LEFT_OUT),), Table(["scorer", "mean", "worst"], [row[:3] for row in rows])
        yield Section(name, title, said, table=short, printed=True, file="report.csv")
        each = Table(["scorer", *units], [[row[0], *row[3:]] for row in rows])
        yield Section(f"{name}-each", f"{title}, one by one", table=each, folded=True, file="report.csv")


def _every(result: TransferResult) -> Table:
    values = [
        [scorer_words(row.scorer), row.where, words_of(row.metric), scorer_words(row.against or ""), as_estimate(row)]
        for row in result.rows
        if row.value is not None
    ]
    return Table(["scorer", "where", "metric", "minus", "value"], values)


def _empty(result: TransferResult) -> Iterator[str]:
    """Why places are empty: each reason once, with the number of places."""
    why: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for row in result.rows:
        place = result.places[row.where]
        if row.why and row.metric in (WITHIN, POOLED) and not place.end:
            why.setdefault((place.by, row.why), set()).add((row.scorer, row.where))
    for (by, reason), places in why.items():
        yield f"by {by}: {reason} ({len(places)} {'cell' if len(places) == 1 else 'cells'})"
