"""The code examples of README and docs as a program sees them, and how each is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Tested elsewhere: the set-up of a checkout, the extras by the tests of the wheel, clusters, other tools by faces.
ELSEWHERE = {"make", "pip", "git", "kubectl", "ray", "sbatch", "vf-eval"}
_FENCE = re.compile(
    r'^(?P<indent> *)```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?[^\n]*\n'
    r"(?P<text>.*?)^(?P=indent)```",
    re.M | re.S,
)


@dataclass(frozen=True)
class Block:
    """A fenced block. title: the file that a reader would save it as, or empty."""

    page: Path
    line: int
    language: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every page with examples. The results tell of runs on data that is not in the repository."""
    docs = sorted(path for path in (ROOT / "docs").rglob("*.md") if "results" not in path.parts)
    return [ROOT / "README.md", *docs]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, match.start()) + 1,
            match["language"],
            match["title"] or "",
            re.sub(rf"^{match['indent']}", "", match["text"], flags=re.M),
        )
        for match in _FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[list[str]]:
    """The command lines of a shell block, as words, without comments and continued lines in one."""
    for line in block.text.replace("\\\n", " ").splitlines():
        if words := shlex.split(line, comments=True):
            yield words
