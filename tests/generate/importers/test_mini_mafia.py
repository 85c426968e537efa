"""Published games come back as the very events that our engine logs; what cannot be read is named, never lost."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from liescope.common.errors import BadData
from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord, Source, record_from_json, record_to_json
from liescope.generate.importers import Rejected, read_mini_mafia
from liescope.generate.importers.mini_mafia.models import paper_name
from liescope.labeling.label import label_game
from liescope.labeling.reading_notes import CUT_TEXT, text_is_lost

Played = Callable[..., GameRecord]
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


def imported(path: Path, batches: Path | None = None) -> list[GameRecord]:
    found = list(read_mini_mafia(path, batches))
    assert [item for item in found if isinstance(item, Rejected)] == []
    return [item for item in found if isinstance(item, GameRecord)]


def rejected(path: Path, batches: Path | None = None) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in read_mini_mafia(path, batches) if isinstance(item, Rejected)]


@pytest.mark.parametrize("rounds", [1, 2, 8])
def test_a_game_of_ours_written_as_the_log_comes_back_event_by_event(
    rounds: int, played: Played, write_log: Writer, batches: Path
) -> None:
    ours = [played(seed, rounds) for seed in range(60)]
    theirs = imported(write_log(ours), batches)
    assert [bare(game) for game in theirs] == [bare(game) for game in ours]
    assert [game.outcome for game in theirs] == [game.outcome for game in ours]
    assert [game.seats for game in theirs] == [game.seats for game in ours]
    assert any(len(event.data.get("tied", ())) == 3 for game in theirs for event in game.events)


def test_a_game_of_ours_written_as_the_database_comes_back_event_by_event(
    played: Played, write_database: Writer, database_form: Callable[..., Any]
) -> None:
    ours = [played(seed) for seed in range(40)]
    theirs = imported(write_database(database_form(game, number) for number, game in enumerate(ours)))
    assert [bare(game) for game in theirs] == [bare(game) for game in ours]
    assert [game.outcome for game in theirs] == [game.outcome for game in ours]
    assert [game.game_id for game in theirs[:2]] == ["people_game_0000", "people_game_0001"]
    assert theirs[0].meta["actions"][2]["raw_response"] is not None


@pytest.mark.parametrize("role", ["mafioso", "detective", "villager"])
def test_the_seat_of_a_person_is_human_and_alive_by_day(
    role: str, played: Played, write_database: Writer, database_form: Callable[..., Any]
) -> None:
    for game in imported(write_database(database_form(played(seed), seed, role) for seed in range(10))):
        (person,) = (seat for seat in game.seats if seat.source is Source.HUMAN)
        assert (person.role, person.model) == (role, "human")
        assert {seat.model for seat in game.seats if seat is not person} == {"mistral"}
        dead = next(event.target for event in game.events if event.kind is EventKind.DEATH)
        assert person.name != dead


def test_what_their_engine_filled_in_is_flagged(played: Played, write_log: Writer, batches: Path) -> None:
    ours = [played(seed) for seed in range(60)]
    filled = [
        (event.kind, event.actor)
        for game in imported(write_log(ours), batches)
        for event in game.events
        if event.fallback
    ]
    assert filled == [(event.kind, event.actor) for game in ours for event in game.events if event.fallback]
    assert {kind for kind, _ in filled} == {EventKind.SILENCE, EventKind.VOTE}


def test_records_survive_json_and_keep_when_and_by_whom_they_were_played(
    played: Played, write_log: Writer, batches: Path
) -> None:
    (game,) = imported(write_log([played(3)]), batches)
    assert record_from_json(json.loads(json.dumps(record_to_json(game)))) == game
    assert game.seed is None
    assert game.cell == "m-model | d-model | v-model"
    assert game.meta["timestamp"] == "2025-08-21T11:19:31"
    assert game.meta["players"]["mafioso"]["temperature"] == 0.7


def test_without_batches_the_models_are_unknown_and_nothing_else_changes(
    played: Played, write_log: Writer, batches: Path
) -> None:
    path = write_log([played(seed) for seed in range(5)])
    known, unknown = imported(path, batches), imported(path)
    assert [game.events for game in known] == [game.events for game in unknown]
    assert {seat.model for game in unknown for seat in game.seats} == {"unknown"}


def test_an_unclosed_message_is_kept_and_noted(played: Played, write_log: Writer, log_form: Callable[..., Any]) -> None:
    game = log_form(played(0, text="plain"))
    cut = json.loads(json.dumps(game).replace('\\"plain\\"', '\\"plain'))
    events = [event for event in imported(write_log([cut]))[0].events if event.kind is EventKind.STATEMENT]
    assert {event.text for event in events} == {"plain"}
    assert all(event.data["notes"] == ["the closing quote is missing"] for event in events)


def test_half_a_surrogate_pair_is_replaced_and_noted(played: Played, write_log: Writer) -> None:
    (game,) = imported(write_log([played(0, text="broken \ud83d here")]))
    said = next(event for event in game.events if event.kind is EventKind.STATEMENT)
    assert said.text == "broken \ufffd here"
    assert len(said.data["notes"]) == 1


def swap(game: dict[str, Any], old: str, new: str, seat: int) -> dict[str, Any]:
    """The game with one player's memory changed."""
    changed: dict[str, Any] = json.loads(json.dumps(game))
    player = changed["players"][seat]
    player["memory"] = [line.replace(old, new) for line in player["memory"]]
    assert changed != game
    return changed


def seat_of(game: dict[str, Any], role: str) -> int:
    return next(n for n, player in enumerate(game["players"]) if player["role"] == role and player["alive"])


def drop(game: dict[str, Any], start: str) -> dict[str, Any]:
    """The game with the lines that start so removed from every memory."""
    changed: dict[str, Any] = json.loads(json.dumps(game))
    for player in changed["players"]:
        player["memory"] = [line for line in player["memory"] if not line.startswith(start)]
    return changed


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "not JSON": (lambda game: json.dumps(game)[:200], "not JSON"),
    "not an object": (lambda game: "[1, 2]", "not an object"),
    "deep nesting": (lambda game: "[" * 100_000, "not JSON"),
    "no players": (lambda game: {"game_id": "b_game_1"}, "players"),
    "no id": (lambda game: {"players": game["players"]}, "game_id"),
    "players of another kind": (lambda game: {**game, "players": ["Alice"] * 4}, "not an object"),
    "a player missing": (lambda game: {**game, "players": game["players"][:3]}, "is none of a Mini-Mafia game"),
    "two of one name": (lambda game: {**game, "players": [game["players"][0]] * 4}, "two players"),
    "flags without a death": (
        lambda game: {**game, "players": [{**player, "alive": True} for player in game["players"]]},
        "0 players are dead",
    ),
    "nobody arrested": (
        lambda game: {**game, "players": [{**player, "imprisoned": False} for player in game["players"]]},
        "winner is not known",
    ),
    "a word put in a mouth": (lambda game: swap(game, "plain", "other", seat_of(game, "detective")), "differently"),
    "a second silence": (
        lambda game: swap(game, 'You: "plain"', "You: remained silent.", seat_of(game, "villager")),
        "differently",
    ),
    "another role remembered": (
        lambda game: swap(game, "the detective.", "the villager.", seat_of(game, "detective")),
        "in their own memory",
    ),
    "votes lost": (lambda game: drop(game, "Votes: "), "nobody remembers the votes"),
    "arrest lost": (lambda game: drop(game, f"{jailed(game)} was arrested"), "nobody remembers the arrest"),
    "another arrest remembered": (lambda game: rename_arrest(game, free(game)), "the log has"),
    "another arrest flagged": (lambda game: flag(game, free(game)), "differently"),
    "no kill": (lambda game: drop(game, "You killed"), "the mafioso says otherwise"),
    "no investigation": (lambda game: drop(game, "You investigated"), "the investigated player"),
    "a strange line": (
        lambda game: swap(game, "Day 1 begins.", "Day 2 begins.", 0),
        "none of a Mini-Mafia game: 'Day 2 begins.'",
    ),
}


def jailed(game: dict[str, Any]) -> str:
    return str(next(player["name"] for player in game["players"] if player["imprisoned"]))


def free(game: dict[str, Any]) -> str:
    """Somebody who lived and was not arrested."""
    return str(next(player["name"] for player in game["players"] if player["alive"] and not player["imprisoned"]))


def flag(game: dict[str, Any], name: str) -> dict[str, Any]:
    """The game with another player flagged as arrested."""
    return {**game, "players": [{**player, "imprisoned": player["name"] == name} for player in game["players"]]}


def rename_arrest(game: dict[str, Any], name: str) -> dict[str, Any]:
    """The game in whose memories another player was arrested."""
    changed: dict[str, Any] = json.loads(
        json.dumps(game).replace(f"{jailed(game)} was arrested", f"{name} was arrested")
    )
    return changed


def swap_memories(game: dict[str, Any], one: str, other: str) -> dict[str, Any]:
    """The game in which the ends of two players' memories, after the discussion, have changed places."""
    players = {player["name"]: player for player in json.loads(json.dumps(game))["players"]}
    ends = {
        name: [m for m in players[name]["memory"] if m.startswith("Votes") or m.endswith("arrested")]
        for name in (one, other)
    }
    for name, end in ((one, ends[other]), (other, ends[one])):
        players[name]["memory"] = [m for m in players[name]["memory"] if m not in ends[name]] + end
    return {**game, "players": list(players.values())}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_line_is_reported_and_the_others_come_in(
    name: str, played: Played, write_log: Writer, log_form: Callable[..., Any]
) -> None:
    break_it, words = DAMAGE[name]
    path = write_log([played(1), break_it(log_form(played(7, text="plain"))), played(2)])
    found = list(read_mini_mafia(path))
    assert [getattr(item, "game_id", "") for item in (found[0], found[2])] == ["b_game_0001", "b_game_0002"]
    assert isinstance(found[1], Rejected)
    assert (found[1].file, found[1].line) == ("games.jsonl", 2)
    assert words in found[1].reason


def test_an_arrest_that_the_votes_do_not_make_is_refused(played: Played, write_log: Writer, log_form: Any) -> None:
    game = next(g for g in map(played, range(50)) if not any("tied" in e.data for e in g.events))
    log = log_form(game)
    right, wrong = jailed(log), free(log)
    forged = flag(rename_arrest(swap_memories(log, right, wrong), wrong), wrong)
    ((_, reason),) = rejected(write_log([forged]))
    assert reason == f"the log says that {wrong} was arrested, its votes arrest {right}"


def test_a_round_in_which_one_speaks_twice_is_refused(
    played: Played, write_database: Writer, database_form: Callable[..., Any]
) -> None:
    game, actions = database_form(played(5), 1)
    actions[3][3] = actions[2][3]
    ((_, reason),) = rejected(write_database([(game, actions)]))
    assert reason.startswith("the speaking order of round 1 is ")


def test_a_batch_that_is_not_there_or_names_no_model_is_reported(
    played: Played, write_log: Writer, batches: Path
) -> None:
    other = replace(played(1), game_id="c_game_0001")
    assert [line for line, reason in rejected(write_log([other, played(2)]), batches) if "'c'" in reason] == [1]
    half = write_log([{"batch_id": "b", "model_configs": {"mafioso": {"model": "m"}}}, {"id": 3}], "half.jsonl")
    reasons = rejected(write_log([played(2)]), half)
    assert [line for line, _ in reasons] == [2, 1]
    assert "no model for the detective" in reasons[1][1]


def test_the_second_of_two_games_with_one_id_is_reported(played: Played, write_log: Writer) -> None:
    assert rejected(write_log([played(1), played(2), played(1)])) == [(3, "the game stands on line 1 already")]


def test_blank_lines_a_byte_order_mark_and_windows_line_ends_change_nothing(
    played: Played, write_log: Writer, tmp_path: Path
) -> None:
    path = write_log([played(1), played(2)])
    odd = tmp_path / "odd.jsonl"
    odd.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert imported(odd) == imported(path)


def test_a_line_that_is_not_utf8_is_reported(played: Played, write_log: Writer, tmp_path: Path) -> None:
    path = write_log([played(1), played(2)])
    first, second, _ = path.read_bytes().split(b"\n")
    (tmp_path / "latin.jsonl").write_bytes(first + b'\n"caf\xe9"\n' + second)
    ((line, reason),) = rejected(tmp_path / "latin.jsonl")
    assert (line, "not UTF-8" in reason) == (2, True)


def test_a_cut_off_gzip_gives_every_whole_line_and_reports_the_cut(
    played: Played, write_log: Writer, tmp_path: Path
) -> None:
    path = write_log([played(seed) for seed in range(30)])
    whole = imported(path)
    zipped = gzip.compress(path.read_bytes(), mtime=0)
    counts = set()
    for size in (3, 20, len(zipped) // 3, len(zipped) // 2, len(zipped) * 9 // 10, len(zipped) - 9, len(zipped) - 1):
        (tmp_path / "cut.jsonl.gz").write_bytes(zipped[:size])
        found = list(read_mini_mafia(tmp_path / "cut.jsonl.gz"))
        games = [item for item in found if isinstance(item, GameRecord)]
        assert games == whole[: len(games)]
        (cut,) = (item for item in found if isinstance(item, Rejected))
        assert "cut off" in cut.reason
        assert cut.line == len(games) + 1
        counts.add(len(games))
    assert len(counts) > 2
    assert max(counts) == 30


def test_gzip_members_one_after_another_are_one_file(played: Played, write_log: Writer, tmp_path: Path) -> None:
    path = write_log([played(seed) for seed in range(6)])
    lines = path.read_bytes().splitlines(keepends=True)
    (tmp_path / "two.jsonl.gz").write_bytes(gzip.compress(b"".join(lines[:3])) + gzip.compress(b"".join(lines[3:])))
    assert imported(tmp_path / "two.jsonl.gz") == imported(path)


def test_damaged_gzip_data_is_reported(played: Played, write_log: Writer, tmp_path: Path) -> None:
    zipped = bytearray(gzip.compress(write_log([played(seed) for seed in range(30)]).read_bytes()))
    zipped[len(zipped) // 2 :] = b"\xff" * (len(zipped) - len(zipped) // 2)
    (tmp_path / "bad.jsonl.gz").write_bytes(zipped)
    assert len(rejected(tmp_path / "bad.jsonl.gz")) == 1


BROKEN_ROWS: dict[str, tuple[Callable[[list[Any], list[list[Any]]], None], str]] = {
    "winner": (lambda game, actions: game.__setitem__(2, "EVIL" if game[2] == "GOOD" else "GOOD"), "winner is"),
    "no winner": (lambda game, actions: game.__setitem__(2, None), "winner is None"),
    "nobody arrested": (lambda game, actions: game.__setitem__(6, None), "arrested_name is empty"),
    "human role": (lambda game, actions: game.__setitem__(8, "doctor"), "human_role is 'doctor'"),
    "no kill": (lambda game, actions: actions.__delitem__(0), "0 actions of kind 'kill'"),
    "strange action": (lambda game, actions: actions[1].__setitem__(2, "save"), "'save'"),
    "one message less": (lambda game, actions: actions.__delitem__(2), "whole rounds"),
    "a vote less": (lambda game, actions: actions.__delitem__(-1), "no vote by"),
    "no actions": (lambda game, actions: actions.clear(), "0 actions"),
    "a vote for oneself": (lambda game, actions: actions[-1].__setitem__(5, actions[-1][3]), "who cannot be voted for"),
    "the survivor killed": (lambda game, actions: actions[0].__setitem__(5, game[5]), "not four players"),
}


@pytest.mark.parametrize("name", BROKEN_ROWS)
def test_a_broken_row_is_reported_and_the_others_come_in(
    name: str, played: Played, write_database: Writer, database_form: Callable[..., Any]
) -> None:
    break_it, words = BROKEN_ROWS[name]
    rows = [database_form(played(seed), seed) for seed in (1, 2, 3)]
    break_it(*rows[1])
    found = list(read_mini_mafia(write_database(rows)))
    assert [type(item) for item in found] == [GameRecord, Rejected, GameRecord]
    assert isinstance(found[1], Rejected)
    assert (found[1].line, found[1].game_id) == (2, "people_game_0002")
    assert words in found[1].reason


def test_a_person_whose_message_lost_its_quote_is_noted(
    played: Played, write_database: Writer, database_form: Callable[..., Any]
) -> None:
    game, actions = database_form(played(1, text="I am sure"), 1, "mafioso")
    actions[2][4:] = ['"I am su', "I am su..."]
    (record,) = imported(write_database([(game, actions)]))
    said = next(event for event in record.events if event.kind is EventKind.STATEMENT)
    assert (said.text, said.data["notes"]) == ("I am su...", ["the closing quote is missing"])


def test_another_database_or_half_of_one_is_refused_with_what_is_wrong(
    played: Played, write_database: Writer, database_form: Callable[..., Any], tmp_path: Path
) -> None:
    path = write_database([database_form(played(seed), seed) for seed in range(40)])
    (tmp_path / "half.db").write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(BadData, match="get the file again"):
        list(read_mini_mafia(tmp_path / "half.db"))
    (tmp_path / "other.db").write_bytes(path.read_bytes().replace(b"human_role", b"humanxrole"))
    with pytest.raises(BadData, match="lacks human_role"):
        list(read_mini_mafia(tmp_path / "other.db"))


@pytest.mark.parametrize(
    ("logged", "name"),
    [
        ("Mistral-7B-Instruct-v0.2-Q4_K_M.gguf", "Mistral 7B Instruct"),
        ("gpt-4.1_mini", "GPT-4.1 Mini"),
        ("grok-3_mini_grok-3_mini", "Grok 3 Mini"),
        ("deepseek_deepseek", "DeepSeek V3.1"),
        ("gpt-4o-mini", "gpt-4o-mini"),
        ("a_b", "a_b"),
        ("", ""),
    ],
)
def test_models_are_named_as_in_the_paper_where_it_names_them(logged: str, name: str) -> None:
    assert paper_name(logged) == name


@pytest.mark.parametrize("text", ["\\", "{}: \\", "{}'s response: \\", "{0}, as {0}: \\", "[\\"])
def test_a_message_of_which_a_lone_backslash_is_left_is_marked_as_lost(
    text: str, played: Played, write_log: Writer
) -> None:
    game = played(0, text="plain")
    events = [replace(e, text=text.format(e.actor)) if e.kind is EventKind.STATEMENT else e for e in game.events]
    (record,) = imported(write_log([replace(game, events=tuple(events))]))
    rows = label_game(record).statements
    assert [row.text for row in rows] == [text.format(row.speaker) for row in rows]
    assert [text_is_lost(row.read_notes) for row in rows] == [True] * 6


@pytest.mark.parametrize("text", ["As my mother used to say, \\", "Bob is the mafioso: \\", "a \\ in the middle"])
def test_a_message_that_says_something_before_the_backslash_is_not_lost(
    text: str, played: Played, write_log: Writer
) -> None:
    (game,) = imported(write_log([played(0, text=text)]))
    rows = label_game(game).statements
    assert not any(text_is_lost(row.read_notes) for row in rows)
    assert all((CUT_TEXT in row.read_notes) == text.endswith("\\") for row in rows)
