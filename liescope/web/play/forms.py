"""What a person is asked, and how what they send becomes a reply."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from liescope.common.errors import UsageError
from liescope.games.core import Ask, AskKind, Assessment, Phase, Reply
from liescope.games.taxonomy import DeceptionType
from liescope.generate.players.parsing.clean import storable

LONGEST = 4000  # characters of a message where the table sets no limit
LONGEST_REASON = 500
DECEITS = tuple(kind for kind in DeceptionType if kind is not DeceptionType.NONE)
_FIELDS = ("choice", "text", "silent", "deceptive", "type", "confidence", "suspicion", "reason")
_SHARE = re.compile(r"0*(?:100|[0-9]{1,2})", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_QUESTIONS = {
    AskKind.KILL: "Whom do you want to kill?",
    AskKind.INVESTIGATE: "Whom do you investigate?",
    AskKind.PROTECT: "Whom do you protect?",
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
    AskKind.VOTE: "All votes are shown at once when the last is in.",
    AskKind.EXPLAINED_VOTE: "Nobody leaves the game by this vote. Everybody hears your reason.",
    AskKind.BID: "0: let others speak. 10: I must speak now. The highest bid gets the floor; nobody sees your bid.",
    AskKind.SPEAK: "Everybody at the table hears it.",
    AskKind.SELF_ASSESSMENT: "For the record only: no other player sees this.",
    AskKind.PEER_ASSESSMENT: "For the record only: no other player sees this.",
}
_FINAL = "Final vote: whom do you vote for?"
STEPS = tuple(range(0, 101, 10))  # of how sure somebody is, in percent


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


def form_of(ask: Ask) -> Form:
    """The form for an ask. Raises UsageError for one that people are never given."""
    if ask.kind not in _QUESTIONS:
        raise UsageError(f"a person is not asked for {ask.kind.value}")
    assess = {AskKind.SELF_ASSESSMENT: "self", AskKind.PEER_ASSESSMENT: "peer"}.get(ask.kind, "")
    text = ask.kind in (AskKind.SPEAK, AskKind.EXPLAINED_VOTE)
    question = _FINAL if ask.kind is AskKind.VOTE and ask.phase is Phase.REVOTE else _QUESTIONS[ask.kind]
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
    """The reply that a sent form makes. Raises UsageError, in words for the person, for one that lacks something."""
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
    """What was typed, fit to be kept. Raises UsageError if it is too long."""
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
