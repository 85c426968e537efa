"""`bench`: detectors and judges on a suite of data sets, each measured as `evaluate` measures a corpus."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import UnknownName, UsageError
from liescope.common.report.files import check_report_folder
from liescope.common.settings import read_query, takes
from liescope.common.stores import local, stored
from liescope.detectors.detector import shown
from liescope.detectors.detector_registry import DETECTORS
from liescope.detectors.detector_settings import WORDS, BenchSettings
from liescope.detectors.examples import read_statements
from liescope.detectors.model_file import MODEL_FILE
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.bench_result import BenchResult, report
from liescope.detectors.study.benched import OTHER, Benching, benched
from liescope.detectors.study.beside_judges import JUDGE, judges_of
from liescope.detectors.study.study import Model, load_all
from liescope.detectors.suite import NotHad, Suite, control_records, opened, read_suite
from liescope.detectors.text_form import TextConfig, checked_view
from liescope.detectors.training import Recipe
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.open import in_memory


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
    out : str or path, optional
        A folder for the report.
    progress : bool
        Show bars on standard error.
    **settings

    Raises
    ------
    UnknownName
        For a detector that is neither a model, a kind nor a judge.
    UsageError
        For a suite that is not there, if none of its data can be had, or an `out` that holds something else.
    BadData
        For a suite with a mistake, a file of other content than the suite says, or a damaged model.
    RunPaused
        If a judge cannot be asked for now: the same call goes on.

    Examples
    --------
    >>> liescope.bench(["tfidf", "models/mine"], suite="chat", data="downloads", out="reports/bench").metrics
    """
    own = BenchSettings.of(settings)
    if unknown := sorted(set(own.leave_out) - set(OTHER)):
        raise UnknownName("part to leave out", unknown[0], list(OTHER))
    if out is not None:
        check_report_folder(Path(out), own.overwrite)
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
                text = TextConfig(context=context, view=checked_view(view))
                recipe = Recipe(kind, "", text, read_query(query), 0, seed)
                recipe.untrained().prepare()
                kinds[words if view == WORDS else f"{words} ({view})"] = recipe
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
