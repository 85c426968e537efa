"""Reading a corpus: with polars, with `datasets`, and where it is damaged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from liescope.common.errors import BadData, UnknownName
from liescope.data_cards.tables import SPLITS, TABLES
from liescope.generate.corpus import check, pack, read
from tests.generate.corpus.classes import as_classes
from tests.generate.corpus.conftest import play_game, play_wolves, stream_of

Play = Callable[..., Any]
Stream = Callable[..., Any]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "corpus"
    pack(stream_of([*map(play_game, range(20)), *(play_wolves(number, judged=True) for number in range(8))]), folder)
    return folder


@pytest.fixture
def corpus(whole: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(whole, tmp_path / "corpus"))


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, str], Any]:
    """`datasets.load_dataset` with a cache of its own."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
    return lambda folder, config: datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path / "cache"))


@pytest.mark.parametrize(
    "config", [pytest.param(name, marks=[] if name in ("statements", "games") else pytest.mark.long) for name in TABLES]
)
def test_datasets_opens_every_config_with_the_right_features(
    config: str, corpus: Path, load: Callable[[Path, str], Any]
) -> None:
    loaded = load(corpus, config)
    assert set(loaded) == set(SPLITS)
    for split in SPLITS:
        assert loaded[split].features.arrow_schema.names == list(TABLES[config].columns)
        assert list(loaded[split]) == [
            as_classes(row, config) for row in read(corpus, config, split).collect().to_dicts()
        ]


def test_a_column_that_is_all_null_keeps_its_type(
    play: Play, stream: Stream, tmp_path: Path, load: Callable[[Path, str], Any]
) -> None:
    pack(stream([play(number, assess=False, said="Hm.") for number in range(8)]), tmp_path / "corpus")
    loaded = load(tmp_path / "corpus", "statements")["train"]
    assert set(loaded["label_peer"]) == set(loaded["label_claim"]) == {None}
    assert str(loaded.features["label_peer"]) == "ClassLabel(names=['honest', 'deceptive'])"


def test_splits_without_rows_do_not_keep_the_others_from_loading(
    play: Play, stream: Stream, tmp_path: Path, load: Callable[[Path, str], Any]
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


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_a_file_that_is_cut_off_is_named(corpus: Path, keep: float) -> None:
    path = corpus / "statements" / "train-00000.parquet"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * keep)])
    with pytest.raises(BadData, match=r"train-00000\.parquet is truncated or damaged"):
        read(corpus, "statements")
    assert read(corpus, "statements", "test").collect().height


def test_a_file_that_is_missing_is_named(corpus: Path) -> None:
    (corpus / "votes" / "test-00000.parquet").unlink()
    with pytest.raises(BadData, match=r"test-00000\.parquet is missing"):
        read(corpus, "votes")


def test_a_file_with_other_columns_or_rows_is_refused(corpus: Path) -> None:
    path = corpus / "votes" / "train-00000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.slice(1), path)
    with pytest.raises(BadData, match=r"rows where corpus\.json counts"):
        read(corpus, "votes")
    pq.write_table(table.append_column("mood", pa.nulls(table.num_rows, pa.string())), path)
    with pytest.raises(BadData, match="mood"):
        read(corpus, "votes")


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


def test_a_place_where_nothing_is_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="not a corpus"):
        read(tmp_path / "nowhere", "games")


def test_importing_the_corpus_does_not_import_datasets() -> None:
    modules = "liescope.generate.corpus, liescope.generate.corpus.commands"
    code = f"import sys, {modules}; print({{'datasets', 'mlcroissant'}} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("place", [0.3, 0.5, 0.9])
def test_a_flipped_byte_is_one_line(corpus: Path, place: float) -> None:
    path = corpus / "statements" / "train-00000.parquet"
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(BadData, match=r"train-00000\.parquet") as raised:
        read(corpus, "statements")
    assert "\n" not in str(raised.value)


def test_labels_that_were_inverted_are_noticed(corpus: Path) -> None:
    path = corpus / "statements" / "train-00000.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index("label_role")
    read(corpus, "statements")
    pq.write_table(table.set_column(place, table.schema.field(place), pc.invert(table["label_role"])), path)
    with pytest.raises(BadData, match="was changed after it was built"):
        read(corpus, "statements")
    with pytest.raises(BadData, match="was changed after it was built"):
        check(corpus)


def test_a_corpus_of_an_older_format_says_what_to_do(corpus: Path) -> None:
    (corpus / "corpus.json").write_text('{"format": 3, "rows": {}}', encoding="utf-8")
    with pytest.raises(BadData, match="has format 3, and this version reads format 5; build the corpus again from its"):
        read(corpus, "games")


def test_what_lies_on_the_hub_is_said_not_to_be_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadData, match="there is no folder me/games, and the Hub cannot be reached"):
        read("me/games", "games")
