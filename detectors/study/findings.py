"""A finished evaluation in words: one verdict, reached after all checks, on whom it was tried, and what is left open.

The first sentence begins with the answer. "Yes" means a detector is certainly above chance and above every control;
where several detectors were tried, the certainty is corrected for having picked the best (Holm 1979).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from liescope.common.statistics import holm, p_value
from liescope.common.text import Units, number_of
from liescope.detectors.detector import ROLE
from liescope.detectors.detector_settings import COVERAGE
from liescope.detectors.examples import target_column
from liescope.detectors.study.beside_judges import JudgeFacts
from liescope.detectors.study.checks import COPIES, SHUFFLES, Check
from liescope.detectors.study.controls import BEST_WORD, LENGTH, short_name
from liescope.detectors.study.figures import CHANCE, Figure, Finding, StudyResult, describe
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN, Thresholds, words_of
from liescope.detectors.study.scorers import NO_RIVALS
from liescope.detectors.study.scores import BROKEN_DOWN, CONTROL, OUT_OF_FOLD, SPEAKER, ScoringPlan, in_tasks
from liescope.detectors.study.verdicts import DEFAULT
from liescope.games.record import Source

YES, PARTLY, OPEN, NO = "Yes", "In part", "Not shown", "No"
UNKNOWN = "unknown"
"""The model of words whose source names none."""
_SURE, _EQUAL = 0.05, 0.02
_COVERED = {"deceptive_covered": "lies", "honest_covered": "honest ones"}


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class EvaluationResult(StudyResult):
    """A finished evaluation.

    scores, statements: from these and `plan`, `evaluate_scores` recomputes the first of `rows`; thresholds: by scorer
    and target; models: name to the contents of model.json; judges: the results of asking chat models; checks: what must
    be known before any figure is believed; telling: the most telling word or mark, "" for none.
    """

    corpus: str
    target: str
    plan: ScoringPlan
    models: Mapping[str, Mapping[str, Any]]
    scores: pl.DataFrame
    statements: pl.DataFrame
    thresholds: Mapping[tuple[str, str], Thresholds]
    judges: tuple[JudgeFacts, ...] = ()
    checks: tuple[Check, ...] = ()
    telling: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before any figure: what may have been memorised."""
        return tuple(words for found in self.checks if found.bad for words in found.sentences)

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the evaluated words come from."""
        return tuple(sorted(self.plan.evaluated(self.statements)["source"].unique()))

    @property
    def without_label(self) -> dict[str, int]:
        """How many evaluated statements have no label, by reason, most first."""
        label = target_column(self.target)
        missing = self.plan.evaluated(self.statements).filter(pl.col(label).is_null())
        reasons = missing[f"{label}_null"] if f"{label}_null" in missing.columns else [""] * missing.height
        return {reason or "no reason given": count for reason, count in Counter(reasons).most_common()}

    @property
    def called(self) -> Units:
        """Statements of games, statements of conversations, or texts of groups."""
        return Units.of(self.statements["game"].unique())

    @property
    def within(self) -> str:
        """Within what pairs are formed: games, the tasks of conversations with one label each, or "" for no limit."""
        if in_tasks(self.statements, pl.col(target_column(self.target))):
            return "tasks"
        paired = any(row.metric == WITHIN and row.value is not None for row in self.rows)
        return self.called.games if paired else ""

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "split": self.plan.split,
            "hold_out": list(self.plan.hold_out),
            "seed": self.plan.seed,
            "sources": list(self.sources),
            "models": self.models,
            "judges": list(map(asdict, self.judges)),
            "thresholds": [{"scorer": who, "target": of, **at} for (who, of), at in self.thresholds.items()],
            "thresholds_on": self.plan.threshold_split,
            "without_label": {self.target: self.without_label},
            "checks": list(map(asdict, self.checks)),
        }

    @property
    def verdict(self) -> Verdict:
        """The answer about the best detector."""
        return _Case(self).verdict

    @property
    def findings(self) -> tuple[Finding, ...]:
        """About the best detector: the verdict, on whom it was tried, and what is left open."""
        case = _Case(self)
        best, whole, silent = case.verdict.best, case.whole, case.abstained
        found = [
            Finding(str(case.verdict), (*([best] if best else []), *case.verdict.rests_on)),
            Finding(case.on_whom(), (whole,) if whole else ()),
        ]
        if best is not None:
            found.append(Finding(f"{case.abstains()} {case.not_tried(best)}", (silent,) if silent else ()))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Verdict:
    """answer: YES, PARTLY, OPEN or NO; words: the sentence; best: what it is about; rests_on: what else it quotes."""

    answer: str
    words: str
    best: Figure | None = None
    rests_on: tuple[Figure, ...] = ()

    def __str__(self) -> str:
        return f"{self.answer}: {self.words}"


def ranked_of(rows: Sequence[Figure]) -> list[Figure]:
    """Detectors and judges by AUROC, the best first: within games; pooled where no game has both classes."""
    own = [row for row in rows if row.against is None and row.is_whole and row.value is not None]
    own = [row for row in own if not row.scorer.startswith(CONTROL)]
    own = [row for row in own if row.metric == WITHIN] or [row for row in own if row.metric == POOLED]
    return sorted(own, key=lambda row: -(row.value or 0.0))


def leads_of(rows: Sequence[Figure], one: Figure) -> dict[str, Figure]:
    """How far a scorer is ahead of each other one, whichever of the two was subtracted."""
    found = dict[str, Figure]()
    for row in rows:
        if (row.where, row.metric) == (one.where, one.metric + DIFFERENCE) and row.value is not None:
            if row.scorer == one.scorer:
                found[row.against or ""] = row
            elif row.against == one.scorer:
                value, lo, hi = (None if number is None else -number for number in (row.value, row.hi, row.lo))
                found[row.scorer] = replace(row, scorer=one.scorer, against=row.scorer, value=value, lo=lo, hi=hi)
    return found


def surely_behind(rows: Sequence[Figure], one: Figure, others: Sequence[Figure]) -> list[str]:
    """The others that a scorer leads by more than chance explains, corrected for their number."""
    leads = leads_of(rows, one)
    found = [leads[other.scorer] for other in others if other.scorer in leads]
    return [row.against or "" for row, sure in zip(found, _surely(found), strict=True) if sure]


def _surely(rows: Sequence[Figure], above: float = 0.0) -> list[bool]:
    """Which of some figures are certainly above a number, corrected for their number."""

    def over(end: float | None) -> float | None:
        return None if end is None else end - above

    p = holm([p_value(over(row.value) or 0.0, (over(row.lo), over(row.hi)), row.games) for row in rows])
    return [(row.lo or 0.0) > above and (one is None or one < _SURE) for row, one in zip(rows, p, strict=True)]


class _Case:
    """What the figures say about the best detector."""

    def __init__(self, evaluation: EvaluationResult) -> None:
        self.evaluation, self.called, self.rows = evaluation, evaluation.called, evaluation.rows
        self.table = evaluation.plan.evaluated(evaluation.statements)
        own = [row for row in self.rows if row.against is None]
        self.at = {(row.scorer, row.where, row.metric): row for row in reversed(own)}
        self.ranked = ranked_of(own)
        self.whole = self.abstained = None
        if self.ranked:
            best = self.best
            self.whole = self.at.get((best.scorer, best.where, POOLED))
            # Verdicts are those of the finished detector.
            self.promise = f"{best.where.replace(OUT_OF_FOLD, 'test', 1)}:{DEFAULT}"
            self.abstained = self.at.get((best.scorer, self.promise, "abstained"))

    @property
    def best(self) -> Figure:
        return self.ranked[0]

    @cached_property
    def leads(self) -> list[Figure]:
        """Its leads over controls that know nothing about the target, the least first."""
        pairs = leads_of(self.rows, self.best).items()
        rivals = [
            row for name, row in pairs if name.startswith(CONTROL) and name.removeprefix(CONTROL) not in NO_RIVALS
        ]
        return sorted(rivals, key=lambda row: (row.value or 0.0, row.against != CONTROL + LENGTH))

    @cached_property
    def name(self) -> str:
        """The best, and those that cannot be told apart from it."""
        best, *others = self.ranked
        behind = surely_behind(self.rows, best, others)
        equal = [other.scorer for other in others if other.scorer not in behind]
        if not equal:
            rivals = number_of(len(others), "detector").removeprefix("1 ")
            return f"{best.scorer}, ahead of the other {rivals} here," if others else best.scorer
        some = [", ".join(equal[:2]), *([f"{len(equal) - 2} more"] if len(equal) > 2 else [])]
        return f"{best.scorer} (not told apart from {' and '.join(some)})"

    @cached_property
    def reached(self) -> str:
        """The figure, with what it rests on if that is less than what was scored."""
        row, within = self.best, self.evaluation.within
        few = row.metric == WITHIN and within != "tasks" and self.whole is not None and row.games < self.whole.games
        both = f" over the {row.games:,} {self.called.games} that have both" if few else ""
        return f"{words_of(row.metric, within)} {row}{both}"

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict. Reasons for doubt come first, and one is enough."""
        if not self.ranked:
            return Verdict(OPEN, f"no AUROC is defined for {self.evaluation.target}; the notes say why.")
        rules = (self._few, self._leaking, self._at_chance, self._copied, self._beaten)
        # The order matters: what makes every figure doubtful goes before what is wrong with one.
        found = next((one for rule in rules if (one := rule())), None) or self._better()
        return replace(found, best=self.best)

    def _alarm(self, name: str, scorer: str = "") -> Check | None:
        alarms = (one for one in self.evaluation.checks if one.bad and scorer in ("", one.scorer))
        return next((one for one in alarms if one.name == name), None)

    def _few(self) -> Verdict | None:
        if self.best.lo is not None and self.best.hi is not None:
            return None
        return Verdict(OPEN, f"so few {self.called.games} say nothing of {self.name}: {self.reached}.")

    def _leaking(self) -> Verdict | None:
        if (check := self._alarm(SHUFFLES)) is None:
            return None
        return Verdict(NO, f"nothing here can be believed. {check.sentences[0]}", rests_on=check.figures)

    def _at_chance(self) -> Verdict | None:
        if _surely(self.ranked, CHANCE)[0]:
            return None
        below = (self.best.hi or 0.0) < CHANCE
        than = "does worse than" if below else "is not shown to do better than"
        found = Verdict(NO if below else OPEN, f"{self.name} {than} chance, 0.5: {self.reached}.")
        return self._beside(found) if self.parts.answer == PARTLY else found

    def _copied(self) -> Verdict | None:
        if (check := self._alarm(COPIES, self.best.scorer)) is None:
            return None
        (without,), words = check.figures, f"{check.sentences[0]} {self.name} has {self.reached}"
        if without.value is None:
            return Verdict(NO, f"{words}, and nothing is left without such copies.", rests_on=(without,))
        words += f"; without them it has {without}"
        if without.lo is not None and without.lo > CHANCE:
            return Verdict(PARTLY, f"{words}.", rests_on=(without,))
        return Verdict(NO, f"{words}, which is not shown to be above chance.", rests_on=(without,))

    def _beaten(self) -> Verdict | None:
        """The verdict if some control is not certainly behind."""
        lead = next((one for one in self.leads if one.lo is None or one.lo <= 0), None)
        if lead is None:
            return None
        control, who = self.at.get((lead.against or "", self.best.where, self.best.metric)), self._control(lead)
        reached = self.reached + ("" if control is None else f", and {who} {control}")
        answer, words = OPEN, f"is above chance, but not shown to do better than {who}: {reached}"
        words += f"; the difference is {lead}"
        if lead.lo is None or lead.hi is None:
            words, control = f"has too few to compare: {self.reached}", None
        elif lead.hi < 0:
            answer, words = NO, f"does worse than {who}: {reached}"
        elif lead.hi - lead.lo < _EQUAL or (lead.value or 0.0) <= 0:
            answer, words = NO, f"does no better than {who}: {reached}"
        return self._beside(Verdict(answer, f"{self.name} {words}.", rests_on=(lead, *([control] if control else []))))

    def _better(self) -> Verdict:
        ungrouped = self.called.statements == "texts" and self.table["game_id"].is_unique().all()
        if_alone = ", if no two texts share an author or topic (none were grouped)" if ungrouped else ""
        role = self.best.target == ROLE
        parted = "what deceivers say from what others say" if role else "lies from honest statements"
        than = ", better than any control" if self.leads else ""
        beside = "".join(f"; {self._control(lead)} comes closest, {lead} lower" for lead in self.leads[:1])
        words = f"{self.name} separates {self.called.say(parted)}{than}{if_alone}: {self.reached}{beside}."
        found = self._beside(Verdict(self.parts.answer, words, rests_on=tuple(self.leads[:1])))
        mute = self.abstained is not None and self.abstained.value == 1
        silence = f" It gives no verdict on any of these {self.called.statements}." if mute else ""
        return replace(found, words=found.words + silence)

    def _beside(self, found: Verdict) -> Verdict:
        """The verdict with a remark on its parts."""
        words = f"{found.words} {self.parts.words}".rstrip()
        return replace(found, words=words, rests_on=(*found.rests_on, *self.parts.rests_on))

    def _control(self, row: Figure) -> str:
        """A control in a sentence; the best-word control is named by its word."""
        name = row.against or ""
        if name == CONTROL + BEST_WORD and self.evaluation.telling:
            return f"{self.evaluation.telling} alone"
        return f'the control "{short_name(name)}"'

    @cached_property
    def parts(self) -> Verdict:
        """The worst task, model and script beside the whole, "" if there are no parts; PARTLY if some are certainly
        above chance and certainly better than others that are not.
        """
        said, rests, answer = list[str](), list[Figure](), YES
        for unit in BROKEN_DOWN:
            start, scorer = f"{self.best.where}:{unit}=", self.best.scorer
            own = [r for r in self.rows if r.scorer == scorer and r.where.startswith(start) and r.lo is not None]
            ranked = [row for row in own if row.metric == self.best.metric]
            mine = ranked or [row for row in own if row.metric == POOLED]
            mine = [row for row in mine if row.lo != row.hi] or mine
            if len(mine) < 2:
                continue
            sure = dict(zip(mine, _surely(mine, CHANCE), strict=True))
            rest = [row for row in mine if not sure[row]]
            apart = [row for row in mine if sure[row] and any((row.lo or 0.0) > (one.hi or 1.0) for one in rest)]
            worst = min(mine, key=lambda row: row.value or 0.0)
            rests.append(worst)
            if not apart:
                said.append(f"The worst {unit} is {_part(worst)}.")
                continue
            answer, top = PARTLY, max(apart, key=lambda row: row.value or 0.0)
            rests.append(top)
            word = self.at.get((CONTROL + BEST_WORD, top.where, top.metric))
            solved = word and word.value is not None and (top.value or 0.0) - word.value < _EQUAL
            said.append(
                f"It is not shown to be above chance on {len(rest)} of {number_of(len(mine), unit)} (worst "
                f"{_part(worst)}); best is {_part(top)}{', which one word or mark does too' if solved else ''}."
            )
        return Verdict(answer, " ".join(said), rests_on=tuple(rests))

    def on_whom(self) -> str:
        """How many statements, whose they are, and how they were held out."""
        plan, called, whole = self.evaluation.plan, self.called, self.whole
        target = self.evaluation.target
        table = self.table.drop_nulls(target_column(target))
        if table.is_empty():
            return f"None of these {called.statements} has a label for {target}."
        share = describe(table.with_columns(y=target_column(target)))[2] if whole is None else whole.prevalence
        texts = table.height if whole is None else whole.statements
        groups = table["siblings"].n_unique() if whole is None else whole.games
        tasks, models = table["task"].drop_nulls().n_unique(), _models(table)
        said = [f"{number_of(texts, called.statements[:-1])} ({share or 0.0:.0%} deceptive)"]
        alone = called.statements == "texts" and texts == groups
        said += [] if alone else [f"from {number_of(groups, called.games[:-1])}"]
        said += [f"in {number_of(tasks, 'task')}"] if tasks > 1 else []
        human = table["source"] == Source.HUMAN.value
        speakers = [number_of(len(models), "model"), *["people"] * human.any()] if models else []
        by = f", by {' and '.join(speakers)}" if models else ""
        if held_out := [model for model in models if model in plan.hold_out]:
            by += f", {len(held_out):,} of them held out of training"
        if models and (unnamed := table.filter(~pl.col("speaker_model").is_in(models) & ~human).height):
            by += f" ({unnamed:,} by models that the source does not name)"
        fold = f", each scored by what learned from other {called.games}" if plan.split == OUT_OF_FOLD else ""
        return f"Tried on {' '.join(said)}{by}{fold}."

    def abstains(self) -> str:
        row, called = self.abstained, self.called.statements
        if row is None or row.value is None:
            return "It promises nothing here, so it gives no verdicts."
        broken = [
            f"{_COVERED[one.metric]}{' of ' if model else ''}{model} in {one:.0%}"
            for one in self._not_covered()
            for model in [one.where.removeprefix(row.where).partition(SPEAKER)[2]]
        ]
        but = f"; but it gets right or leaves open {', '.join(broken)} only" if broken else ""
        promise = f"To be wrong about at most 10% of the honest and 10% of the deceptive {called}"
        return f"{promise}, it abstains on {row:.0%} of them{but}."

    def _not_covered(self) -> list[Figure]:
        """Where the promise is certainly broken: overall, or else for which speaking models, the worst first."""
        own = [row for row in self.rows if row.scorer == self.best.scorer and row.metric in _COVERED]
        own = [row for row in own if row.hi is not None and row.hi < COVERAGE]
        models = [row for row in own if row.where.startswith(f"{self.promise}:{SPEAKER}")]
        return sorted([row for row in own if row.where == self.promise] or models, key=lambda row: row.value or 0.0)

    def not_tried(self, best: Figure) -> str:
        file, table = self.evaluation.models.get(best.scorer), self.table
        models = _models(table)
        left = ["any other corpus"] if file is not None and file["corpus"]["name"] == self.evaluation.corpus else []
        left += ["other tasks"] if table["task"].drop_nulls().n_unique() > 1 else []
        left += ["models that it did not hear in training"] if models and not self.evaluation.plan.hold_out else []
        left += ["what people say"] if models and Source.HUMAN.value not in self.evaluation.sources else []
        *first, last = left or ["other corpora than this one"]
        return f"It was not tried on {', on '.join(first)}{' or on ' if first else ''}{last}."


def _models(table: pl.DataFrame) -> list[str]:
    spoken = table.filter(pl.col("source") != Source.HUMAN.value)["speaker_model"].drop_nulls()
    return sorted(set(spoken) - {"", UNKNOWN})


def _part(row: Figure) -> str:
    return f"{row.where.partition('=')[2]}, {row}"
