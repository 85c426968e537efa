"""Statements from anywhere come in with what they say and nothing else, whatever shape people have them in."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from liescope import cli
from liescope.common.errors import BadData, UsageError
from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Source
from liescope.generate.importers import Rejected, import_games, read_games
from liescope.generate.importers import jsonl_importer as jsonl
from liescope.generate.importers.statement_rows import REQUIRED, Row
from liescope.generate.runs.journal import Journal
from liescope.labeling.label import NO_ROLE, NOT_IN_SOURCE, label_game

Rows = Sequence[Mapping[str, Any]]
Writer = Callable[..., Path]


def said(text: str = "Hm.", speaker: str = "Ann", game_id: str = "g", **more: Any) -> dict[str, Any]:
    return {"game_id": game_id, "speaker": speaker, "text": text, **more}


def games(source: Path, **options: Any) -> list[GameRecord]:
    """The games of a source in which nothing is rejected."""
    found = list(read_games("jsonl", source, **options))
    assert not [item for item in found if isinstance(item, Rejected)]
    return [item for item in found if isinstance(item, GameRecord)]


def rejected(source: Path, **options: Any) -> list[str]:
    return [item.reason for item in read_games("jsonl", source, **options) if isinstance(item, Rejected)]


def words(game: GameRecord) -> list[str]:
    return [event.text for event in game.events if event.kind is EventKind.STATEMENT]


def notes(game: GameRecord) -> list[str]:
    return game.meta.get("import_notes", [])


def test_what_a_row_says_becomes_labels_and_the_rest_is_null_with_the_reason(write_log: Writer) -> None:
    ratings = [{"observer": "Ben", "flag": True, "suspicion": 0.75}]
    claims = [{"kind": "role", "subject": "Ann", "object": "town", "verdict": "false", "start": 0, "end": 2}]
    rows = [
        said("I am town.", role="wolf", team="wolves", deceives=True, label_self="yes", ratings=ratings, claims=claims),
        said("So am I.", "Ben", model="gpt-x", self_type="omission", winner="wolves", votes=[["Cid", "Ann"]]),
    ]
    (game,) = games(write_log(rows), game="parlour")
    ann, ben, cid = game.seats
    assert (game.game, ann.role, ann.deceives, ann.source) == ("parlour", "wolf", True, Source.IMPORTED)
    assert (ben.role, ben.deceives, ben.model, ben.source) == ("", None, "gpt-x", Source.MODEL)
    assert (cid.name, cid.model) == ("Cid", "unknown")
    assert (game.outcome.winner, game.outcome.winners) == ("wolves", ("Ann",))
    labels = label_game(game)
    first, second = labels.statements
    assert (first.label_role, first.label_self, first.label_peer) == (True, True, True)
    assert (first.self_type, first.self_type_null) == (None, NOT_IN_SOURCE)
    assert (second.label_role_null, second.label_self_null) == (NO_ROLE, NOT_IN_SOURCE)
    assert second.self_type == "omission"
    (rating,) = labels.ratings
    assert (rating.observer, rating.flag, rating.suspicion) == ("Ben", True, 0.75)
    assert rating.null == f"type, confidence {NOT_IN_SOURCE}"
    (vote,) = labels.votes
    assert (vote.voter, vote.target) == ("Cid", "Ann")
    assert game.events[0].data["claims"] == claims


def test_speakers_whose_names_look_alike_are_read_and_noted(write_log: Writer, tmp_path: Path) -> None:
    rows = [said("I am Ann."), said("So am I.", "\u0410nn"), said("Hm.", game_id="h"), said("Hm.", "Ben", game_id="h")]
    result = import_games("jsonl", write_log(rows), out=tmp_path / "run")
    assert result.receipt.texts == 4
    assert result.summary.notes == {"speakers whose names look alike": 1}


def test_columns_are_renamed_and_what_is_not_read_is_named_once(write_log: Writer, tmp_path: Path) -> None:
    rows = [{"dialogue": 7, "who": "Ann", "message": "Hi.", "llm": True, "role": "user", "mood": "calm", "empty": None}]
    names = ["dialogue=game_id", "who=speaker", "message=text", "llm=source", "role="]
    source = write_log(rows)
    (game,) = games(source, map=names, game="chat")
    assert game.game_id == "chat-7"
    assert (game.seats[0].source, game.seats[0].role) == (Source.MODEL, "")
    result = import_games("jsonl", source, out=tmp_path / "run", map=names, game="chat")
    assert (notes(game), result.receipt.ignored) == ([], ("role", "mood", "empty"))


def test_a_missing_column_is_named_with_the_way_to_name_it(write_log: Writer, tmp_path: Path) -> None:
    source = write_log([{"game_id": "g", "who": "Ann", "message": "Hi."}])
    (reason,) = rejected(source)
    assert (
        reason == "it lacks the columns speaker, text and has game_id, who, message: rename with --map THEIRS=speaker"
    )
    with pytest.raises(BadData, match="it lacks the columns speaker, text"):
        import_games("jsonl", source, out=tmp_path / "run")
    assert "--map names wo, which is no column" in rejected(write_log([said()]), map=["wo=role"])[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"map": ["message"]}, "write the source's column, ="),
        ({"map": ["message=said"]}, "the format has no column said"),
        ({"map": ["a=text", "b=text"]}, "renamed twice"),
        ({"game": "werewolf"}, "rules of its own"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(options: dict[str, Any], words: str, write_log: Writer) -> None:
    with pytest.raises(UsageError, match=words):
        games(write_log([said()]), **options)


def test_rows_of_games_may_lie_anywhere_and_are_put_in_order(write_log: Writer) -> None:
    rows = [said(f"{game} {index}", game_id=game, index=index) for index in (2, 0, 1) for game in "ab"]
    assert [words(game) for game in games(write_log(rows))] == [["a 0", "a 1", "a 2"], ["b 0", "b 1", "b 2"]]
    half = [said("one", index=1), said("none"), said("zero", index=0)]
    (game,) = games(write_log(half, "half.jsonl"))
    assert words(game) == ["one", "none", "zero"]
    assert "no index" in notes(game)[0]


def test_a_row_sent_twice_counts_once_and_two_of_one_index_both_stay(write_log: Writer) -> None:
    rows = [said("a", index=0), said("a", index=0), said("b", index=0), said("a"), said("a")]
    (game,) = games(write_log(rows[:3]))
    assert words(game) == ["a", "b"]
    assert len(notes(game)) == 2
    (repeats,) = games(write_log(rows[3:]))
    assert words(repeats) == ["a", "a"]


def test_an_empty_text_is_a_silence_and_no_statement(write_log: Writer) -> None:
    (game,) = games(write_log([said("Hi."), said(" ", "Ben"), {**said(), "text": None}]))
    assert words(game) == ["Hi."]
    assert [event.kind for event in game.events].count(EventKind.SILENCE) == 2


def test_private_words_are_heard_by_the_speaker_and_those_named(write_log: Writer) -> None:
    rows = [said("All.", players=["Ann", "Ben", "Cid"]), said("Psst.", audience=["Ben"])]
    rows.append(said("All again.", audience="Ben, Cid"))
    labelled = label_game(games(write_log(rows))[0]).statements
    assert [row.audience for row in labelled] == [(), ("Ann", "Ben"), ()]


def test_votes_that_every_row_repeats_are_cast_once(write_log: Writer) -> None:
    votes = [["Ann", "Ben"], {"voter": "Ben"}]
    (game,) = games(write_log([said(votes=votes), said("b", "Ben", votes=votes)]))
    assert [event.kind for event in game.events] == [EventKind.STATEMENT, EventKind.STATEMENT, EventKind.VOTE]
    assert notes(game) == ["a vote names nobody and is left out"]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([said(role="wolf"), said(role="town")], "Ann has more than one role: town and wolf"),
        ([said(winner="a"), said(winner="b")], "game g has more than one winner: a and b"),
        ([said(split="train"), said(split="dev")], "leave the column out with --map split="),
        ([said(claims=[{"kind": "role", "start": 1, "end": 99}])], "the span 1 to 99"),
    ],
)
def test_a_game_that_contradicts_itself_is_rejected(rows: Rows, reason: str, write_log: Writer) -> None:
    (found,) = rejected(write_log(rows))
    assert reason in found


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"label_self": "maybe"}, "label_self: 'maybe' is neither true nor false"),
        ({"self_confidence": 80}, "self_confidence"),
        ({"ratings": [{"flag": True}]}, "observer"),
        ({"claims": [{"kind": "role", "verdict": "so-so"}]}, "verdict"),
        ({"day": -1}, "day"),
    ],
)
def test_a_cell_that_cannot_be_read_is_left_out_and_the_game_says_so(
    cells: dict[str, Any], reason: str, write_log: Writer
) -> None:
    (game,) = games(write_log([said("a"), said("b", **cells)]))
    assert words(game) == ["a", "b"]
    (note,) = [note for note in notes(game) if "could not be read" in note]
    assert reason in note


def test_roles_that_deceive_can_be_named(write_log: Writer) -> None:
    rows = [said(role="Wolf"), said("b", "Ben", role="town"), said("c", "Cid")]
    rows.append(said("d", "Dan", role="wolf", deceives=False))
    (game,) = games(write_log(rows), deceptive_role=["wolf"])
    assert [seat.deceives for seat in game.seats] == [True, False, None, False]


def test_every_kind_of_file_gives_the_same_game(tmp_path: Path, write_log: Writer) -> None:
    rows = [
        {"game_id": 1, "index": 0, "speaker": "Ann", "text": "Hi,\nall.", "label_self": True, "role": None},
        {"game_id": 1, "index": 1, "speaker": "Ben", "text": "Yes.", "label_self": None, "role": "wolf"},
    ]
    expected = games(write_log(rows), deceptive_role=["wolf"])
    (tmp_path / "said.jsonl.gz").write_bytes(gzip.compress((tmp_path / "games.jsonl").read_bytes()))
    (tmp_path / "said.json").write_text("\ufeff" + json.dumps(rows), encoding="utf-8")
    frame = pl.DataFrame(rows)
    (tmp_path / "said.csv").write_text("\ufeff" + frame.write_csv(), encoding="utf-8")
    (tmp_path / "semicolons.csv").write_text(frame.write_csv(separator=";"), encoding="utf-8")
    frame.with_columns(pl.col("game_id", "label_self").cast(pl.Float64).fill_null(math.nan)).write_parquet(
        tmp_path / "said.parquet"
    )
    for name in ("said.jsonl.gz", "said.json", "said.csv", "semicolons.csv", "said.parquet"):
        assert games(tmp_path / name, deceptive_role=["wolf"]) == expected, name


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.parquet", b"PAR1 and no more"),
        ("a.csv", b"game_id,speaker,text\ng,Ann,\xff"),
        ("a.csv", b"game_id,speaker,text\ng,Ann,a,b,c"),
        ("a.csv.gz", gzip.compress(b"game_id,speaker,text\ng,Ann,a", mtime=0)[:-9]),
        ("a.json", b"[" * 100_000),
        ("a.json", b"[1, 2]"),
    ],
)
def test_a_damaged_file_is_a_rejection(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert rejected(tmp_path / name)


def test_a_game_without_end_is_rejected_before_it_fills_the_memory(
    write_log: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "MOST_ROWS", 3)
    assert rejected(write_log([said(str(place)) for place in range(5)])) == ["a game of more than 3 statements"]


def test_the_guide_has_every_column_as_the_code_declares_it() -> None:
    from liescope.generate.importers.statement_rows import table

    guide = Path(__file__).parents[3] / "docs" / "guides" / "import.md"
    assert table() in guide.read_text(encoding="utf-8")
    assert set(REQUIRED) <= set(Row.model_fields)


def test_an_optional_cell_of_another_shape_is_left_out_and_its_row_kept(
    write_log: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [said(f"word {at}", claims=[{"text": "I am town"}], round="first" if at % 2 else 1) for at in range(10)]
    source = write_log([*rows, said("the end", "Ben", claims=[{"kind": "role"}])])
    (game,) = games(source)
    assert words(game) == [*(f"word {at}" for at in range(10)), "the end"]
    assert any(note.startswith("cells of claims could not be read") for note in notes(game))
    assert cli.main(["import", "jsonl", str(source), "--out", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "10 cells of claims could not be read and are left out; their rows are kept" in out
    assert "5 cells of round" in out
    result = import_games("jsonl", source, out=tmp_path / "again")
    assert result.to_json()["left_out"] == {"claims": 10, "round": 5}
    assert result.rejections == 0


@pytest.mark.parametrize("lost", [{"audience": {"who": 1}}, {"split": "dev2"}, {"index": "third"}, {"speaker": [1]}])
def test_a_row_that_would_say_something_else_is_lost_and_the_command_says_so(
    lost: dict[str, Any], write_log: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_log([said("one"), said("two") | lost, said("three")])
    (name,) = lost
    (reason,) = rejected(source)
    assert reason.startswith(f"{name}")
    command = ["import", "jsonl", str(source), "--out", str(tmp_path / "run")]
    assert cli.main(command) == 1
    assert "--allow-rejected" in capsys.readouterr().err
    assert cli.main([*command, "--allow-rejected"]) == 0
    with Journal.open(tmp_path / "run") as journal:
        (game,) = journal.records()
    assert words(game) == ["one", "three"]
    assert "1 of its rows could not be read" in notes(game)


@pytest.mark.parametrize(
    "card", [b"---\nconfigs: [a: b: c\n---\n", b"---\nlicense: \xff\xfe\n---\n", b"---\n- a\n---\n"]
)
def test_a_broken_card_beside_the_data_is_one_line(
    card: bytes, write_log: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_log([said()])
    (tmp_path / "README.md").write_bytes(card)
    assert cli.main(["import", "jsonl", str(tmp_path), "--out", str(tmp_path.with_name("run"))]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "README.md" in line
