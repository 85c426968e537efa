"""Claims found by a model, each of which must quote the statement word for word and name only what is in the game; and
how far the origins of claims agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from liescope.common.agreement import agreement
from liescope.data_cards.tables import ClaimRow
from liescope.games.core import Event, EventKind
from liescope.games.facts import ClaimData
from liescope.games.game_registry import WORDS
from liescope.games.record import GameRecord
from liescope.games.vocabulary import NOT, FoundClaim, Vocabulary
from liescope.labeling.truth import teams_in_play

FIELDS = ("kind", "subject", "object", "polarity", "quote")
NO_QUOTE = "its quote is not in the statement"
NO_PLAYER = "its subject is not a player whom such a claim can be about"
NO_MEANING = "its kind or its object is not of the game"
REPEATED = "it repeats another claim"
_GOOD = frozenset({"innocent", "good", "town"})
_EVIL = frozenset({"guilty", "evil", "wolf"})


@dataclass(frozen=True, slots=True)
class ModelClaims:
    """Claims that models found in statements of a game. found: by model, the claims that stand, by statement in order;
    dropped: by model, how many claims were left out, by reason.
    """

    found: Mapping[str, Sequence[tuple[Event, Sequence[FoundClaim]]]]
    dropped: Mapping[str, Mapping[str, int]]


def model_claims(record: GameRecord) -> ModelClaims:
    """The claims in a record that models found; none if none was asked."""
    found: dict[str, list[tuple[Event, Sequence[FoundClaim]]]] = {}
    dropped: dict[str, Counter[str]] = {}
    for event in record.events:
        if event.kind is EventKind.CLAIMS_FOUND and event.about is not None:
            model = event.data.get("judge", "")
            said = record.events[event.about]
            claims, lost = standing(said, event.data.get("claims", ()), record)
            found.setdefault(model, []).append((said, claims))
            dropped.setdefault(model, Counter()).update(lost)
    return ModelClaims(found, dropped)


def standing(said: Event, claims: Iterable[ClaimData], record: GameRecord) -> tuple[list[FoundClaim], list[str]]:
    """The claims of a statement that stand, and why the others do not."""
    words = WORDS[record.game]
    teams = teams_in_play(record)
    values = frozenset({*teams, *teams.values()})
    kept: dict[tuple[str, str, str, bool], FoundClaim] = {}
    lost: list[str] = []
    for claim in claims:
        read = _read(said, claim, tuple(seat.name for seat in record.seats), values, words)
        if isinstance(read, str):
            lost.append(read)
        elif (key := (read.kind, read.subject, read.object, read.denied)) in kept:
            lost.append(REPEATED)
        else:
            kept[key] = read
    return sorted(kept.values(), key=lambda claim: claim.start), lost


def _read(
    said: Event, claim: ClaimData, names: Sequence[str], values: frozenset[str], words: Vocabulary
) -> FoundClaim | str:
    """The claim in the words of the game, or why it does not stand."""
    place = _place(claim.get("quote") or "", said.text)
    if place is None:
        return NO_QUOTE
    kind = claim["kind"].strip().casefold()
    spelled = {name.casefold(): name for name in names}
    subject = spelled.get((claim.get("subject") or "").strip().casefold(), "")
    object = (claim.get("object") or "").strip()
    denied = (claim.get("polarity") or "").strip().casefold() == "denied"
    promises = {promise.kind for promise in words.promises}
    if not subject or (kind in promises) != (kind in promises and subject == said.actor):
        return NO_PLAYER
    if kind in promises:
        target = spelled.get(object.casefold(), "")
        return FoundClaim(kind, subject, target, denied, *place) if target else NO_MEANING
    if kind == "protection" and words.protects:
        return FoundClaim(kind, subject, "", False, *place)
    if kind not in ("role", "guilt", "innocence", "investigation"):
        return NO_MEANING
    if subject == said.actor and kind != "role":
        return NO_PLAYER
    value = _value(object.casefold(), denied, values, words)
    if value is None or (not value and kind != "investigation"):
        return NO_MEANING
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


@dataclass(frozen=True, slots=True)
class ClaimAgreement:
    """Claims of one kind, "" for all kinds. first, second: how many each origin found; both: found by both, the same
    normal form in the same statement; kappa: Cohen's, on whether a statement holds a claim of this kind; None if not
    defined.
    """

    kind: str
    first: int
    second: int
    both: int
    kappa: float | None

    @property
    def precision(self) -> float | None:
        """The share of the second origin's claims that the first found too."""
        return self.both / self.second if self.second else None

    @property
    def recall(self) -> float | None:
        """The share of the first origin's claims that the second found too."""
        return self.both / self.first if self.first else None


def claim_agreement(
    claims: Iterable[ClaimRow], statements: Collection[str], first: str, second: str
) -> tuple[ClaimAgreement, ...]:
    """Agreement by kind, most frequent first, and over all kinds at the end. statements: the ids of those that both
    origins read; first, second: origins, such as "rules" and "model:NAME".
    """
    read = set(statements)
    rows = [row for row in claims if row.statement_id in read and row.origin in (first, second)]
    kinds = sorted({row.kind for row in rows}, key=lambda kind: (-sum(row.kind == kind for row in rows), kind))
    return tuple(_of_kind(kind, rows, statements, first, second) for kind in (*kinds, ""))


def _of_kind(
    kind: str, rows: Iterable[ClaimRow], statements: Collection[str], first: str, second: str
) -> ClaimAgreement:
    mine = [row for row in rows if row.kind == kind or not kind]
    one, two = ({(row.statement_id, row.normal) for row in mine if row.origin == origin} for origin in (first, second))
    having = [{statement for statement, _ in found} for found in (one, two)]
    kappa = agreement(*([statement in there for statement in statements] for there in having)).kappa
    return ClaimAgreement(kind, len(one), len(two), len(one & two), kappa)
