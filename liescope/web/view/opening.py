"""Finding out what a path holds: a run, a corpus, or a report of detectors with the games that it is about."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from liescope.common.errors import BadData, UsageError
from liescope.common.text import plain
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.read import corpus_folder, is_corpus
from liescope.generate.runs.folder import PLAN_FILE
from liescope.web.view.game_sources import TABLES_SHOWN, CorpusSource, GameSource, RunSource, ViewedGame
from liescope.web.view.scores import REPORT, TABLE, ScoreTable, read_scores

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
