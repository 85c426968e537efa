"""Probes as others publish them: read without running what is in the file, scored, and written back."""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest
import torch

from liescope import evaluate, import_probe, publish
from liescope.cli import main
from liescope.common.errors import BadData, UsageError
from liescope.common.statistics import expit, logit
from liescope.detectors.calibrate import Confidence
from liescope.detectors.examples import Example
from liescope.detectors.kinds.probe import CHAT, ProbeDetector, passage
from liescope.detectors.model_file import ModelFile, TrainingFacts
from liescope.detectors.probing.heads import Checkpoint, Head, learn

WIDTH = 64  # of the tiny model
THEIRS = "deception.detectors.utils.types"
SAID = ["we should talk about this", "calm trust rush", "look at how people voted", "evidence", "who is lying today?"]


def state(kind: str, width: int = WIDTH) -> dict[str, Any]:
    """The state_dict of a probe of random numbers."""
    torch.manual_seed(3)
    threshold = torch.tensor(0.25)
    if kind == "dim":
        return {"direction": torch.randn(width), "threshold": threshold}
    scaled = {"dataset_mean": torch.randn(width), "dataset_std": torch.rand(width) + 0.5, "threshold": threshold}
    if kind == "lr":
        return {"linear.weight": torch.randn(1, width) / 16, "linear.bias": torch.randn(1), **scaled}
    first = {"net.0.weight": torch.randn(9, width) / 8, "net.0.bias": torch.randn(9)}
    return {**first, "net.2.weight": torch.randn(1, 9), "net.2.bias": torch.randn(1), **scaled}


def theirs(found: dict[str, Any], kind: str, states: Any) -> Any:
    """The scores that a checkpoint gives these states, by the formulas of its publishers."""
    x = torch.tensor(np.asarray(states, np.float32))
    if kind == "dim":
        return (x @ found["direction"]).numpy()
    x = (x - found["dataset_mean"]) / found["dataset_std"]
    if kind == "mlp":
        x = torch.relu(x @ found["net.0.weight"].T + found["net.0.bias"])
        return (x @ found["net.2.weight"].T + found["net.2.bias"]).squeeze(-1).numpy()
    return (x @ found["linear.weight"].T + found["linear.bias"]).squeeze(-1).numpy()


class ProbeArchitecture(str, Enum):  # noqa: UP042 - that of the publishers is such a class
    """The enumeration that publishers pickle, at the path where they have it."""

    DIM = "dim"
    LR = "lr"
    MLP = "mlp"


ProbeArchitecture.__module__ = THEIRS


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """saved(kind): a repository's folder with such a checkpoint, whose enumeration nobody can import any more."""

    def save(kind: str, given: Any = None, **more: Any) -> Path:
        folder = tmp_path / "apollo-tiny"
        folder.mkdir(exist_ok=True)
        told = {"layer": 1, "probe_architecture": ProbeArchitecture(kind), "l2_lambda": 0.5, "epochs": None, **more}
        modules = [THEIRS.rsplit(".", dots)[0] for dots in range(4)]
        with monkeypatch.context() as patch:
            for one in modules:
                patch.setitem(sys.modules, one, ModuleType(one))
            sys.modules[THEIRS].__dict__["ProbeArchitecture"] = ProbeArchitecture
            kept = {"state_dict": state(kind) if given is None else given, "hyperparams": told}
            torch.save(kept, folder / "probe.pt")
        (folder / "sweep.json").write_text(json.dumps({"default_filename": "l_1", "sweep": []}), encoding="utf-8")
        return folder

    return save


@pytest.mark.parametrize("kind", ["dim", "lr", "mlp"])
def test_a_published_probe_is_read_scored_and_written_back(
    kind: str, saved: Callable[..., Path], tiny_lm: Path, corpus: Path, tmp_path: Path
) -> None:
    folder, out = saved(kind), tmp_path / "imported"
    loaded = import_probe(folder, model=str(tiny_lm), out=out, target="role")
    assert loaded.file.options["layer"] == 2  # their layer 1 is the second
    chats = loaded.file.ordinary
    assert isinstance(loaded.detector, ProbeDetector)
    states = read_states(loaded.detector)
    scores = loaded.score(SAID)["score"].to_numpy()
    expected = theirs(state(kind), kind, states)
    if kind == "dim":  # a distance: in their order, and .5 where they flag
        assert np.array_equal(np.argsort(scores), np.argsort(expected))
        assert np.array_equal(scores > 0.5, expected > 0.25)
    else:
        assert np.allclose(logit(scores), expected, atol=1e-4)
    assert chats is not None
    assert chats.at is not None
    assert np.array_equal(scores > chats.at, expected > 0.25)
    again = torch.load(out / "probe.pt", weights_only=True)  # tensors and plain values alone
    assert again["hyperparams"]["layer"] == 1
    assert again["hyperparams"]["probe_architecture"] == kind
    assert np.allclose(theirs(again["state_dict"], kind, states), expected, atol=1e-4)
    assert float(again["state_dict"]["threshold"]) == pytest.approx(0.25, abs=1e-5)
    assert {"probe.pt", "sweep.json"} <= {one.path for one in publish(out, "me/again", dry_run=True).files}
    report = evaluate([str(out)], str(corpus), out=tmp_path / "report")
    assert not report.metrics.filter(pl.col("scorer") == "imported").is_empty()


def read_states(detector: ProbeDetector) -> Any:
    """Of what is said, at the layer that the detector reads."""
    chat = detector.options.form == CHAT
    said = [Example("", "", "speaker", "", text, ()) for text in SAID]
    return detector._states.of([passage(one, detector.text, chat) for one in said])[:, 0]


@pytest.mark.parametrize("head", ["logistic", "mean-difference", "lda", "mlp"])
def test_our_heads_score_there_as_here(head: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    y, groups = draw.random(200) < 0.5, np.array([f"{row // 4}" for row in range(200)])
    states = (draw.normal(size=(200, 40)) * 10.0 ** np.linspace(-2, 2, 40) + 5 * y[:, None]).astype(np.float32)
    ours = learn(head, states, y, groups, 0.1, 0)
    assert Checkpoint(ours, 7, 0.5).write(tmp_path, "mine")
    found = torch.load(tmp_path / "probe.pt", weights_only=True)
    kind, sweep = found["hyperparams"]["probe_architecture"], json.loads((tmp_path / "sweep.json").read_text("utf-8"))
    scores, cut = theirs(found["state_dict"], kind, states), float(found["state_dict"]["threshold"])
    if head == "mean-difference":
        scores, cut = scores + 0.5 - cut, 0.5  # it has no offset, and its threshold has
    assert np.allclose(scores, ours.odds(states), atol=1e-4)
    assert cut == pytest.approx(0.5)
    assert found["hyperparams"]["layer"] == 6
    assert (tmp_path / f"{sweep['default_filename']}.pt").is_file()


@pytest.mark.parametrize("head", ["logistic", "mean-difference", "mlp"])
def test_flags_there_are_those_here_also_of_the_statement_whose_score_is_the_threshold(
    head: str, tmp_path: Path
) -> None:
    draw = np.random.default_rng(5)
    y, groups = draw.random(120) < 0.5, np.array([f"{row // 4}" for row in range(120)])
    states = (draw.normal(size=(120, 30)) + y[:, None] / 3).astype(np.float32)
    ours, sure = learn(head, states, y, groups, 0.1, 0), Confidence(statements=1.3)
    scores = sure.of_scores(expit(ours.odds(states)))
    training = TrainingFacts.model_construct(statements=120)
    for at in scores[:40]:
        file = ModelFile.model_construct(thresholds={"1pct": at}, confidence=sure, training=training)
        assert Checkpoint(ours, 7, file.cut).write(tmp_path, "mine")
        found = torch.load(tmp_path / "probe.pt", weights_only=True)["state_dict"]
        kind = {"logistic": "lr", "mean-difference": "dim", "mlp": "mlp"}[head]
        assert np.array_equal(theirs(found, kind, states) > float(found["threshold"]), scores > at)


def test_a_head_that_is_not_published_is_not_written(tmp_path: Path) -> None:
    assert not Checkpoint(Head("attention", {}), 7, 0.5).write(tmp_path, "mine")
    assert not list(tmp_path.iterdir())


class Hostile:
    """Makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


def test_a_hostile_file_runs_nothing(saved: Callable[..., Path], tiny_lm: Path, tmp_path: Path) -> None:
    mark, hidden = tmp_path / "ran", Hostile(tmp_path / "ran")
    folder = saved("lr", more=hidden)
    for _ in range(2):
        with pytest.raises(BadData, match="cannot be read"):
            import_probe(folder, model=str(tiny_lm), out=tmp_path / "out")
        assert not mark.exists()
        (folder / "probe.pt").write_bytes(pickle.dumps({"state_dict": {}, "hyperparams": hidden}))  # no zip, too
    with ZipFile(folder / "probe.pt", "w") as archive:
        archive.writestr("probe/data.pkl", b"cbuiltins\neval\n(S'1'\ntR.")
        archive.writestr("probe/version", b"3\n")
    with pytest.raises(BadData, match="cannot be read"):
        import_probe(folder, model=str(tiny_lm), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not mark.exists()
    pickle.loads(pickle.dumps(hidden))
    assert mark.exists()  # it is a file that runs code for whoever unpickles it


def test_what_is_no_such_probe_is_one_clear_sentence(
    saved: Callable[..., Path], tiny_lm: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = state("lr")
    odd: list[tuple[dict[str, Any], str]] = [
        ({"given": {**good, "linear.weight": torch.randn(1, WIDTH - 1)}}, "linear.weight is not made of"),
        ({"given": {**good, "linear.weight": torch.randn(2, WIDTH)}}, "linear.weight is not made of"),
        ({"given": {**good, "linear.bias": torch.tensor([torch.nan])}}, "linear.bias is not made of finite"),
        ({"given": {**good, "dataset_std": torch.zeros(WIDTH)}}, "divided by 0"),
        ({"given": {**good, "threshold": torch.tensor(torch.inf)}}, "threshold is no number"),
        ({"given": {**good, "dataset_mean": torch.zeros(1).expand(2**31)}}, "dataset_mean is no tensor"),
        ({"given": {**good, "dataset_mean": [0.0] * WIDTH}}, "dataset_mean is no tensor"),
        ({"given": {name: one for name, one in good.items() if name != "linear.bias"}}, "the architecture lr has"),
        ({"given": state("mlp")}, "the architecture lr has"),
        ({"layer": -1}, "layer"),
        ({"layer": None}, "does not say of which layer"),
        ({"probe_architecture": "transformer"}, "'dim', 'lr' or 'mlp'"),
        ({"probe_architecture": None}, "'dim', 'lr' or 'mlp'"),
    ]
    for what, why in odd:
        folder = saved("lr", **what)
        with pytest.raises(BadData, match=why) as caught:
            import_probe(folder, model=str(tiny_lm), out=tmp_path / "out")
        assert "\n" not in str(caught.value)
    (folder / "probe.pt").write_bytes(b"none")
    assert main(["import", "probe", str(folder), "--model", str(tiny_lm), "--out", str(tmp_path / "out")]) == 1
    assert "probe.pt cannot be read" in " ".join(capsys.readouterr().err.split())


def test_a_checkpoint_is_found_by_name_and_what_it_reads_and_of_which_model_is_said(
    saved: Callable[..., Path], tiny_lm: Path, tmp_path: Path
) -> None:
    def run(source: Path, **more: Any) -> dict[str, Any]:
        given = {"model": str(tiny_lm), "overwrite": True, **more}
        return import_probe(source, out=tmp_path / "out", **given).file.options

    folder = saved("lr", layer=0)
    assert run(folder)["layer"] == 1
    assert run(folder / "probe.pt")["layer"] == 1
    asked = folder.rename(tmp_path / "dyl-tiny")
    assert run(asked)["read"] == "answer"
    (asked / "probe.pt").rename(asked / "l_1.pt")  # the default of sweep.json
    assert run(asked, checkpoint="l_1") == run(asked)
    for name in ("l_9", "../apollo-tiny/l_1"):
        with pytest.raises(BadData, match="has no checkpoint"):
            run(asked, checkpoint=name)
    with pytest.raises(UsageError, match="--model"):
        run(asked, model="")
    (asked / "README.md").write_text(f"---\nbase_model: {tiny_lm}\n---\n", encoding="utf-8")
    assert run(asked, model="")["model"] == "local"
    with pytest.raises(UsageError, match="--read"):
        run(asked.rename(tmp_path / "mine"))
    with pytest.raises(UsageError, match="has 4 layers"):
        run(saved("lr", layer=4))


def test_a_probe_of_another_model_is_refused_by_its_width(
    saved: Callable[..., Path], tiny_lm: Path, tmp_path: Path
) -> None:
    folder = saved("dim", state("dim", WIDTH * 2))
    with pytest.raises(UsageError, match="reads 128 numbers, and there are 64"):
        import_probe(folder, model=str(tiny_lm), out=tmp_path / "out")
