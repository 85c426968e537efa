"""What is looked at: the games of a run, a corpus or an import, each with its labels and calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import BadData, LiescopeError, UsageError
from liescope.common.stores import local
from liescope.common.text import plain
from liescope.data_cards.licences import Terms
from liescope.games.core import AskKind, Event, EventKind
from liescope.games.record import GameRecord
from liescope.generate.corpus.open import RECORD_TABLES, holds_corpus, records
from liescope.generate.corpus.read import collected, corpus_folder, read, read_facts
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import number_in
from liescope.generate.runs.moment import Shown, steps
from liescope.generate.runs.run_folder import PLAN_FILE, plan_terms, stated_terms
from liescope.labeling.label import LabelledGame, label_game


@dataclass(frozen=True, slots=True)
class Call:
    """What a seat was asked at a step of a game, and what came back. tries: the requests that it took, with the columns
    of `CallRow`; prompt: its text, "" where it cannot be shown; origin: how the prompt is known, or why it is not.
    """

    step: int
    seat: str
    tries: tuple[Mapping[str, Any], ...]
    prompt: str = ""
    origin: str = "This source holds no prompts: they are in the run that the games come from."


@dataclass(frozen=True, slots=True)
class ViewedGame:
    """One game with everything known about it; calls: in order of play, none where the source has none."""

    record: GameRecord
    labels: LabelledGame
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Games:
    """Games to look at. name: as shown; path: of the run or the corpus; ids: of all that ended, in the order of play;
    terms: those of the words that were imported, by their format.
    """

    name: str
    path: Path
    ids: Sequence[str]
    is_corpus: bool
    terms: Mapping[str, Sequence[Terms]]

    def read(self, game_ids: Sequence[str], with_calls: bool) -> Iterator[ViewedGame]:
        """These games. Raises BadData for one that is damaged."""
        yield from (_of_corpus if self.is_corpus else _of_run)(self.path, game_ids, with_calls)


def open_games(path: str) -> Games:
    """The games of a run's folder, a corpus folder, or a corpus on the Hub ("USER/NAME").

    Raises UsageError if there is nothing at the path, BadData for any other or a damaged folder.
    """
    folder = local(path)
    if holds_corpus(path):
        folder = corpus_folder(path, *RECORD_TABLES, "calls")
        ids = sorted(collected(read(folder, "games").select("game_id"), folder)["game_id"], key=_by_number)
        given: dict[str, list[Terms]] = defaultdict(list)
        for one in read_facts(folder).get("licences", ()):
            given[str(one.get("name", ""))].append(stated_terms(one.get("terms")))
        return Games(folder.resolve().name, folder, ids, True, given)
    if (folder / PLAN_FILE).is_file():
        with Journal.open(folder, checked=True) as journal:
            terms = {name: (own,) for name, own in plan_terms(journal.plan).items()}
            return Games(journal.name, folder, journal.game_ids(), False, terms)
    if not folder.exists():
        raise UsageError(f"{plain(path)} does not exist; give a run (runs/NAME) or a corpus")
    if runs := sorted(plan.parent.name for plan in folder.glob(f"*/{PLAN_FILE}")):
        raise UsageError(f"{plain(path)} is a folder of runs; give one of them: {plain(', '.join(runs[:5]))}")
    raise BadData(f"{plain(path)} holds neither a run nor a corpus; make one with: liescope play, import or build")


def _by_number(game_id: str) -> tuple[str, int, str]:
    number = number_in(game_id)
    return game_id.rpartition("-")[0], -1 if number is None else number, game_id


def _of_corpus(folder: Path, game_ids: Sequence[str], with_calls: bool) -> Iterator[ViewedGame]:
    wanted = set(game_ids)
    found = {record.game_id: record for record in records(folder) if record.game_id in wanted}
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    if with_calls:
        mine = read(folder, "calls").filter(pl.col("game_id").is_in(game_ids)).drop("split")
        for row in collected(mine, folder).iter_rows(named=True):
            rows[row["game_id"]].append(row)
    for game_id in game_ids:
        yield ViewedGame(found[game_id], label_game(found[game_id]), _calls(rows[game_id]))


def _of_run(folder: Path, game_ids: Sequence[str], with_calls: bool) -> Iterator[ViewedGame]:
    with Journal.open(folder, checked=True) as journal:
        shown = Shown(journal)
        for game_id in game_ids:
            record = journal.record(game_id)
            calls = _with_prompts(_calls(journal.calls(game_id)), journal, shown, record) if with_calls else ()
            yield ViewedGame(record, label_game(record), calls)


def _calls(rows: Sequence[Mapping[str, Any]]) -> tuple[Call, ...]:
    tries: dict[tuple[int, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["step"], row["attempt"])):
        tries[row["step"], row["seat"]].append(row)
    return tuple(Call(step, seat, tuple(made)) for (step, seat), made in tries.items())


def _with_prompts(calls: Sequence[Call], journal: Journal, shown: Shown, record: GameRecord) -> tuple[Call, ...]:
    """The calls with their prompts, found by replaying the game."""
    prompts, why = {}, "the game was not played here"
    try:
        for step in steps(journal, record):
            for one in step.asked:
                messages, origin = shown.messages(one, shown.requests(one.ask))
                prompts[one.ask.step, one.ask.seat] = "\n\n".join(one["content"] for one in messages), origin
    except LiescopeError as error:
        why = plain(str(error))
    found = ((call, prompts.get((call.step, call.seat), ("", why))) for call in calls)
    return tuple(replace(call, prompt=prompt, origin=origin) for call, (prompt, origin) in found)


_BROUGHT = {
    AskKind.KILL: "kill",
    AskKind.INVESTIGATE: "investigation",
    AskKind.PROTECT: "protection",
    AskKind.BID: "bid",
    AskKind.SPEAK: "words",
    AskKind.VOTE: "vote",
    AskKind.CHOOSE: "choice",
    AskKind.SELF_ASSESSMENT: "self_report",
    AskKind.PEER_ASSESSMENT: "rating",
    AskKind.REFLECTION: "reflection",
    AskKind.NAME_ROLES: "roles_named",
    AskKind.FIND_CLAIMS: "claims_found",
    AskKind.BELIEFS: "beliefs",
    AskKind.SECOND_ORDER: "second_order",
    AskKind.SUMMARY: "summary",
    AskKind.TAG_LESSON: "lesson_tags",
}
_KIND_OF = {kind.value: (name,) for kind, name in _BROUGHT.items()} | {AskKind.EXPLAINED_VOTE.value: ("vote", "words")}
_NAME_OF = {EventKind.STATEMENT: "words", EventKind.SILENCE: "words", EventKind.PROPOSAL: "kill"}


def calls_of(game: ViewedGame) -> dict[int, Call]:
    """The call behind each event, by the event's index.

    Left out are events that no call of this run caused: a fork's shared beginning, what the rules drew, and every event
    of a seat whose calls and events of a kind differ in number.
    """
    made: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for call in game.calls:
        for name in _KIND_OF.get(call.tries[0]["kind"] or "", ()):
            made[call.seat, name].append(call)
    events: dict[tuple[str, str], list[int]] = defaultdict(list)
    for event in _brought(game.record):
        events[event.actor or "", _NAME_OF.get(event.kind, event.kind.value)].append(event.index)
    return {
        index: call
        for key, indices in events.items()
        if len(indices) == len(made[key])
        for index, call in zip(indices, made[key], strict=True)
    }


def _brought(record: GameRecord) -> Sequence[Event]:
    """The events that this run's calls can have caused."""
    fork = record.meta.get("fork")
    first = fork["events"] if fork else 0
    judged = any("judge" in event.data for event in record.events)
    return [
        event
        for event in record.events
        if event.index >= first and not event.data.get("drawn") and (not judged or "judge" in event.data)
    ]
