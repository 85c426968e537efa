"""How an encoder is fine-tuned: which epoch is kept, what changes, and what is learned beside the target."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score

from liescope.common.errors import MissingExtra, UsageError
from liescope.detectors.examples import Example, Labelled, labelled, read_statements
from liescope.detectors.fine_tuning import tasks
from liescope.detectors.fine_tuning.epochs import Epochs
from liescope.detectors.fine_tuning.held_out import held_out_rows
from liescope.detectors.kinds.encoder import EncoderDetector
from liescope.detectors.protocol import silent
from liescope.detectors.registry import load_parts, make
from liescope.detectors.textualize import TextConfig
from tests.detectors.conftest import TELLS, Corpus

ROOT = Path(__file__).parents[2]
MODELS = ("model-a", "model-b", "model-c", "model-d")


@pytest.fixture(scope="module")
def four(make_corpus: Corpus) -> Path:
    """A corpus in which four models speak."""
    return make_corpus(games=100, models=MODELS)


@pytest.fixture(scope="module")
def data(four: Path) -> Labelled:
    return labelled(read_statements(four, ["train"]), "role", 0)


@pytest.fixture(scope="module")
def unseen(four: Path) -> Labelled:
    return labelled(read_statements(four, ["test", "validation"]), "role", 0)


@pytest.fixture(scope="module")
def plain() -> Labelled:
    """Statements of two words: the first tells the role, the last the type."""
    said = [(lie, first, last) for lie in TELLS for first in TELLS[lie] for last in ("look", "people")] * 8
    kind = {"look": "omission", "people": "none"}
    examples = tuple(
        Example("", f"g{i}", "A", "", f"{first} {last}", (), labels={"type": kind[last]})
        for i, (_, first, last) in enumerate(said)
    )
    return Labelled(examples, np.array([lie for lie, _, _ in said]), np.array([e.game_id for e in examples]), 0)


@pytest.fixture(scope="module")
def fit(data: Labelled, tiny_encoder: Path) -> Any:
    """fit(option=…) trains a tiny encoder for some steps."""

    def fit(data: Labelled = data, **options: Any) -> EncoderDetector:
        given = {"encoder": str(tiny_encoder), "batch_size": 16, "lr": 0.01, "max_steps": 4, "patience": 0, **options}
        made = make("encoder", TextConfig(), given).fit(data.examples, data.y, data.groups)
        assert isinstance(made, EncoderDetector)
        return made

    return fit


def weights(detector: EncoderDetector, folder: Path) -> dict[str, torch.Tensor]:
    folder.mkdir()
    detector.save(folder)
    found: dict[str, torch.Tensor] = load_file(folder / "encoder" / "model.safetensors")
    return found


def test_the_epoch_is_chosen_on_a_model_that_is_never_heard_in_training(data: Labelled) -> None:
    for seed in range(4):
        learn, check = held_out_rows(data.examples, data.y, data.groups, 0.1, seed)
        heard = {data.examples[i].speaker_model for i in learn}
        (aside,) = {data.examples[i].speaker_model for i in check}
        assert heard == {*MODELS} - {aside}
        assert not {*data.groups[learn]} & {*data.groups[check]}
        assert data.y[check].any()


def test_the_epoch_is_chosen_on_other_games_where_two_models_speak(corpus: Path) -> None:
    two = labelled(read_statements(corpus, ["train"]), "role", 0)
    learn, check = held_out_rows(two.examples, two.y, two.groups, 0.1, 0)
    assert sorted([*learn, *check]) == list(range(len(two.y)))
    assert not {*two.groups[learn]} & {*two.groups[check]}
    assert len(held_out_rows(two.examples, two.y, two.groups, 0.0, 0)[1]) == 0


@pytest.mark.parametrize(("patience", "stops_after"), [(0, None), (1, 3), (2, 4)])
def test_training_stops_when_patience_ends_and_goes_back_to_the_best_epoch(
    patience: int, stops_after: int | None
) -> None:
    model, epochs = torch.nn.Linear(1, 1), Epochs(patience, silent)
    callback, stopped = epochs.callback(), None
    for epoch, loss in enumerate((1.0, 0.5, 0.7, 0.6), 1):
        torch.nn.init.constant_(model.weight, epoch)
        control = SimpleNamespace(should_training_stop=False)
        state = SimpleNamespace(global_step=epoch, epoch=float(epoch))
        callback.on_log(None, state, control, logs={"eval_loss": loss}, model=model)
        if control.should_training_stop:
            stopped = epoch
            break
    epochs.restore_best(model)
    assert stopped == stops_after
    assert model.weight.item() == 2
    with pytest.raises(UsageError, match="diverged"):
        callback.on_log(None, state, control, logs={"loss": float("nan")}, model=model)


def test_the_curves_of_the_loss_lie_in_the_model(fit: Any, tmp_path: Path) -> None:
    fit(max_steps=0, epochs=3.0).save(tmp_path)
    curve = json.loads((tmp_path / "losses.json").read_text())
    held_out = [point["held_out"] for point in curve if "held_out" in point]
    assert len(held_out) == 3
    assert sum("training" in point for point in curve) > 3
    assert [point["step"] for point in curve] == sorted(point["step"] for point in curve)


def test_deterministic_training_gives_the_same_weights_bit_for_bit(fit: Any, tmp_path: Path) -> None:
    first, again, other = (
        weights(fit(deterministic=True, seed=seed), tmp_path / name) for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)
    assert not torch.are_deterministic_algorithms_enabled()


def test_recomputing_activations_changes_nothing_that_is_learned(fit: Any, tmp_path: Path) -> None:
    plain, recomputed = weights(fit(), tmp_path / "a"), weights(fit(checkpointing=True), tmp_path / "b")
    assert all(torch.allclose(plain[name], recomputed[name], atol=1e-6) for name in plain)


def test_gradients_of_several_batches_make_one_step(data: Labelled, tiny_encoder: Path) -> None:
    steps = []
    for accumulate in (1, 4):
        seen: list[int] = []
        options = {"encoder": str(tiny_encoder), "epochs": 1.0, "batch_size": 8, "held_out": 0.0}
        detector = make("encoder", TextConfig(), {**options, "accumulate": accumulate})
        detector.fit(data.examples, data.y, data.groups, lambda _, done, total, seen=seen: seen.append(total))
        steps.append(seen[0])
    batches = -(-len(data.y) // 8)
    assert steps == [batches, -(-batches // 4)]


def test_lora_learns_little_and_leaves_a_plain_encoder(fit: Any, tiny_encoder: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    detector = fit(lora=4, max_steps=20)
    tuned, base = weights(detector, tmp_path / "m"), load_file(tiny_encoder / "model.safetensors")
    assert {f"bert.{name}" for name in base} | {"classifier.weight", "classifier.bias"} == {*tuned}
    assert torch.equal(tuned["bert.embeddings.word_embeddings.weight"], base["embeddings.word_embeddings.weight"])
    changed = tuned["bert.encoder.layer.0.output.dense.weight"] - base["encoder.layer.0.output.dense.weight"]
    assert int(torch.linalg.matrix_rank(changed, atol=1e-5)) == 4


def test_lora_without_its_package_names_the_extra(fit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(MissingExtra, match=r"peft.*\[lora\]"):
        fit(lora=4)


def test_balanced_classes_raise_the_suspicion_of_the_rarer_one(fit: Any, unseen: Labelled) -> None:
    plain, balanced = (fit(max_steps=30, balanced=on).predict_proba(unseen.examples)[:, 1] for on in (False, True))
    assert balanced.mean() > plain.mean() + 0.05
    assert tasks.class_weights(np.array([True, False, False, False]), True) == (pytest.approx(2 / 3), 2.0)


def test_labels_that_are_null_are_no_part_of_the_loss() -> None:
    others = ("claim", "type")
    examples = [Example("", "", "", "", "", (), labels=known) for known in ({"claim": True, "type": "omission"}, {})]
    rows = tasks.label_rows(examples, np.array([True, False]), others)
    assert rows.tolist() == [[1, 1, 1], [0, tasks.UNKNOWN, tasks.UNKNOWN]]
    logits = torch.randn(2, sum(tasks.sizes(others)), requires_grad=True)
    labels = torch.tensor(rows)
    loss = tasks.loss_of(tasks.sizes(others), (1.0, 1.0))
    loss(SimpleNamespace(logits=logits), labels).backward()
    assert logits.grad is not None
    assert (logits.grad[0] != 0).all()
    assert (logits.grad[1, :2] != 0).all()
    assert (logits.grad[1, 2:] == 0).all()
    halves = [loss(SimpleNamespace(logits=logits[i : i + 1]), labels[i : i + 1], 4) for i in (0, 1)]
    assert torch.isclose(halves[0] + halves[1], loss(SimpleNamespace(logits=logits), labels))


@pytest.mark.parametrize("options", [{"tasks": "role,claim,promise,type"}, {"lora": 8, "lr": 1e-3}])
def test_the_bundled_encoder_learns_with_other_tasks_and_with_lora(
    options: dict[str, Any], fit: Any, plain: Labelled, tmp_path: Path
) -> None:
    examples = plain.examples
    detector = fit(plain, **{"encoder": "", "max_steps": 30, "lr": 3e-4, "held_out": 0.0, **options})
    assert roc_auc_score(plain.y, detector.predict_proba(examples)[:, 1]) > 0.9
    assert detector.options.tasks == options.get("tasks", "").removeprefix("role,")
    found = detector.predict_tasks(examples)
    if found:
        assert {task: part.shape[1] for task, part in found.items()} == {"claim": 2, "promise": 2, "type": 8}
        omission = found["type"][:, tasks.TASKS["type"].index("omission")]
        assert roc_auc_score([example.labels["type"] == "omission" for example in examples], omission) > 0.9
    detector.save(tmp_path)
    again = load_parts("encoder", tmp_path, TextConfig(), detector.options.model_dump())
    assert isinstance(again, EncoderDetector)
    stripped = [replace(example, labels={}) for example in examples]
    assert np.array_equal(again.predict_proba(stripped), detector.predict_proba(examples))
    assert all(np.array_equal(part, found[task]) for task, part in again.predict_tasks(examples).items())


def test_a_task_that_is_none_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="--tasks: colour is none of role, claim"):
        make("encoder", TextConfig(), {"tasks": "role,colour"})


def test_examples_carry_the_labels_of_a_corpus(four: Path) -> None:
    statements = read_statements(four, ["train"])
    for example, claim in zip(labelled(statements, "role", 0).examples, statements["label_claim"], strict=True):
        assert example.labels.get("claim") == claim
        assert "type" not in example.labels


def test_a_model_saved_before_these_options_still_opens(fit: Any, unseen: Labelled, tmp_path: Path) -> None:
    detector = fit()
    detector.save(tmp_path)
    (tmp_path / "losses.json").unlink()
    old = {"encoder": "local", "epochs": 3.0, "lr": 5e-5, "batch_size": 32, "max_length": 128, "held_out": 0.1}
    again = load_parts("encoder", tmp_path, TextConfig(), {**old, "max_steps": 4, "seed": 0})
    assert np.array_equal(again.predict_proba(unseen.examples), detector.predict_proba(unseen.examples))


@pytest.mark.slow
def test_two_processes_train_one_model_and_the_first_one_saves_it(
    four: Path, tiny_encoder: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "liescope"]
    options = ["--encoder", str(tiny_encoder), "--folds", "0", "--epochs", "2", "--batch-size", "16", "--json"]
    out = tmp_path / "models" / "m"
    done = subprocess.run(
        [*command, "train", "encoder", "--corpus", str(four), *options, "--out", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"] == str(out)
    assert [path.name for path in out.parent.iterdir()] == ["m"]
    steps = json.loads((out / "losses.json").read_text())[-1]["step"]
    learned = labelled(read_statements(four, ["train"]), "role", 0)
    learn, _ = held_out_rows(learned.examples, learned.y, learned.groups, 0.1, 0)
    assert steps == 2 * -(-len(learn) // 32)
