"""Types of `Event.data` and `GameRecord.meta`.

A key is present only where it applies; `EventKind` says which kinds of event have it. Both are read from JSON, and
`liescope.games.record_checks` checks what comes from a file against these types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

MOST = 10**6  # a larger day, round or count must be an error
Count = Annotated[int, Field(ge=0, le=MOST)]
Share = Annotated[float, Field(ge=0, le=1)]
Named = Annotated[str, Field(min_length=1)]
LessonList = Annotated[str, Field(pattern="^(to_do|to_avoid|winning_tactic)$")]


class AssessmentData(TypedDict, total=False):
    """The fields of an `Assessment`; None if one could not be read."""

    deceptive: bool | None
    type: str | None
    confidence: Share | None
    suspicion: Share | None
    reason: str | None


class ClaimData(TypedDict, total=False):
    """A claim that a source found in a statement. Whatever it does not say is absent or None.

    kind: of claim, in the source's words; subject, object: who or what it is about; polarity: affirmed or denied;
    verdict: true, false or unverifiable, by the log; start, end: its characters in the text, from 0, without the last;
    quote: its words; evidence: indices of the events that decide it; known: the speaker could know the verdict; kept:
    it is a promise, and the speaker did, or did not do, what it says.
    """

    kind: str
    subject: str | None
    object: str | None
    polarity: Annotated[str, Field(pattern="^(affirmed|denied)$")] | None
    verdict: Annotated[str, Field(pattern="^(true|false|unverifiable)$")] | None
    start: Count | None
    end: Count | None
    quote: str | None
    evidence: Sequence[Count]
    known: bool | None
    kept: bool | None


class EventData(TypedDict, total=False):
    """The facts of an event; a SETUP may hold any option of its game, and an ACT facts of a game's own.

    names: players, in seating order; composition: the number of cards of each role; rounds, debate_turns,
    defence_turns, days, centre, reveal_dead, mutual_discovery: options of the game; role: a role, or "not ROLE"; seen:
    a card in the centre; lessons: pairs of kind and text, or how many there are; drawn: the rules drew it; proposals:
    all werewolves' victims; bid: 0 to 10; cut: characters before the cut; private: what the speaker meant, and claims:
    those that a source found in a statement, both hidden from all seats; gold: a source's own label of a statement;
    notes: the leniencies needed to read the reply; suspicion: by name, 0 to 1; tied: who tied for most votes; votes,
    needed: counts; judge: the name of the rater; assessment: of a report or rating; kind: of a lesson; roles: by name,
    the role that a rater named; suspects: by name, whom it is thought to suspect most; choice: the move that was made;
    doubts: it treats a statement as false; tags: by field, what a rater tagged; winner: a team.
    """

    names: Sequence[str]
    composition: Mapping[str, Count]
    rounds: Count
    debate_turns: Count
    defence_turns: Count
    days: Count
    centre: Count
    reveal_dead: bool
    mutual_discovery: bool
    role: str
    seen: str
    lessons: Any
    drawn: bool
    proposals: Sequence[str]
    bid: Annotated[int, Field(ge=0, le=10)]
    cut: Count
    private: Mapping[str, Any]
    claims: Sequence[ClaimData]
    gold: bool
    notes: Sequence[str]
    suspicion: Mapping[str, Share]
    tied: Sequence[str]
    votes: Count
    needed: Count
    judge: str
    assessment: AssessmentData
    kind: LessonList
    roles: Mapping[str, Sequence[str]]
    beliefs: Mapping[str, Sequence[str]]
    suspects: Mapping[str, str]
    choice: str
    doubts: bool
    tags: Mapping[str, Sequence[str]]
    winner: str


class LessonMeta(TypedDict):
    """A learned lesson. kind: its list; kept: it is in the lesson book; nearest: its highest similarity to a lesson of
    its kind that was there, None for the first.
    """

    kind: LessonList
    text: str
    kept: bool
    nearest: NotRequired[float | None]


class ForkMeta(TypedDict):
    """Where a continuation of a recorded game comes from.

    run, game, step: the run, the game and the step that it goes on from; root: the game, played from its start, that it
    goes back to, so that games with one root share a beginning; seat: the replayed one; group: the intervention, in
    words, which all continuations of one kind share; number: its number in the group, from 0: in every group, the
    continuation of that number draws the same random numbers; events: how many of its events, from the first, are those
    of the recorded game; people: by seat, the person who acted from it in these, if any.
    """

    run: Named
    game: Named
    step: Count
    root: Named
    seat: Named
    group: Named
    number: Count
    events: Count
    people: NotRequired[Mapping[str, str]]


class GameMeta(TypedDict, total=False):
    """Facts about a game besides its events.

    turn: its number in its cell; seating: how roles were dealt; learning: the learner learns; lessons: the lessons
    learned; attributes: by seat, what the file of names says of its name; silent: the seats of models none of whose
    replies could be used, with the number of replies; cut_prompts: the models whose server cut their prompts; fork: for
    continuations of a recorded game; judge: who rated it afterwards; settings: the condition it was played under;
    split: the official one, train, validation or test; withdrawn: the seats whose players withdrew their words, with
    the number of statements that went; family: for texts, their group; without one, and for conversations, a hash of
    the words, equal for copies; domain, canary: of conversations, what they are about, and the mark by which their
    publishers ask that nobody train on them; rules: of imported games, the game by whose words and rules their claims
    are read; prompt_version, import_notes: of imported games; cells_left_out: of those, by column, the cells that could
    not be read; batch, number, timestamp, players, unread: further facts from an imported log.
    """

    turn: Count
    seating: str
    learning: bool
    lessons: Sequence[LessonMeta]
    attributes: Mapping[str, Mapping[str, str]]
    silent: Mapping[str, Count]
    cut_prompts: Sequence[str]
    fork: ForkMeta
    judge: str
    settings: Mapping[str, Any]
    split: Annotated[str, Field(pattern="^(train|validation|test)$")]
    withdrawn: Mapping[str, Count]
    family: str
    domain: str
    canary: str
    rules: str
    prompt_version: str
    import_notes: list[str]
    cells_left_out: Mapping[str, int]
    batch: Any
    number: Any
    timestamp: Any
    players: Any
    unread: Any
