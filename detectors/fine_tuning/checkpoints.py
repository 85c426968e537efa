"""Checkpoints of a fine-tuning, so that one that was killed goes on: each training of a command in a folder of its own,
named by what it learns from and how.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from liescope.common.errors import UsageError
from liescope.common.reading import Reading
from liescope.detectors.fine_tuning.curves import Losses
from liescope.detectors.fine_tuning.options import FineTuningOptions

_CHOSEN, _STATE = "chosen.json", "trainer_state.json"
_STEP = re.compile(r"checkpoint-(\d+)")
Choice = tuple[int, int, Losses]
"""The number of steps that was chosen, how many were planned, and the curves."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Where the checkpoints of a training are kept; None for nowhere."""

    folder: Path | None

    @classmethod
    def of(cls, o: FineTuningOptions, *given: object) -> Self:
        """The place of a training with these options on these items. Raises UsageError if it cannot be made."""
        if not o.checkpoints:
            return cls(None)
        digest = hashlib.sha256(o.model_dump_json().encode())
        for one in given:
            for item in one if isinstance(one, Sequence) else [one]:
                digest.update(repr(item).encode())
        folder = Path(o.checkpoints) / digest.hexdigest()[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror or error
            raise UsageError(f"{folder} cannot be written ({why}); choose another --checkpoints") from error
        return cls(folder)

    def part(self, name: str) -> Path | None:
        """The folder of one of its trainings."""
        return self.folder and self.folder / name

    def chosen(self) -> Choice | None:
        """What was chosen before, if it was."""
        path = self.folder and self.folder / _CHOSEN
        if path is None or not path.is_file():
            return None
        with Reading(path, "remove it, and the number of steps is chosen again"):
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return int(found["steps"]), int(found["planned"]), list(found["losses"])

    def keep(self, chosen: Choice) -> None:
        """Remember what was chosen."""
        if self.folder:
            facts = dict(zip(("steps", "planned", "losses"), chosen, strict=True))
            partial = self.folder / f".{_CHOSEN}.partial"
            partial.write_text(json.dumps(facts), encoding="utf-8")
            partial.replace(self.folder / _CHOSEN)

    @staticmethod
    def last(folder: Path | None, steps: int = 0) -> str | None:
        """The last complete checkpoint in a folder, before its `steps` if they are given: what is left of the training
        is a step or more.
        """
        found = {
            int(match[1]): path
            for path in (folder.iterdir() if folder and folder.is_dir() else ())
            if (match := _STEP.fullmatch(path.name)) and (path / _STATE).is_file()
        }
        left = [step for step in found if not steps or step < steps]
        return str(found[max(left)]) if left else None
