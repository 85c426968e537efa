"""Texts and conversations of one's own: columns found by name, labels read in one sense, nothing dropped in silence."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import zipfile
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pytest

import liescope
from liescope.common.errors import BadData, UsageError
from liescope.detectors.material import corpus_of
from liescope.detectors.statement_inputs import each_statement
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.corpus.build import build
from liescope.generate.corpus.open import records
from liescope.generate.corpus.read import CorpusInMemory, read
from liescope.generate.importers import table_importer
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.importing import import_games, read_games
from liescope.generate.importers.label_column import RowLabels

ALIBIS = [
    {"interview": "Ann", "answer": "I was at home all night.", "verdict": "lie"},
    {"interview": "Ann", "answer": "I bought some milk at nine.", "verdict": "truth"},
    {"interview": "Bob", "answer": "He gave me the money himself.", "verdict": "lie"},
    {"interview": "Bob", "answer": "We met at school.", "verdict": "truth"},
]
CHAT = [
    {"role": "system", "content": "Sell the car. Never mention the accident."},
    {"role": "user", "content": "Was it ever in an accident?"},
    {"role": "assistant", "content": "Never, it is as good as new."},
]


def table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
    return path


def lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def games(kind: str, source: Any, **options: Any) -> list[GameRecord]:
    found = list(read_games(kind, source, **options))
    assert all(isinstance(one, GameRecord) for one in found), found
    return [one for one in found if isinstance(one, GameRecord)]


def labels(record: GameRecord) -> list[bool | None]:
    return [event.data.get("gold") for event in record.events if event.kind is EventKind.STATEMENT]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_texts_that_belong_together_are_one_record_and_carry_the_sources_label(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"alibis{ending}"
    source = lines(path, ALIBIS) if ending == ".jsonl" else table(path, ALIBIS)
    ann, bob = games("text", source, group="interview")
    assert (labels(ann), labels(bob)) == ([True, False], [True, False])
    assert [event.text for event in bob.events] == ["He gave me the money himself.", "We met at school."]


@pytest.mark.parametrize("kind", ["text", "jsonl"])
def test_the_same_rows_are_equal_records_by_every_route(kind: str, tmp_path: Path) -> None:
    names = {"interview": "game_id", "answer": "text", "verdict": "deceptive" if kind == "text" else "label_gold"}
    rows = [{names[name]: cell for name, cell in row.items()} | {"speaker": row["interview"]} for row in ALIBIS]
    (tmp_path / "a.json").write_text(json.dumps(rows), encoding="utf-8")
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    files = [table(tmp_path / "a.csv", rows), table(tmp_path / "a.tsv", rows), lines(tmp_path / "a.jsonl", rows)]
    there = games(kind, rows)
    for file in (*files, tmp_path / "a.json", tmp_path / "a.parquet"):
        assert games(kind, file) == there, file
    frame = pl.DataFrame(rows)
    for held in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow(), datasets.Dataset.from_list(rows)):
        assert games(kind, held) == there, type(held)
    with pytest.raises(UsageError, match="one is of type str"):
        games(kind, ["Hm."])
    run = import_games(kind, rows, out=tmp_path / "run").run
    assert list(records(run)) == there
    assert [label for game in there for label in labels(game)] == [True, False, True, False]


def test_without_a_group_each_row_is_its_own_and_a_note_says_so(tmp_path: Path) -> None:
    found = games("text", table(tmp_path / "a.csv", [{"text": row["answer"], "deceptive": 1} for row in ALIBIS]))
    assert len({game.game_id for game in found}) == 4
    assert found[0].meta["import_notes"] == ["no column groups the rows (--group names one): each is alone"]


@pytest.mark.parametrize(
    ("column", "values", "options", "expected"),
    [
        ("deceptive", ("true", "false"), {}, [True, False]),
        ("is_lie", ("yes", "no"), {}, [True, False]),
        ("honest", ("true", "false"), {}, [False, True]),
        ("truthful", ("0", "1"), {}, [True, False]),
        ("label", ("1", "0"), {}, [True, False]),
        ("label", ("deceptive", "honest"), {}, [True, False]),
        ("label", ("false", "true"), {"deceptive": ["false"]}, [True, False]),
        ("label", ("pants-fire", "mostly-true"), {"deceptive": ["pants-fire", "false"]}, [True, False]),
        ("Ground Truth", ("lie", "truth"), {}, [True, False]),
    ],
)
def test_a_label_is_read_in_the_sense_of_its_name_and_values(
    column: str, values: Sequence[str], options: dict[str, Any], expected: list[bool], tmp_path: Path
) -> None:
    rows = [{"text": f"Words number {number}.", column: value} for number, value in enumerate(values)]
    assert [labels(game)[0] for game in games("text", table(tmp_path / "a.csv", rows), **options)] == expected


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        ([{"text": "One two three.", "label": "true"}], {}, "label is 'true', which may mean either.*--deceptive"),
        ([{"text": "One.", "label": "half"}, {"text": "Two.", "label": "full"}], {}, "it has half, full"),
        ([{"text": "One.", "label": "a"}], {"deceptive": ["b"]}, "no row of label has a value that --deceptive names"),
        ([{"text": "One.", "answer": "Two."}], {}, "text and answer may both hold the text; name one with --text"),
        ([{"text": "One.", "deceptive": 1, "honest": 0}], {}, "may both hold the label; name one with --label"),
        ([{"n": 1, "m": 2}], {}, "it has no column that is called like the text, but n, m: name it with --text"),
        ([{"messages": "[]", "n": 1}], {}, "for conversations, use import chat"),
        ([{"text": "Hm.", "label": f"0,{n}"} for n in range(11, 30)], {}, "19 different numbers from 0,11 to 0,29"),
        ([{"text": "One."}], {"label": "gold"}, "--label gold: there is no such column; it has text"),
    ],
)
def test_a_table_that_leaves_something_open_is_refused_with_the_way_to_say_it(
    rows: list[dict[str, Any]], options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadData, match=words) as raised:
        import_games("text", table(tmp_path / "a.csv", rows), out=tmp_path / "run", **options)
    assert str(raised.value).count("a.csv") == 1
    assert not (tmp_path / "run").exists()


def test_a_list_in_place_of_a_text_is_told_as_such() -> None:
    (bad,) = read_games("text", [{"said": CHAT}], text="said")
    assert isinstance(bad, Rejected)
    assert bad.reason.startswith("said holds a list or an object, no text")


def test_of_several_files_the_one_at_fault_is_named(tmp_path: Path) -> None:
    files = [table(tmp_path / f"{name}.csv", [{"text": "", "n": name}]) for name in "ab"]
    with pytest.raises(
        BadData, match=r"a\.csv, \S*b\.csv holds no text that can be imported; a\.csv: line 2: it has no"
    ):
        import_games("text", *files, out=tmp_path / "run")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_table_in_another_encoding_is_refused_with_the_one_to_save_it_in(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\nJe l'ai vue à midi.,lie\n", encoding=encoding)
    with pytest.raises(BadData, match="save it as CSV in UTF-8"):
        import_games("text", path, out=tmp_path / "run")


@pytest.mark.parametrize(
    ("column", "values", "options", "expected"),
    [
        ("verdict", ("lie", "truth", "Neither", ""), {"label": "verdict"}, [True, False, None, None]),
        ("is_lie", ("1", "0", "unsure"), {}, [True, False, None]),
        ("is_lie", ("1", "0", "2"), {"deceptive": ["1"], "honest": ["0"]}, [True, False, None]),
        ("truth", ("1", "0", "?"), {}, [False, True, None]),
        ("label", ("fake", "real"), {"honest": ["real"]}, [True, False]),
        ("label", ("fake", "real", "satire"), {"deceptive": ["fake"]}, [True, None, None]),
        ("label", ("fake", "real", "satire"), {"deceptive": ["fake"], "honest": ["real"]}, [True, False, None]),
        ("label", ("1", "0"), {"deceptive": ["0"]}, [False, True]),
    ],
)
def test_what_nothing_says_the_meaning_of_has_no_label_in_whatever_place_it_stands(
    column: str, values: Sequence[str], options: dict[str, Any], expected: list[bool | None], tmp_path: Path
) -> None:
    told = [
        (f"{value} number {n}", value, one) for value, one in zip(values, expected, strict=True) for n in range(600)
    ]
    rows = [{"text": text, column: value} for text, value, _ in told]
    for order in (rows, rows[::-1]):
        said = {
            game.events[0].text: labels(game)[0] for game in games("text", table(tmp_path / "a.csv", order), **options)
        }
        assert said == {text: one for text, _, one in told}


def test_a_third_value_is_no_label_of_a_turn() -> None:
    turns = [{"role": "assistant", "content": f"Words {one}.", "deceptive": one} for one in ("yes", "no", "unclear")]
    (game,) = games("chat", [{"messages": turns}])
    assert labels(game) == [True, False, None]


def test_the_receipt_of_an_import_adds_up_and_says_what_each_value_became(tmp_path: Path) -> None:
    said = [("One is here.", "lie", "a"), ("Two is here.", "truth", "a"), ("Three.", "hm", "b"), ("", "lie", "b")]
    rows = [{"text": text, "label": label, "group": group, "date": "May"} for text, label, group in said]
    result = import_games("text", table(tmp_path / "a.csv", rows), out=tmp_path / "run", language=["en"])
    assert result.to_json()["receipt"] == {
        "rows": 4,
        "made": 0,
        "kept": 3,
        "left_out": {"it has no text: text is empty": 1},
        "texts": 3,
        "groups": 2,
        "languages": ["en"],
        "columns": {"used": {"text": "text", "label": "label", "group": "group"}, "ignored": ["date"]},
        "labels": [
            {"value": "lie", "read_as": "deceptive", "rows": 1},
            {"value": "truth", "read_as": "honest", "rows": 1},
            {"value": "hm", "read_as": "none", "rows": 1},
        ],
    }


STATEMENTS = [
    {"game_id": f"g{n // 3}", "speaker": f"p{n % 3}", "text": f"Words {n}.", "label_gold": label, "mood": "calm"}
    for n, label in enumerate(["yes", "no", "yes", "hm", None, "no"])
]
LABELLED_CHATS = [
    {"messages": [*CHAT[:2], {"role": "assistant", "content": f"Never, {n}."}], "label": label, "group": f"g{n % 2}"}
    for n, label in enumerate(["lie", "truth", "unclear", None])
]


@pytest.mark.parametrize(
    ("kind", "rows", "groups", "labels"),
    [
        ("text", ALIBIS, 4, {("lie", True): 2, ("truth", False): 2}),
        ("chat", LABELLED_CHATS, 2, {("lie", True): 1, ("truth", False): 1, ("unclear", None): 1, ("", None): 1}),
        ("jsonl", STATEMENTS, 2, {("yes", True): 2, ("no", False): 2, ("hm", None): 1, ("", None): 1}),
    ],
)
def test_every_route_gives_one_receipt(
    kind: str, rows: list[dict[str, Any]], groups: int, labels: Mapping[tuple[str, bool | None], int], tmp_path: Path
) -> None:
    told = [{name: json.dumps(cell) if isinstance(cell, list) else cell for name, cell in row.items()} for row in rows]
    sparse = [{name: cell for name, cell in row.items() if cell is not None} for row in rows]
    sources: list[Any] = [table(tmp_path / "a.csv", told), lines(tmp_path / "a.jsonl", sparse), rows]
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    sources.append(tmp_path / "a.parquet")
    for number, source in enumerate(sources):
        receipt = import_games(kind, source, out=tmp_path / f"run{number}", language=["no", "en"]).receipt
        assert (receipt.rows, receipt.kept, receipt.missing) == (len(rows), len(rows), 0)
        assert (receipt.texts, len(receipt.groups)) == (3 * len(rows) if kind == "chat" else len(rows), groups)
        assert (receipt.languages, receipt.labels) == (("no", "en"), labels)
        assert {*receipt.used.values()} | {*receipt.ignored} == {*rows[0]}
        assert f"{len(rows)} rows read, {len(rows)} kept" in str(receipt)
        assert f"groups: {groups}; languages: no, en" in str(receipt)


def test_one_class_is_said(tmp_path: Path) -> None:
    one = [ALIBIS[0], {**ALIBIS[1], "verdict": "hm"}]
    receipt = import_games("text", one, out=tmp_path / "run", label="verdict").receipt
    assert "no row is honest: detectors need both" in str(receipt)
    assert "detectors need both" not in str(import_games("text", ALIBIS, out=tmp_path / "both").receipt)


def test_a_column_that_comes_late_is_read_from_there_and_one_of_no_use_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_importer, "_HEAD", 2)
    rows: list[dict[str, Any]] = [{"text": f"Words of number {n}."} for n in range(6)]
    for n, row in enumerate(rows[3:]):
        row |= {"label": ["lie", "truth"][n % 2], "group": "late", "mood": "calm", "message": "Hm."}
    receipt = import_games("text", lines(tmp_path / "a.jsonl", rows), out=tmp_path / "run").receipt
    assert receipt.labels == {("", None): 3, ("lie", True): 2, ("truth", False): 1}
    assert (len(receipt.groups), {*receipt.ignored}) == (4, {"mood", "message"})
    first = [{"text": "Words of one.", "a": 1}, {"text": "Words of two.", "b": 1}, {"text": "Three.", "label": "lie"}]
    assert import_games("text", first, out=tmp_path / "b").receipt.ignored == ("a", "b")
    monkeypatch.setattr(table_importer, "_AGAIN", 1)  # those that come when no more are learned are told all the same
    told = import_games("text", lines(tmp_path / "c.jsonl", rows), out=tmp_path / "c").receipt
    assert {"group", "mood", "message"} <= {*told.ignored}


def test_which_way_a_bare_1_was_read_is_told_with_what_turns_it_round(tmp_path: Path) -> None:
    rows = [{"text": f"Words {n}.", "label": n % 2} for n in range(4)]
    assumed = import_games("text", table(tmp_path / "a.csv", rows), out=tmp_path / "run").summary.notes
    named = import_games("text", table(tmp_path / "b.csv", rows), out=tmp_path / "b", deceptive=("1",)).summary.notes
    told = "label: 1 counts as deceptive, 0 as honest; if not so, --deceptive 0"
    assert assumed[told] == 4
    assert told not in named


def test_rows_of_a_record_that_cannot_be_kept_are_left_out_by_its_reason(tmp_path: Path) -> None:
    rows = [{"text": f"Words {n}.", "label": "lie", "group": "a", "split": split} for n, split in enumerate("xyz")]
    rows += [{"text": "Words.", "label": "truth", "group": "b" * 500, "split": ""}] * 2
    rows += [{"text": "Words.", "label": "truth", "group": "c", "split": ""}]
    receipt = import_games("text", table(tmp_path / "a.csv", rows), out=tmp_path / "run").receipt
    assert (receipt.rows, receipt.missing, sum(receipt.left_out.values())) == (6, 0, 6 - receipt.kept)
    assert receipt.labels.total() == receipt.kept
    assert 2 in receipt.left_out.values()


def test_numbers_with_many_values_are_told_as_such(tmp_path: Path) -> None:
    rows = [{"text": f"Words number {n}.", "label": n / 40} for n in range(40)]
    for source in (table(tmp_path / "a.csv", rows), rows):
        with pytest.raises(BadData, match=r"label holds 40 different numbers from 0 to 0\.975, and a label"):
            import_games("text", source, out=tmp_path / "run")


@pytest.mark.parametrize("column", ["label", "deceptive", "honest", "gold"])
@pytest.mark.parametrize("numbers", [(1, 2, 3, 4, 5), (0, 1, 2), (-1, 0, 1), ("1.0", "0.5", "0.0")])
def test_ratings_are_no_label_until_their_values_are_named(
    column: str, numbers: Sequence[float | str], tmp_path: Path
) -> None:
    rows = [{"text": f"Words number {n}.", column: number} for n, number in enumerate(numbers)]
    source = table(tmp_path / "a.csv", rows)
    with pytest.raises(BadData, match="may mean either; say which values are lies with --deceptive; it has"):
        import_games("text", source, out=tmp_path / "run")
    low, *_, high = numbers
    receipt = import_games("text", source, out=tmp_path / "b", deceptive=[str(low)], honest=[str(high)]).receipt
    assert [one for _, one in receipt.labels] == [True, *[None] * (len(numbers) - 2), False]


def test_a_rating_far_below_tells_that_the_numbers_above_it_are_no_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_importer, "_HEAD", 4)
    numbers = [n % 2 for n in range(12)] + [4]
    texts = [{"text": f"Words number {n}.", "label": number} for n, number in enumerate(numbers)]
    turns = [{"role": "assistant", "content": f"Words {n}.", "is_lie": number} for n, number in enumerate(numbers)]
    chats = [{"messages": [turn]} for turn in turns]
    asked = [{"prompt": "Is it?", "response": row["text"], "is_lie": row["label"]} for row in texts]
    rows = [{"game_id": n % 9, "speaker": "Ann", "text": "Hm.", "label_gold": one} for n, one in enumerate(numbers)]
    for kind, source in (("text", texts), ("chat", chats), ("chat", asked), ("jsonl", rows)):
        for one in (source, source[:-1]):
            said = {label for game in games(kind, one) for label in labels(game)} - {None}
            assert said == (set() if one is source else {True, False}), kind
    (noted,) = {note for game in games("text", texts) for note in game.meta["import_notes"] if "label" in note}
    assert noted == "label: 0 and 1 are no labels beside other numbers; --deceptive names the lies"


def test_rows_that_come_one_by_one_have_no_label_after_a_rating() -> None:
    read = RowLabels()
    assert [read.of({"honest": n}) for n in (0, 1)] == [True, False]
    assert [read.of({"honest": n}) for n in (5, 0, 1)] == [None, None, None]
    assert RowLabels().of({"honest": 1}) is False


def test_a_label_that_became_a_float_beside_an_empty_cell_is_the_number_it_was(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["One is said.", "Two.", "Three."], "label": [1, 0, None], "group": [7, 7, None]})
    frame["group"] = frame["group"].fillna(8.0)
    frame.to_csv(tmp_path / "a.csv", index=False)
    rows = frame.to_dict("records")
    for name, source in (("a", tmp_path / "a.csv"), ("b", rows)):
        receipt = import_games("text", source, out=tmp_path / name).receipt
        assert [one for _, one in receipt.labels] == [True, False, None]
    assert [one.game_id for one in records(tmp_path / "a")] == [one.game_id for one in records(tmp_path / "b")]


def test_where_no_column_is_known_to_hold_labels_the_columns_are_named(tmp_path: Path) -> None:
    rows = [{"post": f"Words of number {n}.", "veracity": value} for n, value in enumerate(["fake", "real"])]
    result = import_games("text", table(tmp_path / "a.csv", rows), out=tmp_path / "run")
    assert "name one with --label (post, veracity)" in " ".join(result.summary.notes)
    told = import_games("text", tmp_path / "a.csv", out=tmp_path / "b", label="veracity", deceptive=["fake"])
    assert not any("--label" in note for note in told.summary.notes)


def test_a_table_in_place_of_a_corpus_is_answered_with_the_command_that_imports_it(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", ALIBIS)
    with pytest.raises(BadData, match=f"liescope import text {path}"):
        liescope.train("tfidf", path, out=tmp_path / "m")


def test_judges_of_conversations_are_observers_and_no_models_that_speak(tmp_path: Path) -> None:
    judges = {"one": 85, "two": 20, "three": None}
    rows = [{"messages": CHAT, "deceptive": True, "model": "m", "judges": judges}]
    import_games("chat", lines(tmp_path / "a.jsonl", rows), out=tmp_path / "run")
    folder = build(tmp_path / "run", out=tmp_path / "corpus").folder
    ratings = read(folder, "ratings").collect()
    shown = ratings.select("observer", "observer_model", "flag", "suspicion")
    assert shown.rows() == [("one", "one", True, 0.85), ("two", "two", False, 0.2)]
    assert set(read(folder, "statements").collect()["speaker_model"]) == {"m", "unknown"}
    seats = read(folder, "games").collect()["seats"].explode().struct.field("model")
    assert not set(seats) & {"one", "two"}


def test_rows_without_text_or_group_are_listed_with_their_line_and_the_others_come_in(tmp_path: Path) -> None:
    lie = {"interview": "Cy", "answer": "Hm.", "verdict": "lie"}
    rows = [*ALIBIS, lie | {"answer": " "}, lie | {"interview": ""}]
    result = import_games("text", table(tmp_path / "a.csv", rows), out=tmp_path / "run", group="interview")
    assert result.games == 2
    assert [(bad.line, bad.reason) for bad in result.first_rejected] == [
        (6, "it has no text: answer is empty"),
        (7, "it belongs to no group: interview is empty"),
    ]


def test_a_conversation_keeps_the_instruction_the_turns_and_who_said_what(tmp_path: Path) -> None:
    row = {"model": "m-70b", "messages": CHAT, "deceptive": True, "canary": "canary 7f3a", "task": "sales"}
    (record,) = games("chat", lines(tmp_path / "a.jsonl", [row]))
    assert [(event.actor, event.text) for event in record.events] == [(one["role"], one["content"]) for one in CHAT]
    assert labels(record) == [None, None, True]
    assert {seat.name: seat.model for seat in record.seats}["assistant"] == "m-70b"
    assert (record.cell, record.meta["canary"]) == ("sales", "canary 7f3a")


def spoken(record: GameRecord) -> list[tuple[str, str, bool | None]]:
    return [(event.actor, event.text, event.data.get("gold")) for event in record.events]


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (("prompt", "response"), {}),
        (("Question", "Answer"), {}),
        (("instruction", "output"), {}),
        (("asked", "replied"), {"prompt": "asked", "response": "replied"}),
        (("asked", "response"), {"prompt": "asked"}),
    ],
)
def test_an_exchange_in_two_columns_is_the_conversation_that_messages_would_make(
    names: tuple[str, str], options: dict[str, str], tmp_path: Path
) -> None:
    told = [("Was it sold?", "It was.", "lie"), ("By whom?", "By Ida.", "truth")]
    rows = [dict(zip((*names, "verdict"), row, strict=True)) for row in told]
    listed = [
        {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": said}], "verdict": label}
        for asked, said, label in told
    ]
    assert games("chat", table(tmp_path / "a.csv", rows), **options) == games("chat", listed)
    assert games("chat", rows, **options) == games("chat", listed)


def test_an_exchange_takes_its_system_prompt_and_input_along() -> None:
    row = {"system_prompt": "S", "instruction": "Add.", "input": "1 2", "output": "3", "honest": True}
    assert spoken(*games("chat", [row])) == [
        ("system", "S", None),
        ("user", "Add.\n\n1 2", None),
        ("assistant", "3", False),
    ]


TURNS = [
    {"chat_id": "b", "role": "user", "content": "Is it new?", "lie": None},
    {"chat_id": "a", "role": "human", "content": "Who came?", "lie": None},
    {"chat_id": "b", "role": "assistant", "content": "It is.", "lie": 1},
    {"chat_id": "a", "role": "gpt", "content": "Nobody.", "lie": 0},
    {"chat_id": "b", "role": "user", "content": "Sure?", "lie": None},
    {"chat_id": "b", "role": "assistant", "content": "No.", "lie": 0},
]


@pytest.mark.parametrize("names", [None, {"chat_id": "case", "role": "who", "content": "words"}])
def test_a_turn_a_row_is_put_together_by_conversation_with_the_label_of_each_turn(
    names: dict[str, str] | None, tmp_path: Path
) -> None:
    rows = [{(names or {}).get(name, name): value for name, value in row.items()} for row in TURNS]
    options = {"conversation": "case", "role": "who", "content": "words"} if names else {}
    found = {one.game_id: spoken(one) for one in games("chat", table(tmp_path / "a.csv", rows), **options)}
    assert found == {
        "b": [
            ("user", "Is it new?", None),
            ("assistant", "It is.", True),
            ("user", "Sure?", None),
            ("assistant", "No.", False),
        ],
        "a": [("user", "Who came?", None), ("assistant", "Nobody.", False)],
    }


def test_turns_and_exchanges_that_say_too_little_are_listed_and_add_up(tmp_path: Path) -> None:
    astray = [{**TURNS[0], "chat_id": "c", "lie": 1}, {**TURNS[2], "chat_id": "c", "lie": None}]
    result = import_games("chat", [*TURNS, *astray, {**TURNS[0], "chat_id": None}], out=tmp_path / "run")
    assert {bad.reason.split(":")[0] for bad in result.first_rejected} == {
        "its label stands at no turn of the assistant",
        "it belongs to no conversation",
    }
    assert (result.receipt.rows, result.receipt.kept, result.receipt.missing) == (9, 6, 0)
    (refused,) = read_games("chat", [{"prompt": "Q", "response": "A", "answer": "B", "lie": 1}])
    assert "response and answer may both hold the response; name one with --response" in refused.reason


def test_frames_of_exchanges_and_turns_are_conversations_and_groups_hold_them_together() -> None:
    asked = pd.DataFrame({"question": ["Q", "R"], "answer": ["A", "B"]})
    corpus = corpus_of(asked, [1, 0], groups=["same", "same"])
    said = read(corpus, "statements").collect()
    assert said["speaker"].to_list() == ["user", "assistant"] * 2
    assert read(corpus, "games").collect()["split"].n_unique() == 1
    assert sorted(said["label_gold"].drop_nulls()) == [False, True]
    turns = read(corpus_of(pl.DataFrame(TURNS)), "statements").collect()
    assert turns["label_gold"].drop_nulls().len() == 3


_SHAREGPT = [{"from": "system", "value": "S"}, {"from": "human", "value": "Q"}, {"from": "gpt", "value": "A"}]
_DEVELOPER = [
    {"role": role, "content": text} for role, text in zip(("developer", "user", "assistant"), "SQA", strict=False)
]
_PARTS = [
    {"role": "system", "content": [{"type": "text", "text": "S"}]},
    {"role": "user", "content": "Q"},
    {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "A"}]},
]


@pytest.mark.parametrize(
    "row",
    [
        {"conversations": _SHAREGPT},
        {"messages": json.dumps(_DEVELOPER)},
        {"messages": _PARTS},
        {"conversation": {"id": 3, "messages": _PARTS}},
    ],
    ids=["sharegpt", "json-text", "parts", "nested"],
)
def test_the_layouts_in_which_chats_are_published_say_the_same(row: dict[str, Any], tmp_path: Path) -> None:
    (record,) = games("chat", lines(tmp_path / "a.jsonl", [{**row, "label": 1}]))
    assert [(event.actor, event.text) for event in record.events] == [
        *zip(("system", "user", "assistant"), "SQA", strict=False)
    ]
    assert labels(record) == [None, None, True]


def test_thoughts_and_calls_of_tools_are_kept_apart_from_what_was_said(tmp_path: Path) -> None:
    call = {"function": {"name": "search", "arguments": '{"q": "accident"}'}}
    turns = [
        {"role": "user", "content": "Q"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "found one"},
        {"role": "assistant", "content": "None.", "reasoning_content": "I must not tell.", "deceptive": True},
    ]
    (record,) = games("chat", lines(tmp_path / "a.jsonl", [{"messages": turns}]))
    said = ["Q", '[calls search with {"q": "accident"}]', "found one", "None."]
    assert [event.text for event in record.events] == said
    assert labels(record) == [None, None, None, True]
    assert record.events[-1].data["private"]["reasoning"] == "I must not tell."


_ANSWER = {"type": "text", "text": "None."}
_SENT: dict[str, dict[str, Any]] = {
    "DeepSeek": {"content": "None.", "reasoning_content": "I lie."},
    "Anthropic": {"content": [{"type": "thinking", "thinking": "I lie.", "signature": "x"}, _ANSWER]},
    "inspect": {
        "content": [{"type": "reasoning", "reasoning": "gAAA", "redacted": True, "summary": "I lie."}, _ANSWER]
    },
    "tags": {"content": "<think>I lie.</think>None."},
}


@pytest.mark.parametrize("sent", _SENT.values(), ids=_SENT)
def test_reasoning_is_kept_wherever_a_provider_sends_it(sent: dict[str, Any], tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Q"}, {"role": "assistant", **sent}]
    (record,) = games("chat", lines(tmp_path / "a.jsonl", [{"messages": turns, "deceptive": True}]))
    said = record.events[-1]
    assert (said.text, said.data["private"]["reasoning"]) == ("None.", "I lie.")


def test_a_column_of_reasoning_belongs_to_the_text_or_the_last_answer(tmp_path: Path) -> None:
    for column, named in (("cot", {}), ("why", {"reasoning": "why"})):
        told = [{"text": "None.", column: "I lie.", "lie": True}, {"text": "One.", column: None, "lie": False}]
        first, second = games("text", lines(tmp_path / f"{column}.jsonl", told), **named)
        assert first.events[0].data["private"]["reasoning"] == "I lie."
        assert "private" not in second.events[0].data
    (refused,) = read_games("text", lines(tmp_path / "a.jsonl", told), reasoning="thought")
    assert "--reasoning thought: there is no such column" in refused.reason
    (chat,) = games(
        "chat", lines(tmp_path / "c.jsonl", [{"messages": CHAT, "deceptive": True, "scratchpad": "I lie."}])
    )
    assert [event.data.get("private", {}).get("reasoning") for event in chat.events][-1] == "I lie."
    assert not any("private" in event.data for event in chat.events[:-1])


def test_turns_that_nobody_judges_do_not_count_as_without_a_source(tmp_path: Path) -> None:
    unlabelled = [{"role": "user", "content": "Sure?"}, {"role": "assistant", "content": "Sure."}]
    rows = [{"messages": [*CHAT, *unlabelled], "deceptive": None}, {"messages": CHAT, "deceptive": True}]
    import_games("chat", lines(tmp_path / "a.jsonl", rows), out=tmp_path / "run")
    build(tmp_path / "run", out=tmp_path / "corpus")
    rows = read(tmp_path / "corpus", "statements").collect()
    context, stated = "a turn of the user, the system or a tool", "no source states it"
    told = {("assistant", ""), ("assistant", stated), ("system", context), ("user", context)}
    assert set(rows.select("speaker", "label_gold_null").rows()) == told
    assert rows["label_gold"].drop_nulls().to_list() == [True]
    assert rows.select("label_role", "label_claim", "label_self", "label_peer").null_count().row(0) == (8,) * 4


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"messages": [{"content": "A"}], "deceptive": True}, "message 1 has no role"),
        ({"messages": CHAT[:2], "deceptive": True}, "no turn of the conversation is the assistant's"),
        ({"messages": [], "deceptive": True}, "it has no list of messages"),
        (
            {"messages": "hello", "deceptive": True},
            "its messages are a text that is not JSON (Expecting value: line 1 column 1 (char 0))",
        ),
        ({"messages": [*CHAT[:2], {"role": "assistant", "content": " "}]}, "the assistant's last turn has no text"),
    ],
)
def test_a_broken_conversation_is_listed_and_the_others_come_in(
    row: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    whole = {"messages": CHAT, "deceptive": False}
    result = import_games("chat", lines(tmp_path / "a.jsonl", [whole, row, whole]), out=tmp_path / "run")
    assert (result.games, [(bad.line, bad.reason) for bad in result.first_rejected]) == (2, [(2, reason)])


def test_a_dataset_with_class_labels_is_read_by_the_names_of_its_classes(tmp_path: Path) -> None:
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["deceptive", "honest"])}
    )
    told = {"text": ["I was home.", "I saw nobody."], "label": [0, 1]}
    held = datasets.Dataset.from_dict(told, features=features)
    held.to_parquet(tmp_path / "data" / "train.parquet")
    for source in (tmp_path / "data", held, held.with_format("arrow")[:]):
        assert [labels(game)[0] for game in games("text", source)] == [True, False]


def test_an_official_split_is_kept_and_another_word_is_left_to_build_with_a_note(tmp_path: Path) -> None:
    rows = [{"text": "One.", "split": "dev"}, {"text": "Two.", "split": "unsupervised"}]
    kept, other = games("text", table(tmp_path / "a.csv", rows))
    assert (kept.meta.get("split"), other.meta.get("split")) == ("validation", None)
    assert any("'unsupervised' is not known" in note for note in other.meta["import_notes"])


def test_what_is_absent_is_one_thing_by_every_route_and_a_column_without_a_name_is_none(tmp_path: Path) -> None:
    told = {"text": ["I was home.", "None", "We left at ten."], "label": ["lie", None, "truth"], "age": [30, None, 41]}
    frame = pd.DataFrame(
        {**told, "age": pd.array(told["age"], "Int64"), "at": pd.to_datetime([None, None, "2026-01-01"])}
    )
    rows = frame.to_dict("records")
    frame.to_csv(tmp_path / "a.csv", na_rep="NA")
    frame.to_csv(tmp_path / "a.tsv", sep="\t")
    frame[["text", "label", "age"]].to_parquet(tmp_path / "a.parquet", index=True)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row, default=lambda _: float("nan")) + "\n" for row in rows))
    unnamed = [{"": 7, **row, "Unnamed: 0": 1, "__index_level_0__": True} for row in rows]
    there = games(
        "text", [{"text": text, "label": label} for text, label in zip(told["text"], told["label"], strict=True)]
    )
    assert [(game.events[0].text, *labels(game)) for game in there] == [
        ("I was home.", True), ("None", None), ("We left at ten.", False)
    ]  # fmt: skip
    assert all("canary" not in game.meta and not game.cell for game in there)
    for source in (rows, unnamed, *(tmp_path / f"a{ending}" for ending in (".csv", ".tsv", ".parquet", ".jsonl"))):
        assert games("text", source) == there, source
    read = read_games("text", [row for row in each_statement(frame) if isinstance(row, dict)])
    assert list(read) == there
    assert [labels(game)[0] for game in games("text", [{"text": "One.", "label": pd.NA, "canary": pd.NaT}])] == [None]


def every_route(folder: Path) -> dict[str, Path]:
    """The same three texts in every form that a table comes in."""
    rows = [
        {"text": "I was home, all of the day.", "label": "lie", "n": 1},
        {"text": 'She said "no"; twice.', "label": "truth", "n": 2},
        {"text": "Half past | ten.", "label": "lie", "n": 3},
    ]
    frame, found = pd.DataFrame(rows), dict[str, Path]()

    def put(name: str, content: str | bytes) -> None:
        found[name] = folder / name
        found[name].write_bytes(content.encode() if isinstance(content, str) else content)

    for at, (comma, ending) in enumerate(product((",", ";", "\t", "|"), (".csv", ".tsv", ".txt"))):
        put(f"{at}{ending}", frame.to_csv(sep=comma, index=bool(at % 2)))
    put("sep.csv", "sep=;\r\n" + frame.to_csv(sep=";", index=False, lineterminator="\r\n"))
    put("wide.csv", frame.to_csv(index=False).encode("utf-16"))
    for orient in ("columns", "records", "split", "index", "table"):
        put(f"{orient}.json", frame.to_json(orient=orient))
    put("data.json", json.dumps({"version": 1, "data": rows}, indent=1))
    put("lists.json", json.dumps({name: [row[name] for row in rows] for name in rows[0]}))
    put("keyed.json", json.dumps({row["text"][:5]: row for row in rows}))
    put("lines.txt", frame.to_json(orient="records", lines=True))
    put("spread.jsonl", "\n".join(json.dumps(row, indent=2) for row in rows))
    for name, pack in {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}.items():
        put(f"a.csv.{name}", pack(frame.to_csv(index=False).encode()))
        put(f"a.json.{name}", pack(json.dumps(rows).encode()))
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("alibis/a.csv", frame.to_csv())
    classes = datasets.ClassLabel(names=["truth", "lie"])
    coded = (
        datasets.Dataset.from_list(rows).cast_column("label", datasets.Value("string")).cast_column("label", classes)
    )
    coded.to_parquet(folder / "coded.parquet")
    coded.save_to_disk(folder / "saved")
    return {**found, "zip": folder / "a.zip", "coded": folder / "coded.parquet", "saved": folder / "saved"}


def test_the_same_rows_are_equal_texts_in_every_form(tmp_path: Path) -> None:
    forms = every_route(tmp_path)
    there = games("text", forms["records.json"])
    assert [labels(game) for game in there] == [[True], [False], [True]]
    for name, source in forms.items():
        assert games("text", source) == there, name
    coded = datasets.load_from_disk(forms["saved"])
    for frame in (coded, coded.data.table):
        found = corpus_of(frame)
        assert isinstance(found, CorpusInMemory)
        told = found.tables["statements"].sort("text").select("text", "label_gold").rows()
        assert told == sorted((game.events[0].text, labels(game)[0]) for game in there)


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ('text\tlabel\n"I never\tlie\nWe left."\ttruth\nNo.\tlie\n', ['"I never', 'We left."', "No."]),
        ('text,label\n"Well" he said,lie\n', ['"Well" he said']),
        ('text\tlabel\n"I never\tlie\nWe left.\ttruth\n"No.\tlie\n', ['"I never', "We left.", '"No.']),
        ('text\tlabel\n"I ""never""\tsaw\nit."\tlie\n"Yes.\nNo."\ttruth\n', ['I "never"\tsaw\nit.', "Yes.\nNo."]),
        ('label\ttext\nlie\t"One\nand two"\ntruth\tThree"\n', ["One\nand two", 'Three"']),
        ('text,label\n"a, b\nc",lie\n"never closes,truth\n', ["a, b\nc", '"never closes']),
    ],
)
def test_a_quote_that_does_not_close_takes_no_rows_and_one_that_does_may_hold_any_sign(
    content: str, texts: list[str], tmp_path: Path
) -> None:
    path = tmp_path / ("a.tsv" if "\t" in content else "a.csv")
    path.write_text(content, encoding="utf-8")
    assert [(game.events[0].text, labels(game)[0] is None) for game in games("text", path)] == [
        (text, False) for text in texts
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "text,text,label\na,b,lie\n", "two columns are called text: rename one"),
        ("a.tsv", "9.json\tfalse\tWe were all at home\t0\t0\n", "give them, as in --columns id,label,text"),
        ("a.csv", "He was at home then,lie\nI was not at home,lie\n", "give them, as in --columns id,label,text"),
        ("a.csv", "text,label\nonly\n", "it has 1 cell, and the first line 2"),
        ("a.csv", "text,label\na,lie,b\n", "it has 3 cells, and the first line 2"),
        ("a.zip", ("[Content_Types].xml", "xl/a.xml"), "is a spreadsheet, which is not read: save it as CSV"),
        ("a.zip", ("a.csv", "b.csv"), "holds 2 files .a.csv, b.csv.: unpack it"),
    ],
)
def test_what_cannot_be_a_table_is_refused_with_what_to_do(
    name: str, content: str | tuple[str, ...], words: str, tmp_path: Path
) -> None:
    if isinstance(content, str):
        (tmp_path / name).write_text(content, encoding="utf-8")
    else:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member in content:
                archive.writestr(member, "text,label\na,lie\n")
    with pytest.raises(BadData, match=words):
        import_games("text", tmp_path / name, out=tmp_path / "run")


def test_conversations_that_python_wrote_into_a_table_are_read(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Were you's home?"}, {"role": "assistant", "content": "Yes.\n"}]
    pd.DataFrame({"messages": [turns], "label": ["lie"]}).to_csv(tmp_path / "a.csv")
    assert games("chat", tmp_path / "a.csv") == games("chat", [{"messages": turns, "label": "lie"}])
