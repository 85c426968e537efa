"""Indexing in the background: the games that are there at once, their facts as they are read, new ones as they end."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from liescope.common.errors import LiescopeError, UsageError
from liescope.web.view.facts import facts_of
from liescope.web.view.opening import Opened
from liescope.web.view.store import IndexFile

_AT_ONCE = {"run": 100, "corpus": 5000}  # games whose facts are read together
_EVERY = 1.0  # seconds between two looks for new games


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the index is. listed: games that are there; indexed: those whose facts are known; problem: why it goes no
    further, "" while it does; begun: games that have begun and not ended, with their replies.
    """

    listed: int
    indexed: int
    problem: str = ""
    begun: tuple[tuple[str, int], ...] = ()

    @property
    def complete(self) -> bool:
        return self.listed == self.indexed


class Index:
    """The index of what was opened, growing in a thread of its own between `start` and `close`."""

    def __init__(self, opened: Opened) -> None:
        """Raises UsageError if the cache folder cannot be written."""
        self.opened = opened
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        scores = opened.scores.identity if opened.scores else ""
        identity = f"{opened.source.identity()}\n{scores}"
        try:
            self.store = IndexFile(identity)
        except UsageError:  # another process looks at the same games, and holds their index
            self._scratch = tempfile.TemporaryDirectory(prefix="liescope-view-")
            self.store = IndexFile(identity, Path(self._scratch.name))
        self._stop = Event()
        self._problem = ""
        self._begun: tuple[tuple[str, int], ...] = ()
        self._thread = Thread(target=self._run, name="liescope-view-index", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self.store.close()
        if self._scratch is not None:
            self._scratch.cleanup()

    def progress(self) -> Progress:
        with self.store.reading() as base:
            listed, waiting = base.execute(
                "SELECT (SELECT count(*) FROM games), (SELECT count(*) FROM games WHERE facts = 0)"
            ).fetchone()
        return Progress(listed, listed - waiting, self._problem, self._begun)

    def catch_up(self) -> None:
        """Take in every game that is there now. Raises BadData if one is damaged."""
        source = self.opened.source
        self._begun = tuple(source.begun())
        self.store.list_games(source.listed())
        while (numbers := self.store.waiting(_AT_ONCE[source.kind])) and not self._stop.is_set():
            games, statements = source.tables(list(numbers))
            there = set(games["game_id"])
            ids = {game_id: number for number, game_id in numbers.items() if game_id in there}
            self.store.add(facts_of(games, statements, self.opened.scores), ids)
            if len(ids) < len(numbers):  # a failed game is being played again
                self.store.list_games(source.listed())

    def _run(self) -> None:
        seen: Hashable = ()
        while not self._stop.is_set():
            try:
                now = self.opened.source.version()
                if now != seen:
                    self.catch_up()
                    seen = now
                self._problem = ""
            except LiescopeError as error:
                self._problem = str(error)
            except (sqlite3.Error, OSError) as error:
                self._problem = f"the index in {self.store.path.parent} cannot be written ({error})"
            self._stop.wait(_EVERY)
