"""Reading a corpus: with polars, with `datasets`, and where it is damaged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from liescope.common.errors import BadData, UnknownName
from liescope.data_cards.tables import SPLITS, TABLES
from liescope.data_cards.tables.declare import DECEPTION_TYPES
from liescope.generate.corpus.build import CorpusResult
from liescope.generate.corpus.read import check, read
from tests.generate.corpus.games import as_classes, pack, play, stream


@pytest.mark.parametrize(
    "config", [pytest.param(name, marks=[] if name in ("statements", "games") else pytest.mark.long) for name in TABLES]
)
def test_datasets_opens_every_config_with_the_right_features(
    config: str, corpus: Path, load: Callable[[Path, str], Any]
) -> None:
    loaded = load(corpus, config)
    rows = {split: read(corpus, config, split).collect().to_dicts() for split in SPLITS}
    assert set(loaded) == {split for split in SPLITS if rows[split]} >= {"train"}
    for split in loaded:
        assert loaded[split].features.arrow_schema.names == list(TABLES[config].columns)
        assert list(loaded[split]) == [as_classes(row, config) for row in rows[split]]
        for field in TABLES[config].fields:
            assert list(getattr(loaded[split].features[field.name], "names", ())) == list(field.classes or ())


def test_one_file_alone_knows_the_names_of_classes(corpus: Path, tmp_path: Path, load: Callable[..., Any]) -> None:
    file = shutil.copy(corpus / "statements" / "train-00000.parquet", tmp_path / "bare.parquet")
    alone = datasets.load_dataset("parquet", data_files=str(file), cache_dir=str(tmp_path / "cache"))["train"]
    assert alone.features["label_role"].names == ["honest", "deceptive"]
    assert alone.features["self_type"].names == list(DECEPTION_TYPES)
    whole = load(corpus, "statements")["train"]
    assert (whole.features, whole["label_role"][:]) == (alone.features, alone["label_role"][:])


def test_what_build_returns_is_a_dataset_dict_of_each_table(tmp_path: Path, load: Callable[..., Any]) -> None:
    folder = tmp_path / "corpus"
    built = CorpusResult(folder, pack(stream([play(number) for number in range(8)]), folder))
    found = built.dataset("statements")
    assert isinstance(found, datasets.DatasetDict)
    assert found["train"][:] == load(folder, "statements")["train"][:]
    with pytest.raises(UnknownName, match="config"):
        built.dataset("moods")


def test_a_column_that_is_all_null_keeps_its_type(tmp_path: Path, load: Callable[[Path, str], Any]) -> None:
    pack(stream([play(number, assess=False, said="Hm.") for number in range(8)]), tmp_path / "corpus")
    loaded = load(tmp_path / "corpus", "statements")["train"]
    assert set(loaded["label_peer"]) == set(loaded["label_claim"]) == {None}
    assert str(loaded.features["label_peer"]) == "ClassLabel(names=['honest', 'deceptive'])"


def test_splits_without_rows_do_not_keep_the_others_from_loading(
    tmp_path: Path, load: Callable[[Path, str], Any]
) -> None:
    pack(stream([play(number, assess=False) for number in range(4)]), tmp_path / "corpus", ["model-a"])
    assert set(load(tmp_path / "corpus", "statements")) == {"test"}
    assert read(tmp_path / "corpus", "statements", "train").collect().height == 0
    assert read(tmp_path / "corpus", "ratings").collect_schema().names() == list(TABLES["ratings"].columns)


def test_reading_is_lazy_and_all_splits_are_the_parts_together(corpus: Path) -> None:
    parts = [read(corpus, "votes", split).collect() for split in SPLITS]
    assert read(corpus, "votes").collect().rows() == [row for part in parts for row in part.rows()]


def test_unknown_names_list_the_choices(corpus: Path) -> None:
    with pytest.raises(UnknownName, match="statements"):
        read(corpus, "statement")
    with pytest.raises(UnknownName, match="validation"):
        read(corpus, "statements", "dev")


def flipped(content: bytes, share: float) -> bytes:
    place = int(len(content) * share)
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "emptied": (lambda path: path.write_bytes(b""), "is truncated or damaged"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-99]), "is truncated or damaged"),
    "a byte early": (lambda path: path.write_bytes(flipped(path.read_bytes(), 0.3)), ""),
    "a byte late": (lambda path: path.write_bytes(flipped(path.read_bytes(), 0.9)), ""),
    "missing": (lambda path: path.unlink(), "is missing"),
    "a row less": (lambda path: pq.write_table(pq.read_table(path).slice(1), path), r"rows where corpus\.json counts"),
    "another column": (lambda path: widen(path), "mood"),
    "labels inverted": (lambda path: invert(path), "was changed after it was built"),
}


def widen(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.append_column("mood", pa.nulls(table.num_rows, pa.string())), path)


def invert(path: Path) -> None:
    table = pq.read_table(path)
    place = table.schema.get_field_index("label_role")
    pq.write_table(table.set_column(place, table.schema.field(place), pc.subtract(1, table["label_role"])), path)


@pytest.mark.parametrize("name", DAMAGE)
def test_a_file_that_is_damaged_is_named_in_one_line(corpus: Path, name: str) -> None:
    harm, words = DAMAGE[name]
    harm(corpus / "statements" / "train-00000.parquet")
    with pytest.raises(BadData, match=rf"train-00000\.parquet.*{words}") as raised:
        read(corpus, "statements")
    assert "\n" not in str(raised.value)
    assert read(corpus, "statements", "test").collect().height
    with pytest.raises(BadData, match="train-00000"):
        check(corpus)


def test_whether_words_may_be_passed_on_is_true_or_false_and_nothing_that_counts_as_either(corpus: Path) -> None:
    facts = json.loads((corpus / "corpus.json").read_text())
    facts["licences"][0]["terms"]["redistributable"] = "no"
    (corpus / "corpus.json").write_text(json.dumps(facts))
    with pytest.raises(BadData, match=r"corpus\.json cannot be read .*redistributable"):
        read(corpus, "statements")


@pytest.mark.parametrize(
    "content", [None, "", "{", "[]", "{}", '{"format": 99}', '{"format": 3, "rows": {}}', '{"format": 4, "rows": {}}']
)
def test_a_folder_that_is_no_corpus_says_so(corpus: Path, content: str | None) -> None:
    path = corpus / "corpus.json"
    path.unlink()
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(BadData, match=r"corpus\.json"):
        read(corpus, "games")


def test_what_lies_on_the_hub_is_said_not_to_be_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadData, match="there is no folder me/games, and the Hub cannot be reached"):
        read("me/games", "games")


Load = Callable[..., Any]


def ids(dataset: Any) -> set[str]:
    return {game for split in dataset.values() for game in split["game_id"]}


def test_two_corpora_in_folders_of_one_name_are_two_datasets(tmp_path: Path, load: Load) -> None:
    for place, numbers in (("a", range(4)), ("b", range(4, 9))):
        pack(stream([play(number) for number in numbers]), tmp_path / place / "corpus")
        expected = set(read(tmp_path / place / "corpus", "games").collect()["game_id"])
        assert ids(load(tmp_path / place / "corpus", "games")) == expected


def test_a_corpus_that_is_built_again_is_loaded_again_although_no_row_is_new(tmp_path: Path, load: Load) -> None:
    for text in ("I am the mafioso.", "I am the detective."):
        pack(stream([play(number, said=text) for number in range(3)]), tmp_path / "corpus")
        assert {row for split in load(tmp_path / "corpus").values() for row in split["text"]} == {text}


def test_the_transcript_is_what_was_said_before(tmp_path: Path) -> None:
    games = [play(number, said="I am\nhere.") for number in range(2)]
    pack(stream(games), tmp_path / "corpus", transcript=True)
    for row in read(tmp_path / "corpus", "statements").collect().iter_rows(named=True):
        lines = row["transcript"].splitlines()
        assert len(lines) == row["position"] - 1
        assert all(line.endswith(": I am here.") for line in lines)
    pack(stream(games), tmp_path / "plain")
    assert set(read(tmp_path / "plain", "statements").collect()["transcript"]) == {None}
