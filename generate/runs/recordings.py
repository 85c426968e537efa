"""Recorded games that are played again: a plan with `replay:RUN` players deals the tables of the recording once more.

The recorded game number t is game t of every cell: same seed, same names, same roles. So a seat whose replies are
replayed finds the game that it played, until another player makes a difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from liescope.common.errors import BadData, UsageError
from liescope.common.text import plain
from liescope.games.withdrawal import check_words
from liescope.generate.players.replay import read_replay
from liescope.generate.runs.conditions import MEASURING
from liescope.generate.runs.journal import Journal

KIND = "replay:"


class Dealt(BaseModel):
    """How a recorded game was dealt. game: its id; root: the game played from its start whose beginning it shares."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: str
    root: str
    seed: int
    seats: tuple[str, ...]
    roles: tuple[str, ...]


def recorded_games(specs: Iterable[str], game: str, options: Mapping[str, Any], games: int) -> tuple[Dealt, ...]:
    """The first recorded games of the run that the specs replay; () if they replay none.

    options: of the table, which must be the recording's but for what is only measured. Raises UsageError for several
    recordings, another table, too few games or withdrawn words; BadData for a run that was not played here from the
    start.
    """
    runs = dict.fromkeys(read_replay(spec.removeprefix(KIND))[0] for spec in specs if spec.startswith(KIND))
    if not runs:
        return ()
    if len(runs) > 1:
        raise UsageError(f"one recording can be played again at a time; {', '.join(map(str, runs))} are {len(runs)}")
    (run,) = runs
    with Journal.open(run) as journal:
        plan = _plan(journal)
        if plan.game != game:
            raise UsageError(f"{run} holds games of {plain(plan.game)}, not of {game}")
        same = frozenset() if options.get("show_suspicion") else MEASURING
        for name in sorted((plan.options.keys() | options.keys()) - same):
            if plan.options.get(name) != options.get(name):
                raise UsageError(
                    f"{run} was played with {plain(name)} {plain(repr(plan.options.get(name)))}, and this plan has "
                    f"{options.get(name)!r}; recorded games are played again at the same table"
                )
        found = []
        for number, game_id in islice(journal.done(), games):
            dealt = plan.planned(number)
            if dealt.learning:
                raise UsageError(f"{run} holds games of learning cells, which cannot be played again")
            record = journal.record(game_id)
            check_words(record)
            root = record.meta.get("replayed", game_id)
            found.append(Dealt(game=game_id, root=root, seed=dealt.seed, seats=dealt.seats, roles=dealt.roles))
    if len(found) < games:
        raise UsageError(f"{run} holds {len(found)} finished games; ask for --games {len(found)} at most")
    return tuple(found)


def recording_hash(run: Path) -> str:
    """A hash of the plan of a recording, 16 hexadecimal digits. Raises BadData for another run."""
    with Journal.open(run) as journal:
        _plan(journal)
        return sha256(json.dumps(journal.plan, sort_keys=True).encode()).hexdigest()[:16]


def _plan(journal: Journal) -> Any:
    from liescope.generate.runs.plan import read_plan

    if "cells" not in journal.plan:
        raise BadData(f"{journal.path} holds no games that were played from their start; name a run of `liescope play`")
    return read_plan(journal.plan, journal.path)
