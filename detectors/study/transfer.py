"""`transfer`: what a detector is worth on models, games, corpora and sources that it has not learned from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from liescope.common.errors import UnknownName, UsageError
from liescope.common.report.files import check_report_folder
from liescope.common.settings import takes
from liescope.common.stores import stored
from liescope.detectors.detector import shown
from liescope.detectors.detector_settings import TransferSettings
from liescope.detectors.study.across import figures
from liescope.detectors.study.transfer_result import TransferResult, report, scores_of
from liescope.detectors.study.trials import LEFT_OUT, PROTOCOLS, all_scores, plan, recipes_of
from liescope.detectors.study.units import TASK, UNITS, at_hand, read_table
from liescope.detectors.suite import read_suite
from liescope.detectors.text_form import TextConfig


@takes(TransferSettings, others="options")
@stored
def transfer(
    corpora: Sequence[str | os.PathLike[str]] | str | os.PathLike[str] = (),
    *,
    by: str | Sequence[str] = (),
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
    by : str, or several
        The units: "model" (who speaks), "game" (the rules), "corpus", "source", "task" (of a conversation or text; a
        corpus where it names none). With a suite, "task" if none is given.
    out : str or path, optional
        A folder for the report.
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
    seed, suite = own.seed, None
    if own.suite is not None:
        suite = read_suite(os.fspath(own.suite), Path(own.data) if own.data else None)
    given = [corpora] if isinstance(corpora, str | os.PathLike) else list(corpora)
    if bool(given) == bool(suite):
        raise UsageError("name corpora, or a --suite in their place")
    if not by and not suite:
        raise UsageError(f"say with --by what is left out: {', '.join(UNITS)}")
    kinds = _known(by or TASK, "unit", UNITS)
    text = TextConfig(context=own.context, mask_role_words=own.mask_role_words)
    recipes = recipes_of(_known(own.detector), text, seed, options)
    asked = [name.replace("-", " ") for name in _known(own.protocols)]
    only = _known(asked or ((LEFT_OUT,) if suite else PROTOCOLS), "protocol", PROTOCOLS)
    if out is not None:
        check_report_folder(Path(out))
    with shown(progress) as show:
        parts, missing = at_hand(suite, show) if suite else (given, ())
        table = read_table(parts, own.target)
        for kind in kinds:
            if len(found := sorted(set(table.units(kind)))) < 2:
                only_one = f"there is only one {kind}, {found[0]}" if found else "there are no statements"
                raise UsageError(f"--by {kind}: {only_one}; give more corpora, or another unit")
        trials = [trial for kind in kinds for trial in plan(table, kind, seed) if trial.protocol in only]
        scores = list(all_scores(table, trials, recipes, seed, show))
        rows, places = figures(table, scores, seed, show)
    result = TransferResult(
        rows=tuple(rows),
        places=places,
        scores=scores_of(table, scores),
        targets=table.targets,
        sources=tuple(sorted(table.frame["source"].unique())),
        called=table.called,
        notes=(*missing, *table.notes),
        settings={
            "by": kinds,
            "detectors": {recipe.kind: dict(recipe.options) for recipe in recipes},
            "protocols": only,
            **{name: getattr(own, name) for name in ("context", "mask_role_words", "seed")},
        },
    )
    return result if out is None else result.with_report(report(result), Path(out))


def _known(given: str | Sequence[str], what: str = "", known: Sequence[str] | dict[str, str] = ()) -> list[str]:
    """Names, each once. known: the existing ones, to check against."""
    found = list(dict.fromkeys([given] if isinstance(given, str) else given))
    for name in found if what else ():
        if name not in known:
            raise UnknownName(what, name, known)
    return found
