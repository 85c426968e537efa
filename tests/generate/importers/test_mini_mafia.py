"""Published games come back as the very events that our engine logs; what cannot be read is named, never lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord, record_from_json, record_to_json
from liescope.generate.importers import Rejected, read_games
from liescope.labeling.conditions import condition_of
from liescope.labeling.label import CUT_TEXT, label_game, text_is_lost
from tests.generate.importers.written import as_log, play_game

ROLES = ("mafioso", "detective", "villager")
Writer = Callable[..., Path]


def bare(game: GameRecord) -> list[Event]:
    """The events without the wording of fallbacks and without notes, in which the two engines may differ."""
    return [
        replace(
            event,
            fallback="filled in" if event.fallback else "",
            data={key: value for key, value in event.data.items() if key != "notes"},
        )
        for event in game.events
    ]


def read(path: Path, batches: Path | None = None) -> list[GameRecord | Rejected]:
    return list(read_games("mini-mafia", path, batches=batches))


def imported(path: Path, batches: Path | None = None) -> list[GameRecord]:
    found = read(path, batches)
    assert [item for item in found if isinstance(item, Rejected)] == []
    return [item for item in found if isinstance(item, GameRecord)]


def rejected(path: Path, batches: Path | None = None) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in read(path, batches) if isinstance(item, Rejected)]


@pytest.mark.parametrize("rounds", [1, 2, 8])
def test_a_game_of_ours_written_as_the_authors_did_comes_back_event_by_event(
    rounds: int, write_log: Writer, batches: Path
) -> None:
    ours = [play_game(seed, rounds) for seed in range(40)]
    theirs = imported(write_log(ours), batches)
    assert [bare(game) for game in theirs] == [bare(game) for game in ours]
    assert [game.outcome for game in theirs] == [game.outcome for game in ours]
    assert any(len(event.data.get("tied", ())) == 3 for game in theirs for event in game.events)
    assert [(game.game_id, game.seats) for game in theirs] == [(game.game_id, game.seats) for game in ours]


def test_marks_blank_lines_and_bytes_that_are_no_text_cost_their_line_alone(write_log: Writer, tmp_path: Path) -> None:
    path = write_log([play_game(1), play_game(2)])
    first, second, _ = path.read_bytes().split(b"\n")
    (tmp_path / "odd.jsonl").write_bytes(b"\xef\xbb\xbf" + first + b'\r\n\r\n"caf\xe9"\r\n' + second + b"\r\n" + first)
    found = read(tmp_path / "odd.jsonl")
    assert [game for game in found if isinstance(game, GameRecord)] == imported(path)
    (latin, twice) = rejected(tmp_path / "odd.jsonl")
    assert (latin[0], "not UTF-8" in latin[1]) == (3, True)
    assert twice == (5, "its id stands on line 1 of odd.jsonl already")


def test_records_keep_when_and_by_whom_they_were_played_as_far_as_batches_say(write_log: Writer, batches: Path) -> None:
    path = write_log([play_game(3)])
    (game,), (unknown,) = imported(path, batches), imported(path)
    assert record_from_json(json.loads(json.dumps(record_to_json(game)))) == game
    assert (game.seed, game.cell) == (None, "m-model | d-model | v-model")
    assert game.meta["timestamp"] == "2025-08-21T11:19:31"
    assert game.meta["players"]["mafioso"]["temperature"] == 0.7
    assert (unknown.events, {seat.model for seat in unknown.seats}) == (game.events, {"unknown"})


Log = dict[str, Any]


def only(kind: EventKind, game: GameRecord) -> list[Event]:
    return [event for event in game.events if event.kind is kind]


def remembering(game: Log, change: Callable[[str, str], str | None]) -> Log:
    """The game with the lines of each player's memory changed; None drops one."""
    players = [
        {**one, "memory": [new for line in one["memory"] if (new := change(one["name"], line)) is not None]}
        for one in game["players"]
    ]
    assert players != game["players"]
    return {**game, "players": players}


def swap(game: Log, old: str, new: str, role: str) -> Log:
    """The game in which the living player of a role remembers something else."""
    (name,) = {one["name"] for one in game["players"] if one["role"] == role and one["alive"]}
    return remembering(game, lambda who, line: line.replace(old, new) if who == name else line)


def drop(game: Log, start: str) -> Log:
    """The game with the lines that start so removed from every memory."""
    return remembering(game, lambda _, line: None if line.startswith(start) else line)


def flagged(game: Log, **flags: Any) -> Log:
    return {**game, "players": [{**one, **flags} for one in game["players"]]}


def votes_of(game: Log, change: Callable[[str], str]) -> Log:
    return remembering(game, lambda _, line: change(line) if line.startswith("Votes: ") else line)


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "not JSON": (lambda game: json.dumps(game)[:200], "not JSON"),
    "no players": (lambda game: {"game_id": "b_game_1"}, "players: Field required"),
    "no id": (lambda game: {"players": game["players"]}, "game_id: Field required"),
    "players of another kind": (lambda game: {**game, "players": ["Alice"] * 4}, "players.0: "),
    "a flag that is none": (lambda game: flagged(game, alive="yes"), "players.0.alive: "),
    "a player missing": (lambda game: {**game, "players": game["players"][:3]}, "; Mini-Mafia has a mafioso"),
    "two of one name": (lambda game: {**game, "players": [game["players"][0]] * 4}, "4 players have 1 names"),
    "flags without a death": (lambda game: flagged(game, alive=True), "0 killed players"),
    "nobody arrested": (lambda game: flagged(game, imprisoned=False), "0 arrested players"),
    "a word put in a mouth": (lambda game: swap(game, "plain", "other", "detective"), "differently"),
    "a second silence": (lambda game: swap(game, '"plain"', "remained silent.", "villager"), "differently"),
    "another role": (lambda game: swap(game, "the detective.", "the villager.", "detective"), "remember their role"),
    "an arrest forgotten": (
        lambda game: remembering(game, lambda who, it: None if who == free(game) and it.endswith("arrested") else it),
        "the arrest differently",
    ),
    "another arrest remembered": (
        lambda game: remembering(game, lambda _, it: it.replace(f"{jailed(game)} was arr", f"{free(game)} was arr")),
        "was arrested; the log has",
    ),
    "another arrest flagged": (
        lambda game: {**game, "players": [{**one, "imprisoned": one["name"] == free(game)} for one in game["players"]]},
        "differently",
    ),
    "a stranger": (lambda game: votes_of(game, lambda line: f"{line}, Zoe voted for {free(game)}"), "no sentence"),
    "a message that does not end": (lambda game: swap(game, '"plain"', '"plain', "mafioso"), "no sentence"),
    "half a surrogate pair": (
        lambda game: remembering(game, lambda _, line: line.replace("plain", "\ud83d")),
        "characters that are no text",
    ),
    "a strange line": (lambda game: swap(game, "Night 1 begins.", "Owls hoot.", "mafioso"), "line 2 of"),
    "votes lost": (lambda game: drop(game, "Votes: "), "in this order"),
    "a vote lost": (lambda game: votes_of(game, lambda line: line.rpartition(",")[0]), "one by each of"),
    "a vote for oneself": (
        lambda game: votes_of(game, lambda line: re.sub(r"(\w+) voted for \w+", r"\1 voted for \1", line, count=1)),
        "who cannot be voted for",
    ),
    "no kill": (lambda game: drop(game, "You killed"), "does not remember the kill"),
    "no death": (lambda game: drop(game, f"{dead(game)} was found dead"), "in this order"),
    "no investigation": (lambda game: drop(game, "You investigated"), "does not remember the investigation"),
    "one is warned": (
        lambda game: swap(game, "Day 1 begins.", f"Beware, {mafioso(game)} knows you're the detective.", "detective"),
        "does not remember a warning",
    ),
    "another role of the dead": (
        lambda game: remembering(game, lambda _, line: re.sub(r"(\w+) was found", r"The detective \1 was found", line)),
        "was found dead as detective",
    ),
    "a message less": (lambda game: cut_last_message(game), "in round 2 speak"),
}


def mafioso(game: Log) -> str:
    return str(next(player["name"] for player in game["players"] if player["role"] == "mafioso"))


def dead(game: Log) -> str:
    return str(next(player["name"] for player in game["players"] if not player["alive"]))


def cut_last_message(game: Log) -> Log:
    """The game without its last message, in every memory."""
    last = {
        one["name"]: max((n for n, line in enumerate(one["memory"]) if ': "' in line), default=0)
        for one in game["players"]
    }
    seen = Counter[str]()

    def cut(who: str, line: str) -> str | None:
        seen[who] += 1
        return None if seen[who] - 1 == last[who] > 0 else line

    return remembering(game, cut)


def jailed(game: Log) -> str:
    return str(next(player["name"] for player in game["players"] if player["imprisoned"]))


def free(game: Log) -> str:
    """Somebody who lived and was not arrested."""
    return str(next(player["name"] for player in game["players"] if player["alive"] and not player["imprisoned"]))


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_line_is_reported_and_the_others_come_in(name: str, write_log: Writer) -> None:
    break_it, words = DAMAGE[name]
    path = write_log([play_game(1), break_it(as_log(play_game(7, text="plain"))), play_game(2)])
    found = read(path)
    assert [getattr(item, "game_id", "") for item in (found[0], found[2])] == ["b_game_0001", "b_game_0002"]
    assert (found[1].file, found[1].line) == ("games.jsonl", 2)
    assert words in found[1].reason


def test_an_arrest_that_the_votes_do_not_make_is_refused(write_log: Writer) -> None:
    log = as_log(play_game(7))
    living, wrong = [one["name"] for one in log["players"] if one["alive"]], free(log)
    votes = ", ".join(f"{name} voted for {wrong if name != wrong else jailed(log)}" for name in living)
    forged = remembering(log, lambda _, line: f"Votes: {votes}" if line.startswith("Votes") else line)
    ((_, reason),) = rejected(write_log([forged]))
    assert reason == f"the log says that {jailed(log)} was arrested, its votes arrest {wrong}"


def test_a_batch_that_is_not_there_or_names_no_model_is_noted_and_the_models_are_unknown(
    write_log: Writer, batches: Path
) -> None:
    other = replace(play_game(1), game_id="c_game_0001")
    lost, known = imported(write_log([other, play_game(2)]), batches)
    assert lost.meta["import_notes"] == ["its batch 'c' is not among the batches given"]
    assert {seat.model for seat in lost.seats} == {"unknown"}
    assert "import_notes" not in known.meta
    half = write_log([{"batch_id": "b", "model_configs": {"mafioso": {"model": "m"}}}, {"id": 3}], "half.jsonl")
    bad, game = read(write_log([play_game(2)]), half)
    assert (bad.file, bad.line) == ("half.jsonl", 2)
    assert {seat.role: seat.model for seat in game.seats} == dict.fromkeys(ROLES, "unknown") | {"mafioso": "m"}
    assert game.meta["import_notes"] == ["its batch names no model for the detective, villager"]


@pytest.mark.parametrize(
    ("text", "lost", "cut"),
    [
        *((text, True, False) for text in ("\\", "{}: \\", "{}'s response: \\", "{0}, as {0}: \\", "[\\")),
        ("As my mother used to say, \\", False, True),
        ("Bob is the mafioso: \\", False, True),
        ("a \\ in the middle", False, False),
    ],
)
def test_a_message_of_which_a_lone_backslash_is_left_is_lost_and_one_that_ends_so_is_cut(
    text: str, lost: bool, cut: bool, write_log: Writer
) -> None:
    game = play_game(0, text="plain")
    events = [replace(e, text=text.format(e.actor)) if e.kind is EventKind.STATEMENT else e for e in game.events]
    (record,) = imported(write_log([replace(game, events=tuple(events))]))
    rows = label_game(record).statements
    assert [row.text for row in rows] == [text.format(row.speaker) for row in rows]
    assert [(text_is_lost(row.read_notes), CUT_TEXT in row.read_notes) for row in rows] == [(lost, cut)] * 6


def test_players_of_version_4_0_may_know_each_other_and_the_role_of_the_dead(write_log: Writer, batches: Path) -> None:
    log = as_log(play_game(1, text="I trust nobody."))
    log["game_id"] = "batch_20250814_104450_v4.0_game_0001"
    detective = next(player["name"] for player in log["players"] if player["role"] == "detective")
    warnings = {
        detective: f"Beware, {mafioso(log)} knows you're the detective.",
        mafioso(log): f"Beware, {detective} is the detective and discovered you're the mafioso.",
    }
    for player in log["players"]:
        player["memory"] = [
            line.replace(f"{dead(log)} was f", f"The villager {dead(log)} was f") for line in player["memory"]
        ]
        player["memory"][3:3] = [warnings[player["name"]]] if player["name"] in warnings else []
    configs = {role: {"model_path": "models/mistral.gguf"} for role in ROLES}
    batch = write_log([{"batch_id": "batch_20250814_104450_v4.0", "model_configs": configs}], "batches.jsonl")
    for paper_names, model in ((False, "mistral.gguf"), (True, "Mistral 7B Instruct")):
        (game,) = read_games("mini-mafia", write_log([log]), batches=batch, paper_names=paper_names)
        assert isinstance(game, GameRecord)
        assert {seat.model for seat in game.seats} == {model}
        assert game.meta["prompt_version"] == "v4.0"
        (discovery,), (death,) = only(EventKind.DISCOVERY, game), only(EventKind.DEATH, game)
        assert (discovery.audience, death.data) == ((detective, mafioso(log)), {"role": "villager"})
        assert condition_of(game) == "mutual_discovery=on reveal_dead=on"
        assert len(label_game(game).statements) == 6
