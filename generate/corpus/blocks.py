"""Blocks of games, each labelled by one of several processes and written in the order of the runs.

A process reads its games from the run's journal and answers with Arrow tables, so that the one that writes has little
to do for a row. The files are those that a single process writes, byte for byte.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import IO, Any

import pyarrow as pa

from liescope.common.errors import LiescopeError, UsageError
from liescope.common.leaks import without_addresses
from liescope.data_cards.tables import TABLES, CallRow
from liescope.games.record import GameRecord
from liescope.games.withdrawal import withdrawn_from
from liescope.generate.corpus.read import split_game
from liescope.generate.corpus.write import chars_of, row_arrays
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.shards.worker import describe_error, make_error
from liescope.labeling.record_rows import game_tables

GAMES = 128  # in a block
_AHEAD = 3  # blocks for each process that are labelled or wait to be written
_CALL: Callable[[Mapping[str, Any]], tuple[Any, ...]] = itemgetter(*TABLES["calls"].columns[:-1])


@dataclass(frozen=True, slots=True)
class LabelTask:
    """What is asked for all games. hold_out, transcript: as in `build`; siblings: as in `split_game`."""

    hold_out: frozenset[str] = frozenset()
    siblings: frozenset[str] = frozenset()
    transcript: bool = False

    def to_json(self) -> list[Any]:
        return [sorted(self.hold_out), sorted(self.siblings), self.transcript]

    @classmethod
    def from_json(cls, data: list[Any]) -> LabelTask:
        return cls(frozenset(data[0]), frozenset(data[1]), data[2])


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring games of a run. run: its folder; first, last: places of games in the run."""

    run: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Heading:
    """What is counted of a game. official: its publishers gave its split; withdrawn: statements that their speakers
    withdrew.
    """

    run: str
    game_id: str
    game: str
    official: bool
    withdrawn: int = 0


@dataclass(frozen=True, slots=True)
class LabelledBlock:
    """A labelled block. tables: by config and split, every declared column but the split; the last one, named "", has
    the lengths of the rows' texts.
    """

    games: tuple[Heading, ...]
    tables: Mapping[tuple[str, str], pa.Table]


def heading(run: str, game: GameRecord) -> Heading:
    return Heading(run, game.game_id, game.game, "split" in game.meta, sum(withdrawn_from(game).values()))


def labelled_rows(
    run: str, game: GameRecord, calls: Iterable[Mapping[str, Any]], transcript: bool
) -> Iterator[tuple[str, Any]]:
    """The (config, row) pairs of a game."""
    yield from game_tables(game, run, transcript)
    for call in calls:
        yield "calls", CallRow(*_CALL({**call, "problem": without_addresses(call["problem"])}))


def blocks_of(runs: Iterable[Path]) -> Iterator[Block]:
    """All games of the runs, in order."""
    for run in runs:
        with Journal.open(run, checked=True) as journal:
            for first, last in journal.spans(GAMES):
                yield Block(str(run), first, last)


def label_block(block: Block, asked: LabelTask) -> LabelledBlock:
    """Raises BadData for a game that cannot be read, UsageError as `split_game` does."""
    rows: dict[tuple[str, str], list[Any]] = {}
    games = []
    with Journal.open(Path(block.run), checked=True) as journal:
        for game in journal.records(block.first, block.last):
            games.append(heading(journal.name, game))
            split = split_game(game, asked.hold_out, asked.siblings)
            for config, row in labelled_rows(journal.name, game, journal.calls(game.game_id), asked.transcript):
                rows.setdefault((config, split), []).append(row)
    return LabelledBlock(tuple(games), {place: _table(place[0], of) for place, of in rows.items()})


def _table(config: str, rows: list[Any]) -> pa.Table:
    table = TABLES[config]
    names = [field.name for field in table.fields[:-1]]
    return pa.Table.from_arrays([*row_arrays(rows, table), pa.array(map(chars_of(table), rows))], [*names, ""])


class Labellers:
    """Processes that label blocks; a context manager."""

    def __init__(self, workers: int, asked: LabelTask) -> None:
        self._asked = asked
        self._stack = ExitStack()
        self._free: SimpleQueue[_Process] = SimpleQueue()
        self._workers = workers

    def __enter__(self) -> Labellers:
        for _ in range(self._workers):
            self._free.put(self._stack.enter_context(_Process(self._asked)))
        self._threads = self._stack.enter_context(ThreadPoolExecutor(self._workers))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._stack.close()

    def label(self, blocks: Iterable[Block]) -> Iterator[LabelledBlock]:
        """The blocks, labelled, in their order; a few are ahead of the one that is asked for."""
        waiting: deque[Future[LabelledBlock]] = deque()
        for block in blocks:
            waiting.append(self._threads.submit(self._label, block))
            if len(waiting) >= _AHEAD * self._workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _label(self, block: Block) -> LabelledBlock:
        process = self._free.get()
        try:
            return process.label(block)
        finally:
            self._free.put(process)


class _Process:
    """One process with `labeller` in it."""

    def __init__(self, asked: LabelTask) -> None:
        self._first = json.dumps(asked.to_json()).encode() + b"\n"

    def __enter__(self) -> _Process:
        paths = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "liescope.generate.corpus.labeller"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the one that writes
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def label(self, block: Block) -> LabelledBlock:
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answered is not None
        try:
            asked.write(self._first + json.dumps(astuple(block)).encode() + b"\n")
            self._first = b""
            asked.flush()
            head = json.loads(answered.readline() or b"null")
        except BrokenPipeError:
            head = None
        if head is None:
            raise UsageError(f"a process that labels games of {block.run} died; is there enough memory for --workers?")
        if "error" in head:
            raise make_error(head["error"])
        tables = {(config, split): _read(answered, size) for config, split, size in head["tables"]}
        return LabelledBlock(tuple(Heading(*game) for game in head["games"]), tables)


def _read(stream: IO[bytes], size: int) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(stream.read(size))) as reader:
        return reader.read_all()


def answer(block: Block, asked: LabelTask) -> Iterator[bytes]:
    """A labelled block, or what is wrong with it, as `_Process.label` reads it."""
    try:
        labelled = label_block(block, asked)
    except LiescopeError as error:
        yield json.dumps({"error": describe_error(error)}).encode() + b"\n"
        return
    buffers = []
    for table in labelled.tables.values():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        buffers.append(sink.getvalue())
    places = [(*place, buffer.size) for place, buffer in zip(labelled.tables, buffers, strict=True)]
    yield json.dumps({"games": list(map(astuple, labelled.games)), "tables": places}).encode() + b"\n"
    for buffer in buffers:
        yield buffer.to_pybytes()
