"""The view of a candidate: what one player said, what others said of it, and the rest, each a field of its own.

One builder for every family of detectors. In a field, the candidate, the speaker, the victims and everybody else are
told apart by tokens, never by name, so that nothing depends on who was dealt which name.

For many candidates and many fits, the contents of fields are counted: each statement is read once, and learning decides
which of its n-grams are features.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from liescope.common.statistics import Floats
from liescope.detectors.text_form import clean, hide_roles, replace_names
from liescope.detectors.tf_idf import word_grams
from liescope.detectors.view.claim_graph import ClaimGraph, claim_graph
from liescope.detectors.view.transcript import GameMoment, Transcript
from liescope.labeling.label import Heard, known_before

if TYPE_CHECKING:
    from scipy.sparse import csr_array

OWN, BEFORE, ABOUT, REST = "own", "before", "about", "rest"
FIELDS = (OWN, BEFORE, ABOUT, REST)
"""The words of the candidate; for a question about one statement, what it said before; of others about it; the rest."""
CANDIDATE, SPEAKER, VICTIM, OTHER = "candidate", "speaker", "victim", "other"
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NAMED = re.compile(rf"\b{CANDIDATE}\b")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A player in question at a moment. focus: the turn of the statement asked about, None for the player itself."""

    moment: GameMoment
    player: str
    focus: int | None = None


def turns_read(candidate: Candidate, window: int) -> list[int]:
    """The statements in view; before a `focus`, only the last `window` ones that its whole audience heard."""
    game, focus = candidate.moment.transcript, candidate.focus
    if focus is None:
        return [at for at, _ in game.said(candidate.moment.upto)]
    heard: list[Heard[int]] = [(turn.audience, at) for at, turn in game.said(focus)]
    return [*known_before(heard, game.turns[focus].audience, window), focus]


def pieces(candidate: Candidate, place: int) -> Iterator[tuple[str, str]]:
    """(field, text) of one statement for a candidate; another's sentence is about the candidate if it names it."""
    game, player = candidate.moment.transcript, candidate.player
    turn, victims = game.turns[place], game.victims(place)
    if turn.player == player:
        own = OWN if candidate.focus in (None, place) else BEFORE
        yield own, masked(turn.text, game.names, player, player, victims)
        return
    of_it, besides = list[str](), list[str]()
    for sentence in _SENTENCE.split(turn.text):
        words = masked(sentence, game.names, player, turn.player, victims)
        (of_it if _NAMED.search(words) else besides).append(words)
    if of_it:
        yield ABOUT, " ".join(of_it)
    if besides:
        yield REST, " ".join(besides)


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


CLAIMS = "claims"
_COUNTED = (*FIELDS, CLAIMS)
_WORD = re.compile(r"\w+")
Row = tuple[NDArray[np.int32], NDArray[np.float32]]
"""Columns, each once, and the values there."""


@dataclass(frozen=True, slots=True)
class ViewCounting:
    """words: n-grams up to so many; window: see `turns_read`; votes: read once public; mask_role_words: as one word."""

    words: int
    window: int
    votes: bool
    mask_role_words: bool


@dataclass(frozen=True, slots=True)
class _Counts:
    """The counts of one game."""

    graph: ClaimGraph
    said: dict[tuple[str, int, bool], list[tuple[str, Row]]] = field(default_factory=dict)
    claimed: dict[tuple[str, int | None, int | None], Row] = field(default_factory=dict)


class Counted:
    """Counts for one way of reading. features: by field, each feature met so far with its number."""

    def __init__(self, reading: ViewCounting, known: Mapping[str, Iterable[str]] | None = None) -> None:
        """known: by field, the only features that are counted; None for all that occur."""
        own = {name: {feature: at for at, feature in enumerate((known or {}).get(name, ()))} for name in _COUNTED}
        self.features = own if known else {**own, BEFORE: own[OWN]}
        self._reading, self._fixed = reading, known is not None
        self._read: WeakKeyDictionary[Transcript, _Counts] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_read": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _read=WeakKeyDictionary())

    def _of(self, game: Transcript) -> _Counts:
        return self._read.get(game) or self._read.setdefault(game, _Counts(claim_graph(game)))

    def fields(self, candidates: Sequence[Candidate]) -> dict[str, csr_array]:
        """By field, (n, features met so far) counts."""
        found: dict[str, list[list[Row]]] = {name: [] for name in _COUNTED}
        for candidate in candidates:
            for rows in found.values():
                rows.append([])
            for name, row in self._words(candidate):
                found[name][-1].append(row)
            found[CLAIMS][-1].append(self._claims(candidate))
        return {name: _stacked(rows, len(self.features[name])) for name, rows in found.items()}

    def _words(self, candidate: Candidate) -> list[tuple[str, Row]]:
        """The fields of each statement in view. A statement's n-grams are counted once for each candidate."""
        known = self._of(candidate.moment.transcript).said
        found: list[tuple[str, Row]] = []
        for at in turns_read(candidate, self._reading.window):
            earlier = candidate.focus not in (None, at)
            key = (candidate.player, at, earlier)
            if key not in known:
                known[key] = [(name, self._count(name, self._grams(text))) for name, text in pieces(candidate, at)]
            found += known[key]
        return found

    def _claims(self, candidate: Candidate) -> Row:
        """The claims in view, extracted once for each candidate and moment."""
        game = self._of(candidate.moment.transcript)
        key = (candidate.player, candidate.moment.upto, candidate.focus)
        if key not in game.claimed:
            relations = game.graph.relations(*key[:2], self._reading.votes, candidate.focus)
            game.claimed[key] = self._count(CLAIMS, relations)
        return game.claimed[key]

    def _grams(self, text: str) -> list[str]:
        words = _WORD.findall((hide_roles(text) if self._reading.mask_role_words else text).lower())
        return word_grams(words, self._reading.words)

    def _count(self, name: str, grams: Sequence[str]) -> Row:
        features = self.features[name]
        counted = Counter(gram for gram in grams if gram in features) if self._fixed else Counter(grams)
        places = np.array([features.setdefault(gram, len(features)) for gram in counted], dtype=np.int32)
        return places, np.array(list(counted.values()), dtype=np.float32)


def _stacked(rows: Sequence[Sequence[Row]], width: int) -> csr_array:
    """(rows, width). rows: the parts of each, which are added."""
    from scipy.sparse import csr_array

    none = (np.empty(0, np.int32), np.empty(0, np.float32))
    columns, values = (np.concatenate(each) for each in zip(none, *chain.from_iterable(rows), strict=True))
    ends = np.cumsum([0, *(sum(len(columns) for columns, _ in parts) for parts in rows)], dtype=np.int32)
    found = csr_array((values, columns, ends), (len(rows), width))
    found.sum_duplicates()
    return found


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for or against a statement or a candidate. field: where it stands; feature: the words or the claim;
    weight: what it adds to the log-odds of deception, against the mean of the players where there is one.
    """

    field: str
    feature: str
    weight: float

    def __str__(self) -> str:
        """As in `own: investigated him (+0.31)`."""
        return f"{self.field}: {self.feature} ({self.weight:+.2f})"


def strongest(added: Floats, most: int) -> list[int]:
    """The indices of the largest contributions on either side of 0, zeros left out."""
    return [int(at) for at in np.argsort(-np.abs(added), kind="stable")[:most] if added[at]]
