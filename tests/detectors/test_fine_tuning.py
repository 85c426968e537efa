"""How an encoder is fine-tuned: which epoch is kept, and what changes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from socket import socket
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sklearn.metrics import roc_auc_score
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel, pipeline

from liescope import train
from liescope.common.errors import BadData, MissingExtra, UsageError
from liescope.detectors.detector import silent
from liescope.detectors.detector_registry import load_parts, make
from liescope.detectors.examples import Example, Labelled, labelled, read_statements
from liescope.detectors.fine_tuning.batches import Batches, Tokens
from liescope.detectors.fine_tuning.body import read_body
from liescope.detectors.fine_tuning.loop import FineTuningOptions, best_point, keep, ranking
from liescope.detectors.fine_tuning.loop import _arguments as arguments
from liescope.detectors.folds import held_out_rows
from liescope.detectors.kinds.encoder import EncoderDetector
from liescope.detectors.model_card import model_card
from liescope.detectors.model_file import read_model_file
from liescope.detectors.precision import to_learn_in
from liescope.detectors.saved import load
from liescope.detectors.text_form import TextConfig
from tests.detectors.conftest import TELLS, Corpus

ROOT = Path(__file__).parents[2]
MODELS = ("model-a", "model-b", "model-c", "model-d")


@pytest.fixture(scope="module")
def four(make_corpus: Corpus) -> Path:
    """A corpus in which four models speak."""
    return make_corpus(games=40, models=MODELS)


@pytest.fixture(scope="module")
def data(four: Path) -> Labelled:
    return labelled(read_statements(four, ["train"]), "role", 0)


@pytest.fixture(scope="module")
def unseen(four: Path) -> Labelled:
    return labelled(read_statements(four, ["test", "validation"]), "role", 0)


def speakers(data: Labelled) -> np.ndarray:
    return np.array([example.speaker_model for example in data.examples])


@pytest.fixture(scope="module")
def plain() -> Labelled:
    """Statements of two words, the first of which tells the role."""
    said = [(lie, f"{first} {last}") for lie in TELLS for first in TELLS[lie] for last in ("look", "people")] * 8
    examples = tuple(Example("", f"g{i}", "A", "", text, ()) for i, (_, text) in enumerate(said))
    return Labelled(examples, np.array([lie for lie, _ in said]), np.array([e.game_id for e in examples]), 0)


@pytest.fixture(scope="module")
def fit(data: Labelled, tiny_encoder: Path) -> Any:
    """fit(option=…) trains a tiny encoder for some steps."""

    def fit(data: Labelled = data, **options: Any) -> EncoderDetector:
        given = {"encoder": str(tiny_encoder), "batch_size": 16, "lr": 0.01, "max_steps": 4, "patience": 0, **options}
        return make("encoder", TextConfig(), given).fit(data.examples, data.y, data.groups)

    return fit


def dropped(detector: Any) -> None:
    """Let nothing be dropped while it learns."""
    begin = detector._begin

    def without() -> Any:
        model, new = begin()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        return model, new

    detector._begin = without


def weights(detector: EncoderDetector, folder: Path) -> dict[str, torch.Tensor]:
    folder.mkdir()
    detector.save(folder)
    found: dict[str, torch.Tensor] = load_file(folder / "encoder" / "model.safetensors")
    return found


def test_the_epoch_is_chosen_on_a_model_that_is_never_heard_in_training(data: Labelled) -> None:
    for seed in range(4):
        learn, check = held_out_rows(speakers(data), data.y, data.groups, 0.1, seed)
        heard = {data.examples[i].speaker_model for i in learn}
        (aside,) = {data.examples[i].speaker_model for i in check} - heard
        assert heard == {*MODELS} - {aside}
        assert not {*data.groups[learn]} & {*data.groups[check]}
        whole = np.isin(data.groups, data.groups[check])
        assert whole.sum() == len(check)
        assert all(aside in speakers(data)[data.groups == game] for game in data.groups[check])
        assert data.y[check].any()


def test_the_epoch_is_chosen_on_other_games_where_two_models_speak(corpus: Path) -> None:
    two = labelled(read_statements(corpus, ["train"]), "role", 0)
    learn, check = held_out_rows(speakers(two), two.y, two.groups, 0.1, 0)
    assert sorted([*learn, *check]) == list(range(len(two.y)))
    assert not {*two.groups[learn]} & {*two.groups[check]}
    assert len(held_out_rows(speakers(two), two.y, two.groups, 0.0, 0)[1]) == 0


@pytest.mark.long
def test_words_that_only_the_model_kept_aside_says_are_learned(data: Labelled, fit: Any) -> None:
    learn, check = held_out_rows(speakers(data), data.y, data.groups, 0.1, 0)
    (aside,) = {*speakers(data)[check]} - {*speakers(data)[learn]}

    def said(example: Example, lie: bool) -> Example:
        text = re.sub("trust|certain", "talk", example.text)
        own = "trust trust" if lie else "certain certain"
        return replace(example, text=f"{own} {text}" if example.speaker_model == aside else text)

    examples = tuple(said(example, bool(lie)) for example, lie in zip(data.examples, data.y, strict=True))
    detector = fit(replace(data, examples=examples), max_steps=0, epochs=20.0)
    plain = [replace(examples[0], text=f"{words} look at this") for words in ("trust trust", "certain certain")]
    lie, honest = detector.predict_proba(plain)[:, 1]
    assert lie > honest + 0.3
    assert detector.chosen.models == (aside,)
    assert detector.chosen.statements == len(check)
    assert 0 < detector.chosen.steps <= detector.chosen.planned


@pytest.mark.long
def test_all_is_learned_from_for_as_many_passes_as_rank_the_games_kept_aside_best(data: Labelled, fit: Any) -> None:
    found = {}
    a_pass = -(-len(data.y) // 16)
    for patience in (0, 1):
        detector = fit(max_steps=0, epochs=6.0, patience=patience, lr=0.1)
        checks = [point for point in detector.losses if "held_out" in point]
        best = min(checks, key=lambda point: (-point["auroc"], point["held_out"]))
        assert best["step"] < best["epoch"] * a_pass
        assert detector.chosen.steps == round(best["epoch"] * a_pass)
        assert detector.chosen.planned == 6 * a_pass
        refit = [point for point in detector.losses if "refit" in point]
        assert (refit[-1]["step"], refit[-1]["epoch"]) == (detector.chosen.steps, best["epoch"])
        found[patience] = checks
    first_worse = next(at for at in range(1, 6) if found[0][at]["auroc"] <= max(
        point["auroc"] for point in found[0][:at]))  # fmt: skip
    assert found[1] == found[0][: first_worse + 1]


class Outputs:
    """What a Trainer measures: logits of honest and deceptive."""

    def __init__(self, score: Any) -> None:
        self.predictions = np.column_stack([np.zeros(len(score)), score])


def test_a_ranking_is_the_mean_over_games_or_where_few_have_both_classes_over_all_statements() -> None:
    games = np.repeat([f"g{n}" for n in range(6)], 4)
    y = np.tile([True, False, False, False], 6)
    # within each game the lie is on top, and games differ by more than that
    score = y + 10.0 * np.repeat(np.arange(6), 4)
    found, measure = Outputs(score), ranking(y, games)
    assert measure
    assert measure(found) == {"auroc": 1.0}
    score[4] = -1.0  # below its own game only
    assert measure(Outputs(score)) == {"auroc": pytest.approx(5 / 6)}
    few = ranking(y[:16], games[:16])
    assert few
    assert few(Outputs(score[:16])) == {"auroc": pytest.approx(roc_auc_score(y[:16], score[:16]))}
    assert ranking(y[y], games[y]) is None


@pytest.mark.long
def test_of_one_pass_or_with_nothing_kept_aside_there_is_no_number_of_steps_to_choose(data: Labelled, fit: Any) -> None:
    assert fit(max_steps=2, epochs=2.0, held_out=0.0).chosen is None
    detector = fit(max_steps=0, epochs=1.0, held_out=0.1)
    assert detector.chosen is None
    assert max(point["step"] for point in detector.losses) == -(-len(data.y) // detector.options.batch_size)


def test_the_first_of_the_best_points_is_chosen() -> None:
    history = [{"step": 1, "eval_loss": 1.0}, {"step": 2, "eval_loss": 0.5}, {"step": 3, "loss": 0.1}]
    assert best_point([*history, {"step": 4, "eval_loss": 0.5}])["step"] == 2
    ranked = [{"step": n, "eval_loss": 1 / n, "eval_auroc": 0.9 if n == 3 else 0.6} for n in range(1, 5)]
    assert best_point(ranked)["step"] == 3


def test_a_loss_that_is_no_number_ends_the_training(fit: Any) -> None:
    with pytest.raises(UsageError, match="diverged"):
        fit(lr=1e30, max_steps=8)


class Killed(Exception):
    """The process is gone."""


@pytest.mark.long
@pytest.mark.parametrize("dies_at", [5, 17])
def test_a_training_that_was_killed_goes_on_from_its_last_checkpoint(
    dies_at: int, data: Labelled, tiny_encoder: Path, tmp_path: Path
) -> None:
    """Once while the number of steps is chosen, once afterwards."""
    given = {"encoder": str(tiny_encoder), "batch_size": 16, "lr": 0.01, "max_steps": 12, "epochs": 2.0}
    given |= {"deterministic": True, "checkpoints": str(tmp_path / "kept")}
    seen: list[int] = []

    def dies(_what: str, done: int, _total: int) -> None:
        seen.append(done)
        if len(seen) == dies_at:
            raise Killed

    def fresh() -> Any:
        return make("encoder", TextConfig(), given)

    with pytest.raises(Killed):
        fresh().fit(data.examples, data.y, data.groups, dies)
    before, steps = len(seen), list[int]()
    again = fresh().fit(data.examples, data.y, data.groups, lambda _, done, __: steps.append(done))
    assert steps[0] > 1
    given["checkpoints"] = ""
    whole = fresh().fit(data.examples, data.y, data.groups)
    assert len(steps) + before < 12 + whole.chosen.steps + 3
    assert again.chosen == whole.chosen
    one, other = weights(again, tmp_path / "a"), weights(whole, tmp_path / "b")
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_settings_of_the_training_reach_the_trainer(tmp_path: Path) -> None:
    options = {"scheduler": "cosine", "warmup": 7, "weight_decay": 0.2, "accumulate": 4}
    made = arguments(tmp_path / "kept", FineTuningOptions(**options), "fp32", "auroc", 0)
    assert (made.lr_scheduler_type, made.warmup_steps, made.weight_decay) == ("cosine", 7, 0.2)
    assert made.gradient_accumulation_steps == 4
    assert made.output_dir == str(tmp_path / "kept")


@pytest.mark.parametrize(("option", "value"), [("scheduler", "soft"), ("attention", "sideways")])
def test_a_setting_that_transformers_does_not_know_is_one_line(option: str, value: str, fit: Any) -> None:
    with pytest.raises((UsageError, BadData), match=value):
        fit(**{option: value})


@pytest.mark.long
def test_what_was_kept_aside_stands_in_the_model(four: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    options = {"encoder": str(tiny_encoder), "batch_size": 32, "epochs": 2.0}
    made = train("encoder", four, out=tmp_path / "m", folds=0, **options)
    chosen = made.file.training.chosen
    assert len(chosen.models) == 1
    assert set(made.file.training.models) == set(MODELS)
    assert chosen.words() in made.notes
    assert f"It learned for {chosen.steps} steps." in (tmp_path / "m" / "README.md").read_text(encoding="utf-8")
    assert read_model_file(tmp_path / "m").training.chosen == chosen


@pytest.mark.long
def test_deterministic_training_gives_the_same_weights_bit_for_bit(fit: Any, tmp_path: Path) -> None:
    first, again, other = (
        weights(fit(deterministic=True, seed=seed), tmp_path / name) for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.long
def test_recomputing_activations_changes_nothing_that_is_learned(fit: Any, tmp_path: Path) -> None:
    plain, recomputed = weights(fit(), tmp_path / "a"), weights(fit(checkpointing=True), tmp_path / "b")
    assert all(torch.allclose(plain[name], recomputed[name], atol=1e-6) for name in plain)


@pytest.mark.long
def test_lora_saves_updates_and_head_and_is_loaded_beside_the_encoder_it_learned_on(
    fit: Any, data: Labelled, tiny_encoder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("peft")
    detector = fit(lora=4, max_steps=8)
    folder = tmp_path / "m"
    folder.mkdir()
    detector.save(folder)
    base = load_file(tiny_encoder / "model.safetensors")
    updates = load_file(folder / "adapter/adapter_model.safetensors")
    kept = load_file(folder / "encoder/model.safetensors")
    assert all(torch.equal(kept[name], base[name]) for name in base)
    assert {name.rpartition(".")[0].rpartition(".")[2] for name in updates} == {"lora_A", "lora_B", "classifier"}
    assert all(4 in one.shape for name, one in updates.items() if "lora" in name)
    again = load_parts("encoder", folder, TextConfig(), detector.options.model_dump())
    assert np.allclose(again.predict_proba(data.examples), detector.predict_proba(data.examples), rtol=0, atol=1e-6)
    assert tmp_path.as_posix() not in "".join(path.read_text() for path in folder.rglob("*.json"))

    # another version under the same name
    kept = {key: one + torch.randn_like(one) * one.std() if "word_emb" in key else one for key, one in kept.items()}
    save_file(kept, folder / "encoder/model.safetensors", {"format": "pt"})
    with pytest.raises(BadData, match="is not the one that"):
        load_parts("encoder", folder, TextConfig(), detector.options.model_dump())


@pytest.mark.long
def test_a_model_with_lora_is_trained_loaded_and_scores_and_its_card_says_what_it_takes(
    four: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("peft")
    made = train("encoder", four, out=tmp_path / "m", folds=0, encoder=str(tiny_encoder), lora=2, max_steps=2)
    assert {"adapter/adapter_model.safetensors", "adapter/probe.npy"} <= {*made.file.files}
    assert made.file.options["precision"] == "fp32"
    assert load(tmp_path / "m").score(["who is lying today"])["score"].is_between(0, 1).all()
    assert "low-rank updates" in model_card("m", made.file, repo="someone/m")
    (tmp_path / "m" / "adapter" / "adapter_model.safetensors").unlink()
    with pytest.raises(BadData):
        load(tmp_path / "m")


@pytest.mark.long
def test_lora_on_an_encoder_of_the_hub_keeps_its_name_and_not_its_weights(
    fit: Any, data: Labelled, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("peft")
    monkeypatch.setattr("liescope.common.sentence_encoder.encoder_folder", lambda _: tiny_encoder)
    detector = fit(lora=4, encoder="someone/tiny")
    detector.save(tmp_path)
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {
        "adapter_config.json", "adapter_model.safetensors", "probe.npy", "losses.json"}  # fmt: skip
    settings = json.loads((tmp_path / "adapter/adapter_config.json").read_text())
    assert settings["base_model_name_or_path"] == "someone/tiny"
    again = load_parts("encoder", tmp_path, TextConfig(), detector.options.model_dump())
    assert np.allclose(again.predict_proba(data.examples), detector.predict_proba(data.examples), rtol=0, atol=1e-6)


@pytest.mark.long
def test_a_decoder_without_a_padding_token_is_tuned_and_read_in_batches_by_transformers(
    data: Labelled, tiny_lm: Path, tmp_path: Path
) -> None:
    options = {"encoder": str(tiny_lm), "batch_size": 16, "lr": 0.01, "max_steps": 2, "patience": 0}
    detector = make("encoder", TextConfig(), options).fit(data.examples, data.y, data.groups)
    weights(detector, tmp_path / "m")
    classify = pipeline("text-classification", str(tmp_path / "m" / "encoder"), top_k=None, device="cpu")
    texts = ["speaker", "speaker : yes no . yes no", "no"]
    alone, together = ([classify(text)[0] for text in texts], classify(texts, batch_size=3))
    for one, many in zip(alone, together, strict=True):
        first, second = ({label["label"]: label["score"] for label in found} for found in (one, many))
        assert first == pytest.approx(second, abs=1e-5)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_decoder_scores_a_text_alike_alone_and_padded_whatever_side_its_tokenizer_pads(
    kind: str, data: Labelled, tiny_lm: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_lm, tmp_path / "lm")
    if kind == "gpt2":  # whose places are absolute
        shape = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "initializer_range": 0.3}
        words = json.loads((tiny_lm / "tokenizer.json").read_text())["model"]["vocab"]
        GPT2LMHeadModel(GPT2Config(vocab_size=len(words), bos_token_id=1, eos_token_id=2, **shape)).save_pretrained(
            tmp_path / "lm"
        )
    settings = tmp_path / "lm" / "tokenizer_config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "padding_side": "left"}))
    options = {"encoder": str(tmp_path / "lm"), "batch_size": 16, "max_steps": 2, "held_out": 0.0}
    detector = make("encoder", TextConfig(), options).fit(data.examples, data.y, data.groups)
    texts = ["yes", "look at this", "who is lying today and how people voted before deciding"]
    tokens = detector._rows(texts)
    together = detector._model(**tokens.batch([0, 1, 2])).logits
    alone = torch.cat([detector._model(**tokens.batch([row])).logits for row in range(3)])
    assert torch.allclose(together, alone, atol=1e-5)
    # the last word decides, not the padding after it
    last = texts[0].replace("yes", "no")
    assert not torch.allclose(detector._model(**detector._rows([last]).batch([0])).logits, alone[:1], atol=1e-3)
    (tmp_path / "m").mkdir()
    detector.save(tmp_path / "m")
    again = load_parts("encoder", tmp_path / "m", TextConfig(), detector.options.model_dump())
    said = [replace(data.examples[0], text=text) for text in texts]
    assert np.allclose(again.predict_proba(said), detector.predict_proba(said), rtol=0, atol=1e-6)


def lengths_that_tell(lies: float) -> tuple[np.ndarray, np.ndarray]:
    """2,000 texts of 5 to 60 tokens, of which those that lie are 40 longer."""
    draw = np.random.default_rng(0)
    y = draw.random(2000) < lies
    return draw.integers(5, 60, 2000) + 40 * y, y


@pytest.mark.parametrize("lies", [0.5, 0.2])
def test_where_length_tells_the_label_every_batch_has_both_in_their_share(lies: float) -> None:
    lengths, y = lengths_that_tell(lies)
    batches = Batches(lengths, y, 32, 0)
    for batch in batches.every():
        assert abs(y[batch].sum() - y.mean() * len(batch)) <= 2
    assert len(batches) == -(-2000 // 32)
    padded = np.array([lengths[batch].max() * len(batch) for batch in batches.every()])
    assert padded.max() < 1.3 * padded.mean()


def test_batches_waste_little_padding_and_are_as_large_as_their_texts_are_short() -> None:
    draw = np.random.default_rng(1)
    lengths, y = np.clip(draw.lognormal(3, 0.7, 4000).astype(int) + 3, 3, 200), draw.random(4000) < 0.3
    cut = Batches(lengths, y, 32, 0).every()
    padded = np.array([lengths[batch].max() * len(batch) for batch in cut])
    assert lengths.sum() / padded.sum() > 0.85
    assert padded.std() / padded.mean() < 0.3
    order = [lengths[batch].max() for batch in cut]
    assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 0.25
    few = Batches(lengths, y, 128, 0).every()
    assert len(few) == 32
    assert lengths.sum() / sum(lengths[batch].max() * len(batch) for batch in few) > 0.85
    asked = Batches(lengths, y, 32, 0, tokens=8192)
    assert 6000 < max(lengths[batch].max() * len(batch) for batch in asked.every()) <= 8192


def test_each_pass_has_every_text_once_in_other_batches_and_a_seed_gives_the_same_ones() -> None:
    lengths, y = lengths_that_tell(0.3)
    one, same, other = (Batches(lengths, y, 32, seed) for seed in (0, 0, 1))
    passes = []
    for number in range(2):
        one.set_epoch(number)
        same.set_epoch(number)
        passes.append(list(one))
        assert passes[-1] == list(same)
        assert sorted(row for batch in one for row in batch) == list(range(2000))
    assert len({frozenset(batch) for batch in passes[0]} & {frozenset(batch) for batch in passes[1]}) == 0
    assert list(other) != passes[0]


def test_of_several_processes_each_has_its_share_of_the_batches_and_as_many_as_any_other() -> None:
    lengths, y = lengths_that_tell(0.3)
    parts = [Batches(lengths, y, 30, 0, rank=rank, of=4) for rank in range(4)]
    assert {len(list(part)) for part in parts} == {len(parts[0])} == {-(-67 // 4)}
    assert {row for part in parts for batch in part for row in batch} == {*range(2000)}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_even_few_texts_or_one_class_make_batches(count: int) -> None:
    for label in (True, False):
        found = Batches(np.arange(1, count + 2), np.full(count + 1, label), 2, 0)
        assert sorted(row for batch in found for row in batch) == list(range(count + 1))


def test_tokens_are_the_same_however_many_are_read_at_once(tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = AutoTokenizer.from_pretrained(str(tiny_encoder))
    texts = ["who is lying", "look", "", "people voted before deciding"] * 50
    kept = Tokens.of(tokenizer, texts)
    monkeypatch.setattr("liescope.detectors.fine_tuning.batches._AT_ONCE", 7)
    mapped = Tokens.of(tokenizer, iter(texts), 8)
    assert isinstance(mapped.ids, np.memmap)
    assert np.array_equal(kept.ids, mapped.ids)
    assert np.array_equal(kept.ends, mapped.ends)
    plain = tokenizer([texts[at] for at in (3, 0, 2)], padding=True, return_tensors="pt")
    found = kept.batch([3, 0, 2])
    assert all(torch.equal(found[name], plain[name]) for name in found)
    assert mapped.batch([3, 0, 2])["input_ids"].shape == (3, 8)
    assert len(Tokens.of(tokenizer, [])) == 0


def test_a_statement_weighs_the_same_in_a_small_batch_as_in_a_large_one(
    plain: Labelled, tiny_encoder: Path, tmp_path: Path
) -> None:
    """One step over all, and one over batches of other sizes whose gradients are added up."""
    texts = [f"{one.text} look" * (1 + 9 * (at % 4 == 0)) for at, one in enumerate(plain.examples)]
    long = tuple(replace(one, text=text) for one, text in zip(plain.examples, texts, strict=True))
    found = {}
    for size, accumulate in ((128, 1), (4, 32)):
        options = {"encoder": str(tiny_encoder), "batch_size": size, "accumulate": accumulate, "max_steps": 1}
        detector = make("encoder", TextConfig(), {**options, "held_out": 0.0, "scheduler": "constant", "lr": 1e-3})
        dropped(detector)
        detector.fit(long, plain.y, plain.groups)
        found[size] = weights(detector, tmp_path / str(size))
        found[size, "loss"] = detector.losses[0]["training"]
    assert len(plain.y) == 128
    assert all(torch.allclose(one, found[4][name], atol=2e-5) for name, one in found[128].items())
    assert found[128, "loss"] == pytest.approx(found[4, "loss"], abs=1e-5)


def test_the_model_that_chose_is_gone_before_the_one_that_is_kept_is_read(
    data: Labelled, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def watched(*given: Any) -> Any:
        assert not [one for one in seen if one() is not None]
        found = read_body(*given)
        seen.append(weakref.ref(found[1]))
        return found

    monkeypatch.setattr("liescope.detectors.fine_tuning.body.read_body", watched)
    options = {"encoder": str(tiny_encoder), "batch_size": 32, "max_steps": 2}
    detector = make("encoder", TextConfig(), options).fit(data.examples, data.y, data.groups)
    assert detector.chosen
    assert len(seen) == 2


def test_several_gpus_without_torchrun_are_refused_with_the_command(
    data: Labelled, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    made = make("encoder", TextConfig(), {"encoder": str(tiny_encoder)})
    for begin in (made.prepare, lambda: made.fit(data.examples, data.y, data.groups)):
        with pytest.raises(UsageError, match="torchrun --nproc-per-node 4 -m liescope train"):
            begin()
    monkeypatch.setenv("RANK", "1")
    made.prepare()


def test_only_the_first_process_writes_what_was_chosen_and_the_weights(
    fit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    detector = fit()
    monkeypatch.setenv("RANK", "1")
    keep(tmp_path / "chosen.json", ([], 1, 2))
    detector.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"losses.json"}
    monkeypatch.setenv("RANK", "0")
    keep(tmp_path / "chosen.json", ([], 1, 2))
    assert json.loads((tmp_path / "chosen.json").read_text("utf-8")) == [[], 1, 2]


def test_of_several_processes_each_scores_its_share_and_the_sum_is_the_whole(
    fit: Any, data: Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    detector = fit()
    rows = detector._rows([one.text for one in data.examples])
    whole, read = detector._logits(rows, silent), []
    monkeypatch.setattr("liescope.detectors.kinds.encoder._BATCH_TOKENS", {"cpu": 64})
    monkeypatch.setattr(Tokens, "batch", lambda self, part, of=Tokens.batch: read.append([*part]) or of(self, part))
    shares = []
    for rank in range(3):
        monkeypatch.setattr("liescope.detectors.fine_tuning.processes.place", lambda rank=rank: (rank, 3))
        shares.append(detector._logits(rows, silent))
    assert np.allclose(sum(shares), whole, atol=1e-5)
    assert sorted(row for part in read for row in part) == list(range(len(rows)))
    assert all(0.1 < (share != 0).mean() < 0.6 for share in shares)


def test_weights_in_few_bits_need_lora_a_gpu_and_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for options, says in (({"quantize": 4}, "add --lora"), ({"quantize": 8, "lora": 8}, "need a GPU")):
        with pytest.raises(UsageError, match=says):
            make("encoder", TextConfig(), options).prepare()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    with pytest.raises(UsageError, match="pip install bitsandbytes"):
        make("encoder", TextConfig(), {"quantize": 8, "lora": 8}).prepare()


def test_bf16_is_for_cards_that_have_it_in_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, bool]] = []
    for has, best in ((True, "bf16"), (False, "fp16")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda has=has, **how: asked.append(how) or has)
        assert to_learn_in("", torch.device("cuda")) == best
    assert asked == [{"including_emulation": False}] * 2
    assert to_learn_in("", torch.device("cpu")) == "fp32"
    with pytest.raises(UsageError, match="does not compute in bf16"):
        to_learn_in("bf16", torch.device("cuda"))


@pytest.mark.long
def test_scores_in_another_precision_than_the_thresholds_say_so_once(
    fit: Any, data: Labelled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as as_on_a_card:
        as_on_a_card.setattr("liescope.detectors.precision.native", lambda _: ("bf16", "fp32"))
        detector = fit(lora=2)
        assert detector.options.precision == "bf16"
        inside = detector._model.get_base_model().bert
        assert inside.embeddings.word_embeddings.weight.dtype is torch.bfloat16
        assert {one.dtype for one in detector._model.parameters() if one.requires_grad} <= {torch.float32}
        there = detector.predict_proba(data.examples)
        assert not [note for note in detector.notes if "threshold" in note]
        detector.save(tmp_path)
    again = load_parts("encoder", tmp_path, TextConfig(), detector.options.model_dump())
    here = again.predict_proba(data.examples)
    again.predict_proba(data.examples)
    assert [note for note in again.notes if "threshold" in note] == [*again.notes]
    assert len(again.notes) == 1
    assert 0 < np.abs(here - there).max() < 0.02
    detector.predict_proba(data.examples)  # moved from the card to this CPU
    assert [note for note in detector.notes if "bf16" in note]
    made_here = fit()
    made_here.predict_proba(data.examples)
    assert not [note for note in made_here.notes if "threshold" in note]


def test_lora_without_its_package_names_the_extra(fit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(MissingExtra, match=r"peft.*\[lora\]"):
        fit(lora=4)


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"lora": 8, "lr": 1e-3}])
def test_the_bundled_encoder_learns_with_all_its_weights_and_with_lora(
    options: dict[str, Any], fit: Any, plain: Labelled, tmp_path: Path
) -> None:
    examples = plain.examples
    detector = fit(plain, **{"encoder": "", "max_steps": 30, "lr": 3e-4, "held_out": 0.0, **options})
    assert roc_auc_score(plain.y, detector.predict_proba(examples)[:, 1]) > 0.9
    detector.save(tmp_path)
    again = load_parts("encoder", tmp_path, TextConfig(), detector.options.model_dump())
    assert np.allclose(again.predict_proba(examples), detector.predict_proba(examples), rtol=0, atol=1e-6)


@pytest.mark.long
@pytest.mark.slow
def test_two_processes_train_one_model_and_the_first_one_saves_it(
    four: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    """As `torch.distributed.run` starts them, which itself takes seconds to load."""
    options = ["--encoder", str(tiny_encoder), "--folds", "2", "--epochs", "2", "--batch-size", "16", "--json"]
    options += ["--checkpoints", str(tmp_path / "kept")]
    out = tmp_path / "models" / "m"
    command = [sys.executable, "-m", "liescope", "train", "encoder", "--corpus", str(four), *options, "--out", str(out)]
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        both = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1]), "CUDA_VISIBLE_DEVICES": ""}
    both |= {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    processes = [
        subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | both | {"RANK": rank, "LOCAL_RANK": rank},
        )
        for rank in ("0", "1")
    ]
    (said, complained), (said_by_the_other, _) = (process.communicate(timeout=240) for process in processes)
    assert [process.returncode for process in processes] == [0, 0], complained
    assert said_by_the_other == ""
    assert json.loads(said)["model"] == str(out)
    assert [path.name for path in out.parent.iterdir()] == ["m"]
    chosen = read_model_file(out).training.chosen
    assert chosen
    assert json.loads((out / "losses.json").read_text())[-1]["step"] == chosen.steps
    learned = labelled(read_statements(four, ["train"]), "role", 0)
    assert chosen.planned == 2 * -(-len(learned.y) // 32)
    trainings = [*(tmp_path / "kept").iterdir()]
    assert len(trainings) == 3
    assert all({"chosen.json", "learning"} <= {path.name for path in one.iterdir()} for one in trainings)
    assert not [*(tmp_path / "kept").rglob("*.partial")]
    made = load(out)  # what both scored, one scores too
    others = labelled(read_statements(four, ["validation"]), "role", 0).examples
    kept = dict(made.scores.select("statement_id", "score").iter_rows())
    both_scored = [kept[one.statement_id] for one in others]
    assert made.probabilities(others) == pytest.approx(both_scored, abs=1e-5)
