"""`liescope.play`: let players play a game, many times."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from liescope.common.errors import UsageError
from liescope.games.registry import find_game
from liescope.generate.runs.config import RunConfig
from liescope.generate.runs.job import Playing
from liescope.generate.runs.limits import LimitOptions, limits_of
from liescope.generate.runs.planning import plan_games, templates_for
from liescope.generate.runs.result import RunResult
from liescope.generate.runs.run_job import run_job
from liescope.generate.runs.shards.engine import open_engine


def play(
    game: str,
    *,
    out: str | os.PathLike[str],
    players: Sequence[str] = (),
    games: int = 10,
    seed: int = 0,
    design: str | None = None,
    background: Sequence[str] = (),
    cells: str | os.PathLike[str] | None = None,
    seats: Sequence[str] = (),
    learning: str | None = None,
    prompts: str = "full",
    roles: str = "balanced",
    concurrency: int = 256,
    timeout: float = 120.0,
    hedge: bool = True,
    give_up_after: str | float = "30m",
    max_tokens: int | None = None,
    max_cost: float | None = None,
    price: Sequence[str] = (),
    currency: str = "USD",
    allow_key: Sequence[str] = (),
    preflight: bool = True,
    cache: str | os.PathLike[str] | None = None,
    log: str | os.PathLike[str] | None = None,
    batch: bool = False,
    retry_failed: bool = False,
    workers: int | None = None,
    engine: str = "local",
    preview: int | None = None,
    progress: bool = False,
    **table: Any,
) -> RunResult:
    """Play games into a run folder, or resume the run in it.

    game: a name in `liescope.games.registry.GAMES`. out: the run's folder. players: spec strings such as
    "scripted:bold" or "openai:gpt-4.1-mini"; without any, scripted:steady plays. games: the number in each cell.
    design, background, cells (a CSV file instead of a design; it may have a column games, and players then are
    "NAME=SPEC", who plays a name of the file), roles: who plays what, see
    `liescope.generate.runs.tournament`. seats: "ROLE=SPEC" instead of a design, for a table of several kinds of
    players; roles that are not named are played by the one player of `players`. learning: "off", "on" or "off,on", by
    default both for the factorial design,
    otherwise off. prompts: the name of a set, or a folder of templates; a run resumes with the version of the set that
    it started with. concurrency: the most requests under way at one endpoint (how many it takes is found out), and the
    most games for each endpoint. timeout: seconds for one request. hedge: send a request that stalls a second
    time, the first answer counts. give_up_after: how long to wait for an endpoint that
    does not answer ("90s", "10m", "2h", or seconds) before the run pauses. max_tokens, max_cost: the budget of the
    whole run; a cost needs prices, given as "MODEL=PROMPT,COMPLETION[,CACHED]" per million tokens, in `currency`.
    allow_key: "VARIABLE@HOST", lets a key go to a host not known as its own. preflight: ask each model one small
    question before the first game. cache: a folder that keeps every reply, so that a second run of the same games costs
    nothing (`liescope.generate.players.reply_cache`). log: a file that gets a line of JSON for everything that happens.
    batch: send requests by OpenAI's batch protocol, at part of the price where the host is known to give a discount;
    games go step by step, 10,000 at once, and a run that is stopped finds its batches again.
    retry_failed: try failed games again. workers: processes that share the work, for when one core is full; the run is
    the same. engine: where they are, "local" or, on a Ray cluster, "ray" (by default one on each node). preview: play
    only so many games, the first of the plan; without it the same run goes on. table: the game's own options, for
    example rounds=8 or assess=True (`PlayableGame.options`).

    Raises UsageError for options that do not fit together, PlanChanged if the folder holds a run with a different plan,
    EndpointRefused or EndpointSilent for a model that cannot be asked at the start. Whatever stops a run early (a spent
    budget, a series of failures) is in the result's `tally.stop`.
    """
    played, folder = find_game(game), Path(out)
    templates = templates_for(prompts, game, folder)
    plan = plan_games(played, table, players, games, seed, design, background, cells, seats, learning, templates, roles)
    where = open_engine(engine, workers)
    limited: LimitOptions = {
        "concurrency": concurrency,
        "timeout": timeout,
        "hedge": hedge,
        "give_up_after": give_up_after,
        "max_tokens": max_tokens,
        "max_cost": max_cost,
        "price": price,
        "currency": currency,
        "allow_key": allow_key,
        "preflight": preflight,
        "cache": cache,
        "log": log,
        "batch": batch,
    }
    limits = limits_of(prompts=prompts, **limited)
    config = RunConfig(
        "play",
        {
            "game": game,
            "players": players,
            "games": games,
            "seed": seed,
            "design": design,
            "background": background,
            "cells": cells,
            "seats": seats,
            "learning": learning,
            "prompts": prompts,
            "roles": roles,
            **_listed(table),
            **limited,
            "workers": workers,
            "engine": engine,
        },
    )
    about = {"run": str(folder), "game": plan.game, "plan": plan.hash[:8], "cells": len(plan.cells)}
    if preview is not None and preview < 1:
        raise UsageError(f"a preview plays at least one game; {preview} is none")
    job = Playing(plan, folder, templates, preview)
    return run_job(job, folder, limits, retry_failed, about, config, progress, where if preview is None else None)


def _listed(table: dict[str, Any]) -> dict[str, Any]:
    """The table's options as the command takes them: names as one string, no limit as 0."""
    plain = {name: ",".join(value) if isinstance(value, list | tuple) else value for name, value in table.items()}
    return {name: 0 if name == "message_limit" and value is None else value for name, value in plain.items()}
