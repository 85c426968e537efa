"""Jobs in parts as tasks on a Ray cluster: `play`, `label`, `build` and `score` over many cores or machines.

    folders = liescope.parallel.play("mini-mafia", games=1000, parts=8, out="runs/big")
    liescope.parallel.build(folders, out="corpus/big")

The cluster is the one at RAY_ADDRESS, or one on this machine. Its nodes need Liescope in one version, the same files
under the same paths, and keys in their environment: none goes through Ray. Ray restarts a task whose process or node
dies, up to `retries` times; a part continues from its journal.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from liescope.common.errors import LiescopeError, MissingExtra, UsageError
from liescope.common.text import plain
from liescope.detectors.scoring import ScoredFile, score_file, score_writer
from liescope.generate.corpus.build import BuildSettings, CorpusResult, CorpusWanted, corpus_wanted
from liescope.generate.corpus.write import copy_games
from liescope.generate.runs import play as runs
from liescope.generate.runs import rating
from liescope.generate.runs.journal import Journal, read_runs


def play(game: str, *, out: str, parts: int, retries: int = 3, **settings: Any) -> list[Path]:
    """`liescope.play` in so many parts, in the folders OUT-1, OUT-2 …, which are returned. Each part has a budget of
    its own. Raises UsageError with the reason if a part stops early; the others still finish.
    """
    return _in_parts(runs.play, (game,), out, parts, retries, settings)


def label(run: str, judge: str | None = None, *, out: str, parts: int, retries: int = 3, **settings: Any) -> list[Path]:
    """`liescope.label` in so many parts, as OUT-1, OUT-2 …; as `play`."""
    return _in_parts(rating.label, (run, judge), out, parts, retries, settings)


def build(sources: Sequence[str | Path], *, out: str, retries: int = 3, **settings: Any) -> CorpusResult:
    """`liescope.build` with a task for each folder, whose corpora are then joined: the same tables. (Where somebody
    learns, games stand part after part.)
    """
    wanted = corpus_wanted(sources, Path(out), BuildSettings.of(settings))
    folders = [folder for run in wanted.runs for folder in ([run] if isinstance(run, Path) else run)]
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".parts-", dir=Path(out).parent) as scratch:
        jobs = [partial(_build, wanted, folder, Path(scratch, str(number))) for number, folder in enumerate(folders)]
        corpora = list(filter(None, _on_cluster(jobs, retries)))
        return wanted.built(lambda writer: copy_games(corpora, writer))


def score(
    model: str, statements: str, *, out: str, parts: int, overwrite: bool = False, retries: int = 3, **how: Any
) -> ScoredFile:
    """`liescope.score_file` in so many parts, whose scores are then joined in one file."""
    with (
        score_writer(Path(out), overwrite) as write,
        TemporaryDirectory(prefix=".parts-", dir=Path(out).parent) as scratch,
    ):
        files = [Path(scratch, f"{number}.parquet") for number in range(1, parts + 1)]
        of_part = partial(score_file, model, statements, overwrite=True, **how)
        jobs = [partial(of_part, out=file, part=f"{number}/{parts}") for number, file in enumerate(files, 1)]
        found: list[ScoredFile] = _on_cluster(jobs, retries)
        for file in files:
            write(pl.read_parquet(file))
    counts = {name: sum(getattr(one, name) for one in found) for name in ("statements", "scored", "seconds")}
    notes = tuple(dict.fromkeys(note for one in found for note in one.notes))
    return replace(found[0], out=Path(out), notes=notes, **counts)


def _in_parts(
    work: Callable[..., Any], given: Sequence[Any], out: str, parts: int, retries: int, settings: dict[str, Any]
) -> list[Path]:
    folders = [Path(f"{out}-{number}") for number in range(1, parts + 1)]
    jobs = [
        partial(_run, partial(work, *given, out=folder, part=f"{number}/{parts}", **settings), folder)
        for number, folder in enumerate(folders, 1)
    ]
    _on_cluster(jobs, retries)
    return folders


def _run(work: Callable[[], runs.RunResult], folder: Path) -> None:
    if (stop := work().tally.stop) is not None:
        raise UsageError(f"{folder} has stopped: {stop}")


def _build(wanted: CorpusWanted, folder: Path, corpus: Path) -> Path | None:
    with Journal.open(folder) as journal:
        if not journal.counts():
            return None
    replace(wanted, out=corpus).made_of(read_runs([folder]))
    return corpus


def _on_cluster(jobs: Sequence[Callable[[], Any]], retries: int) -> list[Any]:
    """What each job returns, once all have ended. Raises MissingExtra, UsageError."""
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "ray") from None
    connected = not ray.is_initialized() and _connect(os.environ.get("RAY_ADDRESS", "auto"))
    task = ray.remote(_task).options(max_retries=retries)
    tasks = [task.remote(Path.cwd(), job) for job in jobs]
    try:
        ray.wait(tasks, num_returns=len(tasks), fetch_local=False)
        found = ray.get(tasks)
    finally:
        for one in tasks:
            ray.cancel(one)  # tasks that have not ended
        if connected:
            ray.shutdown()
    for _, problem in found:
        if problem:
            raise UsageError(problem)
    return [result for result, _ in found]


def _task(folder: Path, job: Callable[[], Any]) -> tuple[Any, str]:
    """What the job returns, or why it could not be done. folder: where relative paths start."""
    with chdir(folder):
        try:
            return job(), ""
        except LiescopeError as error:
            return None, str(error)


def _connect(address: str) -> bool:
    """Connect with a cluster. Raises UsageError if none is there; Ray itself would try for minutes."""
    import ray

    host, _, port = address.rpartition("//")[2].rpartition(":")
    try:
        if host and port.isdecimal():
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (OSError, ValueError, ray.exceptions.RayError) as error:
        why = f"no Ray cluster can be reached at {plain(address)} ({plain(str(error)).splitlines()[0]})"
        raise UsageError(f"{why}; start one with `ray start --head`, or set RAY_ADDRESS") from None
    return True
