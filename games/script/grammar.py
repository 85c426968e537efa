"""Turns what a speaker wants to do, and how firm it can sound, into words.

The cores of a statement say what it does; an opener, a frame, reasons and a closer around them add firmness. The
speaker hears its words as a listener would (`reading.tone`) and adds fragments until it reaches the firmness it is
capable of.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from pathlib import Path
from random import Random
from typing import Self

from liescope.games.script.hearing import CUE, tone
from liescope.games.taxonomy import DeceptionType as Kind

FRAGMENTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FRAMES = tuple(f"{frame} " for frame in FRAGMENTS["frames"])
OPENERS, REASONS, REMARKS, CLOSERS = (FRAGMENTS[slot] for slot in ("openers", "reasons", "remarks", "closers"))


JOINS = (" and ", "; ", ": ", ", and ", ". ")  # between two cores
ROOM = 200  # characters that a statement aims to keep within
PLAIN = 0.6  # how often a slot not needed for firmness stays empty

_SYMBOL = re.compile(r"<(\w+)>")
_BEGINS = re.compile(r"\. [a-z]")
_NAME = re.compile(r"\{(\w+)\}")


SPREAD = 0.2  # how far the strength of one statement varies around the skill
SECOND = 0.4  # how often a statement makes a second move


@dataclass(frozen=True, slots=True)
class Intent:
    """moves: keys of `Phrasebook.moves`, the main one first; names: {x}, {y}, {dead} of each; planted: the deception
    that the speaker intends, NONE for an honest statement; strength: how firm it tries to sound.
    """

    moves: tuple[str, ...]
    names: tuple[dict[str, str], ...]
    planted: Kind
    strength: float

    @property
    def private(self) -> dict[str, str]:
        """The speaker's hidden intent, for `Reply.private`."""
        return {"planted_type": self.planted.value, "intent": "+".join(self.moves)}


@dataclass(frozen=True, slots=True, eq=False)
class Phrasebook:
    """The words of one game. moves: templates by move; parts: templates by symbol; framed: moves that a frame can
    precede; about_others: moves that a reason about {x} can follow.
    """

    moves: Mapping[str, Sequence[str]]
    parts: Mapping[str, Sequence[str]]
    framed: Collection[str]
    about_others: Collection[str]

    @classmethod
    def read(cls, file: Path) -> Self:
        """The words in a TOML file; <and> stands for what joins two cores."""
        words = tomllib.loads(file.read_text("utf-8"))
        return cls(**words | {"parts": {**words["parts"], "and": JOINS}})


def _by_tone(fragments: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Fragments sorted by how they sound: 1 firm, 0 neither, -1 shaky."""
    return {sign: tuple(f for f in fragments if tone(f) == sign) for sign in (-1, 0, 1)}


_OPENERS, _FRAMES, _REASONS, _REMARKS, _CLOSERS = map(_by_tone, (OPENERS, FRAMES, REASONS, REMARKS, CLOSERS))


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """The words of a statement: its sentences, and what was said around them by slot ("" for nothing)."""

    said: Mapping[str, str]
    sentences: Sequence[str]

    def text(self, limit: int | None) -> str:
        """The statement, with less around its sentences if it is longer than the limit; None for no limit."""
        text = _join(self.said, self.sentences)
        if limit is None or len(text) <= limit:
            return text
        said = dict(self.said)
        for slot in ("closer", "remark", "reason", "opener"):
            if len(text) > limit:
                said[slot] = ""
                text = _join(said, self.sentences)
        return text


def compose(
    moves: Sequence[str],
    names: Sequence[Mapping[str, str]],
    strength: float,
    random: Random,
    words: Phrasebook,
) -> Composed:
    """A statement that makes these moves and sounds about as strong as asked.

    moves: keys of the phrasebook; names: who {x}, {y} and {dead} are in each move; strength: as in
    `reading.MessageContent`, rounded at random to one of the two nearest multiples of a cue.
    """
    cores = [_core(move, who, random, words) for move, who in zip(moves, names, strict=True)]
    missing = floor(strength / CUE + random.random()) - sum(map(tone, cores))
    slots = ["opener", "reason", "closer", "remark"]
    if moves[0] in words.framed:
        slots.append("frame")
    random.shuffle(slots)
    said = dict.fromkeys(("opener", "reason", "closer", "remark", "frame"), "")
    length = sum(map(len, cores)) + 2 * len(cores)
    for slot in slots:
        sign = (missing > 0) - (missing < 0)
        if sign == 0 and random.random() < PLAIN:
            continue
        fragment = _fill(random.choice(_bank(slot, moves[0] in words.about_others)[sign]), names[0])
        if fragment not in said.values() and length + len(fragment) + 1 <= ROOM:
            length += len(fragment) + 1
            missing -= sign
            said[slot] = fragment
    sentences = [_sentence(said["frame"] + cores[0]), *map(_sentence, cores[1:])]
    return Composed(said, sentences)


def _join(said: Mapping[str, str], sentences: Sequence[str]) -> str:
    parts = [said["opener"], *sentences, said["reason"], said["remark"], said["closer"]]
    return " ".join(filter(None, parts))


def _bank(slot: str, about_others: bool) -> dict[int, tuple[str, ...]]:
    if slot == "reason":
        return _REASONS if about_others else _REMARKS
    return {"opener": _OPENERS, "closer": _CLOSERS, "frame": _FRAMES, "remark": _REMARKS}[slot]


def _sentence(text: str) -> str:
    text = text[0].upper() + text[1:]
    text = _BEGINS.sub(lambda match: match[0].upper(), text)
    return text if text[-1] in ".?!" else text + "."


def _core(move: str, who: Mapping[str, str], random: Random, words: Phrasebook) -> str:
    return _fill(_expand(random.choice(words.moves[move]), random, words.parts), who)


def _fill(text: str, who: Mapping[str, str]) -> str:
    return _NAME.sub(lambda match: who[match[1]], text) if "{" in text else text


@lru_cache(maxsize=4096)
def _pieces(template: str) -> tuple[str, ...]:
    """Words and symbols in turn: words at even indices, names of symbols at odd ones."""
    return tuple(_SYMBOL.split(template))


def _expand(template: str, random: Random, parts: Mapping[str, Sequence[str]]) -> str:
    pieces = _pieces(template)
    if len(pieces) == 1:
        return template
    return "".join(
        _expand(random.choice(parts[piece]), random, parts) if place % 2 else piece
        for place, piece in enumerate(pieces)
    )
