"""What a seat is told and asked: the lines of its page, what is going on and who is still in the game, in the second
person, and only what the seat knows; and how a person's input becomes a reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from liescope.common.errors import UsageError
from liescope.games.core import ASSESSMENTS, Ask, AskKind, Assessment, Event, EventKind, Phase, Reply
from liescope.games.narration import QUESTIONS, listing, with_article
from liescope.games.taxonomy import DeceptionType
from liescope.generate.players.parsing.choice import storable

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
    if ask.kind not in QUESTIONS:
        raise UsageError(f"a person is not asked for {ask.kind.value}")
    assess = {AskKind.SELF_ASSESSMENT: "self", AskKind.PEER_ASSESSMENT: "peer"}.get(ask.kind, "")
    text = ask.kind in (AskKind.SPEAK, AskKind.EXPLAINED_VOTE)
    question = _FINAL if ask.kind is AskKind.VOTE and ask.phase is Phase.REVOTE else QUESTIONS[ask.kind]
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
