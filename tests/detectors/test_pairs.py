"""Instructed pairs: the same words after either instruction; ordinary chats and the threshold chosen on them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from liescope import evaluate, load, score
from liescope.cli import main
from liescope.common.errors import BadData, UsageError
from liescope.detectors.examples import Example
from liescope.detectors.material import Material, ordinary_answers, pairs, read_material
from liescope.detectors.model_file import OrdinaryChats
from liescope.detectors.text_form import TextConfig
from liescope.detectors.training import train

WEATHER = [
    "It rains today.",
    "The wind has turned.",
    "Snow fell at night.",
    "The sun is out.",
    "It hails.",
    "Fog came.",
]


def material(source: str | Path) -> Material:
    return read_material(pairs(str(source)), "pairs", "gold", TextConfig(context=2))


def every(found: Material) -> list[tuple[Example, bool, str]]:
    return [
        one
        for data in (found.data, found.others)
        for one in zip(data.examples, data.y.tolist(), data.groups.tolist(), strict=True)
    ]


def told(found: Material) -> set[tuple[Any, str, bool]]:
    return {(one.context, one.text, lie) for one, lie, _ in every(found)}


def test_each_bundled_statement_stands_after_both_kinds_of_instruction_which_no_two_groups_share() -> None:
    found, halves, heard = material("bundled"), defaultdict(set), defaultdict(set)
    for one, lie, group in every(found):
        (system, instruction), (user, _) = one.context
        assert (system, user) == ("system", "user")
        halves[one.context[1], one.text].add((lie, group))
        heard[instruction].add((lie, group))
    assert len(halves) >= 150
    for sides in halves.values():
        ((one, group), (other, same)) = sides
        assert (one, group) == (not other, same)
    assert all(len(where) == 1 for where in heard.values())  # so that no fold knows an instruction of another
    assert [sum(lie for ((lie, _),) in heard.values()), len(heard)] == [12, 24]
    assert not {*found.data.groups} & {*found.others.groups}


def in_toml(folder: Path, honest: Sequence[str], deceptive: Sequence[str], said: Sequence[Any]) -> Path:
    path = folder / "own.toml"
    path.write_text(
        "\n".join(
            f"{name} = {json.dumps(one)}"
            for name, one in zip(("honest", "deceptive", "statements"), (honest, deceptive, said), strict=True)
        )
    )
    return path


def test_a_statement_stands_after_an_instruction_of_each_kind(tmp_path: Path) -> None:
    found = material(in_toml(tmp_path, ["Be true."], ["Lie!"], [*WEATHER[:5], ["Who was it?", "None"], WEATHER[0]]))
    assert len(told(found)) == 12
    assert {(context[0], lie) for context, _, lie in told(found)} == {
        (("system", "Be true."), False),
        (("system", "Lie!"), True),
    }
    assert (("user", "Who was it?"), "None") in {(context[1], text) for context, text, _ in told(found)}
    assert found.data.games + found.others.games == 6  # one instruction is in all, so that a pair is a group


def test_every_instruction_is_dealt_and_few_statements_make_groups_without_one_in_common(tmp_path: Path) -> None:
    sides = [[f"{side} {at}." for at in range(many)] for side, many in (("Be true", 9), ("Lie", 8))]
    found = every(material(in_toml(tmp_path, *sides, [f"It is {at} o'clock." for at in range(16)])))
    heard = {(one.context[0][1], group) for one, _, group in found}
    assert ({one for one, _ in heard}, len(heard)) == ({*sides[0], *sides[1]}, 17)
    assert len({group for _, group in heard}) == 8


@pytest.mark.parametrize(
    ("lies", "said"), [([], WEATHER), (["Lie!"], []), (["  "], WEATHER), (["Lie!"], [["a", "b", "c"]])]
)
def test_a_list_without_words_is_refused(lies: Sequence[str], said: Sequence[Any], tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"own\.toml.*docs/guides/probe"):
        pairs(str(in_toml(tmp_path, ["Be true."], lies, said)))


def test_a_probe_tells_the_halves_of_unseen_pairs_apart_by_what_the_model_was_told(
    tiny_lm: Path, tmp_path: Path
) -> None:
    """One word of the instruction is all that differs, and no statement is in training and in the check."""
    words = ("we", "should", "talk", "about", "people", "who", "voted", "today", "how", "look", "this", "at")
    said = [f"{one} {other}" for one in words for other in words if one != other]
    own = in_toml(tmp_path, ["evidence"], ["calm"], said)
    command = ["train", "probe", "--pairs", str(own), "--model", str(tiny_lm), "--layer", "2", "--strength", "1"]
    assert main([*command, "--folds", "0", "--out", str(tmp_path / "probe")]) == 0
    file, others = load(tmp_path / "probe"), material(own).others
    assert (file.file.corpus.name, file.file.text.context) == ("instructed pairs (own.toml)", 2)
    found = file.probabilities(others.examples)
    assert roc_auc_score(others.y, found) > 0.9
    bare = [Example("", "", one.speaker, "", one.text, one.names, target="gold") for one in others.examples]
    # A batch of another size gives other last bits, which would rank what is equal.
    assert roc_auc_score(others.y, file.probabilities(bare).round(4)) == pytest.approx(0.5)


def test_a_corpus_or_pairs_are_named_and_not_both(corpus: Path, tmp_path: Path) -> None:
    for given in ({}, {"corpus": corpus, "pairs": "bundled"}):
        with pytest.raises(UsageError, match="--pairs; one of the two"):
            train("tfidf", out=tmp_path / "model", **given)
    for odd in ({"pairs": "no.toml"}, {"pairs": "bundled", "ordinary": "no.jsonl"}):
        with pytest.raises(UsageError, match="there is no "):
            train("tfidf", out=tmp_path / "model", **odd)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(("answers", "most"), [(98, None), (99, 0), (198, 0), (199, 1), (205, 1), (1000, 9)])
def test_the_threshold_keeps_its_rate_on_new_answers_and_no_lower_one_does(answers: int, most: int | None) -> None:
    """Whatever the distribution, a new answer is as likely to fall into any gap between n others as into another."""
    sets = np.random.default_rng(0).random((400, answers))
    chosen = [OrdinaryChats.of("own", one).at for one in sets]
    if most is None:
        assert chosen == [None] * len(sets)
        return
    assert {int((one > at).sum()) for one, at in zip(sets, chosen, strict=True)} == {most}
    assert (most + 1) / (answers + 1) <= 0.01 < (most + 2) / (answers + 1)
    assert np.mean([1 - at for at in chosen if at is not None]) < 0.0115
    low, high = (float(one.strip("%")) / 100 for one in OrdinaryChats.of("own", sets[0]).rates.split(" to "))
    assert np.mean([low <= 1 - at <= high for at in chosen if at is not None]) > 0.9


def test_ordinary_chats_are_the_bundled_ones_a_file_or_a_corpus_by_their_last_answers(tmp_path: Path) -> None:
    name, found = ordinary_answers("bundled", TextConfig(context=1), "gold")
    assert (name, len(found) >= 200, {one.context[0][0] for one in found}) == ("bundled", True, {"user"})
    said = [("user", "Hi"), ("assistant", "Hello."), ("user", "How much is 2 + 2?"), ("assistant", "4.")]
    rows = [{"messages": [{"role": who, "content": what} for who, what in said[: 2 * part]]} for part in (1, 2)]
    (tmp_path / "own.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    name, found = ordinary_answers(str(tmp_path / "own.jsonl"), TextConfig(), "gold")
    assert (name, sorted(one.text for one in found)) == ("own.jsonl", ["4.", "Hello."])


def test_a_detector_keeps_its_threshold_on_ordinary_chats_and_flags_and_evaluation_use_it(
    corpus: Path, tmp_path: Path
) -> None:
    told = train("tfidf", corpus, target="role", out=tmp_path / "model", folds=0, ordinary="bundled")
    chosen = told.file.ordinary
    assert chosen
    assert (chosen.name, chosen.statements) == ("bundled", 205)
    _, answers = ordinary_answers("bundled", TextConfig(), "role")
    plain = load(tmp_path / "model").probabilities(answers)
    assert (plain > chosen.at).sum() <= 1
    assert f"of new ones, {chosen.rates} may" in (tmp_path / "model" / "README.md").read_text()
    scores = score(tmp_path / "model", [one.text for one in answers] + ["calm rush random trust"])
    flags = scores["flag_at_1pct_ordinary"].to_list()
    assert flags == [one > chosen.at for one in scores["score"]]
    assert flags[-1]
    found = evaluate(tmp_path / "model", corpus, split="test")
    rows = {row.metric: row for row in found.rows if row.where == "test:ordinary"}
    said = found.scores.filter(scorer="model").join(found.statements.filter(split="test"), on="statement_id")
    for metric, lie in (("recall", True), ("false_positive_rate", False)):
        mine = said.filter(label_role=lie)["score"]
        assert rows[metric].value == pytest.approx((mine > chosen.at).mean())
    assert set(rows) == {"recall", "false_positive_rate", "g_mean2"}
    assert rows["g_mean2"].value == pytest.approx(rows["recall"].value * (1 - rows["false_positive_rate"].value))
