"""Ids and splits of texts and conversations hang on what they say: no name of a file, no order and no format changes
them, copies are never parted, and nothing is lost or counted twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import datasets
import polars as pl
import pytest

import liescope
from liescope.common.errors import UsageError
from liescope.detectors.examples import labelled, read_statements
from liescope.detectors.folds import fold_of
from liescope.games.record import GameRecord
from liescope.generate.corpus.read import siblings_of, split_game
from liescope.generate.importers.importing import import_games
from tests.generate.importers.test_own_data import games, lines, table

Rows = Sequence[Mapping[str, Any]]
NAMES = ("a", "b", "alibis", "ALIBIS", "texts-2", "row", "data", "7", "final.v2", "interviews of May")


def texts(number: int = 60) -> list[dict[str, Any]]:
    """Texts, of which every fourth comes twice, half of these under the other label."""
    every = [{"text": f"I saw it at {n} o'clock.", "deceptive": n % 3 == 0} for n in range(number)]
    return every + [{**row, "deceptive": row["deceptive"] != (n % 8 == 0)} for n, row in enumerate(every) if n % 4 == 0]


def grouped() -> list[dict[str, Any]]:
    return [{**row, "group": f"Interview {n % 12}"} for n, row in enumerate(texts())]


def chats() -> list[dict[str, Any]]:
    return [
        {"messages": [{"role": "user", "content": "And?"}, {"role": "assistant", "content": row["text"]}], **row}
        for row in texts()
    ]


def folder(path: Path, rows: Rows) -> Path:
    datasets.Dataset.from_list([*rows]).to_parquet(path.with_suffix("") / "train.parquet")
    return path.with_suffix("")


def in_json(path: Path, rows: Rows) -> Path:
    return table(path, [{name: json.dumps(cell) for name, cell in row.items()} for row in rows])


KINDS: dict[str, tuple[str, list[dict[str, Any]], Mapping[str, Callable[[Path, Rows], Path]]]] = {
    "texts": ("text", texts(), {".csv": table, ".tsv": table, ".jsonl": lines, ".d": folder}),
    "groups": ("text", grouped(), {".csv": table, ".jsonl": lines, ".d": folder}),
    "chats": ("chat", [{**row, "text": None} for row in chats()], {".csv": in_json, ".jsonl": lines, ".d": folder}),
}


def placed(records: Sequence[GameRecord]) -> dict[str, tuple[str, str, list[tuple[Any, ...]]]]:
    """By id: the family, the split and what is said."""
    return {
        game.game_id: (
            siblings_of(game),
            split_game(game, ()),
            sorted((event.text, event.data.get("gold")) for event in game.events),
        )
        for game in records
    }


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_no_order_and_no_format_changes_an_id_or_a_split(kind: str, tmp_path: Path) -> None:
    format, rows, writers = KINDS[kind]
    drawn, found = Random(0), []
    for name, (ending, write) in zip(NAMES, cycle(writers.items()), strict=False):
        found.append(placed(games(format, write(tmp_path / f"{name}{ending}", drawn.sample(rows, len(rows))))))
    assert all(one == found[0] for one in found)
    assert sum(len(said) for _, _, said in found[0].values()) == len(rows) * (2 if kind == "chats" else 1)
    assert {split for _, split, _ in found[0].values()} == {"train", "validation", "test"}


@pytest.mark.parametrize("kind", ["texts", "chats"])
def test_copies_are_one_family_that_no_split_and_no_fold_parts(kind: str, tmp_path: Path) -> None:
    format, rows, _ = KINDS[kind]
    liescope.import_games(format, lines(tmp_path / "a.jsonl", rows), out=tmp_path / "run")
    corpus = liescope.build(tmp_path / "run", out=tmp_path / "corpus")
    told = read_statements(corpus.folder).filter(pl.col("label_gold").is_not_null())
    families = told.group_by("text").agg(pl.col("siblings", "split").n_unique(), ids=pl.col("game_id").n_unique())
    assert families.select("siblings", "split").unique().rows() == [(1, 1)]
    assert sorted(families["ids"]) == 45 * [1] + 15 * [2]
    data = labelled(told, "gold", 0)
    folds = pl.DataFrame({"text": told["text"], "fold": fold_of(data.y, data.groups, 3, 0)})
    assert folds.group_by("text").agg(pl.col("fold").n_unique())["fold"].to_list() == 60 * [1]


def test_a_split_stays_when_texts_are_added_and_labels_are_mended(tmp_path: Path) -> None:
    def splits(rows: Rows) -> dict[str | None, str]:
        found = games("text", lines(tmp_path / "a.jsonl", rows))
        return {game.events[0].text: split_game(game, ()) for game in found}

    few, many = splits(texts(30)), splits([{**row, "deceptive": not row["deceptive"]} for row in texts(90)])
    assert few.items() <= many.items()


def test_groups_of_one_name_are_one_family_in_every_file_and_no_id_comes_twice(tmp_path: Path) -> None:
    for name, words in (("one", "was at home"), ("two", "saw nobody")):
        rows = [{"interview": n, "text": f"Number {n} {words}.", "lie": n % 2} for n in range(20)]
        import_games("text", table(tmp_path / f"{name}.csv", rows), out=tmp_path / name, group="interview")
    found = liescope.build([tmp_path / "one", tmp_path / "two"], out=tmp_path / "c").games
    assert found["game_id"].n_unique() == 40
    families = found.group_by("siblings").agg(pl.len(), pl.col("split").n_unique())
    assert families.select("len", "split").unique().rows() == [(2, 1)]


def test_what_two_files_share_is_kept_where_they_are_imported_together_and_refused_where_it_would_count_twice(
    tmp_path: Path,
) -> None:
    one = lines(tmp_path / "one.jsonl", [{"text": "Yes.", "lie": True}, {"text": "I was at home.", "lie": False}])
    two = lines(tmp_path / "two.jsonl", [{"text": "Yes.", "lie": True}, {"text": "He saw me.", "lie": False}])
    for source in (one, two):
        import_games("text", source, out=tmp_path / source.stem)
    with pytest.raises(UsageError, match=r"text .* is in the runs 'one' and 'two' .*imported into one run"):
        liescope.build([tmp_path / "one", tmp_path / "two"], out=tmp_path / "c")
    both = import_games("text", one, two, out=tmp_path / "both")
    assert (both.games, both.rejections) == (4, 0)
    assert liescope.build(both.run, out=tmp_path / "c").games["siblings"].n_unique() == 3
    again = tmp_path / "again.jsonl"
    again.write_bytes(one.read_bytes())
    with pytest.raises(UsageError, match=r"again\.jsonl holds what another of the files holds"):
        import_games("text", one, again, out=tmp_path / "twice")


def test_a_source_that_names_its_conversations_keeps_the_names(tmp_path: Path) -> None:
    rows = [{**row, "id": f"talk {n}"} for n, row in enumerate(KINDS["chats"][1])]
    found = placed(games("chat", lines(tmp_path / "a.jsonl", rows)))
    assert {*found} == {row["id"] for row in rows}
    unnamed = placed(games("chat", lines(tmp_path / "b.jsonl", KINDS["chats"][1])))
    assert sorted(map(str, found.values())) == sorted(map(str, unnamed.values()))


def test_official_splits_and_held_out_models_go_before_what_the_words_say(tmp_path: Path) -> None:
    rows = [{**row, "split": "test" if n % 2 else "train"} for n, row in enumerate(texts())]
    found = games("text", lines(tmp_path / "a.jsonl", rows))
    assert [split_game(game, ()) for game in found] == [row["split"] for row in rows]
    rows = [{**row, "model": "new" if n == 0 else "old"} for n, row in enumerate(texts())]
    import_games("text", lines(tmp_path / "b.jsonl", rows), out=tmp_path / "run")
    built = liescope.build(tmp_path / "run", out=tmp_path / "c", hold_out_models=["new"])
    copies = built.statements.filter(pl.col("text") == rows[0]["text"])
    assert copies["split"].to_list() == ["test", "test"]
