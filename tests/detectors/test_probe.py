"""A language model's hidden states: which tokens they are of, how many passes they take, and which layer is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from liescope import load
from liescope.cli import main
from liescope.common.errors import BadData, UsageError
from liescope.detectors.examples import Example, labelled, read_statements
from liescope.detectors.kinds.probe import ProbeDetector, ProbeOptions, passage
from liescope.detectors.probing.language_model import TOKENS, Activations, LanguageModel, Passage, language_model
from liescope.detectors.text_form import TextConfig

LAYERS = (1, 2, 3, 4)
SAID = Passage("speaker: we should talk\nplayer1: about this\n", "speaker: look at how people voted")


@pytest.fixture
def model(tiny_lm: Path) -> Iterator[LanguageModel]:
    """The tiny model, with nothing remembered."""
    found = language_model(str(tiny_lm))
    found.remembered.clear()
    yield found
    found.remembered.clear()


@contextmanager
def passes(model: LanguageModel) -> Iterator[list[int]]:
    """The number of texts in each pass through the model's body."""
    made: list[int] = []
    hook = model.model.base_model.register_forward_pre_hook(
        lambda _module, _args, given: made.append(len(given["input_ids"])), with_kwargs=True
    )
    yield made
    hook.remove()


def alike(one: Any, other: Any) -> bool:
    """Whether states are the same up to rounding: what is computed beside other texts may be summed in another order,
    and a float16 has eleven bits.
    """
    return np.allclose(one, other, rtol=2e-3, atol=2e-3)


def ids(model: LanguageModel, text: str) -> list[int]:
    found: list[int] = model._tokenizer(text, add_special_tokens=False)["input_ids"]
    return found


def test_a_state_is_the_mean_over_the_statements_own_tokens_after_what_came_before(model: LanguageModel) -> None:
    before, own = ids(model, SAID.before), ids(model, SAID.own)
    with torch.no_grad():
        hidden = model.model(
            input_ids=torch.tensor([[model._tokenizer.bos_token_id, *before, *own]]), output_hidden_states=True
        ).hidden_states
    expected = np.stack([hidden[layer][0, -len(own) :].mean(0).numpy() for layer in LAYERS])
    (found,) = model.states([SAID], LAYERS, 64)
    assert alike(found, expected)
    (alone,) = model.states([Passage("", SAID.own)], LAYERS, 64)
    assert not np.allclose(found, alone, atol=0.05)


def test_all_layers_come_out_of_one_pass_and_other_texts_beside_it_change_nothing(model: LanguageModel) -> None:
    others = [SAID, Passage("", "trust"), Passage("we " * 20, "voted before deciding who is lying")]
    with passes(model) as made:
        together = model.states(others, LAYERS, 64)
    assert made == [3]
    assert together.shape == (3, 4, 64)
    for one, found in zip(others, together, strict=True):
        assert alike(model.states([one], LAYERS, 64)[0], found)


@pytest.mark.parametrize(("layer", "run"), [(1, 2), (2, 3), (3, 4), (4, 4)])
def test_only_the_layers_up_to_the_one_that_is_read_run_and_one_more_and_its_states_stay_the_same(
    model: LanguageModel, layer: int, run: int
) -> None:
    whole, made = model.states([SAID], LAYERS, 64), []
    blocks = model.model.base_model.layers
    hooks = [one.register_forward_hook(lambda *_: made.append(1)) for one in blocks]
    for _ in range(2):
        assert alike(model.states([SAID], (layer,), 64)[:, 0], whole[:, layer - 1])
    for hook in hooks:
        hook.remove()
    assert len(made) == 2 * run
    assert alike(model.states([SAID], LAYERS, 64), whole)


@pytest.mark.parametrize("words", [1, 11, 12, 40, 500])
def test_no_token_of_a_statement_is_ever_cut(model: LanguageModel, words: int) -> None:
    """With 12 tokens to a pass, one of them the beginning, a change of any word of a statement changes its state."""
    own = ["calm"] * words
    states = model.states([Passage("we should talk " * 9, " ".join(own))], LAYERS, 12)
    for at in {0, words // 2, words - 1}:
        changed = Passage("we should talk " * 9, " ".join([*own[:at], "evidence", *own[at + 1 :]]))
        assert not alike(model.states([changed], LAYERS, 12), states)


def test_tokens_that_are_read_each_are_those_of_the_first_pass_and_none_stands_for_another(
    model: LanguageModel,
) -> None:
    words = ["calm"] * 40
    texts = [Passage("", " ".join(one)) for one in (words, [*words[:-1], "evidence"], ["evidence", *words[1:]])]
    first, other_end, other_begin = model.states(texts, LAYERS, 12, "each")
    assert first.shape == (4, TOKENS, 64)
    assert (~np.isnan(first[0]).any(axis=1)).tolist() == [True] * 11 + [False] * (TOKENS - 11)
    assert np.allclose(first, other_end, atol=2e-3, equal_nan=True)
    assert not np.allclose(first, other_begin, atol=2e-3, equal_nan=True)
    (mean,) = model.states([Passage("", " ".join(words[:11]))], LAYERS, 12)
    assert np.allclose(np.nanmean(first.astype(np.float32), axis=1), mean, rtol=5e-3, atol=5e-3)


def test_what_came_before_is_cut_from_its_beginning(model: LanguageModel) -> None:
    def state(before: str) -> Any:
        return model.states([Passage(before, "who is lying today")], LAYERS, 10)

    assert alike(state("calm trust we should talk about this"), state("evidence we should talk about this"))
    assert not alike(state("we should talk about this"), state("we should talk about evidence"))


def test_the_statement_is_the_last_line_of_its_text() -> None:
    said = Example("s", "g", "Bob", "m", "I trust\nAnna.", ("Anna", "Bob"), (("Anna", "Bob lies."),))
    assert passage(said, TextConfig(context=1)) == ("player1: speaker lies.\n", "speaker: I trust player1.")
    assert passage(said, TextConfig()) == ("", "I trust player1.")


def test_states_are_computed_once_for_the_layers_and_the_length_of_a_pass(model: LanguageModel) -> None:
    texts = [SAID, Passage("", "trust"), SAID]
    model.remembered.clear()

    def read(layers: tuple[int, ...] = LAYERS, longest: int = 64) -> tuple[Any, int]:
        with passes(model) as made:
            return Activations(model, layers, longest).of(texts), sum(made)

    (first, computed), (again, then) = read(), read()
    assert (computed, then, first.dtype) == (2, 0, np.float16)
    assert np.array_equal(first, again)
    assert read((1, 2))[1] == read(longest=32)[1] == 2


def trained(folder: Path, change: Callable[[Any], Any]) -> None:
    """The model in a folder with other weights."""
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    for one in weights.values():
        change(one)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def spy(monkeypatch: pytest.MonkeyPatch, states: Callable[[list[str]], Any]) -> None:
    """Hidden states that are made up of the statements' texts."""

    def of(self: Activations, passages: list[Passage], *_more: Any, **_named: Any) -> Any:
        return states([one.own for one in passages]).astype(np.float16)

    monkeypatch.setattr(Activations, "of", of)


def test_the_layer_is_chosen_on_models_that_the_regression_has_not_learned_from(
    tiny_lm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One layer gives lies away by a habit of each model, perfectly; another by a weak one that all share. The first
    wins on the training rows and on held-out games, the second on models that were never heard.
    """
    draw, n = np.random.default_rng(0), 600
    lie = draw.random(n) < 0.5
    speaker = np.repeat(np.arange(6), n // 6)
    shared = lie + draw.normal(0, 1.0, n)
    own = np.zeros((n, 6))
    own[np.arange(n), speaker] = np.where(lie, 4, -4) * draw.choice([-1, 1], 6)[speaker]
    states = np.zeros((n, 2, 16))
    states[:, 1, :6], states[:, 0, 0] = own, shared
    spy(monkeypatch, lambda texts: states[[int(text) for text in texts]])

    def chosen(models: list[str]) -> tuple[int, str]:
        examples = [Example(str(i), str(i // 4), "speaker", models[i], str(i), ()) for i in range(n)]
        games = np.array([example.game_id for example in examples])
        options = ProbeOptions(model=str(tiny_lm), layers=2, strength=1.0)
        fitted = ProbeDetector(TextConfig(), options).fit(examples, lie, games)
        return fitted.options.layer, fitted.notes[0].partition(" is the best on ")[2]

    weak, habits = 1, 4  # the first layer and the last
    assert chosen([f"model-{i}" for i in speaker]) == (weak, "speaking models that were held out")
    assert chosen([f"model-{i % 2}" for i in range(n)]) == (habits, "games that were held out")


def test_a_planted_difference_in_words_is_found_in_unseen_games_by_the_saved_model(
    make_corpus: Any, tiny_lm: Path, tmp_path: Path
) -> None:
    corpus = make_corpus(games=120, tell=1.0, models=tuple("abcdef"))
    command = ["train", "probe", "--corpus", str(corpus), "--model", str(tiny_lm)]
    command += ["--strength", "1", "--folds", "0"]
    assert main([*command, "--out", str(tmp_path / "probe")]) == 0
    loaded = load(tmp_path / "probe")
    assert loaded.file.options["model"] == "local"
    assert loaded.file.options["layer"] == 1  # random layers can only lose what the words are
    others = labelled(read_statements(corpus, ["test", "validation"]), "role", 0)
    found = loaded.detector.predict_proba(others.examples)[:, 1]
    assert roc_auc_score(others.y, found) > 0.85


def test_another_model_of_the_same_name_is_refused(corpus: Path, tiny_lm: Path, tmp_path: Path) -> None:
    data = labelled(read_statements(corpus, ["validation"]), "role", 0)
    detector = ProbeDetector(TextConfig(), ProbeOptions(model=str(tiny_lm), layer=2))
    detector.fit(data.examples, data.y, data.groups).save(tmp_path)
    assert detector.options.layer == 2
    ProbeDetector.load(tmp_path, TextConfig(), detector.options)
    trained(tmp_path / "encoder", lambda weights: weights.copy_(weights.flip(0)))
    with pytest.raises(BadData, match="is not the one that"):
        ProbeDetector.load(tmp_path, TextConfig(), detector.options)


def test_what_cannot_be_a_probe_is_refused(tiny_lm: Path, corpus: Path, tmp_path: Path) -> None:
    data = labelled(read_statements(corpus, ["validation"]), "role", 0)

    def fit(**options: Any) -> ProbeDetector:
        return ProbeDetector(TextConfig(), ProbeOptions(**options)).fit(data.examples, data.y, data.groups)

    with pytest.raises(UsageError, match="--model"):
        fit()
    with pytest.raises(UsageError, match="no such folder, and no Hub id"):
        fit(model="no/such/folder")
    with pytest.raises(UsageError, match="has 4 layers"):
        fit(model=str(tiny_lm), layer=5)
    fitted = fit(model=str(tiny_lm), layer=1)
    fitted.save(tmp_path)
    for odd in ({"layer": 0}, {"layer": 9}, {"model": str(tiny_lm)}, {"model": ""}):
        with pytest.raises(BadData, match=str(tmp_path)):
            ProbeDetector.load(tmp_path, TextConfig(), fitted.options.model_copy(update=odd))
    (tmp_path / "encoder" / "tokenizer_config.json").write_text('{"auto_map": {"AutoTokenizer": "x.Y"}}')
    with pytest.raises(BadData, match="asks for code"):
        ProbeDetector.load(tmp_path, TextConfig(), fitted.options)
