"""A pattern that is not tried, because a word that it needs is missing, could not have matched."""

from __future__ import annotations

import re
from copy import copy
from itertools import product

import pytest

from liescope.labeling import claims, sentence_reading
from liescope.labeling.role_patterns import RolePatterns, role_patterns

NAMES = ("Alice", "Bob", "Charlie", "Diana")
WORDS = (
    "mafioso", "mafia", "mobster", "killer", "murderer", "culprit", "imposter", "traitor", "bad guy", "guilty",
    "evil", "one behind this", "one who killed Diana", "one responsible for this", "detective", "cop", "villager",
    "civilian", "innocent", "town", "townie", "clear", "cleared", "with the mafia", "on our side",
    "part of the town", "in our team", "werewolf", "wolves", "jester", "doctor", "doc", "medic", "healer", "seer",
    "village aligned", "good guy", "one of the villagers", "in league with the wolves", "part of the pack",
)  # fmt: skip
FRAMES = (
    "Bob is the {}.",
    "I am {}.",
    "Bob isn't {}, I voted.",
    "The {} is Bob.",
    "Bob, the {}, lied.",
    "Bob, as the {}, you vote.",
    "I'm Alice, the {}.",
    "As the {}, I vote for Bob.",
    "My {} findings say so; I vote.",
    "There is one {}: me.",
    "Bob is pretending to be the {}.",
    "Bob is right about Diana being the {}.",
    "Bob confessed to being the {}.",
    "I found Bob to be {}.",
    "I investigated Bob: {}.",
    "My investigation last night confirmed it: Bob is {}.",
    "I confirmed it last night with my investigation, Bob is {}.",
    "What I uncovered: Bob is {}.",
    "I found this during the night: Bob, not Diana, is {}.",
)


@pytest.mark.parametrize("game", ["mini-mafia", "werewolf", "one-night-werewolf"])
def test_what_is_skipped_would_not_have_matched(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [frame.format(word) for frame, word in product(FRAMES, WORDS)]
    found = [claims.find_claims(text, "Alice", NAMES, game) for text in texts]
    anything = re.compile("")

    def unguarded(name: str) -> RolePatterns:
        patterns = copy(role_patterns(name))
        patterns.mentions = anything
        return patterns

    monkeypatch.setattr(claims, "role_patterns", unguarded)
    for guard in ("LOOKING", "PRETENDING", "INVESTIGATING"):
        monkeypatch.setattr(sentence_reading, guard, anything)
    assert sum(map(bool, found)) > len(texts) / 4
    assert found == [claims._find(text, "Alice", NAMES, game) for text in texts]
