"""A model folder may come from anybody: what is wrong with it is one line, and no code of it ever runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file, save_file

from liescope import load
from liescope.common.errors import BadData, LiescopeError, UsageError
from liescope.common.sentence_encoder import check_encoder, encoder_folder
from liescope.detectors.kinds.embedding import sentence_encoder


def copy(model: Path, to: Path) -> Path:
    return Path(shutil.copytree(model, to / "stranger"))


@pytest.fixture
def folder(model: Path, tmp_path: Path) -> Path:
    """A model that a test may spoil."""
    return copy(model, tmp_path)


def change(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def refused(folder: Path) -> str:
    with pytest.raises(BadData) as caught:
        load(folder)
    words = str(caught.value)
    assert "\n" not in words
    assert len(words) < 600
    return words


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 99},
        {"format": "two"},
        {"kind": ["tfidf"]},
        {"target": "truth"},
        {"thresholds": {"1pct": float("nan"), "5pct": 0.5}},
        {"thresholds": {"1pct": 0.5, "5pct": -1}},
        {"thresholds": {"1pct": 0.5, "5pct": True, "10pct": 0.1}},
        {"thresholds": [0.5]},
        {"options": {"words": 10**9}},
        {"options": {"strength": float("inf")}},
        {"options": {"colour": "red"}},
        {"options": None},
        {"text": {"context": -1}},
        {"training": {"statements": "many"}},
        {"versions": {"liescope": 1}},
        {"confidence": {"labels": {"honest": [0.5], "deceptive": [0.5], "games": [1, 1]}}},
        {"confidence": {"players": 0}},
        {"unheard": "of"},
    ],
)
def test_an_odd_model_file_is_one_line(changes: dict[str, Any], folder: Path) -> None:
    change(folder / "model.json", **changes)
    refused(folder)


@pytest.mark.parametrize(
    "content", [b"", b"null", b"[]", b"[" * 200_000, b"{" * 100_000, b"\xff\xfe", b'{"kind": "\\ud800"}']
)
def test_a_model_file_that_holds_no_model_is_one_line(content: bytes, folder: Path) -> None:
    (folder / "model.json").write_bytes(content)
    refused(folder)


def test_a_huge_model_file_is_not_read(folder: Path) -> None:
    with (folder / "model.json").open("r+b") as stream:
        stream.truncate(100_000_000)
    assert "100,000,000 bytes" in refused(folder)


def test_an_unknown_kind_is_one_line(folder: Path) -> None:
    change(folder / "model.json", kind="os.system")
    with pytest.raises(UsageError, match="unknown kind of detector"):
        load(folder)


FEATURES: list[Any] = [
    [1, 2, 3],
    {"words": "head"},
    {"other": {"features": [], "idf": []}},
    {"words": {"features": ["a", "a"], "idf": [1.0, 1.0]}},
    {"words": {"features": [1, 2], "idf": [1.0, 1.0]}},
    {"words": {"features": ["a"], "idf": [1.0, 1.0]}},
    {"words": {"features": ["a"], "idf": [None]}},
    {"words": {"features": ["a"], "idf": [1.0]}},  # fewer than there are weights
]


@pytest.mark.parametrize("saved", [*map(json.dumps, FEATURES), "[" * 200_000, "no JSON"])
def test_words_that_are_none_are_one_line(saved: str, folder: Path) -> None:
    (folder / "words.json").write_text(saved, encoding="utf-8")
    refused(folder)


@pytest.mark.parametrize(
    "change", [lambda w: w[:-1], lambda w: w * np.nan, lambda w: w.astype(object), lambda w: w[None], lambda w: w > 0]
)
def test_weights_that_are_none_are_one_line(change: Callable[[Any], Any], folder: Path) -> None:
    np.save(folder / "words.npy", change(np.load(folder / "words.npy")))
    assert "words.npy" in refused(folder)


@pytest.mark.parametrize("score", [float("nan"), 2.0, None, "other columns", "no Parquet"])
def test_scores_that_are_no_probabilities_are_one_line(score: float | str | None, folder: Path) -> None:
    path = folder / "scores.parquet"
    if score == "no Parquet":
        path.write_bytes(b"PAR1")
    elif score == "other columns":
        pl.DataFrame({"x": [1]}).write_parquet(path)
    else:
        pl.read_parquet(path).with_columns(score=pl.lit(score, pl.Float64)).write_parquet(path)
    assert "scores.parquet" in refused(folder)


PAYLOAD = """
import pathlib
pathlib.Path({mark!r}).touch()
from transformers import BertConfig as Config, BertForSequenceClassification as Model, BertModel as Body
from sentence_transformers.models import Pooling
"""


AUTO = {
    **{"AutoConfig": "payload.Config", "AutoModel": "payload.Body"},
    "AutoModelForSequenceClassification": "payload.Model",
}


def with_module(path: str, kind: str) -> tuple[str, Any]:
    first = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
    return "modules.json", [first, {"idx": 1, "name": "1", "path": path, "type": kind}]


HOSTILE: dict[str, tuple[str, Any]] = {
    "auto_map": ("config.json", {"auto_map": AUTO}),
    "auto_map and an unknown type": ("config.json", {"auto_map": AUTO, "model_type": "payload"}),
    "auto_map of a tokenizer": ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["payload.Model", None]}}),
    "a module beside the weights": with_module("1_Pooling", "payload.Pooling"),
    "a module of another package": with_module("1_Pooling", "os.system"),
    "a module that trusts": with_module("1_Pooling", "sentence_transformers.models.Router"),
    "a module outside": with_module("../..", "sentence_transformers.models.Pooling"),
    "a kernel of the Hub": ("config.json", {"_attn_implementation": "someone/kernel"}),
    "an adapter": ("adapter_config.json", {"base_model_name_or_path": "."}),
    "trust in the settings": (
        "sentence_bert_config.json",
        {"max_seq_length": 64, "model_args": {"trust_remote_code": True}},
    ),
    "too many layers": ("config.json", {"num_hidden_layers": 10**9}),
    "too wide": ("config.json", {"hidden_size": 10**12}),
    "deep settings": ("config.json", "[" * 100_000),
}
"""By what they do: a file, and its text, its content, or changes of its content."""


@pytest.mark.parametrize("attack", HOSTILE)
@pytest.mark.parametrize("kind", ["embedding_model", "encoder_model"])
def test_an_encoder_that_asks_for_code_or_memory_is_refused_and_nothing_runs(
    kind: str, attack: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy(request.getfixturevalue(kind), tmp_path)
    part, mark = folder / "encoder", tmp_path / "code ran"
    (part / "payload.py").write_text(PAYLOAD.format(mark=str(mark)), encoding="utf-8")
    monkeypatch.syspath_prepend(part)
    monkeypatch.setattr("builtins.input", lambda _="": "y")  # whether to run code, as transformers would ask
    name, content = HOSTILE[attack]
    if isinstance(content, dict) and (part / name).exists():
        change(part / name, **content)
    else:
        (part / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    refused(folder)
    assert not mark.exists()


@pytest.mark.parametrize("where", ["{tmp}/elsewhere", "../elsewhere", "./elsewhere", "elsewhere", "a/../../elsewhere"])
def test_a_model_file_cannot_name_a_folder_as_its_encoder(
    where: str, embedding_model: Path, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy(embedding_model, tmp_path)
    shutil.copytree(tiny_encoder, tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)
    options = json.loads((folder / "model.json").read_text(encoding="utf-8"))["options"]
    change(folder / "model.json", options={**options, "encoder": where.format(tmp=tmp_path)})
    assert "train it again" in refused(folder)


def test_weights_that_are_missing_or_of_another_shape_are_refused(encoder_model: Path, tmp_path: Path) -> None:
    folder = copy(encoder_model, tmp_path)
    path = folder / "encoder" / "model.safetensors"
    weights = load_file(path)
    save_file({name: value for name, value in weights.items() if "classifier" not in name}, path)
    assert "missing" in refused(folder)
    save_file({name: value[:1] for name, value in weights.items()}, path)
    refused(folder)
    save_file({name: np.full_like(value, np.nan) for name, value in weights.items()}, path)
    assert "probabilities" in refused(folder)


def test_pickled_weights_are_not_opened(embedding_model: Path, tmp_path: Path) -> None:
    folder = copy(embedding_model, tmp_path)
    (folder / "encoder" / "model.safetensors").rename(folder / "encoder" / "pytorch_model.bin")
    refused(folder)


def test_an_encoder_that_is_only_data_passes_and_reads(tiny_encoder: Path) -> None:
    for folder in (tiny_encoder, encoder_folder("")):
        check_encoder(folder)
        found = sentence_encoder(folder).embed(["calm and certain", "evidence"], 16)
        assert np.isfinite(found).all()
        assert not np.allclose(found[0], found[1])


@pytest.mark.parametrize("name", ["../x", "/no/such", "a/b/c", "x y", "hf://a", "a..b", "~/.ssh"])
def test_a_name_that_is_neither_a_folder_nor_of_the_hub_is_refused_before_any_request(name: str) -> None:
    with pytest.raises(LiescopeError, match="no Hub id"):
        encoder_folder(name)
