"""What a detector is: text in, probability of deception out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.examples import Example
from liescope.detectors.textualize import TextConfig

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, how much is done, how much there is)."""


def silent(what: str, done: int, total: int) -> None:
    """A Progress that shows nothing."""


class Detector(Protocol):
    """The verbs of scikit-learn. `kind` is its name in the registry, `text` how a statement becomes text, and
    `options` what else it was made with, as JSON data.
    """

    kind: str
    text: TextConfig

    @property
    def options(self) -> Mapping[str, Any]: ...

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        progress: Progress = silent,
        /,
    ) -> Self:
        """Learn. y: (n,) True for deceptive; groups: (n,) game ids, for whatever is held out inside."""

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent, /) -> NDArray[np.float64]:
        """(n, 2): probability of honest, probability of deceptive, as scikit-learn orders classes."""

    def save(self, folder: Path) -> None:
        """Write the learned parts into an existing folder; nothing that must be unpickled."""

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: Mapping[str, Any]) -> Self:
        """Read what `save` wrote. Raises BadData for a damaged folder."""
