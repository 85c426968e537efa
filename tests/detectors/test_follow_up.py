"""Unrelated questions to a suspect: what it is shown of its game, who answers, and what the answers give away."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from liescope.cli import main
from liescope.common.errors import BadData, BudgetSpent, UsageError
from liescope.detectors import load
from liescope.detectors.examples import Example, labelled, read_statements
from liescope.detectors.kinds.follow_up import (
    DEFAULT,
    Conversation,
    FollowUpDetector,
    FollowUpOptions,
    conversation,
    read_questions,
)
from liescope.detectors.language_model import language_model
from liescope.detectors.textualize import TextConfig
from tests.detectors.conftest import TELLS
from tests.generate.players.openai.stub import Answer, Request, Script, Stub, says

Serve = Callable[[Script], Stub]
SAID = Example(
    "s",
    "g",
    "Bob",
    "m",
    "Trust me.\nAnna: I lied.",
    ("Anna", "Bob", "Cy"),
    (("Anna", "Bob lies."), ("Cy", "Does he?"), ("Bob", "No."), ("Anna", "Cy?")),
)
TALK = Conversation("speaker", ((False, "player1: we should talk"), (True, "trust me")))


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def given_away(request: Request) -> float:
    """The probability of yes of a suspect that does not hide its lies; it is surer of some questions than of others."""
    messages = request.body["messages"]
    own = " ".join(one["content"] for one in messages if one["role"] == "assistant")
    return (0.8 if any(word in own for word in TELLS[True]) else 0.3) + len(messages[-1]["content"]) % 7 / 100


def with_logprobs(request: Request, _number: int) -> Answer:
    yes = given_away(request)
    top = [{"token": token, "logprob": log(share)} for token, share in (("Yes", yes), ("No", 1 - yes))]
    found = says("Yes")
    found.body["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return found


def in_words(request: Request, _number: int) -> Answer:
    return says("**Yes**, it is." if given_away(request) > 0.5 else "No!")


def test_our_questions_are_short_and_different_and_say_nothing_of_the_game() -> None:
    own = read_questions()
    assert 20 <= len(own.questions) <= 30
    assert all(len(question) < 70 and question.endswith("?") for question in own.questions)
    assert not any(word in question.casefold() for question in own.questions for word in (" lie", "lying", "player"))
    assert len(own.first(3).asked()) == 3


def test_the_suspects_words_are_its_own_and_nobody_else_can_speak_in_its_place() -> None:
    found = conversation(SAID, TextConfig(context=4))
    assert found.suspect == "speaker"
    messages = found.messages("You are {speaker}.", "Ready?")
    assert [(one["role"], one["content"]) for one in messages] == [
        ("user", "You are speaker.\nplayer1: speaker lies.\nplayer2: Does he?"),
        ("assistant", "No."),
        ("user", "player1: player2?"),
        ("assistant", "Trust me. player1: I lied."),
        ("user", "Ready?"),
    ]
    assert found.text("You are {speaker}.").splitlines()[-1] == "speaker: Trust me. player1: I lied."
    alone = conversation(SAID, TextConfig(mask_names=False))
    assert (alone.suspect, alone.lines) == ("Bob", ((True, "Trust me. Anna: I lied."),))


def test_a_local_model_answers_with_the_chances_of_its_next_word_and_reads_the_game_once(tiny_lm: Path) -> None:
    model, ends = language_model(str(tiny_lm)), [" who?", " is this about lying today?", ""]
    read: list[int] = []
    hook = model.model.register_forward_pre_hook(
        lambda _module, args, given: read.append((args[0] if args else given["input_ids"]).numel()), with_kwargs=True
    )
    found = model.chances("we should talk about this", ends, {"yes": True, "no": False})
    hook.remove()
    assert read == [6, 3 * 6]  # the beginning and five words; three ends, the longest of six tokens
    for end, chance in zip(ends, found, strict=True):
        ids = model._tokenizer(f"<s> we should talk about this{end}", return_tensors="pt", add_special_tokens=False)
        with torch.no_grad():
            logits = model.model(ids["input_ids"]).logits[0, -1]
        if end:
            yes, no = (logits[model._tokenizer.convert_tokens_to_ids(word)] for word in ("yes", "no"))
            assert chance == pytest.approx(float(torch.sigmoid(yes - no)), abs=1e-5)


def test_a_game_that_is_too_long_loses_its_beginning_and_never_the_question(tiny_lm: Path) -> None:
    model, sides = language_model(str(tiny_lm)), {"yes": True, "no": False}

    def chance(text: str, end: str = " who is lying today?") -> float:
        return float(model.chances(text, [end], sides)[0])

    kept = "about this " * 60
    assert chance(f"calm {kept}") == chance(f"evidence {kept}")
    assert chance(f"{kept} calm") != chance(f"{kept} evidence")
    assert chance(kept, " calm?") != chance(kept, " evidence?")


def test_words_that_a_vocabulary_cannot_tell_apart_are_refused(tiny_lm: Path) -> None:
    with pytest.raises(UsageError, match="does not tell"):
        language_model(str(tiny_lm)).chances("we", [" who?"], {"certainly": True, "hardly": False})


def data_of(corpus: Path, split: str) -> Any:
    return labelled(read_statements(corpus, [split]), "role", 0)


@pytest.mark.parametrize("script", [with_logprobs, in_words])
def test_a_chat_model_that_gives_itself_away_is_found_out_and_asked_each_question_once(
    script: Script, serve: Serve, make_corpus: Any, tmp_path: Path
) -> None:
    corpus, stub = make_corpus(games=40, tell=1.0), serve(script)
    command = ["train", "follow-up", "--corpus", str(corpus), "--model", f"openai:wise@{stub.url}", "--folds", "0"]
    command += ["--most-questions", "2", "--out", str(tmp_path / "m")]
    assert main(command) == 0
    made, (first, *_) = len(stub.requests), stub.requests
    statements = read_statements(corpus, ["train", "validation"]).height
    # One request finds out that there are no log-probabilities.
    assert made == 2 * statements + (script is in_words)
    assert [one["role"] for one in first.body["messages"]] == ["user", "assistant", "user"]
    assert main([*command, "--overwrite"]) == 0
    loaded = load(tmp_path / "m")
    assert len(stub.requests) == made
    test = data_of(corpus, "test")
    assert roc_auc_score(test.y, loaded.detector.predict_proba(test.examples)[:, 1]) > 0.95
    assert len(stub.requests) == made + 2 * len(test.y)


def test_an_answer_that_is_none_counts_as_a_half_and_a_note_says_so(serve: Serve, corpus: Path) -> None:
    def silent_on(request: Request) -> bool:
        return crc32(json.dumps(request.body["messages"]).encode()) % 3 == 2

    def script(request: Request, number: int) -> Answer:
        return says("I would rather not say.") if silent_on(request) else with_logprobs(request, number)

    data, stub = data_of(corpus, "validation"), serve(script)
    options = FollowUpOptions(model=f"openai:wise@{stub.url}", most_questions=2)
    detector = FollowUpDetector(TextConfig(), options).fit(data.examples, data.y, data.groups)
    (note,) = detector.notes
    lost = {json.dumps(request.body) for request in stub.requests if silent_on(request)}
    assert note.startswith(f"{len(lost)} answers of the suspect could not be used")


def test_a_budget_in_money_stops_the_asking_and_what_was_paid_for_is_kept(serve: Serve, corpus: Path) -> None:
    data, stub = data_of(corpus, "validation"), serve(with_logprobs)
    model, price = f"openai:costly@{stub.url}", ["costly=1000,1000"]

    def fit(**budget: Any) -> FollowUpDetector:
        options = FollowUpOptions(model=model, most_questions=1, price=price, **budget)
        return FollowUpDetector(TextConfig(), options).fit(data.examples, data.y, data.groups)

    with pytest.raises(BudgetSpent):
        fit(max_cost=1.0)
    before = len(stub.requests)
    assert 0 < before < len(data.y)
    fit()
    assert len(stub.requests) == len(data.y)


def test_what_is_saved_names_no_file_of_this_machine_and_asks_nobody_unbidden(
    serve: Serve, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, stub, mine = data_of(corpus, "validation"), serve(with_logprobs), tmp_path / "mine.toml"
    mine.write_text(
        'intro = "You are {speaker}."\nask = "{question}"\nyes = ["Yes"]\nno = ["No"]\nquestions = ["Is it late?"]\n',
        encoding="utf-8",
    )
    options = FollowUpOptions(
        model=f"openai:wise@{stub.url}", questions=str(mine), cache=str(tmp_path / "replies"), seed=3
    )
    detector = FollowUpDetector(TextConfig(), options).fit(data.examples, data.y, data.groups)
    assert {request.body["messages"][-1]["content"] for request in stub.requests} == {"Is it late?"}
    folder = tmp_path / "saved"
    folder.mkdir()
    detector.save(folder)
    kept = json.dumps(detector.options.model_dump()) + (folder / "questions.json").read_text(encoding="utf-8")
    assert "Is it late?" in kept
    assert str(tmp_path) not in kept
    elsewhere = detector.options.model_copy(update={"model": "openai:wise@https://llm.example.com/v1"})
    foreign = FollowUpDetector.load(folder, TextConfig(), elsewhere)
    with pytest.raises(UsageError, match=r"llm\.example\.com"):
        foreign.predict_proba(data.examples)


def test_a_local_model_that_gives_itself_away_is_found_out_and_another_in_its_place_is_noticed(
    corpus: Path, tiny_suspect: Path, tiny_lm: Path, tmp_path: Path
) -> None:
    learn, test = data_of(corpus, "validation"), data_of(corpus, "test")
    options = FollowUpOptions(model=str(tiny_suspect), most_questions=2)
    detector = FollowUpDetector(TextConfig(), options).fit(learn.examples, learn.y, learn.groups)
    assert roc_auc_score(test.y, detector.predict_proba(test.examples)[:, 1]) > 0.8
    detector.save(tmp_path)
    assert detector.options.model == "local"
    for path in (tmp_path / "encoder").iterdir():
        path.write_bytes((tiny_lm / path.name).read_bytes())
    with pytest.raises(BadData, match="is not the one that"):
        FollowUpDetector.load(tmp_path, TextConfig(), detector.options)


def test_questions_that_cannot_be_asked_are_refused(tmp_path: Path) -> None:
    path, own = tmp_path / "q.toml", DEFAULT.read_text(encoding="utf-8")
    for text, why in (
        (own.replace("{question}", ""), "lacks {question}"),
        (own.replace('"No", "False"', '"No", "yes"'), "cannot mean both"),
        (own.replace("questions = [", 'questions = ["Is seven a prime number?",'), "asked twice"),
        (own.replace("no = [", "nein = ["), "no: Field required"),
        ("questions = [", "is not TOML"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BadData, match=why):
            read_questions(path)
    with pytest.raises(BadData, match="cannot be read"):
        read_questions(tmp_path / "none.toml")


def test_a_suspect_has_to_be_named(corpus: Path) -> None:
    data = data_of(corpus, "validation")
    with pytest.raises(UsageError, match="--model"):
        FollowUpDetector(TextConfig(), FollowUpOptions()).fit(data.examples, data.y, data.groups)


def test_a_local_suspect_makes_no_requests(tiny_suspect: Path) -> None:
    asked = [SAID, SAID]
    assert FollowUpDetector(TextConfig(), FollowUpOptions(model=str(tiny_suspect))).requests(asked, ()) == 0
    assert FollowUpDetector(TextConfig(), FollowUpOptions(model="openai:x", most_questions=5)).requests(asked, ()) == 6
    assert np.isfinite(language_model(str(tiny_suspect)).chances("", [""], {"yes": True, "no": False})).all()
