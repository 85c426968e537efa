"""Claims found by a model, each of which must quote the statement word for word and name only what is in the game."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from liescope.games.core import Event, EventKind
from liescope.games.facts import ClaimData
from liescope.games.game_registry import WORDS
from liescope.games.record import GameRecord
from liescope.games.vocabulary import NOT, FoundClaim, Vocabulary
from liescope.labeling.truth import teams_in_play

FIELDS = ("kind", "subject", "object", "polarity", "quote")
_GOOD = frozenset({"innocent", "good", "town"})
_EVIL = frozenset({"guilty", "evil", "wolf"})


def model_claims(record: GameRecord) -> Mapping[str, Sequence[tuple[Event, Sequence[FoundClaim]]]]:
    """The claims in a record that models found and that stand: by model, by statement in order."""
    found: dict[str, list[tuple[Event, Sequence[FoundClaim]]]] = {}
    for event in record.events:
        if event.kind is EventKind.CLAIMS_FOUND and event.about is not None:
            said = record.events[event.about]
            claims = standing(said, event.data.get("claims", ()), record)
            found.setdefault(event.data.get("judge", ""), []).append((said, claims))
    return found


def standing(said: Event, claims: Iterable[ClaimData], record: GameRecord) -> list[FoundClaim]:
    """The claims of a statement that stand, each once."""
    words = WORDS[record.game]
    teams = teams_in_play(record)
    values = frozenset({*teams, *teams.values()})
    kept: dict[tuple[str, str, str, bool], FoundClaim] = {}
    for claim in claims:
        read = _read(said, claim, tuple(seat.name for seat in record.seats), values, words)
        if read is not None:
            kept.setdefault((read.kind, read.subject, read.object, read.denied), read)
    return sorted(kept.values(), key=lambda claim: claim.start or 0)


def _read(
    said: Event, claim: ClaimData, names: Sequence[str], values: frozenset[str], words: Vocabulary
) -> FoundClaim | None:
    """The claim in the words of the game; None if it does not stand: its quote is not in the statement, its subject is
    not a player whom such a claim can be about, or its kind or object is not of the game.
    """
    place = _place(claim.get("quote") or "", said.text)
    if place is None:
        return None
    kind = claim["kind"].strip().casefold()
    spelled = {name.casefold(): name for name in names}
    subject = spelled.get((claim.get("subject") or "").strip().casefold(), "")
    object = (claim.get("object") or "").strip()
    denied = (claim.get("polarity") or "").strip().casefold() == "denied"
    promises = {promise.kind for promise in words.promises}
    if not subject or (kind in promises) != (kind in promises and subject == said.actor):
        return None
    if kind in promises:
        target = spelled.get(object.casefold(), "")
        return FoundClaim(kind, subject, target, denied, *place) if target else None
    if kind == "protection" and words.protects:
        return FoundClaim(kind, subject, "", False, *place)
    if kind not in ("role", "guilt", "innocence", "investigation"):
        return None
    if subject == said.actor and kind != "role":
        return None
    value = _value(object.casefold(), denied, values, words)
    if value is None or (not value and kind != "investigation"):
        return None
    if kind != "investigation":
        own = subject == said.actor
        kind, value = ("role", words.own.get(value, value)) if own else (words.kind(value), value)
    return FoundClaim(kind, subject, value.removeprefix(NOT), value.startswith(NOT), *place)


def _value(object: str, denied: bool, values: frozenset[str], words: Vocabulary) -> str | None:
    """The claimed value as the rules would write it; None if the game has no such role or side."""
    if not object:
        return ""
    if object.startswith(NOT):
        object, denied = object.removeprefix(NOT), not denied
    value = {own: value for value, own in words.own.items()}.get(object, object)
    if value not in values:
        side = next((name for name in ("town", "villagers") if name in values), "")
        value = side if value in _GOOD else words.evil if value in _EVIL else ""
    if not value:
        return None
    return words.deny(value) if denied else value


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, word for word; white space may differ, and marks around the quote."""
    words = quote.split()
    if not words:
        return None
    for tried in (words, quote.strip(" \n\t\"'\u201c\u201d\u2018\u2019.,;:!?").split()):
        found = re.search(r"\s+".join(map(re.escape, tried)), text) if tried else None
        if found:
            return found.span()
    return None
