"""`transfer`: what a detector is worth on models, games, corpora and sources that it has not learned from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import UnknownName, UsageError
from liescope.common.report.files import write
from liescope.common.settings import split, takes
from liescope.common.text import Units
from liescope.detectors.detector import Progress
from liescope.detectors.detector_registry import detector_class, versions_of
from liescope.detectors.detector_settings import TransferSettings
from liescope.detectors.progress import shown
from liescope.detectors.study.metrics import WITHIN
from liescope.detectors.suite import NotHad, Suite, opened, read_suite
from liescope.detectors.textualize import TextConfig
from liescope.detectors.transfer.cell_fits import CellRecipe, Scores, Store, fit_all, settings_text, without_labels
from liescope.detectors.transfer.cells import Figures, figures
from liescope.detectors.transfer.floors import floor_scores, judge_scores
from liescope.detectors.transfer.matrix import (
    LEFT_OUT,
    PAIR,
    PROTOCOLS,
    TASK,
    UNITS,
    Fit,
    TableCorpus,
    TransferTable,
    names_of,
    plan,
    read_table,
)

CHOICES = {
    **dict.fromkeys(("by", "protocol", "unit", "detector"), pl.String),
    "learned_from": pl.Int64,
    **dict.fromkeys(("chosen", "inner_folds_leave_out", "setting"), pl.String),
    "inner_auroc": pl.Float64,
}


@dataclass(frozen=True, slots=True, repr=False)
class TransferResult:
    """What `transfer` found.

    cells: one row a figure. by: the kind of unit; protocol: "pair" (learned from `train`, tested on `test`; where they
    are the same, by cross-validation) or "left out" (learned from all games without `test`); score: the form of the
    score, and kind: online or retrospective; metric, value, lo, hi: a figure with its 95% interval, null in an empty
    cell, and why says why; statements or players, games, prevalence: of what was scored. slices: the same for parts of
    the games, of units at home and left out. headline: the worst cell off the diagonal and the mean off it, of either
    kind and by metric: "auroc_within" games, which detectors are judged by, "auroc" pooled over all, and those of
    players. choices: each setting tried, and the chosen one. scores: by, protocol, unit (learned from, or left out),
    detector, corpus, statement_id, score. players: the same after the whole game, with game_id and player. targets: by
    corpus. sources: where the words come from. units: what statements and games are called. notes: what was left out.
    files: those of the report.
    """

    cells: pl.DataFrame
    slices: pl.DataFrame
    headline: pl.DataFrame
    choices: pl.DataFrame
    scores: pl.DataFrame
    players: pl.DataFrame
    targets: Mapping[str, str]
    sources: tuple[str, ...]
    units: Units
    notes: tuple[str, ...]
    settings: Mapping[str, Any]
    files: tuple[Path, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """What `liescope transfer --json` prints, and report.json holds."""
        return {
            "settings": dict(self.settings),
            "targets": dict(self.targets),
            "sources": list(self.sources),
            "notes": list(self.notes),
            "headline": self.headline.to_dicts(),
            "cells": self.cells.to_dicts(),
            "slices": self.slices.to_dicts(),
            "choices": self.choices.to_dicts(),
        }

    def __repr__(self) -> str:
        worst = [
            f"{row['detector']} by {row['by']} {row['worst']:.3f} {row['kind']}" for row in worst_rows(self.headline)
        ]
        return (
            f"<TransferResult {', '.join(self.targets)}: worst AUROC within games {', '.join(worst) or 'not defined'}>"
        )


def worst_rows(headline: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of the headline that are within games and have a value."""
    return headline.filter(pl.col("worst").is_not_null() & (pl.col("metric") == WITHIN)).to_dicts()


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
    >>> liescope.transfer("corpus/mini", by="model").headline
    """
    own, options = split(TransferSettings, settings)
    mask_role_words, draws, seed = own["mask_role_words"], own["draws"], own["seed"]
    suite = (
        None
        if own["suite"] is None
        else read_suite(os.fspath(own["suite"]), Path(own["data"]) if own["data"] else None)
    )
    given = [corpora] if isinstance(corpora, str | os.PathLike) else list(corpora)
    if bool(given) == bool(suite):
        raise UsageError("name corpora, or a --suite in their place")
    if not by and not suite:
        raise UsageError(f"say with --by what is left out: {', '.join(UNITS)}")
    kinds, recipes = (
        _listed(by or TASK),
        _recipes(_listed(own["detector"]), own["context"], mask_role_words, seed, options),
    )
    for kind in kinds:
        if kind not in UNITS:
            raise UnknownName("unit", kind, UNITS)
    every = (LEFT_OUT,) if suite else PROTOCOLS
    only = [name.replace("-", " ") for name in _listed(own["protocols"])] or list(every)
    few = sorted(set(_numbers(own["labels"])))
    if few and (few[0] < 1 or LEFT_OUT not in only):
        raise UsageError("--labels takes numbers of games from 1, for units that are left out")
    if own["ablate"]:
        recipes = [one for recipe in recipes for one in (recipe, *_ablations(recipe))]
    for protocol in only:
        if protocol not in PROTOCOLS:
            raise UnknownName("protocol", protocol, PROTOCOLS)
    with ExitStack() as stack:
        store = None
        if out is not None:
            from liescope.detectors.transfer.transfer_report import open_report

            store = Store(stack.enter_context(open_report(Path(out))))
        show = stack.enter_context(shown(progress))
        parts, missing = _at_hand(suite, stack, show) if suite else (given, ())
        table = read_table(parts, own["target"])
        table = replace(table, notes=(*missing, *table.notes))
        for kind in kinds:
            _check_units(table, kind)
        fits = [fit for kind in kinds for fit in _planned(table, kind, seed, only, few)]
        scores = fit_all(table, fits, recipes, store, show)
        scores += without_labels(table, fits, scores)
        scores += [*floor_scores(table, fits, seed, show), *judge_scores(table, fits)]
        found = figures(table, scores, draws, seed, show)
        result = _result(table, scores, found, _settings(kinds, recipes, only, few, mask_role_words, draws, seed))
        if out is None:
            return result
        from liescope.detectors.transfer.transfer_report import report

        return replace(result, files=tuple(write(report(result), Path(out), within=True)))


def _at_hand(suite: Suite, stack: ExitStack, progress: Progress) -> tuple[list[TableCorpus], list[str]]:
    """The data sets of a suite as corpora, until the stack is closed, and why others cannot be had here."""
    found, missing = list[TableCorpus](), list[str]()
    for number, data in enumerate(suite.data):
        progress(f"data sets of {suite.name}", number, len(suite.data))
        try:
            corpus = stack.enter_context(opened(data, suite.folder)).corpus
        except NotHad as error:
            missing.append(f"{data.name} is left out: {error}")
            continue
        found.append(TableCorpus(corpus, data.name, data.target, data.family, data.learn, data.games))
    progress(f"data sets of {suite.name}", len(suite.data), len(suite.data))
    if not found:
        raise UsageError("none of the suite's data can be had here; " + "; ".join(missing))
    return found, missing


def _planned(table: TransferTable, by: str, seed: int, only: Sequence[str], labels: Sequence[int]) -> list[Fit]:
    every = plan(table, by, seed, labels)
    return [fit for fit in every if (PAIR if fit.protocol == PAIR else LEFT_OUT) in only]


def _settings(
    kinds: Sequence[str],
    recipes: Sequence[CellRecipe],
    protocols: Sequence[str],
    labels: Sequence[int],
    mask_role_words: bool,
    draws: int,
    seed: int,
) -> dict[str, Any]:
    """What report.json holds of the request."""

    def told(recipe: CellRecipe) -> dict[str, Any]:
        return {"fixed": dict(recipe.fixed), "grid": {name: list(values) for name, values in recipe.grid.items()}}

    return {
        "by": list(kinds),
        "detectors": {recipe.name: told(recipe) for recipe in recipes if not recipe.variant},
        "ablations": {recipe.name: told(recipe) for recipe in recipes if recipe.variant},
        "protocols": list(protocols),
        "labels": list(labels),
        "mask_role_words": mask_role_words,
        "draws": draws,
        "seed": seed,
    }


def _listed(given: str | Sequence[str]) -> list[str]:
    """Names, each once; several may stand in one text, separated by commas."""
    named = [given] if isinstance(given, str) else given
    return list(dict.fromkeys(name.strip() for words in named for name in words.split(",")))


def _numbers(given: str | Sequence[int]) -> list[int]:
    """Numbers of games; they may stand in one text, separated by commas."""
    try:
        return [int(number) for number in given.split(",") if number] if isinstance(given, str) else list(given)
    except ValueError as error:
        raise UsageError(f"--labels must be numbers of games, such as 30,100,300, got {given!r}") from error


def _recipes(
    kinds: Sequence[str], context: int | None, mask_role_words: bool, seed: int, options: Mapping[str, Any]
) -> list[CellRecipe]:
    """How each kind is made. An option goes to every kind that has it, and is then not chosen."""
    classes = [detector_class(kind) for kind in kinds]
    takes = {kind: set(chosen.options_type.model_fields) for kind, chosen in zip(kinds, classes, strict=True)}
    if odd := sorted(set(options) - set().union(*takes.values())):
        raise UsageError(f"none of {', '.join(kinds)} has the option --{odd[0].replace('_', '-')}")
    recipes = []
    for kind, chosen in zip(kinds, classes, strict=True):
        versions_of(kind)
        fixed = {name: value for name, value in options.items() if name in takes[kind]}
        if context is not None:
            fixed["context"] = context
        settled = {*fixed, "epochs"} if fixed.get("max_steps") else {*fixed}  # so many steps, whatever the epochs
        grid = {name: values for name, values in chosen.grid.items() if name not in settled}
        recipe = CellRecipe(chosen, TextConfig(mask_role_words=mask_role_words), fixed, grid, seed)
        made = [recipe.made(setting) for setting in recipe.settings()]
        made[0].prepare()
        recipes.append(recipe)
    return recipes


def _ablations(recipe: CellRecipe) -> list[CellRecipe]:
    """A detector that reads several fields, without each of them in turn, and without votes."""
    read = recipe.detector.options_type.model_fields
    if "fields" not in read:
        return []
    fields = str(recipe.fixed.get("fields", read["fields"].default)).split(",")
    without = {name: {"fields": ",".join(field for field in fields if field != name)} for name in fields}
    less: dict[str, dict[str, Any]] = {name: setting for name, setting in without.items() if setting["fields"]}
    if "votes" in read and recipe.fixed.get("votes", True):
        less["votes"] = {"votes": False}
    return [
        replace(recipe, variant=f" without {name}", fixed={**recipe.fixed, **setting}) for name, setting in less.items()
    ]


def _check_units(table: TransferTable, by: str) -> None:
    found = names_of(table.column(UNITS[by]))
    if len(found) < 2:
        only = f"there is only one {by}, {found[0]}" if found else "there are no statements"
        raise UsageError(f"--by {by}: {only}; give more corpora, or another unit")


def _result(
    table: TransferTable, scores: Sequence[Scores], measured: Figures, settings: Mapping[str, Any]
) -> TransferResult:
    said, seated = table.frame.select("corpus", "statement_id"), table.players.select("corpus", "game_id", "player")
    scored, judged = list[pl.DataFrame](), list[pl.DataFrame]()
    choices: list[dict[str, Any]] = []
    for part in (part for part in scores if part.is_detector):
        where = {"by": part.by, "protocol": part.protocol, "unit": part.unit, "detector": part.detector}
        names = [pl.lit(value).alias(name) for name, value in where.items()]
        for found, keys, score in ((scored, said, part.score), (judged, seated, part.players)):
            kept = keys.with_columns(score=pl.Series(score, nan_to_null=True)).drop_nulls("score")
            found.append(kept.select(*names, pl.all()))
        for choice, learned in part.choices:
            own = {
                **where,
                "learned_from": learned,
                "chosen": settings_text(choice.setting),
                "inner_folds_leave_out": choice.left_out,
            }
            tried = choice.tried or ((choice.setting, None),)
            choices += [{**own, "setting": settings_text(setting), "inner_auroc": value} for setting, value in tried]
    return TransferResult(
        *(measured.cells, measured.slices, measured.headline),
        pl.DataFrame(choices, schema=CHOICES),
        pl.concat(scored),
        pl.concat(judged),
        table.targets,
        tuple(sorted(table.frame["source"].unique())),
        table.units,
        table.notes,
        settings,
    )
