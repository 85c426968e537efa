"""`bench`: detectors and judges on a suite of data sets, beside what words alone do there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Unpack

import polars as pl

from liescope.benchmark.bench.bench_result import MODEL_OUT, TASK_OUT, BenchResult
from liescope.benchmark.benchmark_settings import BenchSettings
from liescope.common.errors import UnknownName, UsageError
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import resolve, takes
from liescope.detectors.examples import read_statements
from liescope.detectors.progress import shown
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.beside_judges import judges_of
from liescope.generate.corpus import pack
from liescope.generate.players.run_limits import limits_of

if TYPE_CHECKING:
    from liescope.detectors.suite import ControlSet, Suite

LEAVE_OUT = {"task": TASK_OUT, "model": MODEL_OUT}


@takes(BenchSettings)
def bench(
    detectors: Sequence[str | os.PathLike[str] | LoadedDetector] | str | os.PathLike[str] | LoadedDetector,
    *,
    suite: str | os.PathLike[str] = "chat",
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[BenchSettings],
) -> BenchResult:
    """Measure detectors on a suite of data sets, each beside what words alone do there and the judges that came with
    it.

    Trained detectors are scored as they are. They, and kinds that are named, also learn anew from each data set with
    groups, tasks and speaking models left out. Ranks count only leads that chance does not explain.

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
    >>> liescope.bench(["tfidf", "models/mine"], suite="chat", data="downloads", out="reports/bench").rows
    """
    from liescope.benchmark.bench.bench_scores import BenchPlan
    from liescope.benchmark.bench.contenders import contenders
    from liescope.benchmark.bench.measure import measure
    from liescope.detectors.suite import NotHad, opened, read_suite

    own = resolve(BenchSettings, settings)
    if unknown := sorted(set(own["leave_out"]) - set(LEAVE_OUT)):
        raise UnknownName("part to leave out", unknown[0], LEAVE_OUT)
    if out is not None:
        check_report_folder(Path(out), own["overwrite"])
    named = [detectors] if isinstance(detectors, str | os.PathLike | LoadedDetector) else list(detectors)
    who = contenders(named, own["context"], own["view"], own["seed"])
    limits = limits_of({**own, "cache": own["judge_cache"]})
    judges = judges_of(who.judges, own["judge_limit"], own["judge_prompt"], limits, own["view"])
    wanted = read_suite(os.fspath(suite), None if own["data"] is None else Path(own["data"]))
    control, no_control = _control(wanted)
    with shown(progress) as show:
        leave_out = tuple(LEAVE_OUT[name] for name in own["leave_out"])
        plan = BenchPlan(leave_out, control, judges, own["seed"])
        found, missing = [], {}
        for number, data in enumerate(wanted.data):
            show(f"data sets of {wanted.name}", number, len(wanted.data))
            try:
                with opened(data, wanted.folder) as there:
                    found.append(measure(data, there, who, plan, show))
            except NotHad as error:
                missing[data.name] = str(error)
        show(f"data sets of {wanted.name}", len(wanted.data), len(wanted.data))
    if not found:
        raise UsageError(
            "none of the suite's data can be measured here; "
            + "; ".join(f"{name}: {why}" for name, why in missing.items())
        )
    result = BenchResult(
        wanted.name,
        wanted.about,
        tuple(found),
        missing,
        wanted.control.name if wanted.control and control is not None else "",
        0 if control is None else control["game_id"].n_unique(),
        no_control,
        dict(who.sizes),
        own["seed"],
        kinds={name: model.file.kind for name, model in who.models.items()}
        | {name: recipe.kind for name, recipe in who.kinds.items()},
    )
    if out is None:
        return result
    from liescope.benchmark.bench.bench_report import report

    return replace(result, files=tuple(write(report(result), Path(out))))


def _control(suite: Suite) -> tuple[pl.DataFrame | None, str]:
    """The statements of the control set, or why there are none."""
    from liescope.detectors.suite import NotHad

    if suite.control is None:
        return None, "the suite names no control set"
    try:
        return _statements(suite.control, suite.folder), ""
    except NotHad as error:
        return None, f"{suite.control.name} cannot be had here ({error})"


def _statements(control: ControlSet, folder: Path) -> pl.DataFrame:
    from liescope.detectors.suite import control_records

    records = control_records(control, folder)
    with TemporaryDirectory(prefix="liescope-") as scratch:
        pack([("control", record, ()) for record in records], Path(scratch) / "corpus")
        return read_statements(Path(scratch) / "corpus")
