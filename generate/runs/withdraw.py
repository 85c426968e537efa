"""`liescope.withdraw`: take a person's words out of a run."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from liescope.common.errors import UnknownName, UsageError
from liescope.common.text import plain
from liescope.games.record import GameRecord, person_of, record_to_json, reply_to_json
from liescope.games.withdrawal import NAME, withdrawn_from, without_words, wordless
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import read_kept_reply
from liescope.generate.runs.journal_tables import NAMES, dumped, insertion, rows, signed
from liescope.generate.runs.moment import ForkPlan
from liescope.generate.runs.run_plan import PEOPLE, Plan, RatingPlan

_Row = Mapping[str, Any]
_Change = Callable[[_Row], _Row]  # maps a row, by column, to its changes


def erase(
    base: sqlite3.Connection,
    folder: Path,
    games: Collection[GameRecord],
    dropped: Iterable[str],
    own: bool,
    names: Mapping[str, str],
) -> None:
    """Keep games as they are now, without the words of those who withdrew, and without the requests that may have held
    them. dropped: ids of games whose rows all go; own: replies are those of the people in the seats, not a rater's;
    names: people's new names, by the old.
    """
    for game in games:
        seats = frozenset(withdrawn_from(game) if own else ())
        _rewrite(base, folder, "games", game.game_id, partial(_record, game=game))
        _rewrite(base, folder, "replies", game.game_id, partial(_reply, seats=seats, names=names, folder=folder))
        _rewrite(base, folder, "attempts", game.game_id, partial(_attempt, seats=seats))
    for game_id in dropped:
        for table in ("replies", "attempts", "unanswered"):
            base.execute(f"DELETE FROM {table} WHERE game_id = ?", (game_id,))
    # The stored requests that no attempt needs any longer
    base.execute("""
        WITH RECURSIVE needed(id) AS (
            SELECT request FROM attempts WHERE request IS NOT NULL
            UNION SELECT parent FROM requests JOIN needed USING (id) WHERE parent IS NOT NULL
        ) DELETE FROM requests WHERE id NOT IN (SELECT id FROM needed)
    """)


def _rewrite(base: sqlite3.Connection, folder: Path, table: str, game_id: str, change: _Change) -> None:
    names = NAMES[table]
    kept = rows(base, folder, table, ", ".join(names), "WHERE game_id = ?", (game_id,))
    changed = [{**row, **change(row)} for row in [dict(zip(names, values, strict=True)) for values in kept]]
    base.execute(f"DELETE FROM {table} WHERE game_id = ?", (game_id,))
    base.executemany(insertion(table), [signed(tuple(row.values())) for row in changed])


def _record(_: _Row, game: GameRecord) -> _Row:
    return {"record": dumped(record_to_json(game))}


def _reply(row: _Row, seats: Collection[str], names: Mapping[str, str], folder: Path) -> _Row:
    if row["seat"] not in seats:
        return {}
    where = f"{folder}, game {row['game_id']}, step {row['step']}"
    reply = wordless(read_kept_reply(row["reply"], row["raw"], where))
    model = names.get(row["model"], row["model"])
    return {"reply": dumped(reply_to_json(reply)), "raw": "", "model": model}


def _attempt(row: _Row, seats: Collection[str]) -> _Row:
    return {"request": None} | ({"raw": ""} if row["seat"] in seats else {})


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Words taken out of a run. name: under which the person stands there now; games: in which they held a seat;
    statements: of theirs in these that are gone; dropped: games under way that could not continue without their words
    and were dropped.
    """

    run: str
    name: str
    games: int
    statements: int
    dropped: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def withdraw(run: str | os.PathLike[str], pseudonym: str) -> Withdrawal:
    """Take the words of a person out of a run, for good, and their pseudonym with them.

    run: its folder, of a game of people or of games rated afterwards. What the person wrote goes: their
    messages, the reasons of their votes and ratings, what a page sent for them, and every request to a model that may
    have held any of it. Nothing of it is left in the folder's files, free pages included. Roles, choices, votes and the
    numbers of ratings stay, and what others said, also where they repeat the words. From then on, the person is called
    withdrawn-1, -2 … Games with withdrawn words can no longer be replayed or forked; a corpus built of them lacks the
    statements, and says how many. A game under way is dropped as a whole. Doing it again, by the new name, does no
    harm.

    Raises UnknownName if nobody of that name played in the run; UsageError if no person did at all, while another
    process writes to the run or reads it, and for continuations of a person's game, which can only be deleted.
    """
    folder = Path(run)
    with Journal.open(folder, write=True) as journal:
        if ForkPlan.KEY in journal.plan and pseudonym in journal.plan.get("people", {}).values():
            raise UsageError(
                f"{folder} goes on from a moment that holds the words of {plain(pseudonym)}, so it cannot do without: "
                "delete the folder, withdraw from the run that was forked, and fork another game"
            )
        plan, records = journal.plan, list(journal.records())
        concerned = [game for game in records if _seats(game, pseudonym)]
        under_way = ((game, {call["model"] for call in journal.calls(game)}) for game in sorted(journal.begun()))
        dropped = [game for game, models in under_way if pseudonym in models]
        if not (concerned or dropped or f"{PEOPLE}{pseudonym}" in plan.get("players", ())):
            people = {name for game in records for seat in game.seats if (name := person_of(seat.model, seat.source))}
            if not people:
                raise UsageError(f"no person has played in {folder}, so there are no words to withdraw")
            raise UnknownName("person", pseudonym, sorted(people))
        taken = {spec.partition(":")[2] for spec in plan.get("players", ())}
        taken |= {seat.model for game in records for seat in game.seats}
        free = (one for number in range(1, len(taken) + 2) if (one := f"{NAME}{number}") not in taken)
        name = pseudonym if pseudonym.startswith(NAME) else next(free)
        changed = [_changed(game, pseudonym, name) for game in concerned]
        own = RatingPlan.KEY not in plan
        journal.rewrite(
            lambda base: erase(base, folder, changed, dropped, own, {pseudonym: name}),
            _renamed(plan, pseudonym, name),
        )
    gone = sum(game.meta["withdrawn"][seat] for game in changed for seat in _seats(game, name))
    return Withdrawal(str(folder), name, len(changed), gone, len(dropped))


def _seats(game: GameRecord, person: str) -> tuple[str, ...]:
    """The seats that a person held."""
    named = ((seat.name, person_of(seat.model, seat.source)) for seat in game.seats)
    return tuple(seat for seat, name in named if name == person)


def _changed(game: GameRecord, person: str, name: str) -> GameRecord:
    seats = _seats(game, person)
    renamed = tuple(
        replace(seat, model=seat.model.replace(person, name, 1)) if seat.name in seats else seat for seat in game.seats
    )
    return replace(without_words(game, seats), seats=renamed, failure=game.failure.replace(person, name))


def _renamed(plan: Mapping[str, Any], person: str, name: str) -> dict[str, Any]:
    """The plan with another name for a person; the ids of its games stay the same."""
    old, new = json.dumps(f"{PEOPLE}{person}"), json.dumps(f"{PEOPLE}{name}")
    text = json.dumps(plan)
    if old not in text or old == new:
        return dict(plan)
    changed: dict[str, Any] = json.loads(text.replace(old, new))
    return {**changed, "ids": plan.get("ids") or Plan.model_validate(plan).hash[:8]}
