"""Whose words a corpus holds is on its card, and what may not be passed on is not published without a permission."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import DatasetCard

from liescope.common.errors import MissingKey, UsageError
from liescope.data_cards.licences import OPEN
from liescope.generate.corpus.build import build
from liescope.generate.corpus.publish import publish
from liescope.generate.importers import import_games
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_folder import handed_on, plan_terms
from tests.generate.corpus.games import play

Imported = Callable[..., Path]


@pytest.fixture
def imported(tmp_path: Path) -> Imported:
    """A run of one imported game: imported(name, licence=…)."""

    def make(name: str, **options: Any) -> Path:
        source = tmp_path / f"{name}.jsonl"
        source.write_text(json.dumps({"game_id": name, "speaker": "Ann", "text": "I am Ann.", "model": "m"}) + "\n")
        import_games("jsonl", source, out=tmp_path / name, game="parlour", **options)
        return tmp_path / name

    return make


def metadata(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = DatasetCard((folder / "README.md").read_text(encoding="utf-8")).data.to_dict()
    return found


def test_an_open_licence_is_the_datasets_tag_and_may_be_published(
    imported: Imported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = imported("one", licence="MIT", origin="Ann, https://example.org/parlour")
    facts = build(run, out=tmp_path / "corpus").facts
    (licensed,) = facts.licences
    assert (licensed.name, licensed.terms.licence_id, licensed.games) == ("jsonl", "mit", 1)
    assert metadata(tmp_path / "corpus")["license"] == "mit"
    assert "Ann, https://example.org/parlour" in (tmp_path / "corpus" / "README.md").read_text(encoding="utf-8")
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(MissingKey):  # what is missing is a token, not a permission
        publish(tmp_path / "corpus", "me/parlour")


def test_words_without_a_licence_are_not_published_unless_somebody_permits_it(
    imported: Imported, make_run: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [imported("one"), imported("two", licence="cc-by-4.0"), make_run("ours", [play(1)])]
    corpus = build(runs, out=tmp_path / "corpus").folder
    assert metadata(corpus)["license_name"] == "not-redistributable"
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    for public in (True, False):
        with pytest.raises(UsageError, match=r"jsonl \(1 game; None is stated.* --permission"):
            publish(corpus, "me/parlour", public=public)
    with pytest.raises(UsageError, match="--permission"):
        publish(corpus, "me/parlour", permission="  ")
    with pytest.raises(MissingKey):
        publish(corpus, "me/parlour", permission="Ann, by letter of 2 May")


@pytest.mark.parametrize(
    ("options", "shared"),
    [
        ({}, False),
        ({"licence": "Ask us first."}, False),
        ({"licence": "Ask us first.", "redistributable": True}, True),
        ({"licence": "CC-BY-4.0"}, True),
        ({"licence": "CC-BY-ND-4.0"}, False),
        ({"licence": "mit", "redistributable": False}, False),
    ],
)
def test_only_what_a_licence_allows_counts_as_allowed(
    options: dict[str, Any], shared: bool, imported: Imported
) -> None:
    with Journal.open(imported("one", **options)) as journal:
        (terms,) = plan_terms(journal.plan).values()
    assert terms.redistributable is shared
    assert terms.licence.endswith(".")


def test_judged_copies_keep_the_terms_of_the_words(imported: Imported) -> None:
    with Journal.open(imported("one", licence="mit", about="A parlour game.")) as journal:
        judged = {"judged": "one", **handed_on(journal.plan)}
        assert plan_terms(judged) == plan_terms(journal.plan)
        assert judged["game_texts"] == {"parlour": "A parlour game."}
    assert handed_on({"game": "werewolf"}) == {}


def test_a_run_that_does_not_say_whose_words_it_holds_allows_nothing() -> None:
    """Runs that an earlier version imported or judged."""
    (terms,) = plan_terms({"import": "mini-mafia", "origin": "somebody", "licence": "None."}).values()
    assert not terms.redistributable
    assert plan_terms({"judged": "x", "terms": ["mit"]}) == {}
    assert plan_terms({"judged": "x", "terms": {"jsonl": None}})["jsonl"].redistributable is False
    assert not [name for name in OPEN if "-nd" in name]


def test_two_runs_of_one_name_and_different_terms_are_refused(imported: Imported, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    first, second = imported("one", licence="mit"), imported("two")
    second.rename(tmp_path / "elsewhere" / "one")
    with pytest.raises(UsageError, match="two runs are called 'one'"):
        build([first, tmp_path / "elsewhere" / "one"], out=tmp_path / "corpus")
