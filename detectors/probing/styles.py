"""Styles: rewritings of a statement that change how it is said and not what: no word that negates, counts, names or
hedges is added, dropped or put in another's place. A detector of deception should not mind; probes often do.

What stands in place of words and of patterns, and around all, is in styles.toml. Another language is only a sentence
around, since no rule translates the words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from liescope.common.statistics import Bools
from liescope.detectors.detector import Groups
from liescope.detectors.examples import Example
from liescope.detectors.view.transcript import Transcript

STYLES: Mapping[str, Mapping[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Every style, by name."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_EXACT = frozenset(("never", "nobody", "nothing", "neither", "cannot", "without", "three", "seven", "eight"))


def styled(text: str, style: str, keep: Collection[str] = (), seed: int = 0) -> str:
    """The text in a style; the same one for the same seed. keep: names, which stay as they are."""
    if not text.strip():
        return text
    kept, draw = {word.casefold() for name in keep for word in _WORD.findall(name)}, Random(f"{seed} {style} {text}")
    words: Mapping[str, str] = STYLES[style].get("words", {})

    def other(match: re.Match[str]) -> str:
        word = match[0]
        if word.casefold() in kept:
            return word
        found = words.get(word.casefold().replace("’", "'"), word)
        found = found[:1].upper() + found[1:] if word[0].isupper() else found
        return _mistyped(found, draw) if style == "typos" else found

    said = _WORD.sub(other, text)
    for pattern, instead in STYLES[style].get("replace", ()):
        said = re.sub(pattern, instead, said)
    said = said.upper() if style == "capitals" else said
    before, after = draw.choice(STYLES[style].get("around", [("", "")]))
    return f"{before}{said}{after}" if said else text


def _mistyped(word: str, draw: Random) -> str:
    """Of about one longer word in three, two letters inside change places or one is lost."""
    if len(word) < 5 or not word.isalpha() or word.casefold() in _EXACT or draw.random() > 1 / 3:
        return word
    at = draw.randrange(1, len(word) - 2)
    return word[:at] + draw.choice((word[at + 1] + word[at], word[at])) + word[at + 2 :]


def in_style(examples: Sequence[Example], style: str, seed: int = 0) -> list[Example]:
    """The statements with their own words in a style; what was said before them stays. Of a game that is at hand, all
    that is said is in that style, since detectors of whole games read it there.
    """
    games, found = dict[int, Transcript](), list[Example]()
    for one in examples:
        if (seen := one.seen) is not None:
            if (key := id(game := seen.transcript)) not in games:
                turns = (replace(turn, text=styled(turn.text, style, game.names, seed)) for turn in game.turns)
                games[key] = replace(game, turns=tuple(turns))
            seen = replace(seen, transcript=games[key])
        found.append(replace(one, text=styled(one.text, style, one.names, seed), seen=seen))
    return found


def doubled(
    examples: Sequence[Example], y: Bools, groups: Groups, seed: int = 0
) -> tuple[list[Example], Bools, Groups]:
    """The statements, and each once more in a style that is drawn for it, with its label and group."""
    draw, names = Random(seed), list(STYLES)
    again = [replace(one, text=styled(one.text, draw.choice(names), one.names, seed)) for one in examples]
    return [*examples, *again], np.r_[y, y], np.r_[groups, groups]
