"""The folder of a run: its two files, the lock that keeps a second writer out, and its games' settings according to the
plan.

The settings in a plan are limited to those that can change what players do; two games with equal settings belong to
the same condition. What only measures the game (assessments, raters) is not a setting: whether a statement is rated
changes nothing that is said or voted. Showing voters their own ratings does change votes, so it is a setting.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from liescope.common.config_file import NEVER
from liescope.common.errors import BadData, PlanChanged, UsageError
from liescope.common.parts import Part
from liescope.common.reading import read_text, regular
from liescope.common.registry import check_installed
from liescope.common.text import plain
from liescope.data_cards.licences import Terms
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord
from liescope.generate.players.player_protocol import EndpointFacts
from liescope.generate.players.player_registry import PLAYERS
from liescope.labeling.conditions import IMPORTED, PROMPTS, SETTINGS, setting_words

FORMAT = 1  # of run folders
PLAN_FILE, JOURNAL_FILE = "run.json", "journal.sqlite"
LESSONS = "lessons"  # the folder of the lesson books in a run's folder
PART = "part"  # key in a plan: which share of the whole it is, as K/N


def versions(plan: Mapping[str, Any]) -> dict[str, str]:
    """The software versions that a run was made with, including packages that bring its game or players."""
    found = {"python": platform.python_version()}
    specs = (str(spec).partition(":")[0] for cell in plan.get("cells", ()) for spec in cell)
    others = {GAMES.package_of(str(plan.get("game", ""))), *map(PLAYERS.package_of, specs)}
    for package in ("liescope", "openai", "pydantic", *sorted(others - {""})):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


@contextmanager
def guard(path: Path) -> Iterator[None]:
    """Turn faults in the disk, the database and its contents into errors that say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _plain(path, error) from error
    except (KeyError, ValueError, TypeError) as error:
        raise BadData(f"{path / JOURNAL_FILE} holds what is not a game or reply of this format: {error}") from error
    except OSError as error:
        why = f"{error.strerror}; check its permissions and the space that is left"
        raise UsageError(f"{path} cannot be read or written: {why}") from error


def _plain(path: Path, error: sqlite3.Error) -> UsageError:
    name = getattr(error, "sqlite_errorname", "") or ""
    file = path / JOURNAL_FILE
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return UsageError(f"{file} cannot grow ({error}); free some space and run the same command again")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return UsageError(f"{file} cannot be opened or written ({error}); check its permissions")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return UsageError(f"{file} is busy: another process holds it; try again when that has ended")
    if name.startswith("SQLITE_CONSTRAINT"):
        return BadData(f"{path} holds this game or reply already ({error})")
    return BadData(f"{file} is damaged or cut off ({error}); restore it from a copy, or play the run anew elsewhere")


def connect(path: Path, write: bool) -> sqlite3.Connection:
    """The journal's database; created if it is missing and `write` is set."""
    file = path / JOURNAL_FILE
    for beside in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            regular(file.with_name(f"{file.name}{beside}"))
    base = sqlite3.connect(file.resolve().as_uri() + ("?mode=rwc" if write else "?mode=rw"), uri=True, timeout=10)
    if write:
        base.execute("PRAGMA journal_mode = WAL")
        # with this log, only a power cut can lose commits, not a killed process
        base.execute("PRAGMA synchronous = NORMAL")
        return base
    try:
        base.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        # A folder that this user may not write to: still readable, unless a killed writer left its log there.
        base.close()
        leftover = file.with_name(f"{JOURNAL_FILE}-wal")
        if leftover.exists() and leftover.stat().st_size:
            raise
        base = sqlite3.connect(file.resolve().as_uri() + "?mode=ro&immutable=1", uri=True)
    return base


def check_whole(path: Path, base: sqlite3.Connection, checked: bool = False) -> None:
    """Raises BadData if the database is damaged (a check of every page, skipped if it was `checked` before), shorter
    than its header says, or in another format.
    """
    file = path / JOURNAL_FILE
    (number,) = one(base, "PRAGMA user_version")
    if number != FORMAT:
        raise BadData(f"{file} has format {number}; this version of Liescope reads {FORMAT}")
    (pages,), (size,) = one(base, "PRAGMA page_count"), one(base, "PRAGMA page_size")
    wal = path / f"{JOURNAL_FILE}-wal"
    if not (wal.exists() and wal.stat().st_size) and file.stat().st_size < pages * size:
        raise BadData(f"{file} is cut off; restore it from a copy, or play the run anew elsewhere")
    (found,) = ("ok",) if checked else one(base, "PRAGMA integrity_check(1)")
    if found != "ok":
        words = " ".join(str(found).split())
        raise BadData(f"{file} is damaged ({words}); restore it from a copy, or play the run anew elsewhere")


def one(base: sqlite3.Connection, query: str) -> tuple[Any, ...]:
    """The first row of a query that always has one."""
    row: tuple[Any, ...] = base.execute(query).fetchone()
    return row


@dataclass(slots=True)
class RunHead:
    """What run.json holds. endpoints: what the run has found out about them, left out if empty."""

    format: int
    versions: dict[str, str]
    plan: dict[str, Any]
    endpoints: tuple[EndpointFacts, ...] = ()


_HEAD = TypeAdapter(RunHead)


def read_head(path: Path) -> RunHead:
    """What run.json holds. Raises BadData if the folder does not hold a complete run."""
    file = path / PLAN_FILE
    try:
        told = json.loads(read_text(file))
    except NotADirectoryError:
        raise BadData(f"{path} is a file, and a run is a folder with {PLAN_FILE} in it; leave it out") from None
    except FileNotFoundError:
        below = sorted(found.parent for found in path.glob(f"*/{PLAN_FILE}"))
        advice = f"folders in it do: name {below[0]}, for one" if below else "`liescope play` makes one"
        raise BadData(f"{path} holds no run ({PLAN_FILE} is missing); {advice}") from None
    except (ValueError, RecursionError, OSError) as error:
        raise BadData(f"{file} cannot be read ({error}); restore it from a copy") from error
    if isinstance(told, dict) and (number := told.get("format")) != FORMAT:
        raise BadData(f"{file} has format {number!r}; this version of Liescope reads {FORMAT}")
    try:
        head = _HEAD.validate_python({"versions": {}, **told} if isinstance(told, dict) else told)
        Part.read(head.plan.get(PART, "1/1"))
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "its beginning"
        raise BadData(f"{file} is damaged at {place}; restore it from a copy") from None
    except (UsageError, TypeError):
        raise BadData(f"{file} is damaged at {PART}; restore it from a copy") from None
    check_installed((name for name in head.versions if name != "python"), f"the run {path}")
    if not (path / JOURNAL_FILE).is_file():
        raise BadData(f"{path} has lost its {JOURNAL_FILE}; restore it from a copy, or play the run anew elsewhere")
    return head


def write_head(path: Path, head: RunHead) -> None:
    """Write run.json."""
    kept = _HEAD.dump_python(head, mode="json")
    if not kept["endpoints"]:
        del kept["endpoints"]
    write_whole(path / PLAN_FILE, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def write_whole(file: Path, text: str) -> None:
    """Write a file atomically: it is either complete or absent."""
    draft = file.with_suffix(".tmp")
    with draft.open("w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(file)


def numbers_of(cells: int, games: int, part: str = "", whole: bool = False) -> Sequence[int]:
    """The numbers of the games of a plan, or of a part of it, in order. games: of each cell; whole: whether the games
    of a cell must not be parted, because somebody learns between them.
    """
    if not part:
        return range(cells * games)
    share = Part.read(part).share
    return [n for n in range(cells * games) if n % cells in share(cells)] if whole else share(cells * games)


def run_name(path: Path, plan: Mapping[str, Any]) -> str:
    """The name of a run: its folder's. For a part, without the part's number at the end, so that all parts of a run
    share one name: runs/big-1 and runs/big-2 are "big", and so are runs/big/1 and runs/big/2.
    """
    folder = path.resolve()
    if PART not in plan:
        return folder.name
    number = Part.read(plan[PART]).number
    return re.sub(rf"[\s._-]*0*{number}$", "", folder.name) or folder.parent.name


_SHOWN = 8  # differences
_LONGEST = 60  # characters of a value that is shown in full
_AROUND = 20  # characters shown before the first difference of two longer values
_FOLLOWS = {  # the settings that each derived setting depends on; a change in these explains a change in it
    "cells": ("players", "design", "learning", "options"),
    "learning": ("players", "design"),
    "templates": ("prompts",),
    "origin": ("judged",),
}


def check_unchanged(old: Mapping[str, Any], new: Mapping[str, Any], where: Path) -> None:
    """Raise PlanChanged, naming the differences, if a run folder holds a different plan. Both are plain JSON data.

    A setting derived from others is left out if one of those differs.
    """
    if changes := plan_changes(old, new):
        options = "option" if len(changes) == 1 else "options"
        raise PlanChanged(
            f"{where} holds a run with another plan (in the folder -> asked for now): {'; '.join(changes)}. Give the "
            f"old {options} to go on with it, or another --out for a new run"
        )


def plan_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """How two plans differ, in words: each setting that does, or the first of many."""
    found = list(_differences(old, new))
    changed = {name.partition(".")[0] for name, _, _ in found}
    changes = [
        f"{plain(name)} {' -> '.join(_shown(before, after))}"
        for name, before, after in found
        if changed.isdisjoint(_FOLLOWS.get(name, ()))
    ]
    more = [f"and {len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
    return changes[:_SHOWN] + more


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _differences(before, after, f"{prefix}{name}.")
        elif before != after:
            yield f"{prefix}{name}", before, after


def _shown(before: Any, after: Any) -> tuple[str, str]:
    """Two values that differ, each cut to a window around the first difference."""
    one, other = (plain(json.dumps(value, ensure_ascii=False)) for value in (before, after))
    alike = len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])
    skipped = max(0, alike - _AROUND) if max(len(one), len(other)) > _LONGEST else 0
    return _window(one, skipped), _window(other, skipped)


def _window(text: str, start: int) -> str:
    shown = text[start : start + _LONGEST]
    return f"{'…' if start else ''}{shown}{'…' if start + _LONGEST < len(text) else ''}"


SPARED = "spared"  # the setting that names whom a scripted night kills last
MEASURING = frozenset({"assess", "assess_share", "second_order"})


def plan_settings(plan: Mapping[str, Any]) -> dict[str, str]:
    """The settings in a run's plan, by name; empty if it has none. Of an imported run, its format."""
    if "import" in plan:
        return {IMPORTED: str(plan["import"])}
    options = plan.get("options")
    if not isinstance(options, Mapping):
        return {}
    found = {str(name): setting_words(value) for name, value in options.items() if name not in MEASURING}
    if spared := options.get(SPARED):  # only how many: who they are changes nothing
        found[SPARED] = setting_words(len(spared))
    if names := plan.get("names"):
        told = sha256(json.dumps(names, sort_keys=True).encode()).hexdigest()[:8]
        found["names"] = f"{len(names)} from a file ({', '.join(names[0])}; {told})"
    for name in ("prompts", PROMPTS, "seating", "lessons"):
        if name in plan:
            found[name] = setting_words(plan[name])
    return found


def with_settings(record: GameRecord, settings: Mapping[str, str]) -> GameRecord:
    """The record with the settings of its run, or with its own if it has any (a rated game's are those it was played
    with; an importer may know more than the plan).
    """
    if SETTINGS in record.meta or not settings:
        return record
    if version := record.meta.get("prompt_version"):
        settings = {**settings, PROMPTS: str(version)}
    return replace(record, meta={**record.meta, SETTINGS: settings})


def labels(kinds: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
    """A name for the condition of each kind of game, such as "rounds 8, prompts full": the fewest settings that
    distinguish all kinds with the same rules; "" for all if there is only one of each.

    kinds: (game, settings), each once.
    """
    names = list(dict.fromkeys(name for _, settings in kinds for name in settings))
    parted = len({game for game, _ in kinds})
    telling: list[str] = []
    for name in names:
        groups = len({(game, *(settings.get(key) for key in (*telling, name))) for game, settings in kinds})
        if groups > parted:
            telling.append(name)
            parted = groups
    return [
        ", ".join(f"{name.replace('_', ' ')} {settings[name] or 'none'}" for name in telling if name in settings)
        for _, settings in kinds
    ]


TERMS, TEXTS = "terms", "game_texts"


def plan_terms(plan: Mapping[str, Any]) -> dict[str, Terms]:
    """The terms of each format that a run's games were imported from; none for games that were played here."""
    given = {str(plan["import"]): plan} if "import" in plan else plan.get(TERMS)
    return {str(name): stated_terms(facts) for name, facts in given.items()} if isinstance(given, Mapping) else {}


def stated_terms(facts: Any) -> Terms:
    """Anything not clearly stated counts as not allowed."""
    facts = facts if isinstance(facts, Mapping) else {}
    origin, licence, name, means = (str(facts.get(key) or "") for key in ("origin", "licence", "licence_id", "means"))
    told = facts.get("languages")
    languages = tuple(str(one) for one in told) if isinstance(told, list | tuple) else ()
    shared = facts.get("redistributable") is True
    return Terms(origin or "not stated", licence or "None is stated.", name, shared, means, languages)


def plan_texts(plan: Mapping[str, Any]) -> dict[str, str]:
    """The card's sentences about a run's games that Liescope cannot play, by name."""
    texts = plan.get(TEXTS)
    return {str(name): str(text) for name, text in texts.items()} if isinstance(texts, Mapping) else {}


def handed_on(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What a run made from this one keeps in its plan, so that no words lose their terms on the way."""
    terms = {name: asdict(given) for name, given in plan_terms(plan).items()}
    return {name: value for name, value in ((TERMS, terms), (TEXTS, plan_texts(plan))) if value}


def folder_beside(run: Path, out: str | os.PathLike[str] | None, *words: str) -> Path:
    """The folder of games made from a run: the one given, else next to the run, named after it and these words. Raises
    UsageError for that of the run itself.
    """
    folder = run.with_name("-".join(filter(None, (run.resolve().name, *words)))) if out is None else Path(out)
    if folder.resolve() == run.resolve():
        raise UsageError("games made from a run need a folder of their own; choose another --out")
    return folder


CONFIG_FILE = "run.toml"


@dataclass(slots=True)
class RunConfig:
    """The options given to a command. options: None and empty ones are not written."""

    command: str
    options: Mapping[str, Any]
    _written: bool = field(default=False, init=False)

    def write(self, folder: Path) -> None:
        """Write the file into a run folder, once."""
        if self._written:
            return
        file = folder / CONFIG_FILE
        kept = {
            name: value for name, value in self.options.items() if name not in NEVER and value not in (None, (), [], "")
        }
        lines = [f"# Go on with this run: liescope {self.command} --config {file}", f"[{self.command}]"]
        lines += [f"{name} = {_toml(value)}" for name, value in kept.items()]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._written = True


def _toml(value: Any) -> str:
    """A value as TOML. JSON is valid TOML except for null, objects and the character DEL."""
    return json.dumps(value, ensure_ascii=False, default=str).replace("\x7f", "\\u007f")
