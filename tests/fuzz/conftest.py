"""Small things of every kind that a reader opens, which a test copies before it spoils them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def made(played: Path, played_corpus: Path, played_model: Path) -> dict[str, Path]:
    return {"run": played, "corpus": played_corpus, "model": played_model}
