"""Attempts at prompt injection in a statement, found by a list of rules.

An attempt addresses whoever reads the statement as a language model, or imitates what such a model is given: orders to
drop its instructions, the marks of chat formats, messages of a moderator or system, news of the game in the form in
which players are told it, or the words of other players. Talk about players, prompts or artificial intelligence is
none, nor is one's own name in front of one's words. The rules prefer to miss an attempt over finding one that is none;
what they find can be an accident, of a model that writes on in its format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

KINDS = {
    "override": "tells others to drop their instructions",
    "prompt": "asks for the prompt",
    "orders": "dictates the form of a reply",
    "marks": "holds the marks of a chat format",
    "voice": "speaks as the system or a moderator",
    "news": "gives news as the game does",
    "players": "speaks as other players",
}
_LONGEST = 20_000  # characters that are read
_START = r"(?:^|\n|(?<=[.!?\"”]) )[\W_]{0,6}"  # of a line or a sentence, marks of emphasis or brackets included
_WHAT = (
    r"(?:instructions?|commands?|prompts?|guidelines?|directives?|programming|training|system (?:prompt|message|rules))"
)
_WHICH = (
    r"(?:(?:all|any|every|of|the|your|these|those|previous|prior|earlier|above|preceding|former|initial|original|"
    r"current|system|safety|given|other|own),? ){0,5}"
)
_SPEAKERS = (
    r"(?:system|moderator|narrator|game ?master|gm|game host|admin|administrator|assistant|developer|game engine)"
)
_NEEDED: dict[str, tuple[str, ...]] = {  # what a text with an attempt contains, to save time
    "override": ("ignor", "disregard", "forget", "bypass", "discard", "overrid", "instruct", "prompt", "direct", "now"),
    "prompt": ("prompt", "instructions"),
    "orders": ("respon", "repl", "answer", "output"),
    "marks": ("inst]", "<", "#"),
    "voice": ("system", "moderat", "narrat", "master", "gm", "host", "admin", "assistant", "develop", "engine"),
    "news": ("vote", "day", "night", "over", "won", "#"),
}
_RULES: dict[str, tuple[str, ...]] = {
    "override": (
        rf"(?<!n't )(?<!not )(?<!never )(?<!to )(?<!he )(?<!she )(?<!they )(?<!\w)"
        rf"(?:ignore|disregard|forget|override|bypass|discard)(?: about)? {_WHICH}{_WHAT}(?!\w)",
        r"(?<!\w)(?:ignore|disregard|forget) (?:everything|anything|all)(?: \w+){0,3} (?:above|before this|"
        r"you (?:were|have been) (?:told|given|taught))(?!\w)",
        r"(?<!\w)(?:new|updated|real|revised) (?:instructions?|system prompt|directives?) ?:",
        r"(?<!\w)you are now (?:in (?:\w+ ){0,2}mode|an? (?:\w+ ){0,2}(?:assistant|ai|bot|language model)|dan(?!\w))",
        r"(?<!\w)(?:system|admin|developer|debug|emergency) override(?!\w)",
    ),
    "prompt": (
        r"(?<!\w)(?:reveal|print|show|repeat|output|display|tell (?:me|us)|give (?:me|us)|what (?:is|are|was|were)) "
        r"(?:\w+ ){0,2}your (?:\w+ )?(?:system prompt|prompt|(?:hidden|secret|system|initial|original) instructions)"
        r"(?!\w)",
    ),
    "orders": (
        r"(?<!\w)(?:respond|reply|answer|output) (?:(?:only|just) with|with (?:only|just|exactly|the words?))(?!\w)",
        r"(?<!\w)your (?:next )?(?:response|reply|output|answer) (?:must|should|shall) (?:only )?"
        r"(?:be|contain|begin|start|say)(?!\w)",
        r"(?<!\w)output (?:only )?[\"'\[{]",
    ),
    "marks": (
        r"\[/?inst\]|<</?sys>>|</?s>|<\|[a-z0-9_]{2,30}\|>|<(?:start|end)_of_turn>",
        r"</?(?:system|assistant|user|instructions?)>",
        r"(?:^|\n)#{1,6} ?(?:system|instructions?|user|assistant|response|prompt)(?!\w)",
    ),
    "voice": (
        rf"{_START}{_SPEAKERS}(?: (?:message|note|notice|announcement|alert|instruction))?[\W_]{{0,3}}:(?!\d)",
        rf"[\[({{<*]{{1,2}} ?{_SPEAKERS}(?: (?:message|note|notice|announcement|alert))? ?[\])}}>*:]",
        r"(?<!\w)(?:i am|i'm|this is) the (?:moderator|game ?master|narrator|system|game engine|developer)(?!\w)",
    ),
    "news": (
        r"(?:^|\n)[\W_]{0,3}votes? ?: ?\w+ (?:votes?|voted)(?: for)? \w",
        r"(?:^|\n)[\W_]{0,3}(?:day|night) \d{1,2} (?:begins|has begun|starts|ends|is over)(?!\w)",
        r"(?:^|\n)[\W_]{0,3}(?:game over|the (?:town|mafia|villagers|werewolves) (?:has|have) won)(?!\w)",
        r"(?:^|\n)#(?:voting|discussion|memory|context|rules)(?!\w)",
    ),
}


@dataclass(frozen=True, slots=True)
class InjectionAttempt:
    """kind: a key of `KINDS`; start, end: its characters in the statement."""

    kind: str
    start: int
    end: int


def attempts(text: str, speaker: str, names: Sequence[str]) -> tuple[InjectionAttempt, ...]:
    """The attempts in a statement, at most one of each kind, in the order of `KINDS`. Any text and names are accepted.

    names: of the players. Only the first 20,000 characters are read.
    """
    read = text[:_LONGEST].replace("’", "'")
    low = read.lower()
    found = [
        InjectionAttempt(kind, *match.span())
        for kind, pattern in _patterns().items()
        if any(word in low for word in _NEEDED[kind]) and (match := pattern.search(read)) is not None
    ]
    labels = _label(tuple(names)).finditer(read) if names and ":" in read else ()
    others = [match for match in labels if match["name"].lower() != speaker.lower()]
    return (*found, *(InjectionAttempt("players", *match.span("name")) for match in others[:1]))


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    return {kind: re.compile("|".join(rules), re.IGNORECASE) for kind, rules in _RULES.items()}


@lru_cache(maxsize=256)
def _label(names: tuple[str, ...]) -> re.Pattern[str]:
    """A player's name as the label of words in the first person that address nobody."""
    listed = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    first = r"(?=(?:i|i'm|i've|i'd|i'll|let's|we|we're|my|as|based)(?!\w))"
    said = rf"[\"']?{first}(?![^.!?\n]*(?<!\w)(?:you|your|you're)(?!\w))"
    return re.compile(rf"(?:^|\n|[.!?\"'] +)[\W_]{{0,3}}(?P<name>{listed})(?: \(\w+\))?: {said}", re.IGNORECASE)
