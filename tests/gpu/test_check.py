"""The check of a card runs where there is none, at small size."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from liescope.common.sentence_encoder import encoder_folder
from tests.gpu import check


@pytest.mark.long
def test_each_part_of_the_check_runs_and_tells_its_figures(
    played_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "figures.json"
    asked = ["check.py", str(played_corpus), str(encoder_folder("")), "--small", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", asked)
    check.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    for part in ("encoder", "large_batches", "lora"):
        assert found[part]["learning"]["tokens_per_second"] > 0
        assert found[part]["beside_cpu"]["rank_correlation"] > 0.99
        assert found[part]["read_back"]["largest_difference"] < 0.01
    assert found["probe"]["beside_cpu"]["least_cosine_of_states"] > 0.99
