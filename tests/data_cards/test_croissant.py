"""croissant.json: accepted by mlcroissant, with the responsible-AI terms and every file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from liescope.games.record import Source
from tests.generate.corpus.games import pack, play, stream

# mlcroissant calls rdflib and pandas in ways that these two have deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index is deprecated"),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of scripted players."""
    scripted = [
        replace(game, seats=tuple(replace(seat, source=Source.SCRIPTED) for seat in game.seats))
        for game in (play(number, assess=False) for number in range(12))
    ]
    out = tmp_path_factory.mktemp("made") / "corpus"
    pack(stream(scripted), out)
    return out


@pytest.fixture(scope="module")
def dataset(corpus: Path) -> Any:
    import mlcroissant

    return mlcroissant.Dataset(jsonld=str(corpus / "croissant.json"))


@pytest.mark.long
def test_it_is_accepted_without_an_error_or_a_warning_with_its_responsible_ai_terms(dataset: Any) -> None:
    told = dataset.metadata
    assert (told.ctx.issues.errors, told.ctx.issues.warnings) == (set(), set())
    assert told.data_collection
    assert told.data_collection_missing_data
    assert len(told.data_annotation_protocol) == 7
    assert any("not model text" in words for words in told.data_limitations)
    assert told.data_biases
    assert told.data_social_impact
    assert told.personal_sensitive_information[0].startswith("None")


def test_every_file_is_listed_with_its_checksum(corpus: Path) -> None:
    from hashlib import sha256

    listed = json.loads((corpus / "croissant.json").read_text("utf-8"))["distribution"]
    files = {item["contentUrl"]: item["sha256"] for item in listed if item["@type"] == "cr:FileObject"}
    assert files == {
        str(path.relative_to(corpus)): sha256(path.read_bytes()).hexdigest() for path in corpus.rglob("*.parquet")
    }
