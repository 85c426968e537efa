"""The parts of a game's page, as plain data for templates, and the eyes through which it is looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar

from liescope.data_cards.tables import ClaimRow, RatingRow, StatementRow
from liescope.games.core import Event, EventKind
from liescope.games.facts import ForkMeta
from liescope.generate.runs.game_text import proof_words, verdict_words
from liescope.labeling.label import CONTEXT, NO_ROLE, NOT_ASKED, NOT_IN_SOURCE, NOT_STATED, TIE
from liescope.labeling.ledger import LIE, MISTAKE, NO_CLAIMS_READ, RULES, TRUTHFUL, UNDECIDABLE, UNSUPPORTED
from liescope.web.event_words import Look
from liescope.web.view.drawing import Arrow, Node, Panel, Strip
from liescope.web.view.score_table import ShownDetector

COLOURS = 12  # classes speaker-0, speaker-1, …
LONG = 400  # statements of a game; the phases of a longer one are folded but the first


_GRAVEST = (LIE, MISTAKE, UNSUPPORTED, UNDECIDABLE, TRUTHFUL)
YES, NO, NONE = "yes", "no", "none"


@dataclass(frozen=True, slots=True)
class CallPlace:
    """Where a call stands in its game. tries: the requests that it took; problem: "" or why it gave no usable reply."""

    step: int
    seat: str
    tries: int
    problem: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """An event that proves a claim. anchor: its place on the page, "" where it is not shown."""

    words: str
    anchor: str


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """standing: its class in the ledger; origin: who found it, "" for the rules; placed: its words are marked."""

    normal: str
    quote: str
    standing: str
    verdict: str
    evidence: tuple[Evidence, ...]
    origin: str
    placed: bool


@dataclass(frozen=True, slots=True)
class MarkedWords:
    """A stretch of a statement's words, with the claims that cover it."""

    text: str
    claims: tuple[ShownClaim, ...] = ()

    @property
    def standing(self) -> str:
        """The gravest class of its claims."""
        return min((claim.standing for claim in self.claims), key=_GRAVEST.index)


@dataclass(frozen=True, slots=True)
class Label:
    """One of the labels. name: "" where the words say which it is; said: what it says, or why it is missing; tone: YES
    for deception, NO for its absence, NONE for a missing label; why: more about it.
    """

    name: str
    said: str
    tone: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ShownRating:
    """What one observer, or the speaker itself, says of a statement. said: deceptive, honest or unread."""

    observer: str
    said: str
    tone: str
    type: str
    confidence: float | None
    suspicion: float | None
    reason: str
    problem: str
    call: CallPlace | None = field(compare=False)
    saw: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """What a detector says of a statement. mistake: how that differs from the label that it was trained on, "" where it
    does not, and where there is none.
    """

    detector: str
    value: float
    mistake: str


@dataclass(frozen=True, slots=True)
class ShownSeat:
    """One player. place: in seating order, from 0; role, model: "" where it is not known or not shown; knows: what it
    alone, or with others, knew from the start; fate: how and when it left the game, that it survived, or "" where that
    is not known.
    """

    place: int
    name: str
    role: str
    team: str
    deceives: bool | None
    model: str
    source: str
    won: bool
    fate: str
    knows: tuple[str, ...]
    anchor: str

    @property
    def colour(self) -> int:
        return self.place % COLOURS


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a seat, or the rules, did. index: of its event; flags: why the rules decided it; call: the request
    that brought it, which tells no moment from another; saw: the places of the seats that saw it, None for everyone.
    """

    index: int
    actor: str
    flags: tuple[str, ...]
    call: CallPlace | None = field(compare=False)
    saw: tuple[int, ...] | None

    @property
    def anchor(self) -> str:
        return f"e{self.index}"


@dataclass(frozen=True, slots=True)
class Said(Deed):
    """A statement. to: who heard it besides its speaker, empty for everyone; votes_for: the vote whose reason it is."""

    round: int
    to: tuple[str, ...]
    private: bool
    votes_for: str
    pieces: tuple[MarkedWords, ...]
    unplaced: tuple[ShownClaim, ...]
    labels: tuple[Label, ...]
    meant: tuple[tuple[str, str], ...]
    report: ShownRating | None
    ratings: tuple[ShownRating, ...]
    scores: tuple[Score, ...]
    kind: ClassVar[str] = "said"

    @property
    def anchor(self) -> str:
        return f"s{self.index}"


@dataclass(frozen=True, slots=True)
class Happened(Deed):
    """Anything else that happened. secret: not everybody saw it; loud: a death, an exile or the end."""

    words: str
    secret: bool
    loud: bool
    kind: ClassVar[str] = "happened"


@dataclass(frozen=True, slots=True)
class PickedChoice(Deed):
    """A bid, or a vote for target."""

    target: str
    bid: int | None


@dataclass(frozen=True, slots=True)
class Choices:
    """The bids for one turn, highest first, or the votes of one ballot, which are shown as arrows, too. kind: "bids" or
    "ballot".
    """

    kind: str
    index: int
    entries: tuple[PickedChoice, ...]
    nodes: tuple[Node, ...] = ()
    arrows: tuple[Arrow, ...] = ()

    @property
    def anchor(self) -> str:
        return f"b{self.index}"

    @property
    def saw(self) -> tuple[int, ...] | None:
        """Who saw any of them."""
        seen = [entry.saw for entry in self.entries]
        return None if None in seen else tuple(sorted({place for saw in seen for place in saw or ()}))


PageMoment = Said | Happened | Choices


@dataclass(frozen=True, slots=True)
class PhaseOfDay:
    """What happened in one phase of a day."""

    title: str
    night: bool
    moments: tuple[PageMoment, ...]

    @property
    def statements(self) -> int:
        return sum(moment.kind == Said.kind for moment in self.moments)


@dataclass(frozen=True, slots=True)
class ShownGame:
    """One game, or what stands in its place. unit: "game", or what it is called, as "conversation"; status: how it
    ended, or that it has not; stated: what its source says of what was said, "" for nothing; facts: name and value, for
    the head of the page; fork: where a continuation comes from; fallbacks: how many choices the rules had to make;
    calls: how many can be looked at; colours: the class of each player's colour, by name.
    """

    game_id: str
    title: str
    unit: str
    look: Look
    status: str
    stated: str
    failed: bool
    under_way: bool
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    fork: ForkMeta | None
    judge: str
    seats: tuple[ShownSeat, ...]
    sections: tuple[PhaseOfDay, ...]
    suspicion: tuple[Panel, ...]
    strips: tuple[Strip, ...]
    fallbacks: int
    calls: int
    colours: Mapping[str, int] = field(default_factory=dict)

    @property
    def statements(self) -> int:
        return sum(section.statements for section in self.sections)

    @property
    def long(self) -> bool:
        return self.statements > LONG


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


_ABSENT = frozenset({NO_ROLE, NO_CLAIMS_READ, NOT_IN_SOURCE, NOT_STATED, CONTEXT})
"""Why nobody could have labelled a statement so."""
_LABELS = {
    "gold": ("Source", "deceptive", "honest"),
    "role": ("Role", "deceives", "honest"),
    "claim": ("Claims", "lie", "true"),
    "promise": ("Promise", "broken", "kept"),
    "self": ("Self-report", "deceptive", "honest"),
    "peer": ("Peers", "deceptive", "honest"),
}


def asked_for(rows: Iterable[StatementRow]) -> frozenset[str]:
    """The labels that statements of a game have, or that some were asked for: the others are not shown."""
    return frozenset(
        label for row in rows for label in _LABELS if getattr(row, f"label_{label}_null") not in (NOT_ASKED, *_ABSENT)
    )


def labels_of(row: StatementRow, asked: Collection[str], unit: str) -> tuple[Label, ...]:
    """The labels of a statement, in one order, and what a script meant. One that is missing gives its reason, and is
    left out where nobody could have given it. asked: as `asked_for`; unit: as `ShownGame.unit`.
    """
    found = [
        _label(row, label, *words)
        for label, words in _LABELS.items()
        if label in asked and getattr(row, f"label_{label}_null") not in _ABSENT
    ]
    if unit != "game":
        found = [replace(one, name="Judges") if one.name == "Peers" else one for one in found]
    if row.planted_type is not None:
        honest = row.planted_type == "none"
        found.append(Label("Scripted", "honest" if honest else _spaced(row.planted_type), NO if honest else YES))
    return tuple(found)


def _label(row: StatementRow, label: str, name: str, yes: str, no: str) -> Label:
    value, why = getattr(row, f"label_{label}"), getattr(row, f"label_{label}_null")
    if label == "peer" and row.peer_rate is not None:
        flags = f"{round(row.peer_rate * row.peer_ratings)} of {row.peer_ratings} say deceptive"
        flags += ", a tie" if why == TIE else ""
        return Label(name, flags, NONE if value is None else YES if value else NO, why)
    if value is None:
        return Label("" if name.casefold().rstrip("s") in why else name, why, NONE)  # "no promise" says it all
    return Label(name, yes if value else no, YES if value else NO)


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
    lacks = "; ".join(part for part in row.null.split("; ") if not part.endswith(NOT_IN_SOURCE))
    return ShownRating(row.observer, said, tone, kind, row.confidence, row.suspicion, row.reason, lacks, call, saw)


def _flag(flag: bool | None) -> tuple[str, str]:
    return ("unreadable", NONE) if flag is None else ("deceptive", YES) if flag else ("honest", NO)


def _spaced(kind: str) -> str:
    return kind.replace("_", " ")


def meant(event: Event) -> tuple[tuple[str, str], ...]:
    """What the speaker kept to itself, by name."""
    private = event.data.get("private", {}) if event.kind is EventKind.STATEMENT else {}
    return tuple((_spaced(str(name)), str(value)) for name, value in private.items() if name != "planted_type")
