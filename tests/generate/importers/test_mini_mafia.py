"""Published games come back as the very events that our engine logs; what cannot be read is named, never lost."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord, Source, record_from_json, record_to_json
from liescope.generate.importers import Rejected, read_games
from liescope.generate.importers.mini_mafia import paper_name
from liescope.labeling.label import CUT_TEXT, label_game, text_is_lost
from tests.generate.importers.written import as_benchmark, as_log, as_rows, play_game

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


@pytest.mark.parametrize("form", ["log of 1 round", "log", "log of 8 rounds", "people", "benchmark"])
def test_a_game_of_ours_written_as_the_authors_did_comes_back_event_by_event(
    form: str, write_log: Writer, write_database: Writer, batches: Path, tmp_path: Path
) -> None:
    ours = [play_game(seed, {"log of 1 round": 1, "log of 8 rounds": 8}.get(form, 2)) for seed in range(40)]
    if form.startswith("log"):
        theirs = imported(write_log(ours), batches)
    elif form == "benchmark":
        theirs = imported(as_benchmark(tmp_path / "benchmark.db", ours, as_rows))
    else:
        theirs = imported(write_database(as_rows(game, number) for number, game in enumerate(ours)))
    assert [bare(game) for game in theirs] == [bare(game) for game in ours]
    assert [game.outcome for game in theirs] == [game.outcome for game in ours]
    assert any(len(event.data.get("tied", ())) == 3 for game in theirs for event in game.events)
    if form == "people":
        assert [game.game_id for game in theirs[:2]] == ["people_game_0000", "people_game_0001"]
        assert theirs[0].meta["actions"][2]["raw_response"] is not None
    else:
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


@pytest.mark.parametrize("role", ["mafioso", "detective", "villager"])
def test_the_seat_of_a_person_is_human_and_alive_by_day(role: str, write_database: Writer) -> None:
    for game in imported(write_database(as_rows(play_game(seed), seed, role) for seed in range(10))):
        (person,) = (seat for seat in game.seats if seat.source is Source.HUMAN)
        assert (person.role, person.model) == (role, "human")
        assert {seat.model for seat in game.seats if seat is not person} == {"mistral"}
        dead = next(event.target for event in game.events if event.kind is EventKind.DEATH)
        assert person.name != dead


def test_records_keep_when_and_by_whom_they_were_played_as_far_as_batches_say(write_log: Writer, batches: Path) -> None:
    path = write_log([play_game(3)])
    (game,), (unknown,) = imported(path, batches), imported(path)
    assert record_from_json(json.loads(json.dumps(record_to_json(game)))) == game
    assert (game.seed, game.cell) == (None, "m-model | d-model | v-model")
    assert game.meta["timestamp"] == "2025-08-21T11:19:31"
    assert game.meta["players"]["mafioso"]["temperature"] == 0.7
    assert (unknown.events, {seat.model for seat in unknown.seats}) == (game.events, {"unknown"})


def test_an_unclosed_message_is_kept_and_half_a_surrogate_pair_replaced_with_a_note(write_log: Writer) -> None:
    games = [as_log(play_game(seed, text=text)) for seed, text in ((0, "plain"), (1, "broken \ud83d here"))]
    games[0] = remembering(games[0], lambda _, line: line.replace('"plain"', '"plain'))
    told = [only(EventKind.STATEMENT, game) for game in imported(write_log(games))]
    assert [{event.text for event in said} for said in told] == [{"plain"}, {"broken \ufffd here"}]
    notes = ["the closing quote is missing", "characters that are no text were replaced"]
    assert [event.data["notes"] for said in told for event in said] == [[note] for note in notes for _ in range(6)]


Log = dict[str, Any]


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


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "not JSON": (lambda game: json.dumps(game)[:200], "not JSON"),
    "no players": (lambda game: {"game_id": "b_game_1"}, "players"),
    "no id": (lambda game: {"players": game["players"]}, "game_id"),
    "players of another kind": (lambda game: {**game, "players": ["Alice"] * 4}, "not an object"),
    "a player missing": (lambda game: {**game, "players": game["players"][:3]}, "not in the game"),
    "two of one name": (lambda game: {**game, "players": [game["players"][0]] * 4}, "two players"),
    "flags without a death": (lambda game: flagged(game, alive=True), "the log has nobody"),
    "nobody arrested": (lambda game: flagged(game, imprisoned=False), "the log has nobody"),
    "a word put in a mouth": (lambda game: swap(game, "plain", "other", "detective"), "differently"),
    "a second silence": (lambda game: swap(game, '"plain"', "remained silent.", "villager"), "differently"),
    "another role": (lambda game: swap(game, "the detective.", "the villager.", "detective"), "in their own"),
    "an arrest forgotten": (
        lambda game: remembering(game, lambda who, it: None if who == free(game) and it.endswith("arrested") else it),
        "the arrest differently",
    ),
    "another arrest remembered": (
        lambda game: remembering(game, lambda _, it: it.replace(f"{jailed(game)} was arr", f"{free(game)} was arr")),
        "the log has",
    ),
    "another arrest flagged": (
        lambda game: {**game, "players": [{**one, "imprisoned": one["name"] == free(game)} for one in game["players"]]},
        "the log has",
    ),
}


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


Break = Callable[[list[Any], list[list[Any]]], object]


def put(place: int, value: Any) -> Break:
    return lambda game, actions: game.__setitem__(place, value)


def put_in_actions(place: int, value: Any) -> Break:
    return lambda game, actions: [action.__setitem__(place, value) for action in actions]


BROKEN_ROWS: dict[str, tuple[Break, str]] = {
    "winner": (lambda game, actions: game.__setitem__(2, "EVIL" if game[2] == "GOOD" else "GOOD"), "winner is"),
    "no winner": (put(2, None), "winner is None"),
    "human role": (put(8, "doctor"), "human_role is 'doctor'"),
    "bytes for a winner": (put(2, b"GOOD"), "of type bytes"),
    "bytes for a name": (put(3, b"\xff\xfe"), "of type bytes"),
    "nothing for a name": (put(3, None), "is empty"),
    "a number for a name": (put(4, 7), "of type int"),
    "an escape in a name": (put(5, "\x1b]0;x\x07"), "not in the game"),
    "a number for a model": (put(7, 1.5), "of type float"),
    "six megabytes for a model": (put(7, "m" * 6_000_000), "too big"),
    **{f"bytes in column {place} of the actions": (put_in_actions(place, b"\0\xff"), "") for place in range(1, 6)},
    "no kill": (lambda game, actions: actions.__delitem__(0), "0 actions of kind 'kill'"),
    "no actions": (lambda game, actions: actions.clear(), "0 actions"),
    "the survivor killed": (lambda game, actions: actions[0].__setitem__(5, game[5]), "not four players"),
}


@pytest.mark.parametrize("name", BROKEN_ROWS)
def test_a_broken_row_is_reported_and_the_others_come_in(name: str, write_database: Writer) -> None:
    break_it, words = BROKEN_ROWS[name]
    rows = [as_rows(play_game(seed), seed) for seed in (1, 2, 3)]
    break_it(*rows[1])
    found = read(write_database(rows))
    assert [type(item) for item in found] == [GameRecord, Rejected, GameRecord]
    assert found[1].line == 2
    assert found[1].game_id in ("people_game_0002", "")  # of a row that cannot be read not even the id is known
    assert words in found[1].reason


def test_a_person_whose_message_lost_its_quote_is_noted(write_database: Writer) -> None:
    game, actions = as_rows(play_game(1, text="I am sure"), 1, "mafioso")
    actions[2][4:] = ['"I am su', "I am su..."]
    (record,) = imported(write_database([(game, actions)]))
    said = next(event for event in record.events if event.kind is EventKind.STATEMENT)
    assert (said.text, said.data["notes"]) == ("I am su...", ["the closing quote is missing"])


def test_what_a_benchmarks_database_cannot_say_is_noted_or_refused(tmp_path: Path) -> None:
    path = as_benchmark(tmp_path / "odd.db", [play_game(seed) for seed in range(4)], as_rows)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("INSERT INTO game_sequence VALUES ('b_game_0000', 0, 'discuss', NULL, NULL, 'game_start')")
        base.execute("UPDATE game_players SET final_status = 'killed' WHERE game_id = 'b_game_0001'")
        base.execute("UPDATE game_players SET role = x'ff' WHERE game_id = 'b_game_0002'")
    noted, killed, odd, fine = read(path)
    assert noted.meta["import_notes"] == ["step 0, 'discuss' by None, was not read"]
    assert "4 players were killed" in killed.reason
    assert odd.reason == "role is of type bytes"
    assert isinstance(fine, GameRecord)


def test_an_early_database_without_human_role_comes_in_with_a_note(write_database: Writer, tmp_path: Path) -> None:
    path = write_database(as_rows(play_game(seed), seed, "villager") for seed in range(5))
    early = tmp_path / "early.db"
    early.write_bytes(path.read_bytes().replace(b"human_role", b"other_role"))
    games = imported(early)
    assert [bare(game) for game in games] == [bare(play_game(seed)) for seed in range(5)]
    assert {tuple(game.meta["import_notes"]) for game in games} == {
        ("the database does not say whether and where a person sat",)
    }


def test_another_database_or_half_of_one_is_refused_with_what_is_wrong(write_database: Writer, tmp_path: Path) -> None:
    path = write_database([as_rows(play_game(seed), seed) for seed in range(40)])
    (tmp_path / "half.db").write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (tmp_path / "other.db").write_bytes(path.read_bytes().replace(b"winner", b"winder"))
    for name, words in (("half.db", "get the file again"), ("other.db", "lacks winner")):
        (bad,) = read(tmp_path / name)
        assert words in bad.reason


def test_models_are_named_as_in_the_paper_where_it_names_them() -> None:
    names = {
        "Mistral-7B-Instruct-v0.2-Q4_K_M.gguf": "Mistral 7B Instruct",
        "grok-3_mini_grok-3_mini": "Grok 3 Mini",
        "deepseek_deepseek": "DeepSeek V3.1",
        "a_b": "a_b",
    }
    assert {logged: paper_name(logged) for logged in names} == names


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


# Logs that depart from our rules without contradicting themselves


def only(kind: EventKind, game: GameRecord) -> list[Event]:
    return [event for event in game.events if event.kind is kind]


DEPARTURES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "votes lost": (lambda game: drop(game, "Votes: "), "the log holds no votes"),
    "arrest lost": (lambda game: drop(game, f"{jailed(game)} was arrested"), "the flag beside the memory does"),
    "no kill": (lambda game: drop(game, "You killed"), ""),
    "no death": (lambda game: drop(game, f"{dead(game)} was found dead"), ""),
    "no investigation": (lambda game: drop(game, "You investigated"), "does not say whom"),
    "a strange line": (lambda game: swap(game, "Night 1 begins.", "Owls hoot.", "mafioso"), "line 2 was not read"),
    "a message less": (lambda game: cut_last_message(game), "do not make whole rounds"),
}


def dead(game: dict[str, Any]) -> str:
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


@pytest.mark.parametrize("name", DEPARTURES)
def test_a_log_that_departs_from_our_rules_comes_in_with_a_note_and_all_that_was_said(
    name: str, write_log: Writer
) -> None:
    change, words = DEPARTURES[name]
    whole = as_log(play_game(7, text="plain"))
    (before,), (game,) = imported(write_log([whole])), imported(write_log([change(whole)]))
    notes = game.meta.get("import_notes", [])
    assert any(words in note for note in notes) == bool(words), notes
    assert game.outcome == before.outcome
    missing = 1 if name == "a message less" else 0
    assert len(only(EventKind.STATEMENT, game)) == len(only(EventKind.STATEMENT, before)) - missing
    assert len(only(EventKind.VOTE, game)) == (0 if name == "votes lost" else 3)
    assert [event.target for event in only(EventKind.DEATH, game)] == [dead(whole)]
    assert len(only(EventKind.INVESTIGATION, game)) == (name != "no investigation")
    assert [event.index for event in game.events] == list(range(len(game.events)))
    assert label_game(game).statements


def test_a_line_that_cannot_be_read_is_kept_whole(write_log: Writer) -> None:
    log = as_log(play_game(7))
    log["players"][2]["memory"].insert(1, "A raven croaks thrice.")
    (game,) = imported(write_log([log]))
    assert game.meta["unread"] == [[log["players"][2]["name"], 2, "A raven croaks thrice."]]
    assert bare(game) == bare(play_game(7))


def test_a_game_that_ends_before_the_arrest_keeps_what_was_said_as_a_failed_game(write_log: Writer) -> None:
    log = flagged(as_log(play_game(7, text="plain")), imprisoned=False)
    ending = remembering(log, lambda _, line: None if "voted for" in line or "arrested" in line else line)
    (game,) = imported(write_log([ending]))
    assert (game.outcome, game.status.value) == (None, "failed")
    assert game.failure == "the published log ends before the game does"
    assert len(label_game(game).statements) == 6


ROWS_THAT_DEPART: dict[str, tuple[Break, str]] = {
    "strange action": (lambda game, actions: actions.append([*actions[-1][:2], "save", "Bob", "x", "y"]), "'save'"),
    "one message less": (lambda game, actions: actions.__delitem__(2), "whole rounds"),
    "a vote less": (lambda game, actions: actions.__delitem__(-1), "no vote by"),
    "a vote for oneself": (
        lambda game, actions: [actions[-1].__setitem__(5, actions[-1][3]), game.__setitem__(6, None)][0],
        "who cannot be voted for",
    ),
    "one speaks twice": (lambda game, actions: actions[3].__setitem__(3, actions[2][3]), "speaking order of round 1"),
}


@pytest.mark.parametrize("name", ROWS_THAT_DEPART)
def test_rows_that_depart_from_our_rules_come_in_with_a_note(name: str, write_database: Writer) -> None:
    change, words = ROWS_THAT_DEPART[name]
    row = as_rows(play_game(2), 2)
    change(*row)
    (game,) = imported(write_database([row]))
    assert any(words in note for note in game.meta["import_notes"])
    assert game.outcome is not None


# Earlier versions of the log


WORDS: dict[str, dict[str, str]] = {
    "2025-07": {
        r"(\w+) was found dead\.": r"\1 was found dead this morning.",
        "You investigated .*": "You know MAFIOSO is the assassin.",
        "You killed .*": "You know DETECTIVE is the detective.",
        "MAFIOSO was arrested": "Day 1: MAFIOSO was arrested (assassin)",
        r"(\w+) was arrested": r"Day 1: \1 was arrested (innocent)",
        "Votes: .*|.* begins\\.": "",
        r"(You're \w+, the )mafioso\.": r"\1assassin.",
        'You: "(.*)"': r"You said: \1",
        r"(\w+): \"(.*)\"": r"\1: \2",
    },
    "v0.0": {
        r"(\w+) was found dead\.": r"The villager \1 was found dead this morning.",
        r"(\w+) was arrested": r"Day 1: \1 was arrested",
        "Votes: (.*)": r"Day 1 votes: \1",
        ".* begins\\.": "",
        'You: "(.*)"': r"You said: \1",
        r"(\w+): \"(.*)\"": r"\1: \2",
    },
    "v1.0": {
        r"(\w+) was found dead\.": r"Night 1: The villager \1 was found dead.",
        r"(\w+): \"(.*)\"": r"\1: \2",
    },
    "v4.0": {r"(\w+) was found dead\.": r"The villager \1 was found dead."},
}
WARNED = {
    "v0.0": ("Be careful, MAFIOSO knows you're the detective.", "Be careful, DETECTIVE knows you're the mafioso."),
    "v1.0": (
        "Beware, MAFIOSO knows you're the detective.",
        "Beware, DETECTIVE is the detective and discovered you're the mafioso.",
    ),
}
WARNED["v4.0"] = WARNED["v1.0"]


def earlier(game: GameRecord, version: str) -> dict[str, Any]:
    """The game in the words of an earlier version of the authors' engine."""
    log = as_log(game)
    mafioso, detective = (game.by_role(role)[0].name for role in ("mafioso", "detective"))

    def named(words: str) -> str:
        return words.replace("MAFIOSO", mafioso).replace("DETECTIVE", detective)

    def worded(line: str) -> str:
        for pattern, words in WORDS[version].items():
            if found := re.fullmatch(named(pattern), line, re.DOTALL):
                return found.expand(named(words))
        return line

    for player in log["players"]:
        lines = [new for line in player["memory"] if (new := worded(line))]
        if version in WARNED and player["name"] in (detective, mafioso):
            lines.insert(3, named(WARNED[version][player["name"] == mafioso]))
        player["memory"] = lines
        if version == "2025-07" and player["role"] == "mafioso":
            player["role"] = "assassin"
    if version in ("2025-07", "v0.0"):
        log |= {"winner": "good" if jailed(log) == mafioso else "evil", "discussion_rounds": 2}
        log["final_state"] = log.pop("players")
    if version == "v0.0":
        log["model_configs"] = {role: {"model_path": "models/mistral.gguf"} for role in ROLES}
    return log


SAME = (EventKind.STATEMENT, EventKind.SILENCE, EventKind.ARREST, EventKind.DEATH, EventKind.INVESTIGATION)


@pytest.mark.parametrize("version", ["2025-07", "v0.0", "v1.0", "v4.0"])
def test_every_version_of_the_log_gives_the_same_game(version: str, write_log: Writer) -> None:
    ours = [play_game(seed, text="I trust nobody.") for seed in range(20)]
    theirs = imported(write_log([earlier(game, version) for game in ours]))
    for mine, game in zip(ours, theirs, strict=True):
        assert game.outcome == mine.outcome
        assert [(s.name, s.role, s.deceives) for s in game.seats] == [(s.name, s.role, s.deceives) for s in mine.seats]
        for kind in SAME:
            said = [[(e.actor, e.target, e.text, e.round) for e in only(kind, each)] for each in (game, mine)]
            assert said[0] == said[1]
        votes = [(e.actor, e.target) for e in only(EventKind.VOTE, mine)] if version != "2025-07" else []
        assert [(e.actor, e.target) for e in only(EventKind.VOTE, game)] == votes
        (discovery,) = only(EventKind.DISCOVERY, game)
        mafioso, detective = (game.by_role(role)[0].name for role in ("mafioso", "detective"))
        both = (detective, mafioso)
        assert discovery.audience == ((mafioso,) if version == "2025-07" else both)
        assert ("role" in only(EventKind.DEATH, game)[0].data) == (version != "2025-07")
        assert ("import_notes" in game.meta) == (version == "2025-07")


def test_local_models_are_named_by_their_file(write_log: Writer) -> None:
    path = write_log([earlier(play_game(1, text="Hm."), "v0.0")])
    (game,) = imported(path)
    assert {seat.model for seat in game.seats} == {"mistral.gguf"}
    (named,) = read_games("mini-mafia", path, paper_names=True)
    assert {seat.model for seat in named.seats} == {"Mistral 7B Instruct"}


def test_the_version_of_the_prompts_comes_from_the_batch_or_its_name(write_log: Writer) -> None:
    game = play_game(1)
    batch = {"batch_id": "b", "prompt_config": {"version": "v9.1"}, "model_configs": {}}
    (stated,) = imported(write_log([game]), write_log([batch], "batches.jsonl"))
    (named,) = imported(write_log([replace(game, game_id="batch_20250814_104450_v4.0_game_0001")]))
    (unknown,) = imported(write_log([game]))
    assert (stated.meta["prompt_version"], named.meta["prompt_version"]) == ("v9.1", "v4.0")
    assert "prompt_version" not in unknown.meta


def test_a_table_of_more_players_comes_in(write_log: Writer) -> None:
    roles = {"Ann": "mafioso", "Ben": "detective", "Cid": "villager", "Dan": "villager", "Eva": "villager"}
    talk = [("Ben", "Ann did it."), ("Ann", "No."), ("Dan", "Hm."), ("Eva", "Well.")]
    votes = "Votes: Ann voted for Ben, Ben voted for Ann, Dan voted for Ann, Eva voted for Ann"
    private = {"Ann": ["You killed Cid."], "Ben": ["You investigated Ann and discovered that they are the mafioso."]}
    players = []
    for name, role in roles.items():
        memory = [f"You're {name}, the {role}."]
        if name != "Cid":
            memory += ["Night 1 begins.", *private.get(name, []), "Cid was found dead.", "Day 1 begins."]
            memory += [f'{"You" if who == name else who}: "{words}"' for who, words in talk]
            memory += [] if name == "Ann" else [votes, "Ann was arrested"]
        players.append(
            {"name": name, "role": role, "alive": name != "Cid", "imprisoned": name == "Ann", "memory": memory}
        )
    (game,) = imported(write_log([{"game_id": "five", "players": players}]))
    assert (game.game, game.outcome and game.outcome.winner) == ("mafia", "town")
    assert [event.text for event in only(EventKind.STATEMENT, game)] == [words for _, words in talk]
    assert "import_notes" not in game.meta
