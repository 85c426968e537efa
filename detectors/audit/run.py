"""The audit of a corpus: what a detector could exploit in it without detecting deception."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.audit.bench import SCHEMES
from liescope.detectors.audit.data import read_audited
from liescope.detectors.audit.marks import read_marks
from liescope.detectors.audit.result import SHUFFLES, AuditPlan, AuditResult
from liescope.detectors.evaluation.bootstrap import DRAWS
from liescope.detectors.examples import corpus_name, target_column
from liescope.detectors.progress import shown
from liescope.detectors.protocol import MAX_SEED
from liescope.generate.corpus import as_corpus, check


def audit(
    corpus: str | os.PathLike[str],
    *,
    target: str = "role",
    split: str = "both",
    shuffles: int = SHUFFLES,
    draws: int = DRAWS,
    seed: int = 0,
    marks: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> AuditResult:
    """What a detector could exploit in a corpus without detecting deception: shortcuts, leaks between splits, gaps.

    corpus: a corpus folder, a corpus on the Hub ("USER/NAME"), or a run's folder; target: the label; split:
    "out-of-fold" (five folds by game over the whole corpus), "train-test" (the corpus's own), or "both"; shuffles: how
    often labels are dealt to other games, at least 20; draws: resamples of games for the 95% intervals; marks: a file
    that `view` wrote, with what people think of labels; out: a folder for the report.

    Raises UnknownName for a target or split, BadData for a damaged corpus, and UsageError for a corpus that lacks
    labels of both classes, fewer than 20 shuffles, or an `out` that contains something else.

    Example:
        >>> for found in liescope.audit("corpus/mini").findings:
        ...     print(found.severity, found.sentence)
    """
    target_column(target)
    if split not in SCHEMES:
        raise UnknownName("split", split, SCHEMES)
    if shuffles < SHUFFLES:
        raise UsageError(f"--shuffles must be {SHUFFLES} or more, not {shuffles}")
    if draws < 10:
        raise UsageError(f"--draws must be 10 or more, not {draws}")
    if not 0 <= seed <= MAX_SEED:
        raise UsageError(f"--seed must be from 0 to {MAX_SEED}, not {seed}")
    if out is not None:
        from liescope.detectors.audit.report import check_report_folder

        check_report_folder(Path(out))
    people = () if marks is None else read_marks(Path(marks))
    plan = AuditPlan(target, split, shuffles, draws, seed, "" if marks is None else os.fspath(marks))
    from liescope.detectors.audit.checks import check_all

    with shown(progress) as show, as_corpus(corpus) as folder:
        check(folder)
        result = check_all(read_audited(folder, target), corpus_name(corpus), plan, show, people)
    if out is None:
        return result
    from liescope.detectors.audit.report import write_report

    return replace(result, files=tuple(write_report(Path(out), result)))
