"""The ledger: every claim of a game, with what the log says about it, what its speaker knew, and the resulting labels.

Classes of claims other than promises:
- lie or truthful: the speaker knew whether it is false or true;
- the speaker could not know, and another player had said as much before in its hearing: it was believed on that
  player's word, so it is a mistake if false and truthful if true;
- unsupported: asserted without a way to know and without anybody's word, whatever its truth;
- undecidable: the log does not decide it. Promises are undecidable too: `kept` says what became of them.

Claims come from one origin or more: the rules, an importer, a model. They are never mixed: each claim is classed
against claims of its own origin, and labels come from one origin alone. The next act decides whether a promise was
kept. A promise states an intention, people change their minds during a discussion, and the log shows acts, not
intentions: a broken promise alone is never a lie, and has a label of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from liescope.data_cards.tables.rows import ClaimRow
from liescope.games.core import Event, EventKind, Phase
from liescope.games.facts import ClaimData
from liescope.games.game_registry import GAMES, WORDS
from liescope.games.record import GameRecord
from liescope.games.vocabulary import PROMISES, FoundClaim, Promise
from liescope.labeling.claims import find_claims
from liescope.labeling.conditions import origin_of
from liescope.labeling.model_claims import model_claims
from liescope.labeling.truth import FALSE, TRUE, UNDECIDED, UNVERIFIABLE, Checked, Truth, holds


def check_promise(promise: Promise, claim: FoundClaim, statement: Event, record: GameRecord) -> Checked:
    """The promise compared with the speaker's next such act, or with the vote that the statement is the reason for. It
    stays open if there is no such act, if the rules drew the act, and if the words leave open whom the act is for.
    """
    act = _act(promise, statement.actor, statement, record)
    other = _act(promise, claim.object, statement, record) if promise.follows else None
    proof = tuple(sorted(event.index for event in (act, other) if event))
    target = other.target if other else "" if promise.follows else claim.object
    if act is None or not target or any(event and event.fallback for event in (act, other)):
        return UNDECIDED
    return Checked(TRUE if (act.target == target) != claim.denied else FALSE, proof, known=False)


def _act(promise: Promise, actor: str | None, statement: Event, record: GameRecord) -> Event | None:
    explained = statement.phase is Phase.VOTING and promise.act is EventKind.VOTE
    for event in record.events if explained else record.events[statement.index :]:
        if event.kind is promise.act and event.actor == actor and 0 <= event.day - statement.day <= promise.days:
            return event
    return None


RULES = "rules"
BY_IMPORTER = "import:"  # the beginning of the origin of claims that a source brings
BY_MODEL = "model:"  # the beginning of the origin of claims that a model found
AFFIRMED, DENIED = "affirmed", "denied"
PROMISED = frozenset(promise.kind for promise in PROMISES)
TRUTHFUL, LIE, MISTAKE, UNSUPPORTED, UNDECIDABLE = "truthful", "lie", "mistake", "unsupported", "undecidable"
NO_CLAIM = "no checkable claim"
NO_CLAIMS_READ = "no claims are read in games that Liescope cannot play"
NO_KNOWN_CLAIM = "no claim that the speaker could know to be true or false"
NO_CLAIM_THERE = "the source has no claim of it"
NO_PROMISE = "no promise"
NO_PROMISES_READ = "no promises are read in games that Liescope cannot play"
NO_SETTLED_PROMISE = "no promise that an act kept or broke"


def statement_id(game_id: str, index: int) -> str:
    """The id of the statement that is the game's event `index`."""
    return f"{game_id}:{index}"


def by_its_rules(record: GameRecord) -> GameRecord:
    """The record under the name of the game by whose words and rules an importer says that its claims are read."""
    rules = record.meta.get("rules", "")
    return replace(record, game=rules) if record.game not in GAMES and rules in GAMES else record


def claim_rows(record: GameRecord) -> tuple[ClaimRow, ...]:
    """Every claim in the statements of a game, in the order in which they were made, origin by origin."""
    record = by_its_rules(record)
    if record.game not in GAMES:
        return tuple(_imported(record, _importer(record)))
    if GAMES[record.game].states_claims:
        return tuple(_imported(record, RULES))
    by_models = model_claims(record).items()
    found = [row for model, claims in by_models for row in checked_claims(record, f"{BY_MODEL}{model}", claims)]
    return (*_read_by_rules(record), *_imported(record, _importer(record)), *found)


_ASIDE = re.compile(r"\((?:voice|sound): [^()\n]{0,100}\)")  # a direction for a speaking voice, not said


def _read_by_rules(record: GameRecord) -> Sequence[ClaimRow]:
    names = tuple(seat.name for seat in record.seats)
    said = [event for event in record.events if event.kind is EventKind.STATEMENT]
    texts = (_ASIDE.sub(lambda aside: " " * len(aside[0]), event.text) for event in said)
    claims = (find_claims(text, one.actor or "", names, record.game) for one, text in zip(said, texts, strict=True))
    return checked_claims(record, RULES, zip(said, claims, strict=True))


def checked_claims(
    record: GameRecord, origin: str, found: Iterable[tuple[Event, Sequence[FoundClaim]]]
) -> list[ClaimRow]:
    """The rows of claims of one origin, found in the statements of a game in their order. Raises UnknownName for a game
    whose rules are not known.
    """
    truth = Truth(record)
    promises = {promise.kind: promise for promise in WORDS[record.game].promises}
    rows: list[ClaimRow] = []
    heard: list[tuple[Event, FoundClaim]] = []
    for event, claims in found:
        for claim in claims:
            promise = promises.get(claim.kind)
            if promise:
                checked = check_promise(promise, claim, event, record)
                kept, standing = {TRUE: True, FALSE: False}.get(checked.verdict), UNDECIDABLE
            else:
                told = (one for one, other in heard if _told(one, event) and says_as_much(other, claim, truth.teams))
                kept, (checked, standing) = None, _standing(truth.check(claim, event), told)
            rows.append(_row(record, origin, event, claim, checked, standing, kept))
        heard += [(event, claim) for claim in claims if claim.kind not in promises]
    return rows


def _standing(checked: Checked, sources: Iterator[Event]) -> tuple[Checked, str]:
    """The class of a claim other than a promise, and, as evidence, the statement that the speaker took it from, if any.
    sources: earlier statements that said as much in its hearing.
    """
    if checked.verdict == UNVERIFIABLE or checked.known is None:
        return checked, UNDECIDABLE
    true = checked.verdict == TRUE
    if checked.known:
        return checked, TRUTHFUL if true else LIE
    if (source := next(sources, None)) is None:
        return checked, UNSUPPORTED
    return replace(checked, evidence=(*checked.evidence, source.index)), TRUTHFUL if true else MISTAKE


def says_as_much(one: FoundClaim, other: FoundClaim, teams: dict[str, str]) -> bool:
    """Whether one claim says at least what the other does, whatever its kind."""
    same = one.subject == other.subject and bool(one.object)
    return same and (one.value == other.value or (not one.denied and holds(other.value, one.object, teams)))


def _told(event: Event, said: Event) -> bool:
    """Whether the speaker of a statement had heard an earlier one, by another player."""
    return event.actor != said.actor and event.seen_by(said.actor or "")


def _row(
    record: GameRecord,
    origin: str,
    said: Event,
    claim: FoundClaim,
    checked: Checked,
    standing: str,
    kept: bool | None,
    quote: str = "",
) -> ClaimRow:
    """quote: by default, the words at the claim's place."""
    seat = record.seat(said.actor or "")
    return ClaimRow(
        statement_id=statement_id(record.game_id, said.index),
        game_id=record.game_id,
        speaker=seat.name,
        speaker_role=seat.role,
        speaker_model=seat.model,
        origin=origin,
        start=claim.start,
        end=claim.end,
        quote=quote or ("" if claim.start is None else said.text[claim.start : claim.end]),
        kind=claim.kind,
        subject=claim.subject,
        object=claim.object,
        polarity=DENIED if claim.denied else AFFIRMED,
        normal=claim.normal,
        verdict=checked.verdict,
        evidence=checked.evidence,
        known=checked.known,
        claim_class=standing,
        kept=kept,
    )


# Imported claims: the importer gives the verdict


def _importer(record: GameRecord) -> str:
    return f"{BY_IMPORTER}{origin_of(record)}"


def _imported(record: GameRecord, origin: str) -> Iterator[ClaimRow]:
    """The claims stored on a game's events, with their verdicts."""
    heard: list[tuple[Event, ClaimRow]] = []
    for event in record.events:
        if event.kind is not EventKind.STATEMENT:
            continue
        rows = [_imported_row(record, origin, event, claim, heard) for claim in event.data.get("claims", ())]
        yield from rows
        heard += [(event, row) for row in rows]


def _imported_row(
    record: GameRecord, origin: str, said: Event, claim: ClaimData, heard: Sequence[tuple[Event, ClaimRow]]
) -> ClaimRow:
    """A lie, or truthful, only where the importer says that the speaker could know."""
    found = FoundClaim(
        claim["kind"],
        claim.get("subject") or "",
        claim.get("object") or "",
        claim.get("polarity") == DENIED,
        claim.get("start"),
        claim.get("end"),
    )
    sources = (event for event, row in heard if row.normal == found.normal and _told(event, said))
    evidence = tuple(claim.get("evidence") or ())
    checked, standing = _standing(Checked(claim.get("verdict") or UNVERIFIABLE, evidence, claim.get("known")), sources)
    return _row(record, origin, said, found, checked, standing, claim.get("kept"), claim.get("quote") or "")


# Labels


@dataclass(frozen=True, slots=True)
class ClaimLabels:
    """The labels of a statement that its claims decide; a label that is None has its reason."""

    label_claim: bool | None
    label_claim_null: str
    label_promise: bool | None
    label_promise_null: str


_UNREAD = ClaimLabels(None, NO_CLAIMS_READ, None, NO_CLAIMS_READ)


def own_origin(record: GameRecord) -> str:
    """The origin that a game's labels come from: the rules, or the importer if Liescope cannot play the game."""
    return RULES if by_its_rules(record).game in GAMES else _importer(record)


def claim_labels(record: GameRecord, claims: Iterable[ClaimRow]) -> Mapping[str, ClaimLabels]:
    """The labels of every statement of a game, by statement, made of its claims of `own_origin` alone."""
    origin = own_origin(record)
    by_statement: dict[str, list[ClaimRow]] = defaultdict(list)
    for claim in claims:
        if claim.origin == origin:
            by_statement[claim.statement_id].append(claim)
    unread = origin != RULES and not by_statement
    ids = (statement_id(record.game_id, event.index) for event in record.events if event.kind is EventKind.STATEMENT)
    promises = origin == RULES or any(row.kept is not None for rows in by_statement.values() for row in rows)
    return {key: _UNREAD if unread else _labels(by_statement[key], origin == RULES, promises) for key in ids}


def _labels(claims: Sequence[ClaimRow], by_rules: bool, promises: bool) -> ClaimLabels:
    """promises: they are read in this game."""
    claim, claim_null = None, NO_KNOWN_CLAIM if claims else NO_CLAIM if by_rules else NO_CLAIM_THERE
    if any(row.claim_class == LIE for row in claims):
        claim, claim_null = True, ""
    elif any(row.known and row.claim_class == TRUTHFUL for row in claims):
        claim, claim_null = False, ""
    kept = [row.kept for row in claims if row.kept is not None]
    promise = not all(kept) if kept else None
    promised = any(row.kind in PROMISED for row in claims)
    unpromised = NO_SETTLED_PROMISE if promised else NO_PROMISE if promises else NO_PROMISES_READ
    return ClaimLabels(claim, claim_null, promise, "" if kept else unpromised)
