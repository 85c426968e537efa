"""Importing published games into a run folder that the rest of Liescope reads like one of our own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

from liescope.common.console import progress as progress_bar
from liescope.common.errors import BadData, PlanChanged
from liescope.common.model_options import OptionsModel
from liescope.games.record import GameRecord
from liescope.generate.importers.checks import problem_of
from liescope.generate.importers.fingerprint import fingerprint
from liescope.generate.importers.protocol import Imported, Importer, Rejected
from liescope.generate.importers.registry import find_importer
from liescope.generate.importers.result import REJECTED_FILE, ImportResult, ImportSummary, plain_rejection
from liescope.generate.runs.changes import check_unchanged
from liescope.generate.runs.conditions import with_settings
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.journal import Journal

MOST_REJECTED = 100_000
_FIRST = 10

StrPath = str | os.PathLike[str]


def import_games(format: str, *sources: StrPath, out: StrPath, progress: bool = False, **options: Any) -> ImportResult:
    """Import published games as a run that `build`, `fit` and `show` read like any other.

    format: a name in `IMPORTERS`; sources: the files; out: the run folder, new or begun by the same import, which then
    resumes; options: the importer's (for mini-mafia: batches, paper_names). Nothing in a source can stop the import:
    whatever cannot be read is listed, with its line and reason, in the result and in the run folder's rejected.jsonl.

    Raises UnknownName for an unknown format, UsageError for options that the format does not take, BadData if no game
    can be read, PlanChanged if the folder holds a different run, OSError if a file cannot be opened.
    """
    began = perf_counter()
    importer, paths = _importer(format, options), [Path(source) for source in sources]
    if not paths:
        raise BadData("there is nothing to import: name at least one file")
    plan = {
        "import": format,
        "importer": importer.version,
        "sources": [dict(importer.identity(path)) for path in paths],
        "options": _option_facts(importer.options),
        **asdict(importer.terms()),
        **({"game_texts": dict(texts)} if (texts := importer.game_texts()) else {}),
    }
    found = _with_a_game(_checked(importer, paths), paths)
    run = Path(out)
    with _run_folder(run, plan) as journal:
        return _keep(found, journal, format, progress, began)


def read_games(format: str, *sources: StrPath, **options: Any) -> Iterator[GameRecord | Rejected]:
    """The games of published files in order, without a run folder; whatever cannot be read comes as a rejection in its
    place.

    Raises the same errors as `import_games` for the format and options, and OSError if a file cannot be opened.
    """
    importer = _importer(format, options)
    for found in _checked(importer, [Path(source) for source in sources]):
        yield found if isinstance(found, Rejected) else found.game


def _importer(format: str, options: Mapping[str, Any]) -> Importer:
    kind = find_importer(format)
    given = {name: Path(value) if isinstance(value, os.PathLike) else value for name, value in options.items()}
    return kind(kind.Options.of(format, given))


def _checked(importer: Importer, paths: Sequence[Path]) -> Iterator[Imported | Rejected]:
    """What an importer finds, without duplicates, and only what can be kept. Reading ends after too many rejections."""
    seen: dict[str, str] = {}
    rejections = 0
    for path in paths:
        for found in importer.read(path):
            if isinstance(found, Imported):
                found = _checked_game(found, path, seen, importer.format)
            yield found
            rejections += isinstance(found, Rejected)
            if rejections >= MOST_REJECTED:
                yield Rejected(path.name, 0, "", f"{MOST_REJECTED:,} lines could not be read; the rest was left out")
                return


def _checked_game(found: Imported, path: Path, seen: dict[str, str], format: str) -> Imported | Rejected:
    game_id, where = found.game.game_id, f"line {found.line} of {path.name}"
    problem = problem_of(found.game)
    if not problem and game_id in seen:
        problem = f"the game stands on {seen[game_id]} already"
    if problem:
        return Rejected(path.name, found.line, game_id, problem)
    seen[game_id] = where
    return replace(found, game=with_settings(found.game, {"import": format}))


def _with_a_game(found: Iterator[Imported | Rejected], paths: Sequence[Path]) -> Iterator[Imported | Rejected]:
    """The same items, once a game is known to be among them. Raises BadData, before anything is written, if there is
    none.
    """
    read: list[Imported | Rejected] = []
    for item in found:
        read.append(item)
        if isinstance(item, Imported):
            return chain(read, found)
    first = next((f"line {bad.line} of {bad.file}: {bad.reason}" for bad in read if isinstance(bad, Rejected)), "")
    names = ", ".join(str(path) for path in paths)
    raise BadData(f"{names} holds no game that can be imported ({first or 'it is empty'}); nothing was written")


def _keep(
    found: Iterator[Imported | Rejected], journal: Journal, format: str, progress: bool, began: float
) -> ImportResult:
    """Write the games that are not in the folder yet, and everything that could not be read."""
    there = set(journal.game_ids())
    summary, new, rejections = ImportSummary(), 0, 0
    first: list[Rejected] = []
    with (journal.path / REJECTED_FILE).open("w", encoding="utf-8") as listed, progress_bar() as bar:
        task = bar.add_task("reading games", total=None, note="", visible=progress)
        for item in found:
            if isinstance(item, Rejected):
                rejections += 1
                first += [item] if len(first) < _FIRST else []
                listed.write(json.dumps(plain_rejection(item)) + "\n")
                continue
            summary.add(item.game)
            if item.game.game_id not in there:
                journal.add_record(item.game)
                new += 1
            if progress:
                bar.update(task, advance=1, note=f"{rejections} rejected" if rejections else "")
        if progress:
            bar.update(task, total=summary.games)
    return ImportResult(journal.path, format, summary, new, rejections, tuple(first), seconds=perf_counter() - began)


def _run_folder(out: Path, plan: dict[str, Any]) -> Journal:
    """The run folder, new or begun by the same import. Raises PlanChanged if it holds anything else."""
    if not (out / PLAN_FILE).exists():
        return Journal.create(out, plan)
    with Journal.open(out) as there:
        if "import" not in there.plan:
            raise PlanChanged(f"{out} holds a run that was played, not an import; choose another --out")
        if there.plan.get("importer") != plan["importer"]:
            raise PlanChanged(f"{out} was imported by another version of this importer; choose another --out")
        check_unchanged(_identity(there.plan), _identity(plan), out)
    return Journal.open(out, write=True)


def _identity(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What makes an import the same: the words that describe it may change."""
    return {name: plan.get(name) for name in ("import", "sources", "options")}


def _option_facts(options: OptionsModel) -> dict[str, Any]:
    """The options as plain data; a file is identified by its content."""
    facts = dict(options)
    return {name: fingerprint(value) if isinstance(value, Path) else value for name, value in facts.items()}
