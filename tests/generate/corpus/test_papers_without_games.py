"""What build and the papers of a corpus say where there is no game: texts and conversations, not games."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from huggingface_hub import DatasetCard

from liescope import cli
from liescope.data_cards.tables import columns_of_games

LIES = ("lie", "truth")


def texts(folder: Path, groups: int = 10, labels: Sequence[str] = LIES) -> Path:
    rows = [f'"I said so {n}.",{labels[n % len(labels)]},{n % groups}' for n in range(40)]
    (folder / "said.csv").write_text("\n".join(["text,label,group", *rows]), encoding="utf-8")
    return folder / "said.csv"


def chats(folder: Path) -> Path:
    def turns(n: int) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"Is it so, {n}?"}, {"role": "assistant", "content": f"It is, {n}."}]

    rows = [json.dumps({"messages": turns(n), "deceptive": n % 2, "model": "m"}) for n in range(40)]
    (folder / "said.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return folder / "said.jsonl"


def built(format: str, file: Path, *options: str) -> tuple[str, str, dict[str, Any]]:
    """The card of what a file becomes, its text, and its croissant.json."""
    run, corpus = file.parent / "run", file.parent / "corpus"
    assert cli.main(["import", format, str(file), "--out", str(run), *options]) == 0
    assert cli.main(["build", str(run), "--out", str(corpus)]) == 0
    return run.name, (corpus / "README.md").read_text(), json.loads((corpus / "croissant.json").read_text())


@pytest.mark.parametrize(
    ("format", "make", "told", "unit", "tag"),
    [
        ("text", texts, "40 texts of 10 groups", "group", "texts"),
        ("chat", chats, "40 conversations with 80 turns", "conversation", "conversations"),
    ],
)
def test_import_build_card_and_croissant_count_what_the_source_holds_in_its_language(
    format: str, make: Any, told: str, unit: str, tag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, text, croissant = built(format, make(tmp_path), "--language", "de", "--means", "They said so.")
    assert capsys.readouterr().out.count(told) == 2
    data = DatasetCard(text).data.to_dict()
    assert (data["language"], croissant["inLanguage"]) == (["de"], ["de"])
    assert data["task_categories"] == ["text-classification"]
    assert tag in data["tags"]
    body = text.split("\n# ", 1)[1].split("## Columns")[0]
    assert told in body
    assert told in croissant["description"]
    assert f"{unit}s held out whole" in croissant["rai:dataUseCases"][0]
    assert "They said so." in " ".join(croissant["rai:dataAnnotationProtocol"])
    said = json.dumps({key: value for key, value in croissant.items() if key.startswith(("rai:", "desc", "keyw"))})
    assert not [words for words in ("played", "hidden role", "player", "the rules") if words in body + said]
    assert "social-deduction-games" not in data["tags"]


def test_a_language_that_nobody_states_is_not_made_up(tmp_path: Path) -> None:
    _, text, croissant = built("text", texts(tmp_path))
    assert "language" not in DatasetCard(text).data.to_dict()
    assert "inLanguage" not in croissant


def test_a_corpus_without_any_label_is_built_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text, croissant = built("text", texts(tmp_path, labels=("",)))
    assert "nothing here has a label" in capsys.readouterr().err
    data = DatasetCard(text).data.to_dict()
    assert "task_categories" not in data
    assert "without any label" in croissant["description"]


def test_what_is_no_code_of_a_language_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = texts(tmp_path)
    assert cli.main(["import", "text", str(file), "--out", str(tmp_path / "run"), "--language", "German"]) == 1
    assert "'German' is no code of a language" in capsys.readouterr().err


@pytest.mark.parametrize(("format", "make"), [("text", texts), ("chat", chats)])
def test_columns_that_a_card_leaves_to_games_hold_nothing_that_differs_between_rows(
    format: str, make: Any, tmp_path: Path
) -> None:
    _, card, _ = built(format, make(tmp_path))
    corpus = tmp_path / "corpus"
    for config in ("statements", "games", "events"):
        rows = pl.read_parquet(corpus / config / "*.parquet")
        for column in columns_of_games(config):
            assert f"`{column}`" in card
            assert f"| `{column}` |" not in card.split(f"### `{config}`", 1)[1].split("Only games use")[0]
            assert rows[column].n_unique() == 1, column


def test_a_licence_that_binds_conversations_counts_conversations(tmp_path: Path) -> None:
    _, card, _ = built("chat", chats(tmp_path))
    assert "Not to be redistributed without permission: chat (40 conversations; " in card
