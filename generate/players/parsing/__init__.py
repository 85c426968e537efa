"""From a model's raw text to a reply: strict first, then lenient, with each leniency recorded in `Reply.notes`."""

from __future__ import annotations

from dataclasses import replace

from liescope.games.core import CHOICES, FORMS, Ask, AskKind, Reply
from liescope.generate.players.parsing.choice import Answer, clean, read_bid, read_choice, storable, visible
from liescope.generate.players.parsing.reply_forms import read_assessment, read_form
from liescope.generate.players.parsing.speech import read_explained_vote, read_message


def read_reply(ask: Ask, raw: str, thinking: str = "") -> Reply:
    """The reply in a model's text. thinking: reasoning that came separately from the text.

    If the text cannot be read, the reply has `problem` set; the raw text is always kept. Reasoning before or after the
    answer goes to `private["reasoning"]`, which no seat sees.
    """
    cleaned = clean(raw)
    if cleaned.problem or not cleaned.answer:
        answer = Answer(Reply(problem=cleaned.problem or "empty message"))
    else:
        answer = _read(ask, cleaned.answer)
    reasons = "\n\n".join(part for part in (visible(thinking)[0], cleaned.reasoning, answer.rest) if part)
    private = {"reasoning": reasons} if reasons else {}
    return replace(answer.reply, raw=storable(raw), notes=cleaned.notes + answer.reply.notes, private=private)


def _read(ask: Ask, text: str) -> Answer:
    """What a cleaned text says."""
    match ask.kind:
        case AskKind.SPEAK:
            return read_message(text, ask.seat)
        case AskKind.EXPLAINED_VOTE:
            return read_explained_vote(text, ask.options, ask.seat)
        case AskKind.SUMMARY:
            return Answer(Reply(text=" ".join(text.split())))
        case AskKind.BID:
            return read_bid(text)
        case kind if kind in CHOICES:
            return read_choice(text, ask.options, moves=kind is AskKind.CHOOSE)
        case kind if kind in FORMS:
            return Answer(read_form(ask, text))
        case kind:
            return read_assessment(text, peer=kind is AskKind.PEER_ASSESSMENT)
