"""What detectors, analyses, fits and reports print and write stays as it is: sections, columns, sentences, numbers.

Numbers of closed forms are compared closely, those of trained models less so, those of a sampler not at all. Where a
change is meant: python -m tests.golden.freeze reports/NAME.json
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.golden_reports.outline import CLOSE, LEARNED, differences
from tests.golden_reports.reports import FOLDER, REPORTS

pytestmark = pytest.mark.slow
FILES = sorted(path.name for path in FOLDER.iterdir())
ARITHMETIC = {"analyse", "analyse-learning", "tables-of-learned", "tables-of-learned-judged"}
"""The reports in which no detector was trained and nothing sampled."""
SHOWN = 25
LONG = {"report.json", "evaluate.json", "analyse.json", "analyse-learning.json", "publish-model.json"}
"""Those that take longest."""


@pytest.mark.parametrize("file", [pytest.param(file, marks=[pytest.mark.long] * (file in LONG)) for file in FILES])
def test_the_report_says_what_it_said(file: str, now: dict[str, Callable[[], str]]) -> None:
    was = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    name = file.removesuffix(".json")
    found = list(differences(was, json.loads(now[file]()), name, CLOSE if name in ARITHMETIC else LEARNED))
    more = [f"… and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    assert not found, "\n" + "\n".join([*found[:SHOWN], *more])


def test_every_report_has_its_file(now: dict[str, Callable[[], str]]) -> None:
    assert sorted(now) == FILES
    assert {f"{name}.json" for name in REPORTS} < set(FILES)
