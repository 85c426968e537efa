"""`liescope.play`: let players play a game, many times."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack, overload

from liescope.common.settings import saved, split, takes
from liescope.games.registry import find_game
from liescope.generate.runs.config import RunConfig
from liescope.generate.runs.job import Playing
from liescope.generate.runs.limits import RunSettings, limits_of
from liescope.generate.runs.planning import PlanSettings, plan_games, templates_for
from liescope.generate.runs.result import RunResult
from liescope.generate.runs.run_job import run_job
from liescope.generate.runs.shards.engine import open_engine


class PlaySettings(PlanSettings, RunSettings, total=False):
    """What `play` takes, beside the options of the game."""


@overload
def play(
    game: str, *, out: str | os.PathLike[str], progress: bool = False, **settings: Unpack[PlaySettings]
) -> RunResult: ...


@overload
def play(game: str, *, out: str | os.PathLike[str], progress: bool = False, **settings: Any) -> RunResult: ...


@takes(PlaySettings, others="table")
def play(game: str, *, out: str | os.PathLike[str], progress: bool = False, **settings: Any) -> RunResult:
    """Play games into a run folder, or resume the run in it.

    A run resumes with the version of its prompts that it started with, whatever the limits. `workers` and `engine`
    change nothing in it. With `preview`, the first games of the plan are played; without it the same run goes on.
    See `liescope.generate.runs.planning` for who meets whom, `liescope.generate.players.reply_cache` for the cache.

    Parameters
    ----------
    game : str
        A name in `liescope.games.registry.GAMES`.
    out : str or path
        The run's folder.
    progress : bool
        Show a live display on standard error.
    **settings
    **table
        The game's own options, for example rounds=8 or assess=True (`PlayableGame.options`).

    Returns
    -------
    RunResult
        Whatever stopped the run early (a spent budget, a series of failures) is in its `tally.stop`.

    Raises
    ------
    UsageError
        For settings that do not fit together.
    PlanChanged
        If the folder holds a run with a different plan.
    EndpointRefused, EndpointSilent
        For a model that cannot be asked at the start.
    """
    played, folder = find_game(game), Path(out)
    own, table = split(PlaySettings, settings)
    templates = templates_for(own["prompts"], game, folder)
    plan = plan_games(played, own, table, templates)
    where = open_engine(own["engine"], own["workers"])
    config = RunConfig("play", {"game": game, **saved(PlaySettings, own), **_listed(table)})
    about = {"run": str(folder), "game": plan.game, "plan": plan.hash[:8], "cells": len(plan.cells)}
    job = Playing(plan, folder, templates, own["preview"])
    engine = where if own["preview"] is None else None
    limits = limits_of(own)
    return run_job(job, folder, limits, own["retry_failed"], about, config, progress, engine)


def _listed(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table's options as the command takes them: names as one string, no limit as 0."""
    plain = {name: ",".join(value) if isinstance(value, list | tuple) else value for name, value in table.items()}
    return {name: 0 if name == "message_limit" and value is None else value for name, value in plain.items()}
