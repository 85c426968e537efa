"""The parts of a game's page, as plain data for templates, and the eyes through which it is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from liescope.common.errors import UnknownName
from liescope.games.core import Event
from liescope.games.facts import ForkMeta
from liescope.games.record import GameRecord
from liescope.labeling.ledger import LIE, MISTAKE, TRUTHFUL, UNDECIDABLE, UNSUPPORTED
from liescope.web.view.drawing import Arrow, Node, Panel, Strip

TABLE = "*"
"""The eyes that see what everybody at the table saw, and no more."""


@dataclass(frozen=True, slots=True)
class Look:
    """eyes: "" for all-knowing, a seat's name, or `TABLE`. labels: show labels, and with them roles and models."""

    eyes: str = ""
    labels: bool = True

    @property
    def all_knowing(self) -> bool:
        return not self.eyes

    @property
    def told(self) -> bool:
        """Roles and models are shown: nothing is hidden from an all-knowing reader, and labels tell roles anyway."""
        return self.labels or self.all_knowing

    def sees(self, event: Event) -> bool:
        """Whether the event was seen with these eyes when it happened. A judge's answers were seen by nobody."""
        return self.all_knowing or ("judge" not in event.data and _seen_by(event, self.eyes))


def _seen_by(event: Event, eyes: str) -> bool:
    return event.audience is None if eyes == TABLE else event.seen_by(eyes)


def look_through(record: GameRecord, eyes: str = "", labels: bool | None = None) -> Look:
    """How a reader asks to look at a game. labels: None for what is usual, shown only to the all-knowing.

    Raises UnknownName if the game has no such seat.
    """
    names = [seat.name for seat in record.seats]
    if eyes and eyes != TABLE and eyes not in names:
        raise UnknownName("seat", eyes, names)
    return Look(eyes, not eyes if labels is None else labels)


def all_looks(record: GameRecord) -> Iterator[tuple[str, str]]:
    """Every pair of eyes for a chooser, and what it is called."""
    yield "", "All-knowing"
    yield TABLE, "What everybody saw"
    for seat in record.seats:
        yield seat.name, seat.name


def who_saw(event: Event, record: GameRecord) -> tuple[int, ...] | None:
    """The places of the seats that saw an event, None for everyone; nobody saw what a judge said afterwards."""
    if "judge" in event.data:
        return ()
    if event.audience is None:
        return None
    return tuple(place for place, seat in enumerate(record.seats) if seat.name in event.audience)


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
    """One of the labels. tone: YES for deception, NO for its absence, NONE for a missing label; why: the reason that it
    is missing, or more about it.
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
    call: CallPlace | None
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
class Said:
    """A statement. to: who heard it besides its speaker, empty for everyone; votes_for: the vote whose reason it is."""

    index: int
    speaker: str
    round: int
    to: tuple[str, ...]
    private: bool
    votes_for: str
    pieces: tuple[MarkedWords, ...]
    unplaced: tuple[ShownClaim, ...]
    flags: tuple[str, ...]
    labels: tuple[Label, ...]
    meant: tuple[tuple[str, str], ...]
    report: ShownRating | None
    ratings: tuple[ShownRating, ...]
    scores: tuple[Score, ...]
    call: CallPlace | None
    saw: tuple[int, ...] | None
    kind: str = "said"

    @property
    def anchor(self) -> str:
        return f"s{self.index}"


@dataclass(frozen=True, slots=True)
class Happened:
    """Anything else that happened. secret: not everybody saw it; weight: loud for a death or an exile, else quiet."""

    index: int
    words: str
    actor: str
    secret: bool
    loud: bool
    flags: tuple[str, ...]
    call: CallPlace | None
    saw: tuple[int, ...] | None
    kind: str = "happened"

    @property
    def anchor(self) -> str:
        return f"e{self.index}"


@dataclass(frozen=True, slots=True)
class BallotEntry:
    """A bid, or a vote for target. flags: why the rules decided it; saw: as of its event."""

    index: int
    actor: str
    target: str
    bid: int | None
    flags: tuple[str, ...]
    call: CallPlace | None
    saw: tuple[int, ...] | None

    @property
    def anchor(self) -> str:
        return f"e{self.index}"


@dataclass(frozen=True, slots=True)
class Bids:
    """The bids for one turn, highest first."""

    index: int
    round: int
    entries: tuple[BallotEntry, ...]
    saw: tuple[int, ...] | None
    kind: str = "bids"

    @property
    def anchor(self) -> str:
        return f"b{self.index}"


@dataclass(frozen=True, slots=True)
class Ballot:
    """The votes of one ballot, in words and as arrows."""

    index: int
    entries: tuple[BallotEntry, ...]
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    saw: tuple[int, ...] | None
    kind: str = "ballot"

    @property
    def anchor(self) -> str:
        return f"b{self.index}"


PageMoment = Said | Happened | Bids | Ballot


@dataclass(frozen=True, slots=True)
class PhaseOfDay:
    """What happened in one phase of a day."""

    title: str
    night: bool
    moments: tuple[PageMoment, ...]

    @property
    def statements(self) -> int:
        return sum(moment.kind == "said" for moment in self.moments)


@dataclass(frozen=True, slots=True)
class ShownGame:
    """One game. status: how it ended, or that it has not; facts: name and value, for the head of the page; fork: where
    a continuation comes from; fallbacks: how many choices the rules had to make; calls: how many can be looked at;
    colours: the class of each player's colour, by name.
    """

    game_id: str
    title: str
    look: Look
    status: str
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
