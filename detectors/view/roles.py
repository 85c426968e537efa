"""Who deceives, as far as the labels of statements tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from liescope.detectors.examples import Example

Roles = Mapping[str, bool]
"""By player, whether the player deceives; without those of whom nothing tells."""


def roles_by_game(examples: Sequence[Example], y: NDArray[np.bool_]) -> dict[str, Roles]:
    """By game, from the labels for the role. Who never spoke does not deceive, if all who deceive did speak."""
    found: dict[str, dict[str, bool]] = {}
    for example, lies in zip(examples, y.tolist(), strict=True):
        found.setdefault(example.game_id, {})[example.speaker] = lies
    games = {example.game_id: example.seen.transcript for example in examples if example.seen}
    for key, game in games.items():
        if sum(found[key].values()) == game.deceivers:
            found[key] = dict.fromkeys(game.names, False) | found[key]
    return dict(found)
