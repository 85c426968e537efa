"""The view of a candidate: what one player said, what others said of it, and the rest, each a field of its own.

One builder for every family of detectors. In a field, the candidate, the speaker, the victims and everybody else are
told apart by tokens, never by name, so that nothing depends on who was dealt which name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from liescope.detectors.textualize import clean, replace_names
from liescope.detectors.view.transcript import Moment
from liescope.labeling.audiences import Heard, known_before

OWN, BEFORE, ABOUT, REST = "own", "before", "about", "rest"
FIELDS = (OWN, BEFORE, ABOUT, REST)
"""The words of the candidate; for a question about one statement, what it said before; of others about it; the rest."""

CANDIDATE, SPEAKER, VICTIM, OTHER = "candidate", "speaker", "victim", "other"
TOKENS = (CANDIDATE, SPEAKER, VICTIM, OTHER)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NAMED = re.compile(rf"\b{CANDIDATE}\b")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A player in question at a moment. focus: the turn of the statement that is asked about, None where the question
    is whether the player deceives.
    """

    moment: Moment
    player: str
    focus: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """Words in one field of a candidate's view. place: the turn in which they were said."""

    place: int
    field: str
    text: str


def turns_read(candidate: Candidate, window: int) -> list[int]:
    """The statements in view. window: for a question about one statement, how many earlier ones are read, of those that
    all who heard it had heard; otherwise everything so far is.
    """
    game, focus = candidate.moment.transcript, candidate.focus
    if focus is None:
        return [at for at, _ in game.said(candidate.moment.upto)]
    heard: list[Heard[int]] = [(turn.audience, at) for at, turn in game.said(focus)]
    return [*known_before(heard, game.turns[focus].audience, window), focus]


def view(candidate: Candidate, window: int) -> Iterator[Piece]:
    """The words of a game that bear on a candidate, in order; window: see `turns_read`."""
    for at in turns_read(candidate, window):
        for piece in pieces(candidate, at):
            yield replace(piece, field=BEFORE) if piece.field == OWN and candidate.focus not in (None, at) else piece


def pieces(candidate: Candidate, place: int) -> Iterator[Piece]:
    """One statement as it bears on a candidate. A sentence of somebody else is about the candidate if it names it."""
    game, player = candidate.moment.transcript, candidate.player
    turn, victims = game.turns[place], game.victims(place)
    if turn.player == player:
        yield Piece(place, OWN, masked(turn.text, game.names, player, player, victims))
        return
    of_it, besides = list[str](), list[str]()
    for sentence in _SENTENCE.split(turn.text):
        words = masked(sentence, game.names, player, turn.player, victims)
        (of_it if _NAMED.search(words) else besides).append(words)
    if of_it:
        yield Piece(place, ABOUT, " ".join(of_it))
    if besides:
        yield Piece(place, REST, " ".join(besides))


@lru_cache(maxsize=2**14)
def masked(text: str, names: tuple[str, ...], candidate: str, speaker: str, victims: frozenset[str]) -> str:
    """A text with every player's name replaced by what the player is to the candidate."""

    def token(name: str) -> str:
        if name == candidate.casefold():
            return CANDIDATE
        if name == speaker.casefold():
            return SPEAKER
        return VICTIM if name in victims else OTHER

    return replace_names(clean(text), names, token)
