"""Styles: rewritings of a statement that change how it is said and not what: no word that negates, counts, names or
hedges is added, dropped or put in another's place. A detector of deception should not mind; probes often do.

Another language is only a frame around the words, since no rule translates them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from liescope.common.statistics import Bools
from liescope.detectors.detector import Groups
from liescope.detectors.examples import Example
from liescope.detectors.view.transcript import Transcript

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_LONG = {
    **{
        "i'm": "I am",
        "i've": "I have",
        "i'll": "I will",
        "you're": "you are",
        "we're": "we are",
        "they're": "they are",
    },
    **{"don't": "do not", "doesn't": "does not", "didn't": "did not", "isn't": "is not", "aren't": "are not"},
    **{"wasn't": "was not", "can't": "cannot", "won't": "will not", "couldn't": "could not", "wouldn't": "would not"},
    **{"yeah": "yes", "yep": "yes", "nope": "no", "ok": "all right", "okay": "all right", "guys": "everyone"},
    **{"gonna": "going to", "wanna": "want to", "gotta": "have got to", "hi": "good day", "hey": "good day"},
}
_SHORT = {
    **{"you": "u", "your": "ur", "are": "r", "and": "n", "yes": "yeah", "because": "cuz", "them": "em", "was": "wuz"},
    **{"going": "goin", "nothing": "nothin", "something": "somethin", "what": "wut", "though": "tho", "with": "w/"},
    **{"people": "folks", "everyone": "yall", "hello": "yo"},
}
_NEEDLESS = frozenset(("a", "an", "the", "please"))
_EXACT = frozenset(("never", "nobody", "nothing", "neither", "cannot", "without", "three", "seven", "eight"))
_FORMAL = ("I should like to state the following. ", "Permit me to say this. ", "I wish to put on record: ")
_SLANG = (("yo ", " lol"), ("dude ", " haha"), ("aight ", " man"), ("bruh ", " lmao"))
_FOREIGN = (
    ("Quiero decir lo siguiente: «", "». Eso es todo."),
    ("Ich möchte Folgendes sagen: „", "“. Das ist alles."),
    ("Je voudrais dire ceci : « ", " ». C'est tout."),
    ("Vorrei dire questo: «", "». È tutto."),
)
_WORDY = (
    ("Well, since we are talking about it, and to put it in so many words: ", " And that is what I have to say here."),
    ("Let me take a moment to get this across, one thing after the other: ", " So much for that part of it."),
    ("Now, as long as we are all here and have the time to talk: ", " There, that is what I wanted to bring up."),
)
Rewrite = Callable[[str, Collection[str], Random], str]
"""Called with a text, words to leave as they are (case-folded), and what draws."""


def _words(text: str, keep: Collection[str], other: Callable[[str], str]) -> str:
    """The text with each word replaced that is not kept."""
    return _WORD.sub(lambda one: one[0] if one[0].casefold() in keep else other(one[0]), text)


def _swapped(text: str, keep: Collection[str], words: Mapping[str, str]) -> str:
    def other(word: str) -> str:
        found = words.get(word.casefold().replace("’", "'"), word)
        return found[:1].upper() + found[1:] if word[0].isupper() else found

    return _words(text, keep, other)


def _formal(text: str, keep: Collection[str], draw: Random) -> str:
    return draw.choice(_FORMAL) + _swapped(text, keep, _LONG).replace("!", ".")


def _terse(text: str, keep: Collection[str], _draw: Random) -> str:
    left = _words(text, keep, lambda word: "" if word.casefold() in _NEEDLESS else word)
    parts = (re.sub(r"\s+(?=[,.!?]|$)|^\s+|\s+(?=\s)", "", one).rstrip(".!") for one in _SENTENCE.split(left))
    return "; ".join(filter(None, parts)) or text


def _slang(text: str, keep: Collection[str], draw: Random) -> str:
    before, after = draw.choice(_SLANG)
    return before + _swapped(text, keep, _SHORT).rstrip(".") + after


def _foreign(text: str, _keep: Collection[str], draw: Random) -> str:
    before, after = draw.choice(_FOREIGN)
    return before + text.rstrip(".") + after


def _typos(text: str, keep: Collection[str], draw: Random) -> str:
    """Two letters inside about one in three longer words change places, or one is lost."""

    def mistyped(word: str) -> str:
        if len(word) < 5 or not word.isalpha() or word.casefold() in _EXACT or draw.random() > 1 / 3:
            return word
        at = draw.randrange(1, len(word) - 2)
        return word[:at] + draw.choice((word[at + 1] + word[at], word[at])) + word[at + 2 :]

    return _words(text, keep, mistyped)


def _capitals(text: str, _keep: Collection[str], _draw: Random) -> str:
    return re.sub(r"\.(?=\s|$)", "!!", text.upper())


def _wordy(text: str, _keep: Collection[str], draw: Random) -> str:
    before, after = draw.choice(_WORDY)
    return before + text + after


def _markdown(text: str, _keep: Collection[str], draw: Random) -> str:
    title = draw.choice(("Statement", "Notes", "Summary"))
    return "\n".join((f"## {title}", "", *(f"- **{one}**" for one in _SENTENCE.split(text.strip()))))


STYLES: Mapping[str, Rewrite] = {
    "formal": _formal,
    "terse": _terse,
    "slang": _slang,
    "foreign frame": _foreign,
    "typos": _typos,
    "capitals": _capitals,
    "wordy": _wordy,
    "Markdown": _markdown,
}
"""Every style, by name."""


def styled(text: str, style: str, keep: Collection[str] = (), seed: int = 0) -> str:
    """The text in a style; the same one for the same seed. keep: names, which stay as they are."""
    if not text.strip():
        return text
    kept = {word.casefold() for name in keep for word in _WORD.findall(name)}
    return STYLES[style](text, kept, Random(f"{seed} {style} {text}"))


def in_style(examples: Sequence[Example], style: str, seed: int = 0) -> list[Example]:
    """The statements with their own words in a style; what was said before them stays. Of a game that is at hand, all
    that is said is in that style, since detectors of whole games read it there.
    """
    games: dict[int, Transcript] = {}
    for one in examples:
        if one.seen and (key := id(game := one.seen.transcript)) not in games:
            turns = (replace(turn, text=styled(turn.text, style, game.names, seed)) for turn in game.turns)
            games[key] = replace(game, turns=tuple(turns))
    return [
        replace(
            one,
            text=styled(one.text, style, one.names, seed),
            seen=one.seen and replace(one.seen, transcript=games[id(one.seen.transcript)]),
        )
        for one in examples
    ]


def doubled(
    examples: Sequence[Example], y: Bools, groups: Groups, seed: int = 0
) -> tuple[list[Example], Bools, Groups]:
    """The statements, and each once more in a style that is drawn for it, with its label and group."""
    draw, names = Random(seed), list(STYLES)
    again = [replace(one, text=styled(one.text, draw.choice(names), one.names, seed)) for one in examples]
    return [*examples, *again], np.r_[y, y], np.r_[groups, groups]
