"""Cards have no gap, tell what must be told, and are read by the programs that read cards."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
import yaml
from huggingface_hub import DatasetCard, ModelCard

from liescope.common.errors import CardError
from liescope.data_cards.cards import markdown, render_dataset_card, render_model_card, served_facts
from liescope.data_cards.tables import TABLES
from liescope.games.game_registry import CARDS
from tests.generate.corpus.games import pack, play, stream

SCRIPTED = "Scripted text is not model text"


@cache
def packed() -> str:
    """corpus.json of ten games."""
    with TemporaryDirectory() as folder:
        pack(stream([play(number) for number in range(10)]), Path(folder) / "small")
        return (Path(folder) / "small" / "corpus.json").read_text(encoding="utf-8")


def corpus_facts(**changes: Any) -> dict[str, Any]:
    """Facts of a small corpus of scripted games, as corpus.json keeps them."""
    scripted = {"sources": {"scripted": 10}, "seat_sources": ["scripted"]}
    return {**json.loads(packed()), **scripted, "claims": CLAIMS, **changes}


CLAIMS: dict[str, Any] = {
    "origins": {"rules": 6},
    "classes": {"lie": 3, "truthful": 2, "undecidable": 1},
    "kinds": {"role": 5, "vote": 1},
    "promises": {"kept": 1},
    "lying": (3, 3),
    "others": (1, 0),
    "raw": 1.0,
    "kappa": 1.0,
}


def model_facts(sources: Sequence[str] = ("scripted",), **changes: Any) -> dict[str, Any]:
    row = {"where": "test", "metric": "AUROC", "value": 0.81, "lo": 0.75, "hi": 0.86, "statements": 900, "games": 150}
    training = {
        "statements": 900,
        "games": 150,
        "prevalence": 0.25,
        "without_label": 3,
        "lost": 0,
        "without_reasoning": 0,
        "models": ["a b"],
        "chosen": None,
    }
    result = {"task_type": "text-classification", "dataset_type": "small", "dataset_name": "small, test"}
    return {
        "detector": "my tfidf",
        "kind": "tfidf",
        "target": "role",
        "corpus": "small",
        "thought": "They must not know.",
        "words": [{"name": "quack", "games": 9, "origin": "you, on a page", "licence": "MIT.", "languages": ["en"]}],
        "training": {**training, "sources": sources, "names": []},
        "liescope": "0.1.0",
        "config": {"view": "words", "context": 2, "mask_names": True, "note": ""},
        "figures": [row],
        "reports": [],
        "thresholds": {"1%": 0.91, "5%": 0.75},
        "ordinary": {"name": "my chats", "statements": 300, "at": 0.875, "rates": "0.1% to 2.7%"},
        "calibration": "their log-odds are divided by 2",
        "calibrated_on": (40, 30),
        "place": "models/my tfidf",
        "said": "I saw Bob.",
        "plain_use": "",
        "needs": "",
        "extra": "",
        "library": "sklearn",
        "base_model": "",
        "results": [{**result, "metric_type": "roc_auc", "metric_value": 0.81}],
        **changes,
    }


def dataset_card(**changes: Any) -> str:
    return render_dataset_card(corpus_facts(**changes), CARDS)


def test_the_hubs_own_reader_reads_the_metadata() -> None:
    data = DatasetCard(dataset_card()).data.to_dict()
    assert data["pretty_name"] == "small"
    held = [name for name, rows in corpus_facts()["rows"].items() if any(rows.values())]
    assert [config["config_name"] for config in data["configs"]] == [name for name in TABLES if name in held]
    assert data["configs"][0]["data_files"][2] == {"split": "test", "path": "statements/test-00000.parquet"}


class Yaml12(yaml.SafeLoader):
    """Reads plain words as YAML 1.2 does, like the Hub's pages; PyYAML reads 1.1."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


for kind, words in {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?\d+|0o[0-7]+|0x[\da-fA-F]+",
    "float": r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
}.items():
    Yaml12.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"^({words})$"), None)

HOSTILE = (
    *("no", "on", "Yes", "y", "null", "~", "true", "1e3", "0x1F", "0o17", "017", "1_000", "12:30:00", "-3", "+1.5"),
    *("2026-01-01", ".inf", "=", "<<", "a: b", "a #b", "#b", "'", '"', "\\n", "- a", "-", "---", "@a", "`a", "%a"),
    *(
        "a\nb",
        "a\n---\nlicense: mit\n---\n",
        "a\rb",
        "&a",
        "*a",
        "!a",
        "{{ a }}",
        "{% a %}",
        "[a",
        "TODO",
        "? a",
        "| a",
    ),
    *("🎲 x", "\u202ea", "\x07a", "\u2028a", " a ", "a" * 300, "a b " * 60, "nb-NO", "mt"),
)


def front_matter(card: str) -> dict[str, Any]:
    """The metadata of a card, which must be the same to the Hub's own reader and by both versions of YAML."""
    found = re.match(r"---\n(.*?)\n---\n", card, re.DOTALL)
    assert found
    old, new = yaml.safe_load(found[1]), yaml.load(found[1], Yaml12)
    assert old == new == yaml.safe_load(str(DatasetCard(card).data))
    return dict(old)


@pytest.mark.parametrize("value", HOSTILE)
def test_every_value_of_a_cards_metadata_is_read_back_as_it_was_put_in(value: str) -> None:
    licence = {**licensed("chat", value, True), "games": 4}
    licence["terms"]["languages"] = (value,)
    files = [{**file, "path": value, "split": value} for file in corpus_facts()["files"]]
    facts = {"name": f"{value}.", "seat_sources": ["model"], "licences": [licence], "files": files}
    data = front_matter(dataset_card(**facts))
    assert (data["pretty_name"], data["language"], data["license"]) == (f"{value}.", [value], value)
    assert data["tags"] == ["deception", "lie-detection", "social-deduction-games", "liescope", "source-model"]
    assert {(one["split"], one["path"]) for config in data["configs"] for one in config["data_files"]} == {
        (value, value)
    }

    (words,), (result,) = model_facts()["words"], model_facts()["results"]
    where = {"dataset_type": value, "dataset_name": value, "dataset_split": value, "metric_type": value}
    facts = {"detector": f"{value}.", "corpus": f"{value}/", "kind": value, "library": value, "base_model": value}
    facts |= {"words": [{**words, "languages": [value]}], "results": [{**result, **where, "metric_name": value}]}
    data = front_matter(render_model_card(model_facts(**facts)))
    (index,) = data["model-index"]
    assert index == {
        "name": f"{value}.",
        "results": [
            {
                "task": {"type": "text-classification"},
                "dataset": {"name": value, "type": value, "split": value},
                "metrics": [{"type": value, "value": 0.81, "name": value}],
            }
        ],
    }
    assert (data["language"], data["library_name"], data["base_model"]) == ([value], value, value)
    assert (data["datasets"], data["metrics"], data["tags"][-1]) == ([f"{value}/"], [value], value)


@pytest.mark.parametrize("view", ["words", "reasoning", "both"])
@pytest.mark.parametrize(("kind", "said"), [("text", "900 texts of 150"), ("chat", "900 statements of 150")])
def test_the_card_of_a_model_of_texts_or_chats_speaks_of_no_games(kind: str, said: str, view: str) -> None:
    facts = model_facts(["imported"])
    changes: dict[str, Any] = {"words": [{**facts["words"][0], "name": kind}], "thought": "Nobody knows."}
    changes |= {"config": {"view": view}, "reports": [{"corpus": "mine", "rows": []}], "plain_use": "use it\n"}
    card = render_model_card({**facts, **changes, "training": {**facts["training"], "names": ["Ann"]}})
    assert f"{said} groups" in " ".join(card.split())
    assert not re.search(r"\b(games?|players?|hidden role|Bob is)\b", card.replace(facts["said"], ""))
    assert kind == "chat" or "statement" not in card
    assert "a social-deduction game" in render_model_card(facts)


def test_scripted_words_are_said_to_be_scripted_and_others_are_not() -> None:
    assert SCRIPTED in dataset_card()
    assert SCRIPTED not in dataset_card(sources={"model": 10}, seat_sources=["model"])
    assert SCRIPTED in dataset_card(sources={"model": 5, "scripted": 5}, seat_sources=["model", "scripted"])
    assert SCRIPTED in render_model_card(model_facts())
    assert SCRIPTED not in render_model_card(model_facts(sources=["imported"]))


def licensed(name: str, licence_id: str, redistributable: bool, words: str = "As agreed.") -> dict[str, Any]:
    terms = {
        "origin": f"{name}'s authors",
        "licence": words,
        "licence_id": licence_id,
        "redistributable": redistributable,
        "means": "",
    }
    return {"name": name, "terms": {"languages": (), **terms}, "games": 4}


MIT, SCRIPTS = licensed("quack", "mit", True), licensed("liescope", "apache-2.0", True)
MODELS, NONE = licensed("liescope", "", True), licensed("mini-mafia", "", False, "None is stated.")


@pytest.mark.parametrize(
    ("licences", "tag", "name"),
    [
        ([SCRIPTS], "apache-2.0", None),
        ([MIT, licensed("avalon", "mit", True)], "mit", None),
        ([MIT, SCRIPTS], "other", "several"),
        ([MODELS], "other", "terms-of-the-models"),
        ([MIT, NONE], "other", "not-redistributable"),
    ],
)
def test_the_hubs_licence_stands_only_if_all_words_have_it(
    licences: list[dict[str, Any]], tag: str, name: str | None
) -> None:
    card = dataset_card(licences=licences)
    data = DatasetCard(card).data.to_dict()
    assert (data["license"], data.get("license_name")) == (tag, name)
    words = card.split("## Licence")[1]
    assert all(f"**{one['name']}** (4 games), from {one['name']}'s authors." in words for one in licences)
    assert ("Not to be redistributed" in words) == (NONE in licences)


def test_held_out_models_failed_games_and_nulls_are_told() -> None:
    labels = [{"target": "self", "labelled": 0, "positive": 0, "nulls": {"not asked": 10}}]
    card = dataset_card(hold_out=["gpt-x"], failed=2, failures={"endpoint down": 2}, labels=labels)
    assert "Held out: gpt-x" in card
    assert "endpoint down: 2" in card
    assert "`label_self` is null in 10 statements: not asked (10)" in card
    assert "--hold-out-model gpt-x" in card


def test_claims_of_models_are_told_apart_from_those_that_labels_are_made_of() -> None:
    assert "holds 6 claims, found by rules (6)" in dataset_card()
    assert "claims that models found" not in dataset_card()
    card = dataset_card(claims={**CLAIMS, "origins": {"model:wise": 9, "rules": 6}})
    assert "holds 15 claims, found by model:wise (9), rules (6)" in card
    assert "claims that models found" in card
    assert "By kind: role 5, vote 1" in card
    card = dataset_card(claims={**CLAIMS, "origins": {"model:wise": 9}, "classes": {}, "kinds": {}, "promises": {}})
    assert "holds 9 claims" in card
    assert "By kind" not in card


def test_a_missing_fact_stops_a_card() -> None:
    def passes(render: Callable[[dict[str, Any]], str], facts: dict[str, Any]) -> list[str]:
        """The facts without which a card is rendered all the same."""
        needless = []
        for fact in facts:
            with suppress(CardError):
                render({name: value for name, value in facts.items() if name != fact})
                needless.append(fact)
        return needless

    assert passes(lambda facts: render_dataset_card(facts, CARDS), corpus_facts()) == ["format", "key_variables"]
    assert passes(render_model_card, model_facts()) == []


@pytest.mark.parametrize("changes", [{"name": ""}, {"name": "\u202e"}, {"liescope": None}, {"runs": [{"name": ""}]}])
def test_an_empty_fact_stops_the_card(changes: Mapping[str, Any]) -> None:
    with pytest.raises(CardError):
        dataset_card(**changes)


def test_a_figure_that_is_not_a_number_stops_the_model_card() -> None:
    row = {**model_facts()["figures"][0], "value": float("nan")}
    with pytest.raises(CardError):
        render_model_card(model_facts(figures=[row]))


def test_the_card_counts_repeated_and_lost_statements() -> None:
    rows = {"statements": {"train": 7, "validation": 2, "test": 1}}
    facts = {"rows": corpus_facts()["rows"] | rows, "repeated": 7, "test_in_train": 2, "lost": 3}
    card = " ".join(dataset_card(**facts).split())
    assert "Word for word, 7 of the 10 statements occur more than once, and 2 of the 1 test statements" in card
    assert "Of 3 statements nothing but a backslash is left" in card
    assert "backslash" not in dataset_card()


def test_the_version_of_a_config_changes_with_its_content_alone() -> None:
    def versions(**changes: Any) -> dict[str, str]:
        configs = DatasetCard(dataset_card(**changes)).data.to_dict()["configs"]
        return {config["config_name"]: config["version"] for config in configs}

    files = corpus_facts()["files"]
    files[0] = {**files[0], "sha256": "1" * 64}
    before, after = versions(name="other"), versions(files=files)
    assert versions() == before
    assert {name for name in before if before[name] != after[name]} == {files[0]["config"]}


def test_a_model_card_shows_its_figures_with_their_intervals() -> None:
    card = render_model_card(model_facts())
    assert "| test | AUROC | 0.810 | 0.750 to 0.860 | 900 | 150 |" in card
    assert "- 9 games, quack: you, on a page. MIT." in card
    assert "calibrated on games that were held out in training: their log-odds are divided by 2." in card
    assert "(my chats, 300), at most 1% have a score above\n0.875; of new ones, 0.1% to 2.7% may (95%)." in card
    assert "Of ordinary chats" not in render_model_card(model_facts(ordinary=None))
    assert "Its probabilities are not calibrated." in render_model_card(model_facts(calibration="", calibrated_on=None))
    data = ModelCard(card).data
    assert data.tags == ["deception", "lie-detection", "social-deduction-games", "liescope", "tfidf"]
    assert [(one.metric_type, one.metric_value) for one in data.eval_results] == [("roc_auc", 0.81)]
    assert (data.license, data.datasets) == ("apache-2.0", None)
    published = ModelCard(render_model_card(model_facts(["model"], corpus="me/games", base_model="you/bert"))).data
    assert (published.license_name, published.datasets) == ("terms-of-the-models", ["me/games"])
    assert published.base_model == "you/bert"
    assert "Not evaluated yet" in render_model_card(model_facts(figures=[]))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("gpt-4.1_mini", "gpt-4.1_mini"),
        ("a|b", "a&#124;b"),
        ("<b>", "&#60;b&#62;"),
        ("_x_", "&#95;x&#95;"),
        ("two\nlines\x00", "two lines"),
        ("[a](b)", "&#91;a&#93;(b)"),
    ],
)
def test_no_markup_of_a_name_takes_effect(text: str, plain: str) -> None:
    assert markdown(text) == plain


def test_what_a_user_says_about_a_game_is_plain_text_on_the_card() -> None:
    about = 'Nice.\n---\nlicense: mit\n---\n# Title\n<img src=x onerror="alert(1)"> [here](javascript:x) {{ 7 }} | `a`'
    card = dataset_card(kinds={"cellar": 10}, game_texts={"cellar": about})
    (line,) = [line for line in card.splitlines() if line.startswith("- **cellar**")]
    assert "Nice." in line
    for mark in "<>[`{|":
        assert mark not in line.partition("Nice.")[2]
    assert "license: mit" not in card.splitlines()
    assert DatasetCard(card).data.license != "mit"


def test_only_runs_that_may_hold_people_are_named_for_saying_nothing_of_them() -> None:
    served = {"consent": ["We record it."], "words": 60.0, "choices": 60.0, "away": 5.0}
    plans: dict[str, dict[str, Any]] = {
        "table": {"players": ["human:Ada"], "held": {"Bob": "human:Ada"}, "served": served},
        "scripts": {"players": ["scripted:bold"]},
        "imported": {"import": "quack"},
        "old-table": {"players": ["human:Bo", "scripted:bold"]},
        "fork": {"fork": {}, "players": ["scripted:bold"], "people": {"Bob": "Ada"}},
        "judged": {"judged": "table"},
    }
    runs = [{"name": name, "plan": plan} for name, plan in plans.items()]
    facts = served_facts({"runs": runs, "seat_sources": {"human": 2, "scripted": 9}})
    assert facts["unsaid"] == ["old-table", "fork", "judged"]
    assert [(text["text"], text["runs"]) for text in facts["consents"]] == [(("We record it.",), ["table"])]
    assert served_facts({"runs": runs, "seat_sources": {"scripted": 9}})["unsaid"] == []
