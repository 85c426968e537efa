"""The published games of the Mini-Mafia paper's authors, from either form and every version of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from liescope.common.model_options import OptionsModel
from liescope.common.reading import open_regular
from liescope.games.record import GameRecord
from liescope.generate.importers.json_lines import read_objects
from liescope.generate.importers.mini_mafia.batches import Batches
from liescope.generate.importers.mini_mafia.benchmark_database import is_benchmark, read_benchmark, read_benchmark_game
from liescope.generate.importers.mini_mafia.database import MAGIC, read_database, read_database_game
from liescope.generate.importers.mini_mafia.log_game import FORMAT, LogGame, record_of
from liescope.generate.importers.mini_mafia.memories import read_log_game
from liescope.generate.importers.mini_mafia.models import paper_name
from liescope.generate.importers.protocol import Imported, Importer, Rejected, attempt


class MiniMafiaOptions(OptionsModel):
    """batches: without them, models are "unknown" unless the game itself names them."""

    batches: Path | None = Field(default=None, description="The log's batch configurations, which name the models.")
    paper_names: bool = Field(default=False, description="Name models as the paper does, not as the log does.")


class MiniMafiaImporter(Importer):
    """Logs with one JSON object per line (`.jsonl`, optionally gzipped), or a SQLite database."""

    format: ClassVar[str] = FORMAT
    reads: ClassVar[str] = "a log (.jsonl, .jsonl.gz) or a SQLite database"
    origin: ClassVar[str] = "the Mini-Mafia paper's authors, https://github.com/bastoscostadavi/llm-mafia-game"
    licence: ClassVar[str] = "The authors state no licence: for research, not to be redistributed."
    version: ClassVar[int] = 2
    Options: ClassVar[type[OptionsModel]] = MiniMafiaOptions

    def __init__(self, options: MiniMafiaOptions) -> None:
        super().__init__(options)
        self._paper_names = options.paper_names
        self._file = options.batches
        self._batches: Batches | None = None

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        with open_regular(source) as file:
            is_database = file.read(len(MAGIC)) == MAGIC
        if is_database:
            yield from self._benchmark(source) if is_benchmark(source) else self._database(source)
            return
        if self._batches is None:
            self._batches = Batches()
            if self._file is not None:
                yield from self._batches.read(self._file)
        yield from self._log(source, self._batches)

    def _log(self, source: Path, batches: Batches) -> Iterator[Imported | Rejected]:
        for line, entry in read_objects(source):
            if isinstance(entry, Rejected):
                yield entry
                continue
            game_id = entry.get("game_id")
            named = game_id if isinstance(game_id, str) else ""
            yield attempt(source.name, line, named, partial(self._from_line, entry, batches))

    def _database(self, source: Path) -> Iterator[Imported | Rejected]:
        for place, rows in read_database(source):
            if isinstance(rows, str):
                yield Rejected(source.name, place, "", rows)
                continue
            game, actions = rows
            number = game["game_id"]
            game_id = f"{source.stem}_game_{f'{number:04d}' if isinstance(number, int) else number}"
            make = partial(read_database_game, game, actions, game_id)
            yield attempt(source.name, place, game_id, partial(self._from_rows, make))

    def _benchmark(self, source: Path) -> Iterator[Imported | Rejected]:
        for place, rows in read_benchmark(source):
            if isinstance(rows, str):
                yield Rejected(source.name, place, "", rows)
            else:
                read = partial(read_benchmark_game, rows)
                yield attempt(source.name, place, str(rows.game["game_id"]), partial(self._from_rows, read))

    def _from_line(self, game: dict[str, Any], batches: Batches) -> GameRecord:
        models, meta, notes = batches.of_game(game)
        log = read_log_game(game, models, meta)
        return self._record(replace(log, notes=(*notes, *log.notes)))

    def _from_rows(self, read: Callable[[], LogGame]) -> GameRecord:
        return self._record(read())

    def _record(self, log: LogGame) -> GameRecord:
        if self._paper_names:
            log = replace(log, models={name: paper_name(model) for name, model in log.models.items()})
        return record_of(log)
