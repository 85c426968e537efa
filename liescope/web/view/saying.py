"""One statement as it is shown: its words with the claims in them, its labels, the ratings and the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from liescope.data_cards.tables import ClaimRow, RatingRow, StatementRow
from liescope.games.core import Event, EventKind
from liescope.generate.runs.game_text import proof_words, verdict_words
from liescope.labeling.ledger import RULES
from liescope.web.view.page_parts import (
    NO,
    NONE,
    YES,
    CallPlace,
    Evidence,
    Label,
    MarkedWords,
    Score,
    ShownClaim,
    ShownRating,
)
from liescope.web.view.score_table import ShownDetector


def scores(
    given: Mapping[str, float], detectors: Sequence[ShownDetector], row: StatementRow | None
) -> tuple[Score, ...]:
    """The scores of a statement. row: its labels, None where it has none."""
    return tuple(
        Score(one.name, given[one.name], _mistake(one, given[one.name], row)) for one in detectors if one.name in given
    )


def _mistake(detector: ShownDetector, score: float, row: StatementRow | None) -> str:
    deceptive = getattr(row, f"label_{detector.target}", None)
    if deceptive is None or deceptive == (score > detector.threshold):
        return ""
    return "missed" if deceptive else "false alarm"


def pieces(text: str, claims: Sequence[ShownClaim], rows: Sequence[ClaimRow]) -> tuple[MarkedWords, ...]:
    """A statement's words, cut where claims begin and end. rows: those that the claims were made of."""
    spans = [
        (row.start, row.end, claim)
        for claim, row in zip(claims, rows, strict=True)
        if claim.placed and row.start is not None and row.end is not None
    ]
    edges = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    return tuple(
        MarkedWords(text[start:end], tuple(claim for first, last, claim in spans if first <= start and end <= last))
        for start, end in pairwise(edges)
    )


def claim(row: ClaimRow, text: str, events: Mapping[int, Event], anchors: Mapping[int, str]) -> ShownClaim:
    """anchors: the places of the events that the page shows."""
    proofs = (Evidence(proof_words(events[index]), anchors.get(index, "")) for index in row.evidence if index in events)
    return ShownClaim(
        row.normal,
        row.quote,
        row.claim_class,
        verdict_words(row),
        tuple(proofs),
        "" if row.origin == RULES else row.origin,
        row.start is not None and row.end is not None and 0 <= row.start < row.end <= len(text),
    )


def labels_of(row: StatementRow) -> tuple[Label, ...]:
    """The five labels, always in this order, and what a script meant."""
    found = [
        _label("Role", row.label_role, ("deceives", "open"), row.label_role_null),
        _label("Claims", row.label_claim, ("lie", "true"), row.label_claim_null),
        _label("Promise", row.label_promise, ("broken", "kept"), row.label_promise_null),
        _label("Itself", row.label_self, ("deceptive", "honest"), row.label_self_null),
        _label("Peers", row.label_peer, ("deceptive", "honest"), row.label_peer_null),
    ]
    if row.peer_rate is not None:
        counted = f"{round(row.peer_rate * row.peer_ratings)} of {row.peer_ratings}"
        found[-1] = Label("Peers", f"{counted} deceptive", found[-1].tone, row.label_peer_null)
    if row.planted_type is not None:
        found.append(Label("Meant", _spaced(row.planted_type), NO if row.planted_type == "none" else YES))
    return tuple(found)


def _label(name: str, value: bool | None, words: tuple[str, str], why: str) -> Label:
    if value is None:
        return Label(name, "–", NONE, why)
    return Label(name, words[0] if value else words[1], YES if value else NO)


def report(row: StatementRow, call: CallPlace | None, place: int, judged: bool) -> ShownRating | None:
    """The speaker's report on itself, or the judge's in its seat; None if nobody gave one."""
    if row.label_self is None and row.self_type is None and not row.self_reason and row.self_confidence is None:
        return None
    said, tone = _flag(row.label_self)
    saw = () if judged else (place,)
    kind = _spaced(row.self_type or "")
    return ShownRating(
        row.speaker, said, tone, kind, row.self_confidence, None, row.self_reason, row.label_self_null, call, saw
    )


def rating(row: RatingRow, call: CallPlace | None, saw: tuple[int, ...]) -> ShownRating:
    said, tone = _flag(row.flag)
    kind = _spaced(row.type or "")
    return ShownRating(row.observer, said, tone, kind, row.confidence, row.suspicion, row.reason, row.null, call, saw)


def _flag(flag: bool | None) -> tuple[str, str]:
    return ("unread", NONE) if flag is None else ("deceptive", YES) if flag else ("honest", NO)


def _spaced(kind: str) -> str:
    return kind.replace("_", " ")


def meant(event: Event) -> tuple[tuple[str, str], ...]:
    """What the speaker kept to itself, by name."""
    private = event.data.get("private", {}) if event.kind is EventKind.STATEMENT else {}
    return tuple((_spaced(str(name)), str(value)) for name, value in private.items() if name != "planted_type")
