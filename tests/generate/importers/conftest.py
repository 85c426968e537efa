"""Games of our own engine, and how to write them down as the authors did."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from liescope.games.record import GameRecord
from tests.generate.importers.written import MODELS, as_log


@pytest.fixture
def write_log(tmp_path: Path) -> Callable[..., Path]:
    """Write games or ready-made lines as a JSON-lines file."""

    def write(lines: Iterable[GameRecord | dict[str, Any] | str], name: str = "games.jsonl") -> Path:
        texts = [as_log(line) if isinstance(line, GameRecord) else line for line in lines]
        path = tmp_path / name
        path.write_text(
            "".join((text if isinstance(text, str) else json.dumps(text)) + "\n" for text in texts), encoding="utf-8"
        )
        return path

    return write


@pytest.fixture
def batches(write_log: Callable[..., Path]) -> Path:
    """The configuration of the batch "b"."""
    models = {role: {"type": "local", "model": model, "temperature": 0.7} for role, model in MODELS.items()}
    return write_log([{"batch_id": "b", "model_configs": models}], "batches.jsonl")
