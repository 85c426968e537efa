"""The games that one table plays, each a run of its own: their folders, plans and records."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from liescope.common.errors import PlayerFailed
from liescope.games.record import GameRecord, Status
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan import Plan, read_plan, table_plan
from liescope.web.play.setup import PERSON, Setup


def folder_of(base: Path, table: str, round: int) -> Path:
    """The folder of a table's game. round: its number, from 1."""
    return base / (table if round == 1 else f"{table}-{round}")


def folders(base: Path, table: str, rounds: int) -> list[Path]:
    """The folders of all games so far that have begun."""
    found = [folder_of(base, table, round) for round in range(1, rounds + 1)]
    return [folder for folder in found if (folder / PLAN_FILE).exists()]


def new_plan(setup: Setup, people: Mapping[str, str | None]) -> Plan:
    """The plan of another game. people: the pseudonym of whoever holds a seat; the filler takes the seats of others."""
    held = {
        name: spec if spec != PERSON else f"human:{person}" if (person := people.get(name)) else setup.filler
        for name, spec in setup.seats.items()
    }
    options = setup.options_with([name for name, spec in held.items() if spec.startswith("human:")])
    return table_plan(setup.game, options, held, secrets.randbits(62), setup.prompts, setup.served)


def plan_of(run: Path) -> Plan | None:
    """The plan of a game that has begun, None before. Raises BadData for a damaged run."""
    if not (run / PLAN_FILE).exists():
        return None
    with Journal.open(run) as journal:
        return read_plan(journal.plan, run)


def record_of(run: Path) -> GameRecord | None:
    """The game of a run once it has ended. Raises BadData for a damaged run."""
    with Journal.open(run) as journal:
        return next(iter(journal.records()), None)


def failed(run: Path) -> PlayerFailed | None:
    """Why the game of a run failed, if it did: a player could not answer, which may be tried again."""
    record = record_of(run)
    return PlayerFailed(record.failure) if record is not None and record.status is Status.FAILED else None
