"""A language model reads statements as its own words: through its chat template, whatever that takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from liescope.common.errors import BadData, UsageError
from liescope.detectors.examples import Example
from liescope.detectors.kinds.probe import ProbeDetector, ProbeOptions, passage
from liescope.detectors.probing.language_model import LanguageModel, Passage, language_model, read_questions
from liescope.detectors.text_form import TextConfig
from tests.detectors.planted_model import BEGIN, TEMPLATE, make_planted, planted_examples

CONTEXT = TextConfig(context=4)
CHAT = (("system", "be brief"), ("user", "who spoke first"), ("assistant", "we talk"), ("user", "and today"))
LOOP = "{% for m in messages %} "
FAIL = "{{ raise_exception('no') }}"
TEMPLATES = {
    "takes all": LOOP + "<{{ m.role }}> {{ m.content }} [end]{% endfor %}",
    "strips": LOOP + "<{{ m.role }}> {{ m.content | trim }} [end]{% endfor %}",
    "knows no system": LOOP
    + "{% if m.role == 'system' %}"
    + FAIL
    + "{% endif %}<{{ m.role }}> {{ m.content }}{% endfor %}",
    "drops the system": LOOP + "{% if m.role != 'system' %}<{{ m.role }}> {{ m.content }}{% endif %}{% endfor %}",
    "user and assistant in turn": LOOP
    + "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    + FAIL
    + "{% endif %}<{{ m.role }}> {{ m.content | trim }} [end]{% endfor %}",
    "thinks": LOOP
    + "<{{ m.role }}> {% if m.role == 'assistant' %}{{ '<think> </think>' if loop.last else '' }} "
    + "{{ m.content.split('</think>')[-1] | trim }}{% else %}{{ m.content }}{% endif %} [end]{% endfor %}",
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_planted(tmp_path_factory.mktemp("planted") / "model")


@pytest.fixture
def model(planted: Path) -> LanguageModel:
    """With nothing remembered."""
    found = language_model(str(planted))
    found.remembered.clear()
    return found


@pytest.fixture
def under(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], LanguageModel]:
    """under(template): the model with another chat template."""

    def given(template: str) -> LanguageModel:
        monkeypatch.setattr(model._tokenizer, "chat_template", template)
        return model

    return given


def read(model: LanguageModel, said: Passage, longest: int = 256, asked: tuple[str, ...] = ()) -> tuple[str, str]:
    """What it reads before the own words, and from these on."""
    ids, start = model._ids(said, asked, longest)
    return model._tokenizer.decode(ids[:start]), model._tokenizer.decode(ids[start:])


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("turns", [CHAT, CHAT[1:], CHAT[:1], CHAT[2:3], (CHAT[1], CHAT[3]), ()])
def test_every_template_shows_what_was_said_and_then_the_own_words(
    under: Callable[[str], LanguageModel], name: str, turns: tuple[Any, ...]
) -> None:
    before, own = read(under(TEMPLATES[name]), Passage(turns, "  it was late \n"))
    assert own == "it was late"
    for _, words in turns:
        assert words.replace("be brief", "<unk> <unk>") in before


@pytest.mark.parametrize("joined", [(), (" t",), ("> ",), (">", "> t"), ("> t", "al")])
@pytest.mark.parametrize("name", ["takes all", "strips", "thinks"])
def test_own_words_begin_with_the_first_token_that_holds_any_of_them(
    model: LanguageModel, monkeypatch: pytest.MonkeyPatch, name: str, joined: tuple[str, ...]
) -> None:
    monkeypatch.setattr(model, "_tokenizer", by_bytes(joined, TEMPLATES[name]))
    ids, start = model._ids(Passage(CHAT, "talk"), (), 256)
    before, _ = model._rendered(CHAT, ())
    held = [model._tokenizer.decode(ids[:end]) for end in (start, start + 1, len(ids))]
    assert held[2] == before + "talk"
    assert len(held[0]) <= len(before) < len(held[1])


def by_bytes(joined: tuple[str, ...], template: str) -> Any:
    """A tokenizer of bytes, some of which are one token together, whatever words they belong to."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    known, merges = [*pre_tokenizers.ByteLevel.alphabet()], list[tuple[str, str]]()
    for one in (text.replace(" ", "Ġ") for text in joined):
        merges += [(one[:end], one[end]) for end in range(1, len(one)) if one[: end + 1] not in known]
        known += [one[: end + 1] for end in range(1, len(one)) if one[: end + 1] not in known]
    plain = Tokenizer(models.BPE({one: at for at, one in enumerate(known)}, merges))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    plain.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=plain, chat_template=template)


def test_a_template_that_takes_no_chat_is_told_and_one_without_own_words_too(
    under: Callable[[str], LanguageModel],
) -> None:
    for template in (FAIL, LOOP + "{{ m.role }}{% endfor %}"):
        with pytest.raises(BadData, match=r"chat template of model fails .* --form text"):
            read(under(template), Passage(CHAT, "late"))


def test_a_chat_is_cut_at_whole_turns_from_the_oldest_but_for_the_first(under: Callable[[str], LanguageModel]) -> None:
    model = under(TEMPLATE)
    every = model._ids(Passage(CHAT, "late"), (), 256)[0]
    for longest in range(len(every), 2, -1):
        ids, start = model._ids(Passage(CHAT, "late"), (), longest)
        text = model._tokenizer.decode(ids)
        kept = [words in text for words in ("<unk> <unk>", "who spoke first", "we talk", "and today")]
        assert len(ids) <= max(longest, 3)
        assert model._tokenizer.decode(ids[start:]) == "late"
        assert not any(kept) or kept == [True, *sorted(kept[1:])]
    assert not any(kept)


def test_no_own_word_is_cut_and_a_question_about_long_ones_leaves_out_their_middle(model: LanguageModel) -> None:
    own = " ".join(["talk", *["it"] * 60, "late"])
    plain, other = (model.states([Passage(CHAT, words)], (1,), 24) for words in (own, own.replace("late", "today")))
    assert not np.allclose(plain, other, atol=1e-3)
    asked = model._tokenizer.decode(model._question(Passage(CHAT, own), "who spoke", 24))
    assert asked.startswith(f"<s> {BEGIN} talk it")
    assert asked.endswith(f"late [end] [other] who spoke [end] {BEGIN}")


def test_a_game_becomes_a_chat_of_its_speaker_and_a_chat_keeps_its_roles_and_words() -> None:
    heard = (("Bob", "Ada lies."), ("Ada", "No, Bob."), ("Cleo", "Hm."))
    said = Example("s", "g", "Ada", "m", "I trust\nCleo: him.", ("Ada", "Bob", "Cleo"), heard, reasoning="Hide it.")
    turns = (("user", "player1: speaker lies."), ("assistant", "No, player1."), ("user", "player2: Hm."))
    assert passage(said, CONTEXT, chat=True) == (turns, "I trust player2: him.")
    assert passage(said, TextConfig(), chat=True) == ((), "I trust player2: him."[:8] + "player1: him.")
    both = passage(said, TextConfig(view="both"), chat=True)
    assert both == ((("assistant", "Hide it."),), "I trust player1: him.")
    assert passage(said, TextConfig(view="reasoning"), chat=True) == ((), "Hide it.")
    chat = Example("s", "g", "assistant", "m", "As an assistant:\n1. yes", ("assistant", "user"), CHAT)
    assert passage(chat, CONTEXT, chat=True) == (CHAT, "As an assistant:\n1. yes")


def fitted(planted: Path, examples: list[Example], y: Any, groups: Any, text: TextConfig, **more: Any) -> ProbeDetector:
    options = ProbeOptions(model=str(planted), layers=2, strength=1.0, **more)
    return ProbeDetector(text, options).fit(examples, y, groups)


@pytest.mark.parametrize("speaker", ["Ada", "assistant"])
@pytest.mark.parametrize("how", ["tokens", "last", "answer", "yes-no"])
def test_what_the_model_knows_where_it_speaks_is_found_in_unseen_games_through_its_template_alone(
    planted: Path, model: LanguageModel, monkeypatch: pytest.MonkeyPatch, how: str, speaker: str
) -> None:
    learn, others = planted_examples(speaker=speaker), planted_examples(60, speaker, seed=1)

    def auroc(**more: Any) -> float:
        found = fitted(planted, *learn, CONTEXT, read=how, **more).predict_proba(others[0])[:, 1]
        return float(roc_auc_score(others[1], found))

    assert auroc() > 0.99
    assert auroc(form="text") < 0.75
    monkeypatch.setattr(model._tokenizer, "chat_template", TEMPLATE.replace(BEGIN, "[other]"))
    model.remembered.clear()
    assert auroc() < 0.75


def test_an_answers_state_is_that_of_the_yes_or_no_itself_and_an_odds_that_of_the_next_word(
    model: LanguageModel,
) -> None:
    import torch

    examples, y, _ = planted_examples(12)
    said, asked = [passage(one, CONTEXT, chat=True) for one in examples], ("was it late", "who spoke first")
    states = model.states(said, (1, 2), 256, "answer", asked)
    odds = model.states(said, (2,), 256, "yes-no", asked)
    yes, no = (ids[0] for ids in model._spellings)
    for at, (one, lie) in enumerate(zip(said, y, strict=True)):
        ends = []
        for number, question in enumerate(asked):
            prompt = model._question(one, question, 256)
            with torch.no_grad():
                out = model.model(torch.tensor([[*prompt, yes if lie else no]]), output_hidden_states=True)
            ends.append([out.hidden_states[layer][0, -1].numpy() for layer in (1, 2)])
            assert np.isclose(odds[at, 0, number], (out.logits[0, -2, yes] - out.logits[0, -2, no]).item(), rtol=1e-2)
        np.testing.assert_allclose(states[at], np.mean(ends, axis=0), rtol=1e-2, atol=1e-2)


def test_a_saved_probe_asks_the_questions_that_it_learned_with(planted: Path, tmp_path: Path) -> None:
    examples, y, groups = planted_examples(60)
    (tmp_path / "own.toml").write_text('questions = ["was it late", "who spoke first"]')
    made = fitted(planted, examples, y, groups, CONTEXT, read="yes-no", questions=str(tmp_path / "own.toml"))
    (tmp_path / "model").mkdir()
    made.save(tmp_path / "model")
    (tmp_path / "own.toml").unlink()
    kept = made.options.model_copy(update={"questions": ""})
    loaded = ProbeDetector.load(tmp_path / "model", CONTEXT, kept)
    assert loaded._states.questions == ("was it late", "who spoke first")
    assert np.allclose(loaded.predict_proba(examples), made.predict_proba(examples), atol=1e-3)
    given = kept.model_copy(update={"model": str(planted)})
    again = ProbeDetector(CONTEXT, given).fit(examples, y, groups)  # as a study does, with what model.json says
    assert again._states.questions == loaded._states.questions
    with pytest.raises(BadData, match="does not say what it asks"):
        ProbeDetector.load(tmp_path / "model", CONTEXT, kept.model_copy(update={"asked": ()}))


def test_answers_that_are_neither_yes_nor_no_are_counted(
    planted: Path, model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    examples, y, groups = planted_examples(60)
    assert not fitted(planted, examples, y, groups, CONTEXT, read="answer", layer=2).notes
    weights = model.model.lm_head.weight.detach().clone()
    weights[[at for at in range(len(weights)) if model._tokenizer.decode([at]) == "yes"]] = 0
    monkeypatch.setattr(model.model.lm_head, "weight", torch.nn.Parameter(weights))
    model.remembered.clear()
    (note,) = fitted(planted, examples, y, groups, CONTEXT, read="answer", layer=2).notes
    assert f"about {int(y.sum())} of 60 statements the model answered neither yes nor no" in note


def test_what_cannot_be_read_is_refused_before_any_state_is(tiny_lm: Path, planted: Path, tmp_path: Path) -> None:
    data = planted_examples(20)
    with pytest.raises(UsageError, match="no chat template; read plain text with --form text"):
        fitted(tiny_lm, *data, CONTEXT, form="chat")
    with pytest.raises(UsageError, match="nothing is asked with --read last"):
        fitted(planted, *data, CONTEXT, read="last", questions="several")
    for text in ("questions = []", "question = 3", "questions = ['']", "a"):
        (tmp_path / "odd.toml").write_text(text)
        with pytest.raises(BadData, match=r"odd\.toml"):
            read_questions(str(tmp_path / "odd.toml"))
    assert len(set(read_questions("several"))) >= 13
    assert read_questions("") == read_questions("several")[:1]
