"""`transfer`: what a detector is worth on models, games, corpora and sources that it has not learned from: every figure
with its place, the resulting sentences, and the report.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from liescope.common.errors import UsageError
from liescope.common.report.contents import Report, Section
from liescope.common.report.files import check_report_folder
from liescope.common.settings import several, takes
from liescope.common.stores import stored
from liescope.common.text import Units
from liescope.detectors.detector import ROLE, shown
from liescope.detectors.detector_settings import TASK, UNITS, TransferSettings
from liescope.detectors.study import trials
from liescope.detectors.study.controls import scorer_words
from liescope.detectors.study.evaluation_report import pivot
from liescope.detectors.study.figures import CHANCE, MEAN, WORST, Figure, Finding, StudyResult, figure_table
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN, words_of
from liescope.detectors.study.scores import FINISHED, SCORES, scripted_warning
from liescope.detectors.study.trials import LEFT_OUT, PAIR, PLAYER_WITHIN, Place
from liescope.detectors.study.units import UnitTable, at_hand, read_table
from liescope.detectors.suite import read_suite
from liescope.detectors.text_form import TextConfig

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

    def of(self, by: str, protocol: str) -> list[tuple[Place, Figure]]:
        """The defined figures of all scorers, without differences, with their places."""
        rows = ((self.places[row.where], row) for row in self.rows if row.against is None and row.value is not None)
        return [(place, row) for place, row in rows if (place.by, place.protocol) == (by, protocol)]

    @property
    def cases(self) -> list[tuple[str, str]]:
        """Kinds of unit and protocols, in the order they were given."""
        return list(product(self.settings["by"], self.settings["protocols"]))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Across and left out, for each kind of unit and detector: by statements, and by players where judged."""
        kinds = self.settings["detectors"]
        return tuple(found for case in self.cases for kind in kinds for found in _found(self, *case, kind))

    @property
    def facts(self) -> dict[str, Any]:
        own = {"settings": dict(self.settings), "targets": dict(self.targets)}
        return {**own, "sources": list(self.sources)}


def scores_of(table: UnitTable, scores: Sequence[trials.TrialScores]) -> pl.DataFrame:
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
_RANKED = {
    WITHIN: "AUROC of statements within games of",
    POOLED: "AUROC of statements over all games, since none has both classes, of",
    PLAYER_WITHIN: "AUROC of players within games, once these are over, of",
}


def _found(result: TransferResult, by: str, protocol: str, detector: str) -> Iterator[Finding]:
    """Whether a detector beats chance and the controls, and the worst case: by statements, and by players left out."""
    where = f"{_WHERE[protocol].format(by)}, {detector}"
    own = [(place, row) for place, row in result.of(by, protocol) if row.scorer == detector and place.end]
    ends = {(row.metric, place.end): row for place, row in own}
    statements = WITHIN if (WITHIN, MEAN) in ends else POOLED
    if (statements, MEAN) not in ends:
        yield Finding(f"{where} could not be measured: what is empty is listed with the reason.")
    for metric in (statements, *[PLAYER_WITHIN] * (protocol == LEFT_OUT)):
        if (metric, MEAN) in ends:
            yield _answer(result, where, metric, ends[metric, WORST], ends[metric, MEAN])


def _answer(result: TransferResult, where: str, metric: str, worst: Figure, mean: Figure) -> Finding:
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
    leads = [row for row in result.rows if (row.scorer, row.where) == (mean.scorer, mean.where)]
    leads = sorted((row for row in leads if row.metric == metric + DIFFERENCE), key=lambda row: row.value or 0.0)
    if not leads or mean.lo is None or mean.lo <= CHANCE:
        return Finding(f"{said}.", (worst, mean))
    control, lead = scorer_words(leads[0].against or ""), f"{leads[0]:z.2f}"
    if leads[0].lo is not None and leads[0].lo > 0:
        said += f"; {control}, {lead} lower on average, comes closest"
    else:
        said += f", but it is not shown to do better than {control}; the difference is {lead} on average"
    return Finding(f"{said}.", (worst, mean, leads[0]))


_MADE = (
    "A statement is never scored by a detector that learned from its game: where a unit is tested on itself, or shares "
    "games with another, by cross-validation by game. A unit left out is absent from training with every game in which "
    "it speaks. AUROC is of statements while the game is played, and of players once it is over (those killed at night "
    "are not counted). Intervals are over whole games; that of the worst allows for its having been picked. Controls "
    "know one thing, and learn from what detectors learn from. Judges came with the data."
)


def report(result: TransferResult) -> Report:
    """The report: the answers, a table of means and one of units for each way of testing, and why places are empty."""
    words = [found.words for found in result.findings]
    targets = ", ".join(f"{corpus} ({target})" for corpus, target in result.targets.items())
    why = dict.fromkeys(row.why for row in result.rows if row.why)
    sections = (
        Section("found", "What else was found", tuple(words[3:]), printed=True),
        *(section for case in result.cases for section in _tables(result, *case)),
        Section("not-shown", "What this does not show", (*why, *result.notes), printed=True),
    )
    return Report(
        title=f"Transfer: {', '.join(result.targets)}",
        findings=tuple(words[:3]),
        notes=tuple(filter(None, [scripted_warning(result.sources)])),
        meta=f"Corpora and their targets: {targets}; seed {result.settings['seed']}. {result.called.say(_MADE)}",
        sections=tuple(one for one in sections if one.paragraphs or (one.table and one.table.rows())),
        tables={"report": figure_table(result.rows)},
        files={"report.json": result.to_json(), "scores.parquet": result.scores},
    )


def _tables(result: TransferResult, by: str, protocol: str) -> Iterator[Section]:
    """A row for each scorer and metric: the mean and the worst; and then, by what was learned from, each unit."""
    title, every = _WHERE[protocol].format(by), result.of(by, protocol)

    def whose(row: Figure) -> tuple[str, str]:
        return scorer_words(row.scorer), result.called.say(words_of(row.metric))

    ends, units = ([row for place, row in every if bool(place.end) == whole] for whole in (True, False))
    short = pivot(ends, lambda row: result.places[row.where].end, ("scorer", "figure"), whose)
    yield Section(f"{by}-{protocol}".replace(" ", "-"), title, table=short, printed=True, file="report.csv")
    each = pivot(
        units,
        lambda row: result.places[row.where].test,
        ("scorer", "figure", "learned from"),
        lambda row: (*whose(row), result.places[row.where].train or "all others"),
    )
    yield Section(f"{by}-{protocol}-each".replace(" ", "-"), f"{title}: each {by}", table=each, folded=True)


@takes(TransferSettings, others="options")
@stored
def transfer(
    corpora: Sequence[str | os.PathLike[str]] | str | os.PathLike[str] = (),
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> TransferResult:
    """Train here, test there: every pair of units, and each unit left out of training.

    All splits of the corpora are used, and no statement is scored by a detector that learned from its game.

    Parameters
    ----------
    corpora : path, or several
        Corpus folders, corpora on the Hub, or runs; none with a suite.
    **settings
    **options
        Those of the detectors, as `liescope transfer --help` lists them.

    Raises UnknownName for a unit, detector, target or protocol; UsageError for options, corpora that share a game,
    units of which there is only one, an `out` that holds something else, or a suite of which too little is at hand;
    BadData for a damaged corpus; MissingExtra if a kind needs a package that is not installed.

    Examples
    --------
    >>> liescope.transfer("corpus/mini", by="model").metrics
    """
    own, options = TransferSettings.with_rest(settings)
    seed, suite = own.seed, None
    if own.suite is not None:
        suite = read_suite(os.fspath(own.suite), Path(own.data) if own.data else None)
    given = list(several(corpora))
    if bool(given) == bool(suite):
        raise UsageError("name corpora, or a --suite in their place")
    if not own.by and not suite:
        raise UsageError(f"say with --by what is left out: {', '.join(UNITS)}")
    kinds = list(dict.fromkeys(own.by)) or [TASK]
    text = TextConfig(context=own.context, mask_role_words=own.mask_role_words)
    recipes = trials.recipes_of(list(dict.fromkeys(own.detector)), text, seed, options)
    asked = [name.replace("-", " ") for name in dict.fromkeys(own.protocols)]
    only = asked or [LEFT_OUT] if suite else asked or [*trials.PROTOCOLS]
    check_report_folder(out)
    with shown(progress) as show:
        parts, left_out = at_hand(suite, show) if suite else (given, ())
        table = read_table(parts, own.target)
        for kind in kinds:
            if len(found := sorted(set(table.units(kind)))) < 2:
                only_one = f"there is only one {kind}, {found[0]}" if found else "there are no statements"
                raise UsageError(f"--by {kind}: {only_one}; give more corpora, or another unit")
        asked_of = [trial for kind in kinds for trial in trials.plan(table, kind, seed) if trial.protocol in only]
        scores = list(trials.all_scores(table, asked_of, recipes, seed, show))
        rows, places = trials.figures(table, scores, seed, show)
    result = TransferResult(
        rows=tuple(rows),
        places=places,
        scores=scores_of(table, scores),
        targets=table.targets,
        sources=tuple(sorted(table.frame["source"].unique())),
        called=table.called,
        notes=(*left_out, *table.notes),
        settings={
            "by": kinds,
            "detectors": {recipe.kind: dict(recipe.options) for recipe in recipes},
            "protocols": only,
            **{name: getattr(own, name) for name in ("context", "mask_role_words", "seed")},
        },
    )
    return result if out is None else result.with_report(report(result), Path(out))
