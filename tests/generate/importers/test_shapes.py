"""Tables in the shapes in which they are published and saved: what they hold comes in, or the thing is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pytest

from liescope.common.errors import BadData
from liescope.games.record import GameRecord
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.importing import import_games, read_games
from liescope.generate.importers.tables import listed, read_rows
from tests.generate.importers.test_own_data import games, labels

ROWS = [{"text": "I was at the süd gate.", "label": "lie"}, {"text": "So was I.", "label": "truth"}]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_json_in_utf_16_is_what_it_is_in_utf_8(encoding: str, tmp_path: Path) -> None:
    there = games("text", ROWS)
    told = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
    spread = "\n".join(json.dumps(row, indent=1, ensure_ascii=False) for row in ROWS)
    for name, words in {"a.jsonl": told, "b.json": json.dumps(ROWS), "c.jsonl": spread}.items():
        (tmp_path / name).write_bytes(words.encode(encoding))
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(words.encode(encoding)))
        assert games("text", tmp_path / name) == games("text", tmp_path / f"{name}.gz") == there
    (tmp_path / "cut.jsonl").write_bytes(told.encode(encoding)[:-3])
    *kept, last = read_games("text", tmp_path / "cut.jsonl")
    assert kept == there[:1]
    assert isinstance(last, Rejected)
    assert "not UTF-16" in last.reason


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"text": "One.", "text": "Two.", "label": "lie"}\n{"text": "Three.", "label": "truth"}\n'),
        ("a.json", '[{"text": "One.", "n": [{"text": 1, "text": 2}]}, {"text": "Three.", "label": "truth"}]'),
        ("b.jsonl", '{"text": "One.",\n"text": "Two."}\n{"text": "Three.",\n"label": "truth"}\n'),
    ],
)
def test_a_row_that_names_a_value_twice_is_told_and_the_others_come_in(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    bad, good = read_games("text", tmp_path / name)
    assert isinstance(bad, Rejected)
    assert (bad.line, bad.reason) == (1, "two of its values are called text: rename one of them")
    assert good == games("text", [{"text": "Three.", "label": "truth"}])[0]


@pytest.mark.parametrize(
    "held",
    [
        ["Ann", "Bo's", 'the "c"', "a\nb", "x 'y' 'z'"],
        [{"role": "user", "content": "Were you's home?"}, {"role": "assistant", "content": "No. 'a' 'b'\n"}],
        [{"name": "Ann", "said": ["a", "b"], "sure": True, "n": 1.5}, {"name": "Bo", "said": [], "n": None}],
        [f"name {number}" for number in range(60)],
    ],
)
def test_a_list_in_a_cell_is_read_as_json_python_and_numpy_write_it(held: list[Any]) -> None:
    array = np.array(held, dtype=object)
    assert listed(json.dumps(held)) == listed(repr(held)) == listed(str(array)) == held


def test_a_list_that_numpy_cut_short_is_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Expecting"):
        listed(str(np.array([f"name {number}" for number in range(2000)], dtype=object)))
    turns = [{"role": "user", "content": "Home?"}, {"role": "assistant", "content": "Yes."}]
    pd.DataFrame({"messages": [np.array(turns, dtype=object)], "label": ["lie"]}).to_csv(tmp_path / "a.csv")
    assert games("chat", tmp_path / "a.csv") == games("chat", [{"messages": turns, "label": "lie"}])


def test_row_numbers_that_pandas_calls_index_are_no_column_and_an_index_with_a_name_is_one(tmp_path: Path) -> None:
    for frame in (pd.DataFrame(ROWS), pd.DataFrame(ROWS).set_index("label")):
        (tmp_path / "a.json").write_text(frame.to_json(orient="table"), encoding="utf-8")
        assert all({*row} == {"text", "label"} for _, row in read_rows(tmp_path / "a.json"))
        assert [labels(game) for game in games("text", tmp_path / "a.json")] == [[True], [False]]


def test_a_file_of_too_many_rows_is_refused_before_the_work_and_more_may_be_allowed(tmp_path: Path) -> None:
    rows = [{"text": f"Words number {number}.", "label": "lie"} for number in range(7)]
    frame = pd.DataFrame(rows)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv.gz")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "a.json")
    words = "has more than 6 rows: divide it and name all its parts, or allow more with --most-rows"
    for source in sorted(tmp_path.iterdir()):
        with pytest.raises(BadData, match=words):
            import_games("text", source, out=tmp_path / "run", most_rows=6)
        assert not (tmp_path / "run").exists()
        assert len(games("text", source, most_rows=7)) == 7
    assert len(games("text", rows, most_rows=6)) == 7  # they are in memory already
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "saved")
    *kept, last = read_games("text", tmp_path / "saved", most_rows=6)
    assert len(kept) == 6
    assert isinstance(last, Rejected)
    assert last.reason == f"it {words}; the rest is left out"


def test_a_table_whose_first_line_is_a_row_is_read_with_names_for_its_first_columns(tmp_path: Path) -> None:
    told = '1.json\tpants-fire\tWe "never" met at all.\tx\t0\n2.json\tmostly-true\tWe met twice, "I think.\ty\t1\n'
    (tmp_path / "a.tsv").write_text(told, encoding="utf-8")
    given = {"deceptive": ["pants-fire"], "honest": ["mostly-true"]}
    found = games("text", tmp_path / "a.tsv", columns="id, label,statement", **given)
    assert [(game.events[0].text, *labels(game)) for game in found] == [
        ('We "never" met at all.', True), ('We met twice, "I think.', False)
    ]  # fmt: skip
    for columns, words in {"id,kind": "no column that is called like the text", "a,b,c,d,e,f": "6 names, and"}.items():
        with pytest.raises(BadData, match=words):
            import_games("text", tmp_path / "a.tsv", out=tmp_path / "run", columns=columns)
    (tmp_path / "a.csv").write_text("text,label\nI met him.,lie\n", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text(json.dumps(ROWS[0]), encoding="utf-8")
    for name, words in {"a.csv": "has the names itself", "a.jsonl": "names its columns itself"}.items():
        with pytest.raises(BadData, match=f"{words}: leave out --columns"):
            import_games("text", tmp_path / name, out=tmp_path / "run", columns="text,label")


def test_turns_a_row_each_stand_by_their_numbers_or_as_they_come(tmp_path: Path) -> None:
    talk = [("user", "Home?"), ("assistant", "Yes."), ("user", "Alone?"), ("assistant", "No.")]
    rows = [
        {"chat_id": "a", "role": role, "content": words, "turn": at, "label": "lie"}
        for at, (role, words) in enumerate(talk, 9)
    ]
    (there,) = games("chat", rows)
    assert [(event.actor, event.text) for event in there.events] == talk
    pd.DataFrame(rows[::-1]).to_csv(tmp_path / "a.csv")
    assert games("chat", tmp_path / "a.csv") == [there]
    (found,) = games("chat", [{**row, "turn": row["turn"] if row["turn"] > 9 else None} for row in rows[::-1]])
    assert [event.text for event in found.events] == ["No.", "Alone?", "Yes.", "Home?"]


def test_texts_in_folders_are_a_row_each_with_the_folders_as_columns(tmp_path: Path) -> None:
    """As reviews of hotels and films are published: a folder for each class, and folds or splits around them."""
    words = {"up/faked_by_us/fold1/f_inn_1.txt": "Lovely.\nWe stayed.", "up/true_of_web/fold2/t_inn_1.txt": "Fine."}
    for folder, content in {**words, "up/true_of_web/fold2/.t.txt": "x", "read.me": "x"}.items():
        (tmp_path / "spam" / folder).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "spam" / folder).write_text(content, encoding="utf-8")
    found = games("text", tmp_path / "spam", label="folder_2", deceptive=["faked_by_us"], group="folder_3")
    assert [(game.events[0].text, labels(game), game.meta.get("family")) for game in found] == [
        ("Lovely.\nWe stayed.", [True], "fold1"), ("Fine.", [False], "fold2")
    ]  # fmt: skip
    for place, content in {
        "train/lie/1.txt": b"One.",
        "dev/truth/1.txt": b"Two.",
        "dev/lie/2.txt": b"\xff\xfa",
    }.items():
        (tmp_path / "split" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "split" / place).write_bytes(content)
    bad, two, one = read_games("text", tmp_path / "split")
    assert isinstance(bad, Rejected)
    assert (bad.file, bad.reason[:9]) == ("dev/lie/2.txt", "not UTF-8")
    assert isinstance(one, GameRecord)
    assert isinstance(two, GameRecord)
    assert [(game.meta.get("split"), labels(game)) for game in (one, two)] == [
        ("train", [True]), ("validation", [False])
    ]  # fmt: skip


def test_a_folder_of_lines_or_with_a_table_is_a_dataset_as_before(tmp_path: Path) -> None:
    for place in ("train/a.txt", "test/a.txt", "notes/a.txt"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("One line.\nAnother line.\n", encoding="utf-8")
    assert len(games("text", tmp_path)) == 3
    (tmp_path / "notes" / "a.txt").unlink()
    assert len(games("text", tmp_path)) == 4
    (tmp_path / "notes" / "a.txt").write_text("One line.", encoding="utf-8")
    (tmp_path / "test" / "a.txt").unlink()
    (tmp_path / "train" / "a.csv").write_text("text,label\nOne.,lie\n", encoding="utf-8")
    assert [labels(game) for game in games("text", tmp_path)] == [[True]]


PAIRS = [
    {"question": "Who was it?", "best_answer": "Ann was.", "incorrect_answers": ["Bo was.", "Cy; or Di."]},
    {"question": "When?", "best_answer": "None", "incorrect_answers": []},
]
SIDES: dict[str, Any] = {"honest_column": ["best_answer"], "deceptive_column": ["incorrect_answers"]}
TOLD = [("Ann was.", False), ("Bo was.", True), ("Cy; or Di.", True), ("None", False)]


def test_a_row_of_true_and_false_answers_is_a_text_each_in_one_group_and_the_receipt_adds_up(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PAIRS), encoding="utf-8")
    pd.DataFrame(PAIRS).to_csv(tmp_path / "b.csv", index=False)
    for source in (PAIRS, PAIRS[::-1], tmp_path / "a.jsonl", tmp_path / "b.csv"):
        chats = games("chat", source, **SIDES)
        said = [(game.events[-1].text, labels(game)[-1], game.events[0].text) for game in chats]
        asked = ["Who was it?"] * 3 + ["When?"]
        assert sorted(said) == sorted((*told, question) for told, question in zip(TOLD, asked, strict=True)), source
        families = {game.events[0].text: game.meta.get("family") for game in chats}
        assert len({game.meta.get("family") for game in chats}) == len({*families.values()}) == 2
        texts = games("text", source, **SIDES)
        assert sorted((event.text, event.data["gold"]) for game in texts for event in game.events) == sorted(TOLD)
        assert len(texts) == 2
    receipt = import_games("chat", tmp_path / "a.jsonl", out=tmp_path / "run", **SIDES).receipt
    assert (receipt.rows, receipt.made, receipt.kept, receipt.texts, receipt.missing) == (2, 2, 4, 8, 0)
    assert receipt.labels == {("best_answer", False): 2, ("incorrect_answers", True): 2}
    assert "2 rows with 4 texts read, 4 kept" in str(receipt)


def test_answers_between_semicolons_are_several_where_the_column_says_answers(tmp_path: Path) -> None:
    """As the questions of TruthfulQA are published in CSV."""
    told = 'Question,Best Answer,Incorrect Answers,Source\nWho was it?,"Ann; I know.",Bo was.; Cy was;,a\nWhen?,,,x\n'
    (tmp_path / "a.csv").write_text(told, encoding="utf-8")
    sides = {"honest_column": ["Best Answer"], "deceptive_column": ["Incorrect Answers"]}
    *found, bad = read_games("chat", tmp_path / "a.csv", **sides)
    assert [(game.events[-1].text, labels(game)[-1]) for game in found if isinstance(game, GameRecord)] == [
        ("Ann; I know.", False), ("Bo was.", True), ("Cy was", True)
    ]  # fmt: skip
    assert isinstance(bad, Rejected)
    assert bad.reason == "it has no text in Best Answer or Incorrect Answers"
