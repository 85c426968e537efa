"""How an encoder is fine-tuned: which epoch is kept, and what changes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from socket import socket
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score
from transformers import pipeline

from liescope.common.errors import BadData, MissingExtra, UsageError
from liescope.detectors import train
from liescope.detectors.detector import silent
from liescope.detectors.detector_registry import load_parts, make
from liescope.detectors.examples import Example, Labelled, labelled, read_statements
from liescope.detectors.fine_tuning.loop import FineTuningOptions, best_step, following
from liescope.detectors.fine_tuning.loop import _arguments as arguments
from liescope.detectors.folds import held_out_rows
from liescope.detectors.kinds.encoder import EncoderDetector
from liescope.detectors.model_file import read_model_file
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


def weights(detector: EncoderDetector, folder: Path) -> dict[str, torch.Tensor]:
    folder.mkdir()
    detector.save(folder)
    found: dict[str, torch.Tensor] = load_file(folder / "encoder" / "model.safetensors")
    return found


def test_the_epoch_is_chosen_on_a_model_that_is_never_heard_in_training(data: Labelled) -> None:
    for seed in range(4):
        learn, check = held_out_rows(speakers(data), data.y, data.groups, 0.1, seed)
        heard = {data.examples[i].speaker_model for i in learn}
        (aside,) = {data.examples[i].speaker_model for i in check}
        assert heard == {*MODELS} - {aside}
        assert not {*data.groups[learn]} & {*data.groups[check]}
        assert data.y[check].any()


def test_the_epoch_is_chosen_on_other_games_where_two_models_speak(corpus: Path) -> None:
    two = labelled(read_statements(corpus, ["train"]), "role", 0)
    learn, check = held_out_rows(speakers(two), two.y, two.groups, 0.1, 0)
    assert sorted([*learn, *check]) == list(range(len(two.y)))
    assert not {*two.groups[learn]} & {*two.groups[check]}
    assert len(held_out_rows(speakers(two), two.y, two.groups, 0.0, 0)[1]) == 0


@pytest.mark.long
def test_words_that_only_the_model_kept_aside_says_are_learned(data: Labelled, fit: Any) -> None:
    _, check = held_out_rows(speakers(data), data.y, data.groups, 0.1, 0)
    (aside,) = {data.examples[i].speaker_model for i in check}

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


def test_the_steps_are_chosen_where_the_loss_on_what_is_kept_aside_is_least_and_training_ends_when_patience_does(
    fit: Any,
) -> None:
    found = {}
    for patience in (0, 1):
        detector = fit(max_steps=0, epochs=6.0, patience=patience, lr=0.03)
        held_out = [point for point in detector.losses if "held_out" in point]
        least = min(held_out, key=lambda point: point["held_out"])
        assert detector.chosen.steps == least["step"]
        assert max(point["step"] for point in detector.losses if "refit" in point) == least["step"]
        found[patience] = held_out
    first_worse = next(at for at in range(1, 6) if found[0][at]["held_out"] >= min(
        point["held_out"] for point in found[0][:at]))  # fmt: skip
    assert found[1] == found[0][: first_worse + 1]


def test_of_one_pass_or_with_nothing_kept_aside_there_is_no_number_of_steps_to_choose(data: Labelled, fit: Any) -> None:
    assert fit(max_steps=2, epochs=2.0, held_out=0.0).chosen is None
    detector = fit(max_steps=0, epochs=1.0, held_out=0.1)
    assert detector.chosen is None
    assert max(point["step"] for point in detector.losses) == -(-len(data.y) // detector.options.batch_size)


def test_the_first_of_the_best_steps_is_chosen_and_a_loss_that_is_no_number_ends_the_training() -> None:
    history = [{"step": 1, "eval_loss": 1.0}, {"step": 2, "eval_loss": 0.5}, {"step": 3, "loss": 0.1}]
    assert best_step([*history, {"step": 4, "eval_loss": 0.5}]) == 2
    with pytest.raises(UsageError, match="diverged"):
        following(silent).on_log(None, None, None, logs={"loss": float("nan")})


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
    made = arguments(tmp_path / "kept", str(tmp_path), FineTuningOptions(**options), True, 0)
    assert (made.lr_scheduler_type, made.warmup_steps, made.weight_decay) == ("cosine", 7, 0.2)
    assert made.gradient_accumulation_steps == 4
    assert made.output_dir == str(tmp_path / "kept")


@pytest.mark.parametrize(("option", "value"), [("scheduler", "soft"), ("attention", "sideways")])
def test_a_setting_that_transformers_does_not_know_is_one_line(option: str, value: str, fit: Any) -> None:
    with pytest.raises((UsageError, BadData), match=value):
        fit(**{option: value})


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


def test_lora_learns_little_and_leaves_a_plain_encoder(fit: Any, tiny_encoder: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    detector = fit(lora=4, max_steps=8)
    tuned, base = weights(detector, tmp_path / "m"), load_file(tiny_encoder / "model.safetensors")
    assert {f"bert.{name}" for name in base} | {"classifier.weight", "classifier.bias"} == {*tuned}
    assert torch.equal(tuned["bert.embeddings.word_embeddings.weight"], base["embeddings.word_embeddings.weight"])
    changed = tuned["bert.encoder.layer.0.output.dense.weight"] - base["encoder.layer.0.output.dense.weight"]
    assert int(torch.linalg.matrix_rank(changed, atol=1e-5)) == 4


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
    options = ["--encoder", str(tiny_encoder), "--folds", "0", "--epochs", "2", "--batch-size", "16", "--json"]
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
    learn, _ = held_out_rows(speakers(learned), learned.y, learned.groups, 0.1, 0)
    assert chosen.planned == 2 * -(-len(learn) // 32)
