"""From a model's raw text to a reply: strict first, then lenient, with each leniency recorded in `Reply.notes`."""

from __future__ import annotations

from dataclasses import replace

from liescope.games.core import CHOICES, FORMS, Ask, AskKind, Reply
from liescope.generate.players.parsing.assessment import read_assessment
from liescope.generate.players.parsing.choice import read_bid, read_choice
from liescope.generate.players.parsing.clean import clean, storable, visible
from liescope.generate.players.parsing.explained import read_explained_vote
from liescope.generate.players.parsing.forms import read_form
from liescope.generate.players.parsing.speech import NO_MESSAGE, read_message


def read_reply(ask: Ask, raw: str, thinking: str = "") -> Reply:
    """The reply in a model's text. thinking: reasoning that came separately from the text.

    If the text cannot be read, the reply has `problem` set; the raw text is always kept. Reasoning before or after the
    answer goes to `private["reasoning"]`, which no seat sees.
    """
    cleaned = clean(raw)
    if cleaned.problem or not cleaned.text:
        reply, beside = Reply(problem=cleaned.problem or "empty message"), ""
    else:
        reply, beside = _read(ask, cleaned.text)
    reasons = "\n\n".join(part for part in (visible(thinking)[0], cleaned.reasoning, beside) if part)
    private = {"reasoning": reasons} if reasons else {}
    return replace(reply, raw=storable(raw), notes=cleaned.notes + reply.notes, private=private)


def _read(ask: Ask, text: str) -> tuple[Reply, str]:
    """The reply in a cleaned text, and the text around the answer."""
    if ask.kind is AskKind.SPEAK:
        message = read_message(text, ask.seat)
        problem = "" if message.text is not None else NO_MESSAGE
        return Reply(text=message.text, notes=message.notes, problem=problem), message.rest
    if ask.kind is AskKind.EXPLAINED_VOTE:
        vote = read_explained_vote(text, ask.options, ask.seat)
        return Reply(choice=vote.option, text=vote.reason, notes=vote.notes, problem=vote.problem), vote.rest
    if ask.kind is AskKind.BID:
        bid = read_bid(text)
        choice = None if bid.bid is None else str(bid.bid)
        return Reply(choice=choice, notes=bid.notes, problem=bid.problem), bid.rest
    if ask.kind in CHOICES:
        option = read_choice(text, ask.options)
        return Reply(choice=option.option, notes=option.notes, problem=option.problem), option.rest
    if ask.kind in FORMS:
        form = read_form(ask, text)
        return Reply(form=form.fields, notes=form.notes, problem=form.problem), ""
    report = read_assessment(text, peer=ask.kind is AskKind.PEER_ASSESSMENT)
    return Reply(assessment=report.assessment, notes=report.notes, problem=report.problem), report.reasoning


__all__ = ["read_reply"]
