"""`bench`: detectors and judges on a suite of data sets, each measured as `evaluate` measures a corpus: every scorer on
the same statements.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from liescope.common.errors import UnknownName, UsageError
from liescope.common.model_names import is_named, one_name
from liescope.common.report.files import check_report_folder
from liescope.common.sentence_encoder import LOCAL
from liescope.common.settings import read_query, takes
from liescope.common.stores import local, stored
from liescope.detectors.detector import Progress, requests_of, shown
from liescope.detectors.detector_registry import DETECTORS
from liescope.detectors.detector_settings import WORDS as SAID
from liescope.detectors.detector_settings import BenchSettings
from liescope.detectors.examples import (
    corpus_id,
    keeps_reasoning,
    read_statements,
    target_column,
    usual_target,
)
from liescope.detectors.material import check_may_train, last_answers
from liescope.detectors.model_file import MODEL_FILE
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.bench_result import WORDS_ALONE, Benched, BenchResult, report
from liescope.detectors.study.beside_judges import JUDGE, Judges, judges_of
from liescope.detectors.study.beside_players import OBSERVERS
from liescope.detectors.study.controls import CONTROLS, WORDS
from liescope.detectors.study.findings import ranked_of, surely_behind
from liescope.detectors.study.metrics import Thresholds, choose_thresholds
from liescope.detectors.study.schemes import FOLDS, Fold, Scheme
from liescope.detectors.study.scores import ALL, BROKEN_DOWN, OUT_OF_FOLD, ScoringPlan, score_table, with_script
from liescope.detectors.study.study import Model, Study, check_unseen, load_all, scheme_of, split_for, without_reasoning
from liescope.detectors.study.units import CAME_ALONG
from liescope.detectors.suite import NotHad, Suite, SuiteCorpus, SuiteData, control_records, opened, read_suite
from liescope.detectors.text_form import TextConfig
from liescope.detectors.training import Recipe
from liescope.detectors.view.transcript import read_transcripts
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.open import in_memory
from liescope.generate.corpus.read import collected, read

GROUP, OTHER = "other groups", {"task": "other tasks", "model": "other models"}
"""What a scorer that learned here learned from, as behind its name: all without the group, task or speaking model."""


@dataclass(frozen=True, slots=True)
class Benching:
    """What is measured on every data set. models: trained detectors; kinds: what learns from the data set itself, by
    name; leave_out: of OTHER; control: the statements of ordinary conversations; styles: whether in other styles, too.
    """

    models: Mapping[str, LoadedDetector]
    kinds: Mapping[str, Recipe]
    judges: Judges
    leave_out: Sequence[str]
    control: pl.DataFrame | None
    seed: int
    styles: bool = False

    def recipes(self, target: str) -> tuple[dict[str, Recipe], list[str]]:
        """What learns anew: the kinds, and the trained detectors of this target with their options; and the names of
        those that cannot, since their network came from a folder, and is kept as it is after training alone.
        """
        files = {name: model.file for name, model in self.models.items() if model.file.target == target}
        whole = [name for name, f in files.items() if LOCAL in (f.options.get("encoder"), f.options.get("model"))]
        own = {n: Recipe(f.kind, target, f.text, f.options, 0, f.training.seed) for n, f in files.items()}
        return {**self.kinds, **{name: recipe for name, recipe in own.items() if name not in whole}}, whole

    def thresholds(self, model: LoadedDetector, target: str) -> Thresholds:
        """The thresholds that flag that share of ordinary conversations by their last answer; none without any."""
        if self.control is None:
            return {}
        plain = last_answers(self.control, model.file.text, target)
        if not plain or requests_of(model.detector, (), plain[:1]):
            return {}
        return choose_thresholds(np.zeros(len(plain), dtype=bool), model.probabilities(plain))


def benched(data: SuiteData, found: SuiteCorpus, how: Benching, progress: Progress) -> Benched:
    """Every scorer on a data set's labelled statements. Raises NotHad if these lack a class, and RunPaused."""
    corpus, target = found.corpus, data.target or usual_target(found.corpus)
    statements = with_script(read_statements(corpus))
    split = data.split or split_for(how.models, corpus_id(corpus), statements)
    plan = ScoringPlan(ALL if split == OUT_OF_FOLD else split, seed=how.seed, alike=True)
    kept, whole = plan.evaluated(statements), scheme_of(statements, target, ScoringPlan(ALL, seed=how.seed))
    labelled = kept.drop_nulls(target_column(target))
    if labelled[target_column(target)].n_unique() < 2:
        raise NotHad(f"it has no statements of both classes with the label {target}")
    study = Study(corpus, data.name, target, statements, statements, kept, plan, whole, progress)
    notes = study.notes
    notes += [
        f"{name} is measured as it is alone: its network came from a folder, from which a new one can learn"
        for name in how.recipes(target)[1]
    ]
    notes += found.notes
    views = {*(how.judges.views if how.judges.specs else ()), *(one.text.view for one in how.kinds.values())}
    views |= {one.file.text.view for one in how.models.values()}
    reads, thinks = bool(views - {SAID}), labelled.filter(keeps_reasoning()).height
    schemes = {GROUP: whole} | _without_units(study, how.leave_out)
    study.add_controls(reads and thinks > 0)
    words = CONTROLS[WORDS].made(statements, how.seed)
    for other, scheme in schemes.items():
        study.tables.append(scheme.table(words, WORDS_ALONE + f" ({other})" * (other != GROUP), target))
    scored, seconds = _as_trained(study, how, labelled)
    seconds |= _learned_here(study, how, schemes)
    shown = tuple(view for view in how.judges.views if thinks or view == SAID)
    study.add_judges(replace(how.judges, views=shown), TextConfig(), False)
    _came_with(study)
    if reads and thinks:
        study.kept = kept.filter(keeps_reasoning())
        counted = f"{thinks:,} of {labelled.height:,} statements that keep some"
        notes.append(f"since reasoning is read, everybody is measured on the {counted}")
    elif reads:
        notes.append("reasoning was to be read, and no labelled statement here keeps any")
    nothing: dict[str, Thresholds] = {name: {} for table in study.tables for name in table["scorer"].unique()}
    chosen = {name: how.thresholds(model, target) for name, model in scored.items()}
    study.plan = replace(plan, frozen=nothing | chosen)
    evaluation = study.concluded({WORDS_ALONE: None, **scored}, brief=True)
    ranked = ranked_of(evaluation.rows)
    behind = [
        name
        for one in ranked
        for name in surely_behind(evaluation.rows, one, [row for row in ranked if row is not one])
    ]
    places = {row.scorer: 1 + behind.count(row.scorer) for row in ranked}
    return Benched(data, evaluation, places, seconds, found.sha256)


def _without_units(study: Study, units: Sequence[str]) -> dict[str, Scheme]:
    """Leave each task or speaking model out, with every group that it is in. units: of OTHER."""
    found, whole, statements = dict[str, Scheme](), study.scheme, study.statements
    known = statements[target_column(study.target)].is_not_null().to_numpy()
    for unit in units:
        names = statements[BROKEN_DOWN[unit]].fill_null("")
        if unit == "model":
            of = one_name({name for name in names.unique() if is_named(name)})
            names = names.replace_strict(of, default="", return_dtype=pl.String)
        folds = []
        for number, name in enumerate(sorted(set(names) - {""})):
            out = (names == name).to_numpy()
            rest = known & ~np.isin(whole.groups, whole.groups[out])
            folds.append(Fold(np.flatnonzero(rest), np.flatnonzero(out), number))
        if len(folds) > 1:
            of_each = names.to_numpy().astype(np.str_)
            found[OTHER[unit]] = replace(whole, repeats=[folds], unit=of_each, name=f"{unit} left out")
        else:
            study.notes.append(f"fewer than two {unit}s are known, so that none is left out")
    return found


def _as_trained(
    study: Study, how: Benching, labelled: pl.DataFrame
) -> tuple[dict[str, LoadedDetector], dict[str, float]]:
    """Trained detectors as they are: those with scores, and their seconds."""
    scored, seconds = dict[str, LoadedDetector](), dict[str, float]()
    for name, model in how.models.items():
        try:
            check_unseen({name: model}, corpus_id(study.corpus), labelled, study.plan.split)
            study.notes += without_reasoning({name: model}, labelled)
        except UsageError as error:
            study.notes.append(f"{name} has no score of its own here: {error}")
            continue
        if (its := model.file.target) != study.target:
            study.notes.append(f"{name} was trained for {its}; here it is measured by {study.target}")
        began = time.perf_counter()
        study.tables.append(study.as_trained(name, model, replace(study.plan, frozen={name: {}})))
        scored[name], seconds[name] = model, time.perf_counter() - began
        study.notes += [f"{name}: {words}" for words in model.notes]
        if how.styles:
            study.add_styles({name: model}, study.tables[-1], study.plan)
    return scored, seconds


def _learned_here(study: Study, how: Benching, schemes: Mapping[str, Scheme]) -> dict[str, float]:
    """Detectors that learn from this data set, by each scheme, slow ones by one division of it; their seconds."""
    try:
        check_may_train(study.corpus)
    except UsageError as error:
        study.notes.append(f"nothing learns from it: {error}")
        return {}
    games, seconds = read_transcripts(study.corpus), dict[str, float]()
    for name, recipe in how.recipes(study.target)[0].items():
        examples = study.readable(study.statements, recipe.text, study.target, games)
        if not examples or requests_of(recipe.untrained(), examples[:1], examples[:1]):
            what = "asks a chat model" if examples else "can read nothing"
            study.notes.append(f"{name} {what}, and does not learn here")
            continue
        for other, scheme in schemes.items():
            once = DETECTORS[recipe.kind].folds < FOLDS
            own = replace(scheme, repeats=scheme.repeats[:1]) if once else scheme
            full, began = f"{name} ({other})", time.perf_counter()
            study.tables.append(study.refitted(full, recipe.untrained, examples, own))
            seconds[full] = time.perf_counter() - began
            if how.styles and other == GROUP and not recipe.options.get("states"):  # of words as they were said
                study.add_learned_styles(full, recipe.untrained, examples, own)
    return seconds


def _came_with(study: Study) -> None:
    """The raters that came with the data: judges singly and together, players together."""
    ratings = collected(read(study.corpus, "ratings"), study.corpus).drop_nulls("suspicion")
    judged = ratings.filter(pl.col("observer_role") == "")
    judges = sorted(judged["observer"].unique())
    of = {CAME_ALONG + name: judged.filter(pl.col("observer") == name) for name in judges}
    if len(judges) > 1:
        every = pl.col("observer").n_unique().over("statement_id") == len(judges)
        of[f"{CAME_ALONG}the mean of these"] = judged.filter(every)
    of[f"{OBSERVERS}suspicion"] = ratings.filter(pl.col("observer_role") != "")
    for name, rated in of.items():
        mean = rated.group_by("statement_id", maintain_order=True).agg(pl.col("suspicion").cast(pl.Float64).mean())
        study.tables.append(score_table(mean["statement_id"], mean["suspicion"].to_numpy(), name, study.target))


@takes(BenchSettings)
@stored
def bench(
    detectors: Sequence[Model] | Model,
    *,
    suite: str | os.PathLike[str] = "chat",
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> BenchResult:
    """Measure detectors on a suite of data sets, beside what words alone reach and the judges that came with the data.
    Trained detectors are scored as they are. They, and kinds that are named, also learn anew from each data set with
    groups, tasks and speaking models left out. Places count only leads that chance does not explain.

    Parameters
    ----------
    detectors : str, path, detector, or several
        Model folders, models on the Hub, kinds such as "tfidf", or "judge:openai:NAME" for a chat model.
    suite : str or path
        "chat", "games", "all", or a TOML file of your own.
    **settings

    Raises UnknownName for a detector that is neither a model, a kind nor a judge; UsageError for a suite that is not
    there, if none of its data can be had, or an `out` that holds something else; BadData for a suite with a mistake, a
    file of other content than the suite says, or a damaged model; RunPaused if a judge cannot be asked for now: the
    same call goes on.

    Examples
    --------
    >>> liescope.bench(["tfidf", "models/mine"], suite="chat", data="downloads", out="reports/bench").metrics
    """
    own = BenchSettings.of(settings)
    check_report_folder(out, own.overwrite)
    named = [detectors] if isinstance(detectors, str | os.PathLike | LoadedDetector) else detectors
    models, kinds, asked = _contenders(named, own.context, own.view, own.seed)
    limits = own.limits()
    judges = judges_of(asked, own.judge_limit, own.judge_prompt, limits, own.view)
    wanted = read_suite(os.fspath(suite), None if own.data is None else Path(own.data))
    control, no_control = _control(wanted)
    how = Benching(models, kinds, judges, own.leave_out, control, own.seed, own.styles)
    found, missing = [], dict[str, str]()
    with shown(progress) as show:
        for number, data in enumerate(wanted.data, start=1):
            try:
                found.append(benched(data, opened(data, wanted.folder), how, show))
            except NotHad as error:
                missing[data.name] = str(error)
            show(f"data sets of {wanted.name}", number, len(wanted.data))
    if not found:
        why = "; ".join(f"{name}: {words}" for name, words in missing.items())
        raise UsageError(f"none of the suite's data can be measured here; {why}")
    held = {wanted.control.name: control["game_id"].n_unique()} if wanted.control and control is not None else {}
    facts = {"suite": wanted, "control": held, "no_control": no_control, "seed": own.seed}
    result = BenchResult.of(found, missing, **facts)
    return result if out is None else result.with_report(report(result), Path(out))


def _contenders(
    named: Sequence[Model], context: int, views: Sequence[str], seed: int
) -> tuple[dict[str, LoadedDetector], dict[str, Recipe], list[str]]:
    """Trained detectors; kinds that learn anew, by name; specs of chat models. context, views: what kinds read."""
    models, kinds, judges = list[Model](), dict[str, Recipe](), list[str]()
    for one in named:
        words = str(one)
        kind, _, query = words.partition("?")
        if isinstance(one, LoadedDetector) or (local(words) / MODEL_FILE).is_file():
            models.append(one)
        elif words.startswith(JUDGE):
            judges.append(words.removeprefix(JUDGE))
        elif kind in DETECTORS:
            for view in views:
                text = TextConfig.model_validate({"context": context, "view": view})
                recipe = Recipe(kind, "", text, read_query(query), 0, seed)
                recipe.untrained().prepare()
                kinds[words if view == SAID else f"{words} ({view})"] = recipe
        elif hub_repo(words) and not Path(words).exists():
            models.append(words)
        else:
            raise UnknownName("detector", words, [*DETECTORS, "a model's folder", "judge:openai:NAME"])
    if not (models or kinds or judges):
        raise UsageError("name at least one detector: a model's folder, a kind such as tfidf, or judge:openai:NAME")
    loaded = load_all(models) if models else {}
    if both := set(loaded) & set(kinds):
        raise UsageError(f"a model and a kind are both called {min(both)!r}; rename the model's folder")
    return loaded, kinds, judges


def _control(suite: Suite) -> tuple[pl.DataFrame | None, str]:
    """The statements of the suite's ordinary conversations, or why there are none."""
    if suite.control is None:
        return None, "the suite names no control set"
    try:
        records = control_records(suite.control, suite.folder)
    except NotHad as error:
        return None, f"{suite.control.name} cannot be had here ({error})"
    return read_statements(in_memory(records, "control", {})), ""
