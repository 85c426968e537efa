"""Every table of fixed runs, of each game, forked, judged and imported, stays as it is, cell by cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.frozen import unlike_tables
from tests.golden.world import CORPORA, World

FOLDER = Path(__file__).parent / "tables"


@pytest.mark.parametrize("name", CORPORA)
def test_the_tables_are_as_they_were(name: str, world: World) -> None:
    was = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    found = unlike_tables(name, was, world.corpus(name))
    assert not found, "\n" + "\n".join(found)


def test_every_file_is_of_a_corpus_and_together_they_fill_every_table() -> None:
    files = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}
    assert files.keys() == CORPORA.keys()
    filled = {name for tables in files.values() for name, table in tables.items() if table["rows"]}
    assert filled | {"lessons", "lesson_tags"} == set(files["mini"])  # lessons need an encoder
