"""Checks of the tables and corpus.json of an untrusted corpus before anything is computed from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl

from liescope.common.errors import BadData
from liescope.data_cards.tables import TABLES
from liescope.games.record import Source, Status
from liescope.generate.corpus.facts import RunFacts

_AGAIN = "build the corpus again"


def runs_of(facts: Mapping[str, Any], source: str) -> tuple[RunFacts, ...]:
    """The runs that corpus.json lists. Raises BadData if it lists none, or not the right ones."""
    runs = facts.get("runs")
    if not isinstance(runs, list) or not all(_is_run(run) for run in runs):
        raise BadData(f"{source}: corpus.json does not list the runs of the corpus; {_AGAIN}")
    return tuple(RunFacts(run["name"], run["plan"], run["versions"]) for run in runs)


def _is_run(run: object) -> bool:
    if not isinstance(run, Mapping):
        return False
    versions = run.get("versions")
    return (
        isinstance(run.get("name"), str)
        and isinstance(run.get("plan"), Mapping)
        and isinstance(versions, Mapping)
        and all(isinstance(text, str) for text in versions.values())
    )


def check_table(name: str, table: pl.DataFrame, source: str) -> None:
    """Raises BadData if a column has nulls that its declaration does not allow, or a game has impossible values."""
    for field in TABLES[name].fields[:-1]:
        if not field.nullable and table[field.name].null_count():
            raise BadData(f"{source}: the column {field.name} of {name} has nulls, which it cannot have; {_AGAIN}")
    if name == "games":
        _check_games(table, source)


def _check_games(games: pl.DataFrame, source: str) -> None:
    sources = games["seats"].explode(empty_as_null=False).struct.field("source").unique()
    for column, known, found in (
        ("status", Status, games["status"].unique()),
        ("source", Source, sources),
    ):
        if odd := sorted({str(value) for value in found} - {member.value for member in known}):
            raise BadData(f"{source}: {odd[0][:80]!r} is not a valid {column} of a game; {_AGAIN}")
    for text in games["settings"].unique():
        try:
            settings = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadData(f"{source}: the settings of a game cannot be read ({error}); {_AGAIN}") from error
        if not isinstance(settings, dict) or not all(isinstance(value, str) for value in settings.values()):
            raise BadData(f"{source}: the settings of a game are not an object of strings; {_AGAIN}")
    if games["game_id"].is_duplicated().any():
        raise BadData(f"{source}: a game appears twice in the table of games; {_AGAIN}")
