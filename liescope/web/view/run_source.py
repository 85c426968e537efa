"""The games of a run, also while another process plays it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.text import plain
from liescope.games.core import Game
from liescope.games.record import GameRecord, Source, record
from liescope.generate.corpus.open import tables_of
from liescope.generate.runs.folder import JOURNAL_FILE, read_head
from liescope.generate.runs.job import JudgePlan
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import number_in
from liescope.generate.runs.moment import ForkPlan
from liescope.generate.runs.rebuild import CallPrompt, batch_of, can_rebuild, planned_game, prompt_of_call, rebuild
from liescope.labeling.label import label_game
from liescope.web.view.sources import ViewedGame

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
        return fork.cast(fork.planned(number_in(game_id) or 0))
    plan, planned = planned_game(journal, game_id)
    return plan.seats(planned, game.roles)
