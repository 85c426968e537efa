"""A model folder with any damage scores, or is refused in one line."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from random import Random

import liescope
from liescope.common.errors import LiescopeError
from tests.fuzz.inputs import seeds
from tests.fuzz.mutations import damage_file, said


@seeds("models")
def test_a_damaged_model_scores_or_is_refused_in_one_line(made: Path, tmp_path: Path, seeds: range) -> None:
    outcomes: Counter[str] = Counter()
    files = sorted(path.name for path in (made / "model").iterdir() if path.is_file())
    for seed in seeds:
        random = Random(seed)
        folder = shutil.copytree(made / "model", tmp_path / str(seed))
        damage_file(folder / random.choice([*files, "model.json", "model.json"]), random)
        try:
            scores = liescope.load(folder).score(["I investigated Bob. He is the mafioso."])
        except LiescopeError as error:
            said(error)
            outcomes["refused"] += 1
        else:
            assert 0 <= scores["score"][0] <= 1
            outcomes["scored"] += 1
        shutil.rmtree(folder)
    assert min(outcomes["refused"], outcomes["scored"]) > len(seeds) // 10
