"""Everybody's scores of the same statements of a data set: detectors as trained and learned here, judges, floors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.benchmark.bench.bench_result import (
    AS_TRAINED,
    ASKED,
    CAME,
    GROUPS_OUT,
    LENGTH,
    MODEL_OUT,
    OPENINGS,
    TASK_OUT,
    WORDS,
)
from liescope.benchmark.bench.contenders import Contenders
from liescope.common.errors import UsageError
from liescope.common.model_names import is_named, one_name
from liescope.common.statistics import Floats
from liescope.detectors.detector import Progress
from liescope.detectors.examples import WORDS as WORDS_ONLY
from liescope.detectors.examples import (
    Example,
    Labelled,
    corpus_id,
    keeps_reasoning,
    labelled,
    make_examples,
    read_statements,
    target_column,
    usual_target,
)
from liescope.detectors.folds import fold_of
from liescope.detectors.material import check_may_train
from liescope.detectors.study.beside_judges import Judges, judge_statements
from liescope.detectors.study.checks import copies
from liescope.detectors.study.controls import CONTROLS
from liescope.detectors.study.learned import check_unseen, knowing
from liescope.detectors.study.scores import (
    ALL,
    ScoringPlan,
    resampled_as,
    score_table,
    with_tasks,
)
from liescope.detectors.suite import NotHad, SuiteData
from liescope.detectors.textualize import TextConfig
from liescope.detectors.training import Recipe
from liescope.detectors.view.transcript import read_transcripts
from liescope.generate.corpus import collected, read

FOLDS = 5
CLASSES = 2

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ScoredBy:
    """One scorer's scores of a data set. table: statement_id and score; seconds: fitting and scoring, None for those
    that came with the data; control: (n,) its scores of the control set, if it scored that.
    """

    detector: str
    how: str
    table: pl.DataFrame
    seconds: float | None = None
    control: Floats | None = None
    view: str = WORDS_ONLY

    @property
    def key(self) -> tuple[str, str]:
        return self.detector, self.how


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """What to compute. leave_out: of TASK_OUT, MODEL_OUT; control: the examples of ordinary conversations, in groups;
    judges: chat models to ask.
    """

    leave_out: tuple[str, ...]
    control: pl.DataFrame | None
    judges: Judges
    seed: int


@dataclass
class BenchMaterial:
    """The statements of a data set. table: those with a label, with y; evaluated: which of them are scored."""

    corpus: Path
    target: str
    statements: pl.DataFrame
    table: pl.DataFrame
    split: str
    notes: list[str] = field(default_factory=list)

    @property
    def kept(self) -> pl.DataFrame:
        """The labelled statements that are measured."""
        return self.table if self.split == ALL else self.table.filter(pl.col("split") == self.split)

    @property
    def y(self) -> NDArray[np.bool_]:
        return self.table["y"].to_numpy().astype(bool)

    @property
    def groups(self) -> NDArray[np.str_]:
        return self.table[resampled_as(self.table)].to_numpy().astype(np.str_)

    def examples(self, text: TextConfig) -> Labelled:
        """The labelled statements as a detector reads them, all splits, without those that lack what its view shows."""
        return labelled(self.statements, self.target, text.context, read_transcripts(self.corpus), text.view)


def read_data(data: SuiteData, corpus: Path, who: Contenders) -> BenchMaterial:
    target = data.target or usual_target(corpus)
    statements = read_statements(corpus)
    label = pl.col(target_column(target))
    table = with_tasks(statements.with_columns(y=label), pl.col("y"), 1).filter(pl.col("y").is_not_null())
    if table["y"].n_unique() < 2:
        raise NotHad(f"it has no statements of both classes with the label {target}")
    here = corpus_id(corpus)
    split = data.split or ("test" if knowing(who.models, here, statements) else ALL)
    one = BenchMaterial(corpus, target, statements, table, split)
    if split != ALL:
        one.notes.append(f"only the split {split} is measured, since a detector has learned from others")
    return one


def on_the_same(one: BenchMaterial, reasoned: bool) -> pl.DataFrame:
    """What is measured: where a detector reads reasoning, for everybody only the statements that keep some, so that
    views are compared on the same ones.
    """
    if not reasoned:
        return one.kept
    found = one.kept.filter(pl.col("reasoning").fill_null("").str.strip_chars() != "")
    one.notes.append(
        f"since a detector reads reasoning, everybody is measured on the {found.height:,} of {one.kept.height:,} "
        "statements that keep some"
    )
    return found


def floors(one: BenchMaterial, plan: BenchPlan, progress: Progress) -> Iterator[ScoredBy]:
    """Words alone, with groups and with tasks left out; first words and length with groups left out."""
    words, first, length = (CONTROLS[name].made(one.table, plan.seed) for name in ("words", "openings", "length"))
    ways = {(WORDS, GROUPS_OUT): words, (OPENINGS, GROUPS_OUT): first, (LENGTH, GROUPS_OUT): length}
    if TASK_OUT in plan.leave_out and _units(one, TASK_OUT) is not None:
        ways[WORDS, TASK_OUT] = words
    for done, ((name, how), probe) in enumerate(ways.items()):
        progress("words alone", done, len(ways))
        score = _held_out(one, how, plan, lambda learn, out, probe=probe: probe(learn, out, one.y))
        if score is not None:
            yield ScoredBy(name, how, _table(one.table, score))
    progress("words alone", len(ways), len(ways))


def as_trained(one: BenchMaterial, who: Contenders, plan: BenchPlan, progress: Progress) -> Iterator[ScoredBy]:
    kept = one.kept
    here, games = corpus_id(one.corpus), read_transcripts(one.corpus) if who.models else {}
    for name, model in who.models.items():
        try:
            check_unseen({name: model}, here, kept, one.split)
        except UsageError as error:
            one.notes.append(f"{name} has no score of its own here: {error}")
            continue
        if model.file.target != one.target:
            one.notes.append(f"{name} was trained for {model.file.target}; here it is measured by {one.target}")
        text = model.file.text
        every = make_examples(one.statements, text.context, one.target, games)
        wanted = frozenset(kept["statement_id"])
        asked = [e for e in every if e.statement_id in wanted and e.can_be_read(text.view)]
        if not asked:
            one.notes.append(f"{name} reads reasoning, and no statement here keeps any")
            continue
        began = time.perf_counter()
        score = model.probabilities(asked, progress)
        seconds = time.perf_counter() - began
        control = None
        if plan.control is not None and not model.detector.requests((), asked[:1]):
            plain = [e for e in _control_examples(plan.control, text.context, one.target) if e.can_be_read(text.view)]
            control = model.probabilities(plain, progress) if plain else None
        table = pl.DataFrame({"statement_id": [example.statement_id for example in asked], "score": score})
        one.notes += [f"{name}: {words}" for words in model.notes]
        repeated = copies(
            {name: model},
            score_table(table["statement_id"], score, name, one.target),
            kept,
            ScoringPlan(one.split, seed=plan.seed, frozen={name: {}}),
            {},
        )
        one.notes += [words for check in repeated for words in check.sentences]
        yield ScoredBy(name, AS_TRAINED, table, seconds, control, text.view)


def _control_examples(control: pl.DataFrame, context: int, target: str) -> tuple[Example, ...]:
    """The last answer of each conversation."""
    last = set(control.group_by("game_id").agg(pl.col("statement_id").last())["statement_id"])
    return tuple(one for one in make_examples(control, context, target) if one.statement_id in last)


def learned_here(one: BenchMaterial, who: Contenders, plan: BenchPlan, progress: Progress) -> Iterator[ScoredBy]:
    recipes = who.recipes(one.target)
    if not recipes:
        return
    for how, what in ((TASK_OUT, "tasks"), (MODEL_OUT, "speaking models")):
        if how in plan.leave_out and _units(one, how) is None:
            one.notes.append(f"fewer than two {what} are known, so that none is left out")
    try:
        check_may_train(one.corpus)
    except UsageError as error:
        one.notes.append(f"nothing learns from it: {error}")
        return
    for name, recipe in recipes.items():
        recipe = replace(recipe, target=one.target)
        data = one.examples(recipe.text)
        if data.examples and recipe.untrained().requests(data.examples[:1], data.examples[:1]):
            one.notes.append(f"{name} asks a chat model, so that it does not learn anew with parts left out")
            continue
        if not data.examples:
            one.notes.append(f"{name} reads reasoning, and no statement here keeps any")
            continue
        place = {example.statement_id: at for at, example in enumerate(data.examples)}
        order = np.array([place.get(key, -1) for key in one.table["statement_id"]])

        def fitted(
            learn: Rows, out: Rows, recipe: Recipe = recipe, data: Labelled = data, order: Rows = order
        ) -> Floats:
            known, asked = order[learn][order[learn] >= 0], order[out] >= 0
            score = np.full(len(out), np.nan)
            if not asked.any() or len(np.unique(data.y[known])) < CLASSES:
                return score
            detector = recipe.untrained()
            detector.fit([data.examples[i] for i in known], data.y[known], data.groups[known], progress)
            score[asked] = detector.predict_proba([data.examples[i] for i in order[out][asked]], progress)[:, 1]
            return score

        for how in (GROUPS_OUT, *(how for how in plan.leave_out if _units(one, how) is not None)):
            began = time.perf_counter()
            score = _held_out(one, how, plan, fitted)
            if score is not None:
                spent = time.perf_counter() - began
                yield ScoredBy(name, how, _table(one.table, score), spent, view=recipe.text.view)
            progress(f"{name}, {how}", 1, 1)


def _units(one: BenchMaterial, how: str) -> NDArray[np.str_] | None:
    """What each statement belongs to, "" where that is not known; None where there are not two."""
    if how == MODEL_OUT:
        models = one.table["speaker_model"].to_list()
        known = one_name({name for name in models if is_named(name)})
        units = np.array([known.get(name, "") for name in models], dtype=np.str_)
    elif "task" in one.table.columns:
        units = one.table["task"].fill_null("").to_numpy().astype(np.str_)
    else:
        return None
    return units if len(set(units.tolist()) - {""}) > 1 else None


def _held_out(one: BenchMaterial, how: str, plan: BenchPlan, fit_predict: Any) -> Floats | None:
    """(n,): scores of the labelled statements by what learned without their group, task or model, NaN where the rest
    has one class; None where there is nothing to leave out.
    """
    y, groups = one.y, one.groups
    if how == GROUPS_OUT:
        least = min(len(np.unique(groups[rows])) for rows in (y, ~y))
        if least < CLASSES:
            return None
        units: NDArray[Any] = fold_of(y, groups, min(FOLDS, least), plan.seed).astype(np.str_)
    else:
        named = _units(one, how)
        if named is None:
            return None
        units = named
    score = np.full(len(y), np.nan)
    for unit in sorted(set(units.tolist()) - {""}):
        out = np.flatnonzero(units == unit)
        learn = np.flatnonzero(~np.isin(groups, groups[out]))
        if len(learn) and y[learn].any() and not y[learn].all():
            score[out] = fit_predict(learn, out)
    return score


def asked_here(
    one: BenchMaterial, plan: BenchPlan, progress: Progress
) -> tuple[list[ScoredBy], dict[str, float | None]]:
    kept = one.statements.filter(pl.col("split") == one.split) if one.split != ALL else one.statements
    judges, thinks = plan.judges, kept.select(keeps_reasoning() & pl.col(target_column(one.target)).is_not_null())
    if not thinks.to_series().any():
        judges = replace(judges, views=tuple(view for view in judges.views if view == WORDS_ONLY))
        if judges.specs and judges.views != plan.judges.views:
            one.notes.append("judges were to be shown reasoning, and no labelled statement here keeps any")
    tables, facts = judge_statements(judges, kept, {one.target: TextConfig()}, plan.seed, progress, False)
    one.notes += [words for judge in facts for words in judge.sentences()]
    views = {judge.name: judge.view for judge in facts}
    found = [
        ScoredBy(name, ASKED, table.select("statement_id", "score"), view=views[name])
        for table in tables
        if table.height and (name := table["scorer"][0])
    ]
    return found, {judge.name: judge.cost for judge in facts}


def came_with(one: BenchMaterial) -> Iterator[ScoredBy]:
    """Those who rated the statements where they come from: judges each, players together."""
    ratings = collected(read(one.corpus, "ratings"), one.corpus).drop_nulls("suspicion")
    judges = ratings.filter(pl.col("observer_role") == "")
    for name in sorted(judges["observer"].unique()):
        mine = judges.filter(pl.col("observer") == name)
        yield ScoredBy(name, CAME, mine.group_by("statement_id").agg(score=pl.col("suspicion").mean()))
    if judges["observer"].n_unique() > 1:
        mean = judges.group_by("statement_id").agg(score=pl.col("suspicion").mean(), rated=pl.len())
        everybody = mean.filter(pl.col("rated") == judges["observer"].n_unique())
        yield ScoredBy("mean of these judges", CAME, everybody.select("statement_id", "score"))
    players = ratings.filter(pl.col("observer_role") != "")
    if players.height:
        mean = players.group_by("statement_id").agg(score=pl.col("suspicion").mean())
        yield ScoredBy("the other players", CAME, mean)


def _table(table: pl.DataFrame, score: Floats) -> pl.DataFrame:
    return table.select("statement_id", score=pl.Series(score)).filter(pl.col("score").is_not_nan())
