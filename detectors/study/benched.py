"""One data set of a suite, measured as `evaluate` measures a corpus: every scorer on the same statements."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from liescope.common.errors import UsageError
from liescope.common.model_names import is_named, one_name
from liescope.detectors.detector import Progress
from liescope.detectors.detector_registry import detector_class
from liescope.detectors.examples import WORDS as SAID
from liescope.detectors.examples import (
    corpus_id,
    keeps_reasoning,
    make_examples,
    read_statements,
    target_column,
    usual_target,
)
from liescope.detectors.material import check_may_train
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study import learned
from liescope.detectors.study.bench_result import WORDS_ALONE, Benched
from liescope.detectors.study.beside_judges import JudgeFacts, Judges, judge_statements
from liescope.detectors.study.checks import copies, shuffles
from liescope.detectors.study.controls import CONTROLS, WORDS, telling
from liescope.detectors.study.corpora import JUDGED
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.findings import ranked_of, surely_behind
from liescope.detectors.study.metrics import (
    DIFFERENCE,
    POOLED,
    WITHIN,
    Thresholds,
    choose_thresholds,
)
from liescope.detectors.study.observers import OBSERVERS
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.schemes import FOLDS, Part, Scheme
from liescope.detectors.study.scorers import evaluate_scores
from liescope.detectors.study.scores import (
    ALL,
    OUT_OF_FOLD,
    UNITS,
    ScoringPlan,
    score_table,
    with_script,
)
from liescope.detectors.suite import NotHad, SuiteCorpus, SuiteData
from liescope.detectors.textualize import TextConfig
from liescope.detectors.training import Recipe
from liescope.detectors.view.transcript import read_transcripts
from liescope.generate.corpus import Corpus, collected, read

GROUP, OTHER = "other groups", {"task": "other tasks", "model": "other models"}
"""What a scorer that learned here learned from, as behind its name: all without the group, task or speaking model."""


@dataclass(frozen=True, slots=True)
class Benching:
    """What is measured on every data set. models: trained detectors; kinds: what learns from the data set itself, by
    name; leave_out: of OTHER; control: the statements of ordinary conversations.
    """

    models: Mapping[str, LoadedDetector]
    kinds: Mapping[str, Recipe]
    judges: Judges
    leave_out: Sequence[str]
    control: pl.DataFrame | None
    seed: int

    def recipes(self, target: str) -> dict[str, Recipe]:
        """What learns anew: the kinds, and the trained detectors of this target with their options."""
        files = {name: model.file for name, model in self.models.items() if model.file.target == target}
        own = {name: Recipe(f.kind, target, f.text, f.options, 0, f.training.seed) for name, f in files.items()}
        return dict(self.kinds) | own

    def thresholds(self, model: LoadedDetector, target: str) -> Thresholds:
        """Those that flag so many of the ordinary conversations by their last answer; none without any."""
        if self.control is None:
            return {}
        last = set(self.control.group_by("game_id").agg(pl.col("statement_id").last())["statement_id"])
        made = make_examples(self.control, model.file.text.context, target)
        plain = [one for one in made if one.statement_id in last and one.can_be_read(model.file.text.view)]
        if not plain or model.detector.requests((), plain[:1]):
            return {}
        return choose_thresholds(np.zeros(len(plain), dtype=bool), model.probabilities(plain))


@dataclass(slots=True)
class _Scoring:
    """The statements of a data set, and what has been scored so far: tables, seconds by scorer, thresholds of those
    that have some, what was left out and why.
    """

    corpus: Corpus
    target: str
    statements: pl.DataFrame
    plan: ScoringPlan
    how: Benching
    progress: Progress
    tables: list[pl.DataFrame] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, Thresholds] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def schemes(self) -> dict[str, Scheme]:
        """By what is not seen of what is scored. Without a unit, every group that it is in is left out."""
        whole = learned.scheme_of(self.statements, self.target, ScoringPlan(ALL, seed=self.how.seed))
        found, known = {GROUP: whole}, self.statements[target_column(self.target)].is_not_null().to_numpy()
        for unit in self.how.leave_out:
            names = self.statements[UNITS[unit]].fill_null("")
            if unit == "model":
                of = one_name({name for name in names.unique() if is_named(name)})
                names = names.replace_strict(of, default="", return_dtype=pl.String)
            parts = []
            for number, name in enumerate(sorted(set(names) - {""})):
                out = (names == name).to_numpy()
                rest = known & ~np.isin(whole.groups, whole.groups[out])
                parts.append(Part(np.flatnonzero(rest), np.flatnonzero(out), number))
            if len(parts) > 1:
                of_each = names.to_numpy().astype(np.str_)
                found[OTHER[unit]] = replace(whole, repeats=[parts], unit=of_each, name=f"{unit} left out")
            else:
                self.notes.append(f"fewer than two {unit}s are known, so that none is left out")
        return found

    def controls(self, schemes: Mapping[str, Scheme], reasoned: bool) -> None:
        """Those that stand beside detectors, and words alone, which also learn from other tasks and models."""
        plan, whole = replace(self.plan, split=ALL), {self.target: schemes[GROUP]}
        found, notes = learned.control_scores(self.statements, whole, plan, reasoned, self.progress)
        words = CONTROLS[WORDS].made(self.statements, self.how.seed)
        self.tables += found
        for other, scheme in schemes.items():
            name = WORDS_ALONE if other == GROUP else f"{WORDS_ALONE} ({other})"
            self.tables.append(scheme.table(words, name, self.target))
        self.notes += notes

    def as_trained(self, evaluated: pl.DataFrame, scheme: Scheme) -> None:
        """Trained detectors as they are. evaluated: the labelled statements that are measured."""
        games = read_transcripts(self.corpus) if self.how.models else {}
        for name, model in self.how.models.items():
            try:
                learned.check_unseen({name: model}, corpus_id(self.corpus), evaluated, self.plan.split)
                self.notes += learned.without_reasoning({name: model}, evaluated)
            except UsageError as error:
                self.notes.append(f"{name} has no score of its own here: {error}")
                continue
            if model.file.target != self.target:
                self.notes.append(f"{name} was trained for {model.file.target}; here it is measured by {self.target}")
            plan, began = replace(self.plan, frozen={name: {}}), time.perf_counter()
            table, _ = learned.scores_of(name, model, self.statements, games, plan, scheme, self.progress)
            self.tables.append(table.with_columns(target=pl.lit(self.target)))
            self.seconds[name] = time.perf_counter() - began
            self.thresholds[name] = self.how.thresholds(model, self.target)
            self.notes += [f"{name}: {words}" for words in model.notes]

    def learned_here(self, schemes: Mapping[str, Scheme]) -> None:
        """Detectors that learn from this data set, by each scheme; slow ones by one division of it."""
        try:
            check_may_train(self.corpus)
        except UsageError as error:
            self.notes.append(f"nothing learns from it: {error}")
            return
        games = read_transcripts(self.corpus)
        for name, recipe in self.how.recipes(self.target).items():
            made = make_examples(self.statements, recipe.text.context, self.target, games)
            examples = [one for one in made if one.can_be_read(recipe.text.view)]
            if not examples or recipe.untrained().requests(examples[:1], examples[:1]):
                self.notes.append(
                    f"{name} {'asks a chat model' if examples else 'can read nothing'}, and does not learn here"
                )
                continue
            for other, scheme in schemes.items():
                once = detector_class(recipe.kind).folds < FOLDS
                own = replace(scheme, repeats=scheme.repeats[:1]) if once else scheme
                full, began = f"{name} ({other})", time.perf_counter()
                self.tables.append(learned.refitted(full, self.target, recipe.untrained, examples, own, self.progress))
                self.seconds[full] = time.perf_counter() - began

    def asked(self, evaluated: pl.DataFrame, thinks: bool) -> list[JudgeFacts]:
        """Chat models. thinks: whether a labelled statement keeps reasoning, so that they can be shown it."""
        judges = self.how.judges
        shown = replace(judges, views=tuple(view for view in judges.views if thinks or view == SAID))
        texts = {self.target: TextConfig()}
        found, facts = judge_statements(shown, evaluated, texts, self.how.seed, self.progress, False)
        self.tables += found
        self.notes += [words for one in facts for words in one.sentences()]
        return facts

    def came_with(self) -> None:
        """Those who rated the statements where they come from: judges each and together, players together."""
        ratings = collected(read(self.corpus, "ratings"), self.corpus).drop_nulls("suspicion")
        judged = ratings.filter(pl.col("observer_role") == "")
        judges = sorted(judged["observer"].unique())
        of = {JUDGED + name: judged.filter(pl.col("observer") == name) for name in judges}
        if len(judges) > 1:
            every = pl.col("observer").n_unique().over("statement_id") == len(judges)
            of[f"{JUDGED}the mean of these"] = judged.filter(every)
        of[f"{OBSERVERS}suspicion"] = ratings.filter(pl.col("observer_role") != "")
        for name, rated in of.items():
            mean = rated.group_by("statement_id", maintain_order=True).agg(pl.col("suspicion").cast(pl.Float64).mean())
            score = mean["suspicion"].to_numpy()
            self.tables.append(score_table(mean["statement_id"], score, name, self.target))


def benched(data: SuiteData, found: SuiteCorpus, how: Benching, progress: Progress) -> Benched:
    """Every scorer on the labelled statements of a data set. Raises NotHad if these lack a class, and RunPaused if a
    judge cannot be asked for now.
    """
    corpus, target = found.corpus, data.target or usual_target(found.corpus)
    statements = with_script(read_statements(corpus))
    split = data.split or learned.split_for(how.models, corpus_id(corpus), statements)
    plan = ScoringPlan(ALL if split == OUT_OF_FOLD else split, seed=how.seed, alike=True)
    scoring, kept = _Scoring(corpus, target, statements, plan, how, progress), plan.evaluated(statements)
    labelled = kept.drop_nulls(target_column(target))
    if labelled[target_column(target)].n_unique() < 2:
        raise NotHad(f"it has no statements of both classes with the label {target}")
    if found.rejected:
        scoring.notes.append(f"{found.rejected:,} items could not be read and are left out")
    views = {*(one.text.view for one in how.kinds.values()), *(one.file.text.view for one in how.models.values())}
    views |= {*how.judges.views} if how.judges.specs else set()
    reads, thinks = bool(views - {SAID}), labelled.filter(keeps_reasoning()).height
    reasoned = reads and thinks > 0
    schemes = scoring.schemes()
    scoring.controls(schemes, reasoned)
    scoring.as_trained(labelled, schemes[GROUP])
    scoring.learned_here(schemes)
    judges = scoring.asked(kept, thinks > 0)
    scoring.came_with()
    if reasoned:
        kept = kept.filter(keeps_reasoning())
        counted = f"{thinks:,} of {labelled.height:,} statements that keep some"
        scoring.notes.append(f"since reasoning is read, everybody is measured on the {counted}")
    elif reads:
        scoring.notes.append("reasoning was to be read, and no labelled statement here keeps any")
    scores = pl.concat(scoring.tables)
    nothing: dict[str, Thresholds] = {name: {} for name in scores["scorer"].unique()}
    plan = replace(plan, frozen=nothing | scoring.thresholds)
    rows = [row for row in evaluate_scores(scores, kept, plan).rows if _is_told(row)]
    models = {name: model for name, model in how.models.items() if name in scoring.seconds}
    checks = [*copies({WORDS_ALONE: None, **models}, scores, kept, plan, {target: schemes[GROUP]})]
    checks += filter(None, [shuffles(statements, schemes[GROUP], target, plan, progress)])
    rows += [figure for one in checks for figure in one.figures]
    evaluation = EvaluationResult(
        data.name,
        plan,
        {name: model.file.model_dump() for name, model in models.items()},
        scores,
        kept,
        tuple(rows),
        {},
        tuple(judges),
        (*scoring.notes, *(words for one in checks if not one.bad for words in one.sentences)),
        tuple(checks),
        {target: told} if (told := telling(kept, target)) else {},
    )
    ranked = ranked_of(rows)
    behind = [name for one in ranked for name in surely_behind(rows, one, [row for row in ranked if row is not one])]
    places = {row.scorer: 1 + behind.count(row.scorer) for row in ranked}
    return Benched(data, evaluation, places, scoring.seconds, found.sha256)


def _is_told(row: Figure) -> bool:
    """Differences of the AUROC alone; nothing that is not defined, but that."""
    ranking = row.metric.removesuffix(DIFFERENCE) in (WITHIN, POOLED)
    return ranking or (row.against is None and row.value is not None)
