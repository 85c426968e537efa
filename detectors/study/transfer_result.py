"""What a transfer found: every figure with its place, and the sentences that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.report.contents import Report, with_interval
from liescope.common.text import Units
from liescope.detectors.study.across import (
    HALF,
    MEAN,
    NAMES,
    NAMES_VILLAGER,
    WORST,
    Place,
)
from liescope.detectors.study.controls import scorer_words
from liescope.detectors.study.corpora import TransferTable
from liescope.detectors.study.figures import Figure, Finding, figure_table, study_json
from liescope.detectors.study.fits import Scores, settings_text
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN
from liescope.detectors.study.plans import LEFT_OUT, PAIR, PROTOCOLS

_CHANCE = 0.5
CHOICES = {
    **dict.fromkeys(("scorer", "where"), pl.String),
    "learned_from": pl.Int64,
    **dict.fromkeys(("chosen", "inner_folds_leave_out", "setting"), pl.String),
    "inner_auroc": pl.Float64,
    "cpu_seconds": pl.Float64,
}


@dataclass(frozen=True, slots=True, repr=False)
class TransferResult:
    """What `transfer` found.

    rows: every figure. `where` is "pair:UNIT=A > B" (learned from A, tested on B; where they are the same, by
    cross-validation) or "left out:UNIT=A" (learned from all games without A); behind a colon a part of its games,
    "worst of N" or "mean of N" places off the diagonal, and "after the game" for what uses all of it. places: by
    `where`.
    choices: each setting tried, and the chosen one. scores: of statements, and of players after the game: scorer, where
    (what was learned from, or left out), corpus, game_id, statement_id, player, score. targets: by corpus. sources:
    where the words come from. units: what statements and games are called. notes: what was left out. told, files: the
    report, and its files, if one was written.
    """

    rows: tuple[Figure, ...]
    places: Mapping[str, Place]
    choices: pl.DataFrame
    scores: pl.DataFrame
    targets: Mapping[str, str]
    sources: tuple[str, ...]
    units: Units
    notes: tuple[str, ...]
    settings: Mapping[str, Any]
    told: Report | None = None
    files: tuple[Path, ...] = ()

    @property
    def metrics(self) -> pl.DataFrame:
        """The figures as a frame: scorer, target, where, metric, value, lo, hi, statements, games, prevalence,
        against, why.
        """
        return figure_table(self.rows)

    def of(self, scorer: str, by: str, protocol: str, part: str = "", after: bool = False) -> Iterator[Figure]:
        """The figures of a scorer that are no differences, of all places of this kind."""
        for row in self.rows:
            place = self.places[row.where]
            here = (place.by, place.protocol, place.part, place.after) == (by, protocol, part, after)
            if here and row.scorer == scorer and row.against is None:
                yield row

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Kinds of unit and detectors, in the order they were given."""
        return [(by, kind) for by in self.settings["by"] for kind in self.settings["detectors"]]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of every kind of unit and detector: across, left out, and at home; then what stands beside these."""
        return tuple(found for part in self.parts for found in findings(self, *part))

    def to_json(self) -> dict[str, Any]:
        """What `liescope transfer --json` prints, and report.json holds."""
        return study_json(
            self.findings,
            self.rows,
            self.notes,
            settings=dict(self.settings),
            targets=dict(self.targets),
            sources=list(self.sources),
            choices=self.choices.to_dicts(),
        )

    def __str__(self) -> str:
        """The findings in words; the first answers."""
        return "\n".join(found.words for found in self.findings)

    def __repr__(self) -> str:
        worst = [
            f"{row.scorer}, {row.where}, {row.value:.3f}"
            for by, kind in self.parts
            for protocol in PROTOCOLS
            for row in self.of(kind, by, protocol, WORST)
            if row.metric == WITHIN
        ]
        found = "; ".join(worst) or "not defined"
        return f"<TransferResult {', '.join(self.targets)}: worst AUROC within games {found}>"


def choices_of(scores: Sequence[Scores]) -> pl.DataFrame:
    """A row for each setting that was tried, with the columns `CHOICES`."""
    rows = []
    for part in scores:
        for choice, learned, seconds in part.choices:
            own = (part.scorer, _learned(part), learned, settings_text(choice.setting), choice.left_out)
            tried = choice.tried or ((choice.setting, None),)
            rows += [(*own, settings_text(setting), value, seconds) for setting, value in tried]
    return pl.DataFrame(rows, schema=CHOICES, orient="row")


def scores_of(table: TransferTable, scores: Sequence[Scores]) -> pl.DataFrame:
    """The scores of detectors, of statements and then of players."""
    said = table.frame.select("corpus", "game_id", "statement_id", player=pl.lit(None, pl.String))
    seated = table.players.select("corpus", "game_id", statement_id=pl.lit(None, pl.String), player="player")
    found = []
    for part in (part for part in scores if part.choices or part.reasons):
        for keys, score in ((said, part.score), (seated, part.players)):
            kept = keys.with_columns(score=pl.Series(score, nan_to_null=True, dtype=pl.Float64)).drop_nulls("score")
            named = {"scorer": pl.lit(part.scorer), "where": pl.lit(_learned(part))}
            found.append(kept.with_columns(**named).select(*named, *kept.columns))
    return pl.concat(found)


def _learned(part: Scores) -> str:
    return f"{part.protocol}:{part.by}={part.unit}"


_WHERE = {PAIR: "Trained on one {} and tested on another", LEFT_OUT: "Tested on a {} that was left out of training"}
_NOWHERE = {
    PAIR: "No {} could be tested by a detector trained on another: the appendix says why each pair is empty.",
    LEFT_OUT: "No {} could be left out of training: the appendix says why.",
}
_ONLY_POOLED = (
    "No game that could be tested has both deceptive and honest statements, so that only the AUROC over all games is "
    "defined."
)


def findings(result: TransferResult, by: str, detector: str) -> Iterator[Finding]:
    """What was found for one kind of unit and one detector. The answers first: across, left out, and at home; then what
    stands beside them, and who is named.
    """
    tried = dict.fromkeys(
        (place.protocol, place.family)
        for place in result.places.values()
        if place.by == by and place.protocol in PROTOCOLS and not place.part and (place.train or place.protocol != PAIR)
    )
    cases = [_Case(result, by, detector, *one) for one in tried]
    yield from (case.answer() for case in cases)
    if PAIR in result.settings["protocols"]:
        yield from _at_home(result, by, detector)
    for case in cases:
        yield from case.beside()
    for case in cases if result.units.are_games else ():
        yield from case.named()


@dataclass(frozen=True, slots=True)
class _Case:
    """Units of one kind and family under one protocol."""

    result: TransferResult
    by: str
    detector: str
    protocol: str
    family: str

    def row(self, metric: str, part: str, after: bool = False) -> Figure | None:
        found = self.result.of(self.detector, self.by, self.protocol, part, after)
        rows = (row for row in found if self.result.places[row.where].family == self.family and row.metric == metric)
        return next((row for row in rows if row.value is not None), None)

    @property
    def unit(self) -> str:
        return f"{self.by} of {self.family}" if self.family else self.by

    def answer(self) -> Finding:
        """Whether it beats chance and the controls, by the AUROC within games; the pooled one where no game has both
        classes.
        """
        metric = next((name for name in (WITHIN, POOLED) if self.row(name, MEAN)), None)
        if metric is None:
            return Finding(_NOWHERE[self.protocol].format(self.unit))
        rests, reached = self._reached(metric)
        units, (worst, mean) = self.result.units, rests
        within = units.say("within games" if metric == WITHIN else "over all games")
        said = f"{_WHERE[self.protocol].format(self.unit)}, {self.detector} {self._beats_chance(worst, mean)}"
        said += f": it has an AUROC {within} of {reached}, where 0.50 is chance"
        leads = [row for row in self.result.rows if row.against and row.metric == metric + DIFFERENCE]
        leads = [row for row in leads if (row.scorer, row.where) == (self.detector, mean.where)]
        if leads and mean.lo is not None and mean.lo > _CHANCE:
            lead = min(leads, key=lambda row: row.value or 0.0)
            behind = f"{scorer_words(lead.against or '')}, {_interval(lead)} lower on average"
            ahead = lead.lo is not None and lead.lo > 0
            said += f"; {behind}, comes closest" if ahead else f", but it is not shown to do better than {behind}"
            rests = (*rests, lead)
        return Finding(f"{said}.", rests)

    def _beats_chance(self, worst: Figure, mean: Figure) -> str:
        cells = self.result.places[mean.where].cells
        if worst.lo is None or worst.hi is None or worst.lo == worst.hi:
            return f"cannot be judged from so few {self.result.units.games}"
        if worst.lo > _CHANCE:
            return "does better than chance" + ("" if cells == 1 else ", even in the worst case")
        if worst.hi < _CHANCE:
            return "does worse than chance" + ("" if cells == 1 else " in the worst case")
        if cells > 1 and mean.lo is not None and mean.lo > _CHANCE:
            return "does better than chance on average, but is not shown to in the worst case"
        return "is not shown to do better than chance"

    def _reached(self, metric: str, after: bool = False) -> tuple[tuple[Figure, ...], str]:
        """The worst and the mean, and both in words; nothing where there is none."""
        worst, mean = (self.row(metric, part, after) for part in (WORST, MEAN))
        if worst is None or mean is None:
            return (), ""
        place = self.result.places[worst.where]
        where = f"from {place.train} to {place.test}" if place.train else place.test
        words = f"{_interval(worst)}, {where}, the only case"
        if place.cells > 1:
            words = f"{_interval(worst)} at worst ({where}), and {_interval(mean)} on average over {place.cells} cases"
        return (worst, mean), words

    def beside(self) -> Iterator[Finding]:
        """What scores after the whole game reach, or why there are only pooled figures."""
        say = self.result.units.say
        if not self.row(WITHIN, MEAN) and self.row(POOLED, MEAN):
            yield Finding(say(_ONLY_POOLED))
        rests, reached = self._reached(WITHIN, True)
        if rests:
            said = say("scores that use the whole game have an AUROC within games of")
            yield Finding(f"{_WHERE[self.protocol].format(self.unit)}, {said} {reached}.", rests)

    def named(self) -> Iterator[Finding]:
        """How often the most suspect player deceives, units left out."""
        for metric, who in (
            (NAMES, "the player it suspects most after the whole game deceives"),
            (NAMES_VILLAGER, "a detector in a villager's seat names a deceiver"),
        ):
            found, surer = (self.row(name, WORST, True) for name in (metric, metric + HALF))
            if self.protocol == LEFT_OUT and found and surer:
                where, half = (self.result.places[row.where].test for row in (found, surer))
                yield Finding(
                    f"With one {self.unit} left out, {who} in {_percent(found)} of the games in the worst case "
                    f"({where}), where {found.prevalence:.1%} is chance; in the half of the games where it is surest, "
                    f"in {_percent(surer)} in the worst case ({half}).",
                    (found, surer),
                )


def _at_home(result: TransferResult, by: str, detector: str) -> Iterator[Finding]:
    """What is reached on the same unit; nothing where nothing is defined."""
    for metric, words in ((WITHIN, "within games"), (POOLED, "over all games")):
        rows = [row for row in result.of(detector, by, PAIR) if row.metric == metric and row.value is not None]
        home = [row for row in rows if (place := result.places[row.where]).train == place.test]
        if home:
            low, high = (f"{end(row.value or 0.0 for row in home):.2f}" for end in (min, max))
            said = result.units.say(f"(cross-validated by game), the AUROC {words} is")
            reached = low if low == high else f"{low} to {high}"
            yield Finding(f"For comparison, trained and tested on the same {by} {said} {reached}.", tuple(home))
            return


def _interval(row: Figure) -> str:
    return with_interval(row.value, row.lo, row.hi)


def _percent(row: Figure) -> str:
    return with_interval(row.value, row.lo, row.hi, form=".1%")
