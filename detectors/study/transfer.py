"""`transfer`: what a detector is worth on models, games, corpora and sources that it has not learned from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from liescope.common.errors import UnknownName, UsageError
from liescope.common.report.files import write
from liescope.common.settings import takes
from liescope.detectors.detector_settings import TransferSettings
from liescope.detectors.progress import shown
from liescope.detectors.study.across import figures
from liescope.detectors.study.corpora import TASK, UNITS, at_hand, read_table
from liescope.detectors.study.fits import beside, fit_all, folder_of_fits, recipes_of
from liescope.detectors.study.plans import LEFT_OUT, PAIR, PROTOCOLS, plan
from liescope.detectors.study.transfer_result import TransferResult, choices_of, report, scores_of
from liescope.detectors.suite import read_suite


@takes(TransferSettings, others="options")
def transfer(
    corpora: Sequence[str | os.PathLike[str]] | str | os.PathLike[str] = (),
    *,
    by: str | Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> TransferResult:
    """Train here, test there: every pair of units, and each unit left out of training.

    All splits of the corpora are used, and no statement is scored by a detector that learned from its game. What of
    `context` and the detectors' options is not given is chosen from each kind's `grid`, on inner folds that leave units
    out too.

    Parameters
    ----------
    corpora : path, or several
        Corpus folders, corpora on the Hub, or runs; none with a suite.
    by : str, or several
        The units: "model" (who speaks), "game" (the rules), "corpus", "source", "task" (of a conversation or text; a
        corpus where it names none). With a suite, "task" if none is given.
    out : str or path, optional
        A folder for the report, which also keeps the scores of each fit, so that a run that was stopped goes on there.
    progress : bool
        Show bars on standard error.
    **settings
    **options
        Those of the detectors, as `liescope transfer --help` lists them.

    Raises
    ------
    UnknownName
        For a unit, detector, target or protocol.
    UsageError
        For options, corpora that share a game, units of which there is only one, an `out` that holds something else, or
        a suite of which too little is at hand.
    BadData
        For a damaged corpus.
    MissingExtra
        If a kind needs a package that is not installed.

    Examples
    --------
    >>> liescope.transfer("corpus/mini", by="model").metrics
    """
    own, options = TransferSettings.with_rest(settings)
    seed = own.seed
    suite = None
    if own.suite is not None:
        suite = read_suite(os.fspath(own.suite), Path(own.data) if own.data else None)
    given = [corpora] if isinstance(corpora, str | os.PathLike) else list(corpora)
    if bool(given) == bool(suite):
        raise UsageError("name corpora, or a --suite in their place")
    if not by and not suite:
        raise UsageError(f"say with --by what is left out: {', '.join(UNITS)}")
    kinds = _known(by or TASK, "unit", UNITS)
    recipes = recipes_of(_known(own.detector), own.context, own.mask_role_words, seed, options)
    asked = [name.replace("-", " ") for name in _known(own.protocols)]
    only = _known(asked or ((LEFT_OUT,) if suite else PROTOCOLS), "protocol", PROTOCOLS)
    few = sorted(set(_numbers(own.labels)))
    if few and (few[0] < 1 or LEFT_OUT not in only):
        raise UsageError("--labels takes numbers of games from 1, for units that are left out")
    with shown(progress) as show:
        kept = None if out is None else folder_of_fits(Path(out))
        parts, missing = at_hand(suite, show) if suite else (given, ())
        table = read_table(parts, own.target)
        for kind in kinds:
            if len(found := sorted(set(table.units(kind)))) < 2:
                only_one = f"there is only one {kind}, {found[0]}" if found else "there are no statements"
                raise UsageError(f"--by {kind}: {only_one}; give more corpora, or another unit")
        every = [trial for kind in kinds for trial in plan(table, kind, seed, few)]
        trials = [trial for trial in every if (PAIR if trial.protocol == PAIR else LEFT_OUT) in only]
        scores = [*fit_all(table, trials, recipes, kept, show), *beside(table, trials, seed, show)]
        rows, places = figures(table, scores, seed, show)
        result = TransferResult(
            tuple(rows),
            places,
            choices_of(scores),
            scores_of(table, scores),
            table.targets,
            tuple(sorted(table.frame["source"].unique())),
            table.called,
            (*missing, *table.notes),
            {
                "by": kinds,
                "detectors": {one.detector.kind: {"fixed": one.fixed, "grid": one.grid} for one in recipes},
                "protocols": only,
                "labels": few,
                **{name: getattr(own, name) for name in ("mask_role_words", "seed")},
            },
        )
        if out is None:
            return result
        told = report(result)
        return replace(result, told=told, files=tuple(write(told, Path(out), within=True)))


def _known(given: str | Sequence[str], what: str = "", known: Sequence[str] | dict[str, str] = ()) -> list[str]:
    """Names, each once. known: those that there are, if that is checked."""
    found = list(dict.fromkeys([given] if isinstance(given, str) else given))
    for name in found if what else ():
        if name not in known:
            raise UnknownName(what, name, known)
    return found


def _numbers(given: str | Sequence[int]) -> list[int]:
    """Numbers of games; they may stand in one text, separated by commas."""
    try:
        return [int(number) for number in given.split(",") if number] if isinstance(given, str) else list(given)
    except ValueError as error:
        raise UsageError(f"--labels must be numbers of games, such as 30,100,300, got {given!r}") from error
