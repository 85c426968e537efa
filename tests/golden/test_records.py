"""A record goes into a corpus and comes out again: of each game, forked, judged, withdrawn and imported."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import pytest

import liescope
from liescope.common.errors import BadData
from liescope.common.leaks import all_without_addresses
from liescope.games.record import GameRecord, record_to_json
from liescope.generate.corpus.open import recorded_games, records
from liescope.labeling.record_rows import game_tables
from tests.golden.world import CORPORA, World


def as_published(record: GameRecord) -> str:
    """A record byte for byte, but for addresses of endpoints, which are not published."""
    data = record_to_json(record)
    hidden = {name: all_without_addresses(data[name]) for name in ("cell", "failure", "meta")}
    return json.dumps({**data, **hidden})


def played(name: str, world: World) -> dict[str, str]:
    runs = [world.folder / word for word in CORPORA[name] if word.startswith("runs/")]
    return {record.game_id: as_published(record) for run in runs for record in records(run)}


@pytest.mark.parametrize("name", CORPORA)
def test_a_game_of_a_corpus_is_the_record_that_it_was(name: str, world: World) -> None:
    corpus = world.corpus(name)
    found = {game.record.game_id: as_published(game.record) for game in recorded_games(corpus)}
    assert found == played(name, world)
    splits = dict(liescope.read(corpus, "games").select("game_id", "split").collect().iter_rows())
    assert {game.record.game_id: game.split for game in recorded_games(corpus)} == splits


@pytest.mark.parametrize("name", ["mini", "rows", "judged", "one-night"])
def test_labels_made_again_from_a_corpus_are_those_that_it_holds(name: str, world: World) -> None:
    corpus = world.corpus(name)
    made = [row for game in recorded_games(corpus) for row in game_tables(game.record, game.run)]
    for table, rows in groupby(sorted(made, key=lambda pair: pair[0]), key=lambda pair: pair[0]):
        held = liescope.read(corpus, table).drop("split").collect()
        again = [json.dumps({key: _plain(getattr(row, key)) for key in held.columns}) for _, row in rows]
        assert sorted(again) == sorted(json.dumps(row) for row in held.iter_rows(named=True))


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    slots = getattr(value, "__slots__", None)
    return {name: getattr(value, name) for name in slots} if slots else value


def test_a_folder_that_holds_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="holds no run"):
        next(records(tmp_path))
