"""`liescope.fork`: play many continuations of one moment of a recorded game."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from liescope.common.errors import UsageError
from liescope.generate.runs.config import RunConfig
from liescope.generate.runs.fork_origin import Recorded
from liescope.generate.runs.fork_result import ForkResult
from liescope.generate.runs.job import Forking, check_group
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.limits import LimitOptions, limits_of
from liescope.generate.runs.plan import Group
from liescope.generate.runs.shards.engine import open_engine
from liescope.generate.runs.stored_templates import templates_for
from liescope.generate.runs.summary import run_job

_SHOWN = 200  # characters of a statement in the name of its group


def fork(
    run: str | os.PathLike[str],
    game: str,
    step: int,
    *,
    out: str | os.PathLike[str] | None = None,
    players: Sequence[str] = (),
    seat: str = "",
    say: Sequence[str] = (),
    others: str = "",
    times: int = 20,
    seed: int = 0,
    prompts: str = "",
    workers: int | None = None,
    engine: str = "local",
    retry_failed: bool = False,
    progress: bool = False,
    **limits: Unpack[LimitOptions],
) -> ForkResult:
    """Play a recorded game on from one of its moments, many times, or resume that.

    run: the folder of a run, which is only read; game: the game's id, the beginning of it, or its number; step: the
    step that is answered anew, as `liescope show RUN GAME --calls` counts them. seat: who is played anew from there on,
    by default the one who is asked at that step. players: who plays that seat, by default who played it; say: texts,
    each said by that seat at that moment instead of what its player would have said. There is a group of continuations
    for each player and text. others: a spec for all other seats, by default who played them. times: continuations in
    each group; those of one number share their random draws, so groups are compared in pairs. seed: of these draws.
    prompts: as for `play`, by default the set that the run was played with. out: the folder of the continuations, by
    default RUN-fork-GAME-STEP. workers, engine, limits: as for `play` (concurrency, timeout, max_cost …).

    Raises UsageError for a moment that does not exist or at which the seat is not asked, BadData for a run that was not
    played here or cannot be read, PlanChanged if the folder holds other continuations.
    """
    source = Path(run)
    with Journal.open(source) as journal:
        recorded = Recorded.read(journal, journal.find(game), step)
    folder = Path(out) if out is not None else default_folder(source, recorded.game_id, step)
    if folder.resolve() == source.resolve():
        raise UsageError("the continuations need a folder of their own; choose another --out")
    asked = recorded.seat(seat)
    groups = _groups(_once(players) or [recorded.specs[asked]], _once(say))
    for group in groups:
        check_group(recorded.session, asked, group)
    templates = templates_for(prompts, recorded.game, folder) if prompts else recorded.templates
    plan = recorded.plan(asked, groups, others, times, seed, templates)
    config = RunConfig(
        "fork",
        {
            "run": source,
            "game": recorded.game_id,
            "step": step,
            "players": players,
            "seat": seat or None,
            "say": say,
            "others": others or None,
            "times": times,
            "seed": seed,
            "prompts": prompts or None,
            "workers": workers,
            "engine": engine,
            **limits,
        },
    )
    about = {"run": str(folder), "game": plan.game, "fork": plan.of, "step": step, "seat": asked}
    job, where = Forking(plan, recorded.moment, templates), open_engine(engine, workers)
    done = run_job(
        job, folder, limits_of(prompts=prompts or "full", **limits), retry_failed, about, config, progress, where
    )
    return ForkResult(done.folder, done.about, done.tally, done.seconds, done.currency)


def default_folder(run: Path, game_id: str, step: int) -> Path:
    """The folder next to the run, named after the moment."""
    return run.with_name(f"{run.resolve().name}-fork-{game_id.rpartition('-')[2].lstrip('0') or '0'}-{step}")


def _groups(players: Sequence[str], say: Sequence[str]) -> tuple[Group, ...]:
    """A group for each player and text; its label names what differs."""
    named, texts = len(players) > 1 or not say, list[str | None](say) or [None]
    found: dict[str, Group] = {}
    for player in players:
        for text in texts:
            label = ": ".join([player] * named + [_quoted(text)] * (text is not None))
            label = label if label not in found else f"{label} ({len(found) + 1})"
            found[label] = Group(label=label, player=player, say=text)
    return tuple(found.values())


def _quoted(text: str | None) -> str:
    line = " ".join((text or "").split())
    return f'"{line}"' if len(line) <= _SHOWN else f'"{line[: _SHOWN - 1]}…"'


def _once(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(words))
