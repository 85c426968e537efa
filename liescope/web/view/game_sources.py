"""Where the games that are looked at come from: one protocol for runs and corpora, and what a path holds: a run, a
corpus, or a report of detectors with the games that it is about.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.reading import read_bytes
from liescope.common.text import plain
from liescope.games.core import Game
from liescope.games.record import GameRecord, Source, record
from liescope.generate.corpus import collected, read
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.open import tables_of
from liescope.generate.corpus.read import FACTS_FILE, corpus_folder, is_corpus, read_facts
from liescope.generate.corpus.records import RECORD_TABLES, record_in
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import find_game_id, number_in
from liescope.generate.runs.moment import (
    CallPrompt,
    ForkPlan,
    batch_of,
    can_rebuild,
    planned_game,
    prompt_of_call,
    rebuild,
)
from liescope.generate.runs.run_folder import JOURNAL_FILE, PLAN_FILE, read_head
from liescope.generate.runs.run_plan import JudgePlan
from liescope.labeling.label import LabelledGame, label_game
from liescope.web.view.score_table import REPORT, TABLE, Scores, ScoreTable, ShownDetector, read_scores


@dataclass(frozen=True, slots=True)
class ViewedGame:
    """One game with all that is known of it. detectors: those that the scores are of; calls: every request, with the
    columns of `CallRow`; none in a corpus without them; under_way: it has begun and not ended, so that its record has
    no outcome; has_prompts: `GameSource.prompt` can show what was asked.
    """

    record: GameRecord
    labels: LabelledGame
    scores: Scores = field(default_factory=dict)
    detectors: tuple[ShownDetector, ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()
    under_way: bool = False
    has_prompts: bool = False


class GameSource(Protocol):
    """Games to look at. Its methods may be called from any thread. name: as shown; kind: "run" or "corpus".

    Every method raises BadData if what it reads is damaged.
    """

    name: str
    path: Path
    kind: str

    def find(self, words: str) -> str:
        """The id of the game that a user means: an id, the number at its end, or the beginning of one.

        Raises UsageError if several match; UnknownName, with the nearest ids, if none does.
        """
        ...

    def game(self, game_id: str) -> ViewedGame:
        """One game, as far as it is. Raises UnknownName."""
        ...

    def prompt(self, game_id: str, step: int, seat: str) -> CallPrompt:
        """What a seat was asked at a step. Raises UsageError where no request is known."""
        ...

    def version(self) -> Hashable:
        """Changes when there may be new games."""
        ...

    def identity(self) -> str:
        """Tells these games from any others, also from those of a run or corpus that stood here before."""
        ...

    def listed(self) -> Mapping[int, str]:
        """The ids of all games that ended, by their number, which stays; nothing is read of the games themselves."""
        ...

    def tables(self, numbers: Sequence[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows of some games in the tables games and statements, without their splits."""
        ...

    def begun(self) -> Sequence[tuple[str, int]]:
        """The games that have begun and not ended, with how many replies they have."""
        ...


TABLES_SHOWN = (*RECORD_TABLES, "statements", "calls")
"""The tables that are read of a corpus."""


class CorpusSource:
    """A corpus. Its tables hold the record of each game."""

    kind = "corpus"

    def __init__(self, path: Path) -> None:
        """Raises BadData if the folder holds no corpus of this version."""
        self.path = path
        self.facts = read_facts(path)
        self.name = path.resolve().name

    def find(self, words: str) -> str:
        return find_game_id(words, self._ids, self.name)

    def game(self, game_id: str) -> ViewedGame:
        record = record_in(self.path, game_id)
        if record is None:
            raise UnknownName(f"game in {self.name}:", game_id, self._ids[:5], others=max(0, len(self._ids) - 5))
        calls = collected(read(self.path, "calls").filter(pl.col("game_id") == game_id).drop("split"), self.path)
        return ViewedGame(record, label_game(record), calls=tuple(calls.to_dicts()))

    def prompt(self, game_id: str, step: int, seat: str) -> CallPrompt:
        raise UsageError(
            f"a corpus holds replies and no prompts; game {plain(game_id)}, step {step}, {plain(seat)} can be seen in "
            "its run: liescope view runs/NAME"
        )

    def version(self) -> Hashable:
        return None

    def identity(self) -> str:
        """corpus.json holds the hash of every file."""
        return f"{self.path.resolve()} {sha256(read_bytes(self.path / FACTS_FILE)).hexdigest()}"

    def listed(self) -> Mapping[int, str]:
        return dict(enumerate(self._ids, 1))

    def tables(self, numbers: Sequence[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
        wanted = pl.col("game_id").is_in([self._ids[number - 1] for number in numbers])
        rows = (read(self.path, name).filter(wanted).drop("split") for name in ("games", "statements"))
        games, statements = (collected(rows_of, self.path) for rows_of in rows)
        return games, statements

    def begun(self) -> Sequence[tuple[str, int]]:
        return ()

    @cached_property
    def _ids(self) -> list[str]:
        """By the numbers of their runs, or else by id, and not by splits."""
        ids: list[str] = collected(read(self.path, "games").select("game_id"), self.path)["game_id"].to_list()
        return sorted(ids, key=_by_number)


def _by_number(game_id: str) -> tuple[str, int, str]:
    number = number_in(game_id)
    return game_id.rpartition("-")[0], -1 if number is None else number, game_id


_SOURCES = {"scripted": Source.SCRIPTED, "human": Source.HUMAN}  # by the kind of a player's spec; the others are models


class RunSource:
    """A run's folder. It is opened anew for each question, which takes a millisecond, so that any thread may ask."""

    kind = "run"

    def __init__(self, path: Path) -> None:
        """Raises BadData if the folder holds no run."""
        self.path = path
        with self._open() as journal:
            self.name = journal.name

    def find(self, words: str) -> str:
        with self._open() as journal:
            return journal.find(words)

    def game(self, game_id: str) -> ViewedGame:
        with self._open() as journal:
            under_way = game_id in journal.begun()
            game = _so_far(journal, game_id) if under_way else journal.record(game_id)
            calls = tuple(journal.calls(game_id))
            return ViewedGame(
                game, label_game(game), calls=calls, under_way=under_way, has_prompts=can_rebuild(journal)
            )

    def prompt(self, game_id: str, step: int, seat: str) -> CallPrompt:
        with self._open() as journal:
            return prompt_of_call(journal, game_id, step, seat)

    def version(self) -> Hashable:
        files = (self.path / f"{JOURNAL_FILE}{end}" for end in ("", "-wal"))
        return tuple((file.stat().st_mtime_ns, file.stat().st_size) if file.exists() else None for file in files)

    def identity(self) -> str:
        """The journal's inode tells a run that was played anew in the same place, the last part one from which words
        were withdrawn.
        """
        rewritten = read_head(self.path).get("rewritten", 0)
        return f"{self.path.resolve()} {(self.path / JOURNAL_FILE).stat().st_ino} {rewritten}"

    def listed(self) -> Mapping[int, str]:
        with self._open() as journal:
            return journal.numbered()

    def tables(self, numbers: Sequence[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
        with self._open() as journal:
            found = tables_of(journal.records_at(numbers), journal.name, ("games", "statements"))
        return found["games"], found["statements"]

    def begun(self) -> Sequence[tuple[str, int]]:
        with self._open() as journal:
            return sorted(journal.begun_replies().items())

    def _open(self) -> Journal:
        return Journal.open(self.path, checked=True)


def _so_far(journal: Journal, game_id: str) -> GameRecord:
    """A game that has begun, up to its last complete batch of replies."""
    if JudgePlan.KEY in journal.plan:
        raise UsageError(f"game {plain(game_id)} is being judged; it can be seen when its judge has finished")
    session = rebuild(journal, game_id)
    answers = journal.answers(game_id)
    while session.asks and all((ask.step, ask.seat) in answers for ask in session.asks):
        session.send(batch_of(session, answers, game_id))
    seats = _specs(journal, game_id, session.game)
    models = {call["seat"]: call["model"] for call in journal.calls(game_id) if call["model"]}
    players = {
        name: (models.get(name, spec), _SOURCES.get(spec.partition(":")[0], Source.MODEL))
        for name, spec in seats.items()
    }
    return record(session.game, session.outcome, players)


def _specs(journal: Journal, game_id: str, game: Game) -> Mapping[str, str]:
    """The spec of the player in each seat."""
    if ForkPlan.KEY in journal.plan:
        fork = ForkPlan.parse(journal.plan, journal.path)
        return fork.seats(fork.planned(number_in(game_id) or 0), {})
    plan, planned = planned_game(journal, game_id)
    return plan.seats(planned, game.roles)


StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Opened:
    """What is looked at. scores: laid over its games, None without any."""

    source: GameSource
    scores: ScoreTable | None = None

    def game(self, game_id: str) -> ViewedGame:
        """One game with the scores of its statements. Raises UnknownName."""
        game = self.source.game(game_id)
        return (
            game
            if self.scores is None
            else replace(game, scores=self.scores.of_game(game_id), detectors=self.scores.detectors)
        )


def open_source(path: StrPath, scores: StrPath | None = None, detectors: Sequence[str] = ()) -> Opened:
    """Open a run's folder, a corpus folder, a corpus on the Hub ("USER/NAME"), or a report of `evaluate`.

    scores: a report of `evaluate` or a file of `score` whose scores are laid over the games; detectors: those of it
    that are shown, by default all but the controls. A report is shown with the corpus or run that it names, which is
    looked for beside it and in this folder's `corpus` and `runs`.

    Raises UsageError if the path holds none of these or the report's games are not found, BadData for damaged contents,
    UnknownName for a detector without scores.
    """
    folder = Path(path)
    if _is_report(folder):
        if scores is not None:
            raise UsageError(f"{folder} is a report with scores of its own; leave --scores out, or name its corpus")
        table = read_scores(folder, detectors)
        return Opened(_games_of(folder, table.corpus), table)
    if detectors and scores is None:
        raise UsageError("--detector chooses among scores; give them with --scores REPORT")
    source = _games(str(path))
    return Opened(source, None if scores is None else read_scores(Path(scores), detectors))


def _games(path: str) -> GameSource:
    folder = Path(path)
    if (folder / PLAN_FILE).is_file():
        return RunSource(folder)
    if is_corpus(folder) or (not folder.exists() and hub_repo(path) is not None):
        return CorpusSource(corpus_folder(path, *TABLES_SHOWN))
    if not folder.exists():
        raise UsageError(f"{plain(path)} does not exist; give a run (runs/NAME), a corpus or a report of `evaluate`")
    if runs := sorted(plan.parent.name for plan in folder.glob(f"*/{PLAN_FILE}")):
        raise UsageError(f"{plain(path)} is a folder of runs; give one of them: {plain(', '.join(runs[:5]))}")
    raise BadData(
        f"{plain(path)} holds no run, no corpus and no report of `evaluate`; make one with: liescope play, import, "
        "build or evaluate"
    )


def _games_of(report: Path, name: str) -> GameSource:
    """The run or corpus that a report names."""
    last = Path(name).name
    near = report.resolve().parent
    for base in (Path(), near, near.parent):
        for folder in (base / last, base / "corpus" / last, base / "runs" / last):
            if last and ((folder / PLAN_FILE).is_file() or is_corpus(folder)):
                return _games(str(folder))
    raise UsageError(
        f"{report} is about {plain(name)!r}, which is not in corpus/ or runs/; say where it is: "
        f"liescope view CORPUS --scores {report}"
    )


def _is_report(folder: Path) -> bool:
    return (folder / REPORT).is_file() and (folder / TABLE).is_file()


def path_of(game_id: str) -> str:
    """A game's id as a path that no browser shortens: a part of dots alone, an empty one, and one with a tilde in front
    already, gets a tilde in front.
    """
    parts = game_id.split("/")
    return "/".join(f"~{part}" if part in ("", ".", "..") or part.startswith("~") else part for part in parts)


def id_of(path: str) -> str:
    """The id of which `path_of` made a path."""
    return "/".join(part.removeprefix("~") for part in path.split("/"))
