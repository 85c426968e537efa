"""Importing published games by the importer of their format, into a run that Liescope reads like one of its own."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from liescope.common.console import progress as progress_bar
from liescope.common.errors import BadData, PlanChanged, UsageError
from liescope.common.registry import Registry
from liescope.common.stores import local, stored
from liescope.common.text import look_alikes, number_of, unit_of
from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Source, Status, record_to_json
from liescope.games.record_checks import NotARecord, check_record
from liescope.generate.importers.ai_diplomacy import AiDiplomacyImporter
from liescope.generate.importers.amongus import AmongUsImporter
from liescope.generate.importers.avalon_nlu import AvalonImporter
from liescope.generate.importers.diplomacy import DiplomacyImporter
from liescope.generate.importers.importer_protocol import Imported, Importer, Rejected, fingerprint
from liescope.generate.importers.inspect_logs import InspectGamesImporter, InspectImporter, ScoutImporter
from liescope.generate.importers.jsonl_importer import JsonlImporter
from liescope.generate.importers.kaggle_werewolf import KaggleWerewolfImporter
from liescope.generate.importers.mini_mafia import MiniMafiaImporter
from liescope.generate.importers.own_data import ChatImporter, TextImporter
from liescope.generate.importers.quack import QuackImporter
from liescope.generate.importers.receipt import Receipt
from liescope.generate.importers.secret_mafia import SecretMafiaImporter
from liescope.generate.importers.table_importer import TableImporter
from liescope.generate.importers.tables import in_memory, tidied
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_folder import PLAN_FILE, check_unchanged, plan_settings, with_settings

if TYPE_CHECKING:
    import polars as pl


IMPORTERS: Registry[type[Importer]] = Registry(
    "format to import",
    "liescope.importers",
    {
        importer.format: importer
        for importer in (  # one line for each
            TextImporter,
            ChatImporter,
            InspectImporter,
            InspectGamesImporter,
            ScoutImporter,
            JsonlImporter,
            KaggleWerewolfImporter,
            AiDiplomacyImporter,
            AmongUsImporter,
            SecretMafiaImporter,
            MiniMafiaImporter,
            AvalonImporter,
            DiplomacyImporter,
            QuackImporter,
        )
    },
)


REJECTED_FILE = "rejected.jsonl"


@dataclass
class ImportSummary:
    """Counts over imported games, whatever the game. A game counts once for a role and model, however many players
    share them; winner "" means a game without a known end; left_out: by column, the cells that could not be read.
    """

    games: int = 0
    failed: int = 0
    with_a_person: int = 0
    filled_in: Counter[str] = field(default_factory=Counter)
    winners: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    played: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, game: GameRecord) -> None:
        """Count one game."""
        winner = game.outcome.winner if game.outcome else ""
        self.games += 1
        self.failed += game.status is Status.FAILED
        self.winners[winner] += 1
        self.with_a_person += any(seat.source is Source.HUMAN for seat in game.seats)
        self.filled_in.update(event.kind.value for event in game.events if event.fallback)
        self.left_out.update(game.meta.get("cells_left_out", {}))
        alike = ["speakers whose names look alike"] if look_alikes(seat.name for seat in game.seats) else []
        self.notes.update({*game.meta.get("import_notes", ()), *alike})
        self.played.update({(seat.role, seat.model, winner) for seat in game.seats})


@dataclass(frozen=True, repr=False)
class ImportResult:
    """A run folder after an import.

    run: the folder; format: of the sources; summary: counts over all games of the sources; new: the number not in the
    folder before; first_rejected: the first item that could not be read; rejections: the number of such items; seconds:
    how long the import took; receipt: what became of rows, columns and labels.
    """

    run: Path
    format: str
    summary: ImportSummary
    new: int
    rejections: int
    first_rejected: tuple[Rejected, ...]
    seconds: float
    receipt: Receipt

    @property
    def games(self) -> int:
        """The number of games in the sources that could be read."""
        return self.summary.games

    @cached_property
    def rejected(self) -> pl.DataFrame:
        """Everything that could not be read: file, line, game_id, reason. It is kept in the run folder's
        rejected.jsonl.
        """
        import polars as pl

        schema = {"file": pl.String, "line": pl.Int64, "game_id": pl.String, "reason": pl.String}
        if not self.rejections:
            return pl.DataFrame(schema=schema)
        return pl.read_ndjson(self.run / REJECTED_FILE, schema=schema)

    def to_json(self) -> dict[str, Any]:
        """The summary as plain JSON data, as `--json` prints it."""
        summary = self.summary
        return {
            "run": str(self.run),
            "format": self.format,
            "games": summary.games,
            "failed": summary.failed,
            "winners": {winner: count for winner, count in sorted(summary.winners.items()) if winner},
            "models": self._models(),
            "filled_in": {
                "silences": summary.filled_in[EventKind.SILENCE.value],
                "votes": summary.filled_in[EventKind.VOTE.value],
            },
            "games_with_a_person": summary.with_a_person,
            "notes": dict(summary.notes.most_common()),
            "left_out": dict(summary.left_out.most_common()),
            "new": self.new,
            "rejected": self.rejections,
            "seconds": round(self.seconds, 2),
            "receipt": self.receipt.to_json(),
        }

    def _models(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Role to model to the number of games and each team's wins."""
        models: dict[str, dict[str, dict[str, Any]]] = {}
        for (role, model, winner), count in sorted(self.summary.played.items()):
            entry = models.setdefault(role, {}).setdefault(model, {"games": 0, "winners": {}})
            entry["games"] += count
            if winner:
                entry["winners"][winner] = count
        return models

    def __repr__(self) -> str:
        rejected = f", {self.rejections} rejected" if self.rejections else ""
        return f"<ImportResult {self.run}: {number_of(self.games, unit_of([self.format]))} ({self.format}){rejected}>"


LARGEST = 16 << 20  # bytes of a record in JSON
LONGEST_ID = 200
LONGEST_NAME = 100


def problem_of(game: GameRecord) -> str:
    """Why a record cannot be kept; "" if it can."""
    if not game.game_id or len(game.game_id) > LONGEST_ID or not game.game_id.isprintable():
        return f"the game's id must be 1 to {LONGEST_ID} printable characters"
    for words, what in [(game.game, "game"), *((seat.name, "player") for seat in game.seats)]:
        if not words.strip() or len(words) > LONGEST_NAME or not words.isprintable():
            return f"the name of a {what} must be 1 to {LONGEST_NAME} printable characters"
    try:
        check_record(game)
        size = len(json.dumps(record_to_json(game), allow_nan=False, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return "holds characters that are no text"
    except NotARecord as error:
        return str(error)
    except (ValueError, TypeError, RecursionError) as error:
        return f"cannot be kept as plain data: {error}"
    return "" if size <= LARGEST else f"takes more than {LARGEST:,} bytes"


MOST_REJECTED = 100_000
IN_MEMORY = "rows in memory"
_FIRST = 10
_AT_ONCE = 500  # games in a commit

StrPath = str | os.PathLike[str]
Data = StrPath | Iterable[Any]
"""A file or dataset, or the rows of a table: mappings, or a frame."""


class Import:
    """Games to be imported: what a run keeps of their sources, and the games.

    Raises UnknownName for an unknown format, UsageError for options that the format does not take and for rows where it
    reads files alone.
    """

    def __init__(self, format: str, *sources: Data, **options: Any) -> None:
        kind = IMPORTERS[format]
        given = {name: Path(value) if isinstance(value, os.PathLike) else value for name, value in options.items()}
        self.importer = kind(kind.Options.of(given, format))
        self.receipt = self.importer.receipt if isinstance(self.importer, TableImporter) else Receipt(unit_of([format]))
        self.receipt.languages = self.importer.terms().languages
        self._sources = [
            local(one)
            if isinstance(one, str | os.PathLike)
            else [row for _, row in tidied(enumerate(_mappings(one))) if not isinstance(row, Rejected)]
            for one in sources
        ]
        self.names = [one if isinstance(one, Path) else Path(IN_MEMORY) for one in self._sources]
        if not isinstance(self.importer, TableImporter) and not all(isinstance(one, Path) for one in self._sources):
            raise UsageError(f"{format} reads files; rows in memory are read as text, chat or jsonl")

    def plan(self) -> dict[str, Any]:
        """What a run keeps of the sources, so that it resumes only with the same ones, and their terms. Raises BadData
        without a source, UsageError for a repeated one, OSError if one cannot be opened.
        """
        if not self._sources:
            raise BadData("there is nothing to import: name at least one file")
        identities = [dict(self._identity(one)) for one in self._sources]
        contents = [{**one, "name": ""} for one in identities]
        for place in range(len(contents)):
            if contents[place] in contents[:place]:
                raise UsageError(f"{self.names[place]} holds what another of the files holds; name it once")
        facts = dict(self.importer.options)
        texts = dict(self.importer.game_texts())
        return {
            "import": self.importer.format,
            "importer": self.importer.version,
            "sources": identities,
            "options": {name: fingerprint(one) if isinstance(one, Path) else one for name, one in facts.items()},
            **asdict(self.importer.terms()),
            **({"game_texts": texts} if texts else {}),
        }

    def games(self) -> Iterator[GameRecord | Rejected]:
        """The games in order, each id once, without those that cannot be kept; unreadable items appear in their place
        as rejections. Reading ends after too many rejections. Raises OSError if a file cannot be opened.
        """
        seen: dict[str, str] = {}
        rejections = 0
        for name, source in zip((path.name for path in self.names), self._sources, strict=True):
            for found in self._read(source):
                self.receipt.rows += 0 if isinstance(self.importer, TableImporter) else found.rows
                kept = found if isinstance(found, Rejected) else self._checked(found, name, seen)
                if isinstance(kept, Rejected):
                    rejections += 1
                    self.receipt.left_out[kept.reason] += kept.rows
                elif isinstance(found, Imported):
                    self.receipt.keeps(kept, found.rows, found.labels)
                yield kept
                if rejections >= MOST_REJECTED:
                    reason = f"{MOST_REJECTED:,} lines could not be read; the rest was left out"
                    self.receipt.left_out[reason] += self.receipt.missing
                    yield Rejected(name, 0, "", reason)
                    return

    def _identity(self, source: Path | _Table) -> Mapping[str, str]:
        if isinstance(source, Path):
            return self.importer.identity(source)
        return {"name": IN_MEMORY, "sha256": sha256(json.dumps(source, default=str).encode()).hexdigest()}

    def _read(self, source: Path | _Table) -> Iterator[Imported | Rejected]:
        if isinstance(source, Path):
            return self.importer.read(source)
        assert isinstance(self.importer, TableImporter)
        return self.importer.games(IN_MEMORY, iter(enumerate(source, 1)), on_disc=False)

    def _checked(self, found: Imported, name: str, seen: dict[str, str]) -> GameRecord | Rejected:
        game_id = found.game.game_id
        problem = problem_of(found.game)
        if not problem and game_id in seen:
            problem = f"its id stands on {seen[game_id]} already"
        if problem:
            return Rejected(name, found.line, game_id, problem, found.rows)
        seen[game_id] = f"line {found.line} of {name}"
        return with_settings(found.game, plan_settings({"import": self.importer.format}))


_Table = list[dict[str, Any]]


def _mappings(source: Any) -> Iterator[Mapping[str, Any]]:
    for row in in_memory(source):
        if not isinstance(row, Mapping):
            raise UsageError(f"rows in memory are mappings or a frame, and one is of type {type(row).__name__}")
        yield row


def read_games(format: str, *sources: Data, **options: Any) -> Iterator[GameRecord | Rejected]:
    """The games of `Import`, without a run folder. Raises as it does."""
    return Import(format, *sources, **options).games()


@stored
def import_games(format: str, *sources: Data, out: StrPath, progress: bool = False, **options: Any) -> ImportResult:
    """Import published games as a run that `build`, `fit` and `show` read like any other.

    format: a name in `IMPORTERS`; sources: files, or the rows of a table (mappings, or a frame); out: the run folder,
    new or begun by the same import, which then resumes; options: the importer's (for mini-mafia: batches, paper_names).
    Nothing in a source can stop the import: whatever cannot be read is listed, with its line and reason, in the result
    and in the run folder's rejected.jsonl.

    Raises UnknownName for an unknown format, UsageError for options that the format does not take and for a file that
    comes twice, BadData if no game can be read, PlanChanged if the folder holds a different run, OSError if a file
    cannot be opened.
    """
    began = perf_counter()
    found, run = Import(format, *sources, **options), Path(out)
    plan = found.plan()
    games = _with_a_game(found.games(), found.names, unit_of([format]))
    with _run_folder(run, plan) as journal:
        return _keep(games, journal, found, progress, began)


def _with_a_game(
    found: Iterator[GameRecord | Rejected], names: Sequence[Path], unit: str
) -> Iterator[GameRecord | Rejected]:
    """The items found, after making sure that one of them is a game. unit: what a game is called. Raises BadData,
    before anything is written, if none is.
    """
    read: list[GameRecord | Rejected] = []
    for item in found:
        read.append(item)
        if isinstance(item, GameRecord):
            return chain(read, found)
    first = next((bad for bad in read if isinstance(bad, Rejected)), Rejected("", 0, "", "it is empty"))
    line = f"line {first.line}: " if first.line else ""
    where = f"{first.file}: " if len(names) > 1 and first.file else ""
    raise BadData(f"{', '.join(map(str, names))} holds no {unit} that can be imported; {where}{line}{first.reason}")


def _keep(
    found: Iterator[GameRecord | Rejected], journal: Journal, source: Import, progress: bool, began: float
) -> ImportResult:
    """Write the games that are not in the folder yet, and everything that could not be read."""
    format, there = source.importer.format, set(journal.game_ids())
    summary, new, rejections, journal.games_at_once = ImportSummary(), 0, 0, _AT_ONCE
    first: list[Rejected] = []
    with (journal.path / REJECTED_FILE).open("w", encoding="utf-8") as listed, progress_bar() as bar:
        task = bar.add_task(f"reading {unit_of([format])}s", total=None, note="", visible=progress)
        for item in found:
            if isinstance(item, Rejected):
                rejections += 1
                first += [item] if len(first) < _FIRST else []
                line = {name: one[:500] if isinstance(one, str) else one for name, one in asdict(item).items()}
                del line["rows"]
                listed.write(json.dumps(line) + "\n")
                continue
            summary.add(item)
            if item.game_id not in there:
                journal.add_record(item)
                new += 1
            bar.update(task, advance=1, note=f"{rejections} rejected" if rejections else "")
        bar.update(task, total=summary.games)
    took = perf_counter() - began
    return ImportResult(journal.path, format, summary, new, rejections, tuple(first), took, source.receipt)


def _run_folder(out: Path, plan: dict[str, Any]) -> Journal:
    """The run folder, new or begun by the same import. Raises PlanChanged if it holds anything else."""
    if not (out / PLAN_FILE).exists():
        return Journal.create(out, plan)
    with Journal.open(out) as there:
        if "import" not in there.plan:
            raise PlanChanged(f"{out} holds a run that was played, not an import; choose another --out")
        if there.plan.get("importer") != plan["importer"]:
            raise PlanChanged(f"{out} was imported by another version of this importer; choose another --out")
        # What makes an import the same; the words that describe it may change.
        before, now = ({name: one.get(name) for name in ("import", "sources", "options")} for one in (there.plan, plan))
        check_unchanged(before, now, out)
    return Journal.open(out, write=True)
