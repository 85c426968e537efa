"""Runs to a corpus folder: stream the games, label them, write Parquet, count, write card and croissant.json."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from liescope.common.errors import UnknownName, UsageError
from liescope.common.folders import replacing
from liescope.games.record import GameRecord
from liescope.generate.corpus.facts import CorpusFacts, count_facts
from liescope.generate.corpus.papers import write_papers
from liescope.generate.corpus.read import is_corpus
from liescope.generate.corpus.rows import game_rows
from liescope.generate.corpus.splits import split_game
from liescope.generate.corpus.write import CorpusWriter
from liescope.generate.runs.journal import Journal, read_runs

Games = Iterable[tuple[str, GameRecord, Sequence[Mapping[str, Any]]]]


def build(
    runs: Sequence[Path],
    out: Path,
    hold_out: Sequence[str] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> CorpusFacts:
    """Build the corpus folder `out` from run folders and return its facts.

    hold_out: models all of whose games go to the test split. progress is told the games packed so far. The folder
    appears when it is complete; a corpus that stands there already is replaced then. Memory does not grow with the
    runs but for the ids of the games. The same runs in the same order give the same Parquet, byte for byte.

    Raises UsageError where a game id occurs twice or `out` holds something else or cannot be written, UnknownName for
    a held-out model that plays nowhere in the runs, BadData for a run that cannot be read.
    """
    if not runs:
        raise UsageError("name at least one run folder to build a corpus from")
    if hold_out:
        _check_models(runs, hold_out)
    return pack(read_runs(runs), out, hold_out, progress)


def pack(
    games: Games,
    out: Path,
    hold_out: Sequence[str] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> CorpusFacts:
    """`build` from any stream of (run name, game, calls)."""
    built = datetime.now(UTC).date().isoformat()
    try:
        with replacing(out, "corpus", is_corpus) as folder:
            runs = _write(games, folder, frozenset(hold_out), progress)
            facts = count_facts(folder, out.resolve().name, version("liescope"), built, runs, sorted(set(hold_out)))
            write_papers(folder, facts.to_json())
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{out} cannot be written ({why}); make room for it or choose another --out") from error
    return facts


def _write(games: Games, folder: Path, hold_out: frozenset[str], progress: Callable[[int], None]) -> tuple[str, ...]:
    """Write every row of every game; returns the names of the runs, in order."""
    seen: dict[str, str] = {}
    runs: dict[str, None] = {}
    with CorpusWriter(folder) as writer:
        for run, game, calls in games:
            runs[run] = None
            if game.game_id in seen:
                raise UsageError(
                    f"game {game.game_id!r} is in {_both(seen[game.game_id], run)}, and would be counted twice; "
                    "build from runs that share no game (play with another --seed to add games)"
                )
            seen[game.game_id] = run
            split = split_game(game, hold_out)
            for config, row in game_rows(run, game, calls):
                writer.add(config, split, row)
            progress(len(seen))
    if not seen:
        raise UsageError("the runs hold no game that has ended; play some first, then build again")
    return tuple(runs)


def _both(first: str, second: str) -> str:
    return f"run {first!r} twice" if first == second else f"the runs {first!r} and {second!r}"


def _check_models(runs: Sequence[Path], hold_out: Sequence[str]) -> None:
    models: set[str] = set()
    for path in runs:
        with Journal.open(path) as journal:
            models.update(seat.model for game in journal.records() for seat in game.seats)
    for name in hold_out:
        if name not in models:
            raise UnknownName("model", name, models)
