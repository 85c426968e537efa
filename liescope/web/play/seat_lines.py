"""What a seat is told and asked: the lines of its page, what is going on and who is still in the game, in the second
person, and only what the seat knows; and how a person's input becomes a reply.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from liescope.common.errors import UsageError
from liescope.games.core import ASSESSMENTS, Ask, AskKind, Assessment, Event, EventKind, Phase, Reply
from liescope.games.narration import counted, deed, listing, shares
from liescope.games.taxonomy import DeceptionType
from liescope.generate.players.parsing.choice import storable

HEAD, SAID, FACT, SECRET = "head", "said", "fact", "secret"
_PHASES = {
    Phase.DISCUSSION: "discussion",
    Phase.VOTING: "vote",
    Phase.DEFENCE: "defence",
    Phase.REVOTE: "final vote",
}
_DECIDED = {EventKind.ARREST, EventKind.EXILE, EventKind.NO_EXILE}


@dataclass(frozen=True, slots=True)
class SeatLine:
    """One line. kind: a heading, something said, something that everybody knows, or what only this seat and those who
    share its knowledge do; who: the speaker; words: as they are, to be escaped.
    """

    kind: str
    words: str
    who: str = ""


def lines(view: Sequence[Event], seat: str, after: int = 0) -> Iterator[SeatLine]:
    """The lines of a seat's events but the first `after`. Votes are counted once the last is in."""
    headed: tuple[int, Phase] | None = None
    votes: Counter[str] = Counter()
    for number, event in enumerate(view):
        if votes and ((event.day, event.phase) != headed or event.kind in _DECIDED):
            if number >= after:
                yield _tally(votes, seat)
            votes.clear()
        if event.kind is EventKind.VOTE:
            votes[event.target or ""] += 1
        if (line := _line(event, seat)) is None:
            continue
        before, headed = headed, (event.day, event.phase)
        if number < after:
            continue
        if before != headed and event.phase in _PHASES:
            yield SeatLine(HEAD, f"Day {event.day}, {_PHASES[event.phase]}")
        yield line


def _line(event: Event, seat: str) -> SeatLine | None:
    who = "You" if event.actor == seat else event.actor or ""
    late = ": your time was up" if who == "You" and event.fallback else ""
    whom = "you" if event.target == seat else event.target or ""
    was = "were" if event.target == seat else "was"
    data = event.data
    chosen = f" (drawn by lot{late})" if event.fallback or data.get("drawn") else ""
    match event.kind:
        case EventKind.SETUP:
            others = listing(name for name in data["names"] if name != seat)
            cards = counted(data["composition"].items())
            where = "Among you and in the centre" if data.get("centre") else "Among you"
            return SeatLine(FACT, f"You are {seat}. With you in the game: {others}. {where}: {cards}.")
        case EventKind.ROLE:
            return SeatLine(SECRET, f"Your role: {data['role']}.")
        case EventKind.PARTNERS:
            partners = [name for name in data["names"] if name != seat]
            known = f"On your side: {listing(partners)}." if partners else "You have no partner."
            seen = f" In the centre lies a {data['seen']}." if data.get("seen") else ""
            return SeatLine(SECRET, known + seen)
        case EventKind.NIGHT:
            return SeatLine(HEAD, f"Night {event.day}" if event.day else "Night")
        case EventKind.ACT:
            return SeatLine(FACT if event.audience is None else SECRET, deed(event))
        case EventKind.CHOICE:
            return SeatLine(FACT if event.audience is None else SECRET, f"{deed(event)}{chosen}.")
        case EventKind.KILLER:
            return SeatLine(SECRET, "You decide who is killed." if who == "You" else f"{who} decides who is killed.")
        case EventKind.PROPOSAL:
            return SeatLine(SECRET, f"{who} proposed to kill {whom}{chosen}.")
        case EventKind.KILL:
            by = f"{who} killed {whom}" if who else f"The attack was on {whom}"
            return SeatLine(SECRET, f"{by}{chosen}.")
        case EventKind.PROTECTION:
            yourself = "yourself" if event.target == seat else whom
            return SeatLine(SECRET, f"You protected {yourself}{chosen}.")
        case EventKind.INVESTIGATION:
            found = f"{whom} {'are' if whom == 'you' else 'is'} {with_article(data['role'])}"
            return SeatLine(SECRET, f"{who} investigated {whom}{chosen}: {found}.")
        case EventKind.DISCOVERY:
            return SeatLine(SECRET, f"{who} and {whom} know each other's role now.")
        case EventKind.DEATH:
            role = f", {with_article(data['role'])}" if data.get("role") else ""
            return SeatLine(FACT, f"{whom.capitalize() if whom == 'you' else whom} {was} found dead{role}.")
        case EventKind.QUIET:
            return SeatLine(FACT, "Nobody died in the night.")
        case EventKind.STATEMENT:
            return SeatLine(SAID, event.text, event.actor or "")
        case EventKind.SILENCE:
            return SeatLine(FACT, f"{who} remained silent{late}.")
        case EventKind.SUSPICION:
            return SeatLine(
                SECRET, f"How much you suspect the others so far, from 0 to 1: {shares(data['suspicion'])}."
            )
        case EventKind.VOTE:
            return SeatLine(FACT, f"{who} voted for {whom}{chosen}.")
        case EventKind.ARREST:
            tied = f" (drawn by lot among {listing(data['tied'])})" if data.get("tied") else ""
            return SeatLine(FACT, f"{whom.capitalize() if whom == 'you' else whom} {was} arrested{tied}.")
        case EventKind.EXILE:
            name = whom.capitalize() if whom == "you" else whom
            return SeatLine(FACT, f"{name} {was} exiled with {data['votes']} votes; {data['needed']} were needed.")
        case EventKind.NO_EXILE:
            return SeatLine(FACT, f"Nobody was exiled: that takes {data['needed']} votes.")
        case EventKind.END:
            return SeatLine(FACT, f"The game is over. Winner: {data['winner']}.")
    return None


def _tally(votes: Counter[str], seat: str) -> SeatLine:
    counted = ", ".join(f"{'you' if name == seat else name} {number}" for name, number in votes.most_common())
    return SeatLine(FACT, f"Votes: {counted}.")


def with_article(role: str) -> str:
    """A role with its article; what an investigation shows may be "not ROLE"."""
    if role.startswith("not "):
        return f"not {with_article(role.removeprefix('not '))}"
    return f"{'an' if role[:1] in 'aeiou' else 'a'} {role}"


_ENDS = {EventKind.DEATH: "died, night", EventKind.ARREST: "arrested, day", EventKind.EXILE: "exiled, day"}


@dataclass(frozen=True, slots=True)
class Stage:
    """What everybody in a game knows to be going on. key: tells it from the stages before and after; words: as a
    sentence; floor: who has the floor.
    """

    key: str
    words: str
    floor: str = ""


def stage_of(asks: Sequence[Ask]) -> Stage | None:
    """The stage of a game that waits for these answers, None where there is none. A night is one stage, so that nobody
    learns who is asked, or asked again.
    """
    if not asks:
        return None
    ask = asks[0]
    if ask.phase is Phase.NIGHT:
        return Stage(f"{ask.day}-night", "It is night. Whoever can act does so now, in secret.")
    key = f"{ask.day}-{ask.step}"
    if ask.kind is AskKind.SPEAK:
        return Stage(key, f"{ask.seat} has the floor.", ask.seat)
    if ask.kind is AskKind.BID:
        return Stage(key, "Who speaks next? The others are bidding for the floor.")
    if ask.kind in ASSESSMENTS:
        return Stage(key, "The last statement is being rated, for the record only.")
    if ask.kind is AskKind.CHOOSE:
        chooses = "chooses" if len(asks) == 1 else "choose"
        return Stage(key, f"{listing(one.seat for one in asks)} {chooses} a move.")
    return Stage(key, "The vote is under way. All votes are shown at once when the last is in.")


@dataclass(frozen=True, slots=True)
class Chair:
    """A player as a seat knows it. out: how the player left the game, "" for one still in it; known: what this seat
    alone, or with its partners, knows about the player.
    """

    name: str
    out: str = ""
    known: str = ""


def chairs(view: Sequence[Event], seat: str) -> list[Chair]:
    """All players of a game as a seat knows them from its view, in table order."""
    names: Sequence[str] = ()
    out: dict[str, str] = {}
    known: dict[str, str] = {}
    for event in view:
        if event.kind is EventKind.SETUP:
            names = event.data["names"]
        elif event.kind in _ENDS:
            shown = f", {with_article(event.data['role'])}" if event.data.get("role") else ""
            out[event.target or ""] = f"{_ENDS[event.kind]} {event.day}{shown}"
        elif event.kind is EventKind.PARTNERS:
            known |= {name: "on your side" for name in event.data["names"] if name != seat}
        elif event.kind is EventKind.INVESTIGATION and event.actor == seat:
            known[event.target or ""] = with_article(event.data["role"])
    return [Chair(name, out.get(name, ""), known.get(name, "")) for name in names]


def role_of(view: Sequence[Event], seat: str) -> str:
    """The role that a seat was told, "" before that."""
    told = (event.data["role"] for event in view if event.kind is EventKind.ROLE and event.actor == seat)
    return next(told, "")


LONGEST = 4000  # characters of a message where the game sets no limit
LONGEST_REASON = 500
DECEITS = tuple(kind for kind in DeceptionType if kind is not DeceptionType.NONE)
_FIELDS = ("choice", "text", "silent", "deceptive", "type", "confidence", "suspicion", "reason")
_SHARE = re.compile(r"0*(?:100|[0-9]{1,2})", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_QUESTIONS = {
    AskKind.KILL: "Whom do you want to kill?",
    AskKind.INVESTIGATE: "Whom do you investigate?",
    AskKind.PROTECT: "Whom do you protect?",
    AskKind.CHOOSE: "What do you do?",
    AskKind.VOTE: "Whom do you vote for?",
    AskKind.EXPLAINED_VOTE: "First vote: whom do you vote for, and why?",
    AskKind.BID: "How much do you want to speak next?",
    AskKind.SPEAK: "You have the floor: what do you say?",
    AskKind.SELF_ASSESSMENT: "Did you mean to deceive with this?",
    AskKind.PEER_ASSESSMENT: "Do you think that this was meant to deceive?",
}
_HINTS = {
    AskKind.KILL: "No villager learns who chose.",
    AskKind.INVESTIGATE: "Only you learn the result.",
    AskKind.PROTECT: "If that player is attacked tonight, nobody dies.",
    AskKind.CHOOSE: "These are your legal moves.",
    AskKind.VOTE: "All votes are shown at once when the last is in.",
    AskKind.EXPLAINED_VOTE: "Nobody leaves the game by this vote. Everybody hears your reason.",
    AskKind.BID: "0: let others speak. 10: I must speak now. The highest bid gets the floor; nobody sees your bid.",
    AskKind.SPEAK: "Everybody in the game hears it.",
    AskKind.SELF_ASSESSMENT: "For the record only: no other player sees this.",
    AskKind.PEER_ASSESSMENT: "For the record only: no other player sees this.",
}
_FINAL = "Final vote: whom do you vote for?"
STEPS = tuple(range(0, 101, 10))  # choices for how sure somebody is, in percent


@dataclass(frozen=True, slots=True)
class Form:
    """A question as a page shows it. text: whether words are asked for, of at most `limit` characters; options: to
    choose from; assess: "self" or "peer" for a form about a statement, which `about` is the index of; round, rounds:
    the turn and how many there are at most, 0 where there are no turns.
    """

    kind: str
    question: str
    hint: str
    options: tuple[str, ...]
    text: bool
    limit: int
    assess: str
    about: int | None
    round: int
    rounds: int
    types: tuple[DeceptionType, ...] = DECEITS
    steps: tuple[int, ...] = STEPS


def form_of(ask: Ask, names: Collection[str] = ()) -> Form:
    """The form for an ask. names: of the players, for questions whose options may be something else. Raises UsageError
    for an ask that people are never given.
    """
    if ask.kind not in _QUESTIONS:
        raise UsageError(f"a person is not asked for {ask.kind.value}")
    assess = {AskKind.SELF_ASSESSMENT: "self", AskKind.PEER_ASSESSMENT: "peer"}.get(ask.kind, "")
    text = ask.kind in (AskKind.SPEAK, AskKind.EXPLAINED_VOTE)
    question = _FINAL if ask.kind is AskKind.VOTE and ask.phase is Phase.REVOTE else _QUESTIONS[ask.kind]
    if ask.kind is AskKind.VOTE and names and not {*ask.options} <= {*names}:
        question = "What do you vote for?"
    return Form(
        ask.kind.value,
        question,
        _HINTS[ask.kind],
        ask.options,
        text,
        ask.limit or LONGEST,
        assess,
        ask.about,
        ask.round,
        ask.rounds,
    )


def read_form(ask: Ask, given: Mapping[str, str]) -> Reply:
    """The reply that a sent form makes. Raises UsageError, worded for the person, for an incomplete one."""
    form = form_of(ask)
    raw = json.dumps({name: storable(given[name]) for name in _FIELDS if name in given}, ensure_ascii=False)
    if form.assess:
        return Reply(assessment=_assessment(given, form.assess == "peer"), raw=raw)
    text = _words(given.get("text", ""), form.limit) if form.text else None
    choice = None
    if form.options:
        choice = given.get("choice", "")
        if choice not in form.options:
            raise UsageError("Choose one of the answers first.")
    if ask.kind is AskKind.SPEAK and not text and "silent" not in given:
        raise UsageError("Write something first, or press the button to say nothing.")
    if "silent" in given:
        text = ""
    if ask.kind is AskKind.EXPLAINED_VOTE and not text:
        raise UsageError("Give a reason as well: everybody hears it with your vote.")
    return Reply(choice=choice, text=text, raw=raw)


def _words(text: str, limit: int) -> str:
    """The typed text, cleaned for keeping. Raises UsageError if it is too long."""
    text = _CONTROL.sub(" ", storable(text.replace("\r\n", "\n"))).strip()
    if len(text) > limit:
        raise UsageError(f"At most {limit} characters; this has {len(text)}. Shorten it and send it again.")
    return text


def _assessment(given: Mapping[str, str], peer: bool) -> Assessment:
    if given.get("deceptive") not in ("yes", "no"):
        raise UsageError("Answer yes or no first.")
    deceptive = given["deceptive"] == "yes"
    kind = DeceptionType.NONE.value
    if deceptive:
        kind = given.get("type", "")
        if kind not in {one.value for one in DECEITS}:
            raise UsageError("Choose in which way it was meant to deceive.")
    suspicion = _share(given, "suspicion", "how much you suspect the speaker") if peer else None
    confidence = _share(given, "confidence", "how sure you are")
    return Assessment(deceptive, kind, confidence, suspicion, _words(given.get("reason", ""), LONGEST_REASON))


def _share(given: Mapping[str, str], name: str, what: str) -> float:
    words = given.get(name, "")
    if len(words) > 10 or not _SHARE.fullmatch(words):
        raise UsageError(f"Say {what}, from 0 to 100.")
    return int(words) / 100
