"""The reports that are frozen: each with the command that writes it, and whether its numbers are a sampler's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.common.shared_fits import shared_fits
from tests.common.without_figures import empty_figures
from tests.golden.frozen import as_text, tables_of
from tests.golden.world import World
from tests.golden_reports.outline import folder, outline

FOLDER = Path(__file__).parent / "frozen"
SAMPLED = ("--draws", "500", "--tune", "300")


@dataclass(frozen=True)
class Made:
    """A command, what it needs made before, where it writes (nothing if nowhere), and whether numbers are sampled."""

    words: tuple[str, ...]
    needs: tuple[str, ...] = ()
    out: str = ""
    sampled: bool = False


REPORTS: Mapping[str, Made] = {
    "train-linear": Made(
        ("train", "linear", "--corpus", "corpus/big", "--folds", "3", "--target", "role"),
        ("corpus/big",),
        "models/linear",
    ),
    "train-tfidf": Made(
        ("train", "tfidf", "--corpus", "corpus/big", "--folds", "3", "--target", "claim"),
        ("corpus/big",),
        "models/tfidf",
    ),
    "score": Made(
        ("score", "models/linear", "I am the detective.", "Bob lies, I am a villager.", "--reasons", "2"),
        ("train-linear",),
    ),
    "score-file": Made(
        ("score", "models/tfidf", "--in", "inputs/rows.jsonl", "--out", "scores/rows.jsonl"), ("train-tfidf",)
    ),
    "evaluate": Made(
        ("evaluate", "models/linear", "--corpus", "corpus/big", "--observers"),
        ("train-linear",),
        "reports/evaluate",
    ),
    "transfer": Made(
        (
            *("transfer", "corpus/big", "--by", "model", "--min-count", "2", "--words", "1"),
            *("--strength", "4", "--context", "0"),
        ),
        ("corpus/big",),
        "reports/transfer",
    ),
    "publish-model": Made(
        ("publish", "models/linear", "--repo", "me/linear", "--dry-run", "--report", "reports/evaluate"), ("evaluate",)
    ),
    "audit": Made(("audit", "corpus/mini", "--split", "out-of-fold"), ("corpus/mini",), "reports/audit"),
    "analyse": Made(("analyse", "corpus/big", "runs/mafia"), ("corpus/big", "runs/mafia"), "reports/analyse"),
    "analyse-learning": Made(
        ("analyse", "runs/learned", "runs/learned-judged"),
        ("runs/learned", "runs/learned-judged"),
        "reports/analyse-learning",
    ),
    "fit": Made(("fit", "runs/big", *SAMPLED), ("corpus/big",), "reports/fit", True),
    "report": Made(("report", "runs/big", *SAMPLED), ("corpus/big",), "reports/report", True),
}


class Reports:
    """Runs each command once, what it needs before it, and keeps what it printed with --json."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._said: dict[str, Any] = {}

    def said(self, name: str) -> Any:
        """What the command prints with --json."""
        if name not in self._said:
            made = REPORTS[name]
            for need in made.needs:
                room, _, which = need.partition("/")
                match room:
                    case "runs":
                        self.world.run(which)
                    case "corpus":
                        self.world.corpus(which)
                    case _:
                        self.said(need)
            out = ("--out", made.out) if made.out else ()
            with empty_figures(), shared_fits():
                self._said[name] = json.loads(self.world.command(*made.words, *out, "--json"))
        return self._said[name]

    def text(self, name: str) -> str:
        """The golden of that report: what was printed, and what was written."""
        made, said = REPORTS[name], self.said(name)
        printed = outline(said, made.sampled)
        written = folder(self.world.folder / made.out, made.sampled) if made.out else {}
        same = [name for name, content in written.items() if content == printed]
        data = {"printed": f"as {same[0]}" if same else printed, "written": written}
        return as_text(data)


def frozen_reports(world: World) -> dict[str, Callable[[], str]]:
    """By file below tests/golden_reports: what makes its text now."""
    reports = Reports(world)
    made: dict[str, Callable[[], str]] = {f"{name}.json": lambda name=name: reports.text(name) for name in REPORTS}
    for name in ("learned", "learned-judged"):
        made[f"tables-of-{name}.json"] = lambda name=name: as_text(tables_of(world.corpus(name)))
    return made
