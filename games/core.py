"""The protocol of every game: asks, replies, events, outcome.

A game's rules are a generator that yields a batch of simultaneous asks and is sent the batch of replies, one for
each ask in the same order. A game is thus a function of (spec, seed, replies), which gives replay, resume and fork
(`liescope.games.session`). Seats are named by the player's name, unique within a game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, cast

from liescope.games.facts import EventData
from liescope.games.game_options import GameSpec

if TYPE_CHECKING:
    from liescope.games.memory import Memory


class AskKind(StrEnum):
    """The kinds of answer that a seat is asked for."""

    KILL = "kill"
    INVESTIGATE = "investigate"
    PROTECT = "protect"
    BID = "bid"  # how much a seat wants to speak next; options "0" to "10"
    SPEAK = "speak"
    VOTE = "vote"
    CHOOSE = "choose"  # a legal move that is neither a vote nor aimed at a player; options: the moves, as short texts
    EXPLAINED_VOTE = "explained_vote"  # a choice and, as text, the reason that everybody hears
    SELF_ASSESSMENT = "self_assessment"
    PEER_ASSESSMENT = "peer_assessment"
    REFLECTION = "reflection"  # lessons from the game that has ended
    NAME_ROLES = "name_roles"  # the role of each player in options, as a form {name: (role,)}
    FIND_CLAIMS = "find_claims"  # in the statement it is about, as a form {number: fields}; options: roles, sides
    TAG_LESSON = "tag_lesson"  # a rater's tags for the lesson that the ask is about, as a form {tag: values}
    BELIEFS = "beliefs"  # whether the claims in options are true, as a form {claim: (one of BELIEVED,)}
    SECOND_ORDER = "second_order"  # whom each player in options suspects most, as a form {name: (name,)}
    SUMMARY = "summary"  # the seat's own, of what it is about to forget


ASSESSMENTS = frozenset({AskKind.SELF_ASSESSMENT, AskKind.PEER_ASSESSMENT})
CHOICES = frozenset(
    {AskKind.KILL, AskKind.INVESTIGATE, AskKind.PROTECT, AskKind.BID, AskKind.VOTE, AskKind.EXPLAINED_VOTE}
) | {AskKind.CHOOSE}
SPEECH = frozenset({AskKind.SPEAK, AskKind.EXPLAINED_VOTE})
FORMS = frozenset({AskKind.REFLECTION, AskKind.NAME_ROLES, AskKind.TAG_LESSON}) | {
    *(AskKind.FIND_CLAIMS, AskKind.BELIEFS, AskKind.SECOND_ORDER)
}
MEASURED = ASSESSMENTS | FORMS - {AskKind.REFLECTION}  # no game depends on the answers
BELIEVED_TRUE, BELIEVED_FALSE, CANNOT_KNOW = "true", "false", "cannot know"
BELIEVED = (BELIEVED_TRUE, BELIEVED_FALSE, CANNOT_KNOW)
"""The beliefs that somebody may hold about a claim."""


class EventKind(StrEnum):
    """What happened. STATEMENT, LESSON, ACT and CHOICE hold words in `text`; all others are told by their fields."""

    SETUP = "setup"  # everyone; data: names, composition {role: count}, and the options that everybody knows
    ROLE = "role"  # the seat itself; data: role
    PARTNERS = "partners"  # those who know each other; data: names, and in some games seen (a card that nobody holds)
    LESSONS = "lessons"  # the actor, which begins with them; data: lessons [[kind, text]]
    NIGHT = "night"  # everyone; a night begins
    KILLER = "killer"  # the mafiosos; actor makes the kill decision
    PROPOSAL = "proposal"  # the werewolves; actor proposed target as the victim
    KILL = "kill"  # those who kill; target was attacked; data may hold drawn (nobody decided), proposals
    PROTECTION = "protection"  # the actor; target was protected
    INVESTIGATION = "investigation"  # the actor; target was investigated; data: role (or "not ROLE"), drawn as above
    DISCOVERY = "discovery"  # both; actor and target know each other's role, and know that the other knows
    DEATH = "death"  # everyone; target was found dead; data: role, where the rules reveal it
    QUIET = "quiet"  # everyone; nobody died in the night
    DAY = "day"  # everyone; a day begins
    BID = "bid"  # the actor; data: bid (0 to 10)
    STATEMENT = "statement"  # everyone, or those who heard it; actor said text; data may hold cut, claims
    SILENCE = "silence"  # everyone; actor remained silent
    SUSPICION = "suspicion"  # the actor; data: suspicion {name: running suspicion of those alive}; judge as in RATING
    VOTE = "vote"  # everyone, once all are cast; actor voted for target
    ARREST = "arrest"  # everyone; target was arrested; data: tied (names), where a tie was drawn
    EXILE = "exile"  # everyone; target was exiled; data: votes, needed
    NO_EXILE = "no_exile"  # everyone; nobody had enough votes; data: needed
    SELF_REPORT = "self_report"  # the actor; about a statement; data: judge, where none of the players gave it
    RATING = "rating"  # the actor, if not a rater without a seat; about a statement by target; data: judge as above
    ACT = "act"  # those who saw it; what no other kind describes: what the actor, if any, did, as words in text
    CHOICE = "choice"  # those who may see it; the actor made a legal move, in words as text; about: the statement that
    # it judges, if any; data: choice, and with about doubts (it treats the statement as false)
    END = "end"  # everyone; data: winner
    REFLECTION = "reflection"  # the actor; data: lessons (how many it learned from the game)
    LESSON = "lesson"  # the actor, who learned it; data: kind
    ROLES_NAMED = (
        "roles_named"  # the actor, who named roles or in whose seat a rater did; data: judge, roles {name: role}
    )
    CLAIMS_FOUND = "claims_found"  # the actor; about its statement; data: judge, claims that the rater found in it
    BELIEFS = (
        "beliefs"  # the actor; about its statement; data: judge (its own model), beliefs {claim: what it believes}
    )
    SECOND_ORDER = "second_order"  # the actor; data: suspects {name: whom it is thought to suspect most}
    SUMMARY = "summary"  # the actor; its own, in text, "" if there was none: `liescope.games.memory`
    LESSON_TAGS = "lesson_tags"  # the actor; about a lesson; data: judge, tags {tag: values}


LEAVES = frozenset({EventKind.DEATH, EventKind.ARREST, EventKind.EXILE})
"""The kinds by which the target leaves the game."""


class Phase(StrEnum):
    SETUP = "setup"
    NIGHT = "night"
    DISCUSSION = "discussion"
    VOTING = "voting"
    DEFENCE = "defence"
    REVOTE = "revote"
    END = "end"


class LessonKind(StrEnum):
    """The list that a lesson belongs to: what a model learns in one game for the next, in words (Triadic Werewolf
    paper, section 3.2).
    """

    TO_DO = "to_do"
    TO_AVOID = "to_avoid"
    WINNING_TACTIC = "winning_tactic"


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson: a note in free text."""

    kind: LessonKind
    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one seat.

    game: id of the game; step: index of the batch within the game, from 0; options: the legal choices (names or
    moves), empty for texts, assessments and most forms; about: index of the event that an assessment or a tag is about;
    limit: the most characters that a message keeps.
    """

    game: str
    step: int
    seat: str
    kind: AskKind
    day: int
    phase: Phase
    round: int = 0
    rounds: int = 0
    options: tuple[str, ...] = ()
    about: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """A speaker's report on its own statement, or a peer's on another's.

    deceptive: the flag; type: one of the eight names of `liescope.games.taxonomy`; confidence in the flag and
    suspicion of the speaker in [0, 1] (suspicion for peers only). A field that could not be read is None.
    """

    deceptive: bool | None = None
    type: str | None = None
    confidence: float | None = None
    suspicion: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one ask: a choice, a text, an assessment or a form; or nothing, and the problem.

    text "" without a problem is a deliberate silence. form: the values filled in, by field. notes: the leniencies
    needed to read the raw response. private: what the speaker hides from the others (reasoning, planted_type).
    """

    choice: str | None = None
    text: str | None = None
    assessment: Assessment | None = None
    form: Mapping[str, tuple[str, ...]] | None = None
    problem: str = ""
    notes: tuple[str, ...] = ()
    raw: str = ""
    private: Mapping[str, Any] = field(default_factory=dict)


def reasoning_in(private: Mapping[str, Any]) -> str | None:
    """The reasoning before a reply, from its private data; None without any."""
    thought = private.get("reasoning")
    return thought if isinstance(thought, str) and thought else None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. audience: the seats that saw it, None for everyone.

    fallback: empty, or why the rules had to decide for the seat (an unusable reply). data: facts of this kind
    of event; `data["private"]` and `data["claims"]` (never shown to any seat) hold what a speaker meant by a statement,
    and what a source says that it claims.
    """

    index: int
    kind: EventKind
    day: int
    phase: Phase
    round: int = 0
    actor: str | None = None
    target: str | None = None
    text: str = ""
    about: int | None = None
    audience: tuple[str, ...] | None = None
    fallback: str = ""
    data: EventData = field(default_factory=EventData)

    def seen_by(self, seat: str) -> bool:
        return self.audience is None or seat in self.audience


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: the winning team, the winning seats, and the rule that ended it."""

    winner: str
    winners: tuple[str, ...]
    reason: str
    days: int


Place = tuple[str, str, int, str, int]
"""Where something was said: the game, who, the day, its phase and round."""
Asks = tuple[Ask, ...]
Replies = tuple[Reply, ...]
Play = Generator[Asks, Replies, Outcome]


class Game(ABC):
    """The rules of one game with one seed. `play` may be called once; `events` grows as it runs. summaries: of the
    seats that write some, by name.

    Subclasses draw all random numbers from `self.random`, which is seeded here. They write events with
    `log`, and yield batches made with `ask` and `batch`, which keep the day and the step. roles: by name; centre: the
    cards that no player holds.
    """

    name: ClassVar[str]
    options: GameSpec

    def __init__(self, spec: GameSpec, seed: int = 0, game_id: str | None = None) -> None:
        """Deals the roles. game_id: by default, the name of the rules. Raises UsageError if the spec allows no game."""
        spec.check()
        self.options = spec
        self.seed = seed
        self.game_id = self.name if game_id is None else game_id
        self.names = spec.seats()
        self.random = Random(seed)
        self.events: list[Event] = []
        self._shown = 0
        self._views: dict[str, list[Event]] = {name: [] for name in self.names}
        roles = list(spec.roles or spec.deck())
        if not spec.roles:
            self.random.shuffle(roles)
        self.roles = dict(zip(self.names, roles[: len(self.names)], strict=True))
        self.centre = tuple(roles[len(self.names) :])
        self.alive = list(self.names)
        self.day = 0
        self.step = 0
        self.summaries: Mapping[str, Memory] = {}

    @abstractmethod
    def play(self) -> Play:
        """The rules."""

    @abstractmethod
    def team(self, role: str) -> str:
        """The team of a role."""

    @abstractmethod
    def deceives(self, role: str) -> bool:
        """Whether the role aims to deceive the others (`label_role`)."""

    def view(self, seat: str) -> tuple[Event, ...]:
        """The events that a seat has seen, in order, without the private data that no seat may see."""
        # Views grow with the log: rebuilding them for every ask would cost the square of its length.
        for event in map(public, self.events[self._shown :]):
            for name in self.names if event.audience is None else event.audience:
                self._views[name].append(event)
        self._shown = len(self.events)
        return tuple(self._views[seat])

    def others(self, seat: str) -> tuple[str, ...]:
        """All living players except the seat itself."""
        return tuple(name for name in self.alive if name != seat)

    def holding(self, role: str, alive: bool = True) -> tuple[str, ...]:
        """The players with this role, living or all."""
        return tuple(name for name in (self.alive if alive else self.names) if self.roles[name] == role)

    def begin(self, **facts: Any) -> None:
        """Log the setup, with facts that everybody knows, and tell every seat its role."""
        known = {"names": list(self.names), "composition": self.options.composition(), **facts}
        self.log(EventKind.SETUP, Phase.SETUP, data=known)
        for name in self.names:
            self.log(EventKind.ROLE, Phase.SETUP, actor=name, audience=(name,), data={"role": self.roles[name]})

    def end(self, winner: str, reason: str, winners: tuple[str, ...] = ()) -> Outcome:
        """Log the end of the game and return the outcome. winners: the seats that won, by default the whole team."""
        self.log(EventKind.END, Phase.END, data={"winner": winner})
        team = tuple(name for name in self.names if self.team(self.roles[name]) == winner)
        return Outcome(winner, winners or team, reason, self.day)

    def log(self, kind: EventKind, phase: Phase, round: int = 0, **facts: Any) -> Event:
        """Append an event of today."""
        event = Event(len(self.events), kind, self.day, phase, round, **facts)
        self.events.append(event)
        return event

    def ask(self, seat: str, kind: AskKind, phase: Phase, round: int = 0, **details: Any) -> Ask:
        """An ask of the next batch."""
        return Ask(self.game_id, self.step, seat, kind, self.day, phase, round, **details)

    def batch(self, asks: Sequence[Ask]) -> Asks:
        """Close the batch; asks made after it belong to the next."""
        self.step += 1
        return tuple(asks)


UNSHOWN = frozenset({"private", "notes", "claims", "gold"})


def public(event: Event) -> Event:
    """The event as seats see it: without what the speaker meant, and without the reason of a fallback."""
    if not event.fallback and UNSHOWN.isdisjoint(event.data):
        return event
    data = {key: value for key, value in event.data.items() if key not in UNSHOWN}
    # Why a reply was unusable may quote it, and no other seat may read that.
    return replace(event, fallback="unusable reply" if event.fallback else "", data=cast(EventData, data))
