"""One door for every kind of ask: raw text in, reply out. Nothing that a model writes raises an error here."""

from __future__ import annotations

from dataclasses import replace

from games.core import CHOICES, Ask, AskKind, Reply
from generate.parsing.assessment import read_assessment
from generate.parsing.choice import read_choice
from generate.parsing.clean import clean, storable, visible
from generate.parsing.speech import NO_MESSAGE, read_message


def read_reply(ask: Ask, raw: str, thinking: str = "") -> Reply:
    """The reply in a model's text. thinking: reasoning that came apart from the text.

    What cannot be read is a reply with `problem` set; the raw text is kept in any case. Reasoning before or after the
    answer goes to `private["reasoning"]`, which no seat sees.
    """
    cleaned = clean(raw)
    if cleaned.problem or not cleaned.text:
        reply, beside = Reply(problem=cleaned.problem or "empty message"), ""
    elif ask.kind is AskKind.SPEAK:
        message = read_message(cleaned.text, ask.seat)
        reply = Reply(text=message.text, notes=message.notes, problem="" if message.text is not None else NO_MESSAGE)
        beside = message.rest
    elif ask.kind in CHOICES:
        choice = read_choice(cleaned.text, ask.options)
        reply, beside = Reply(choice=choice.option, notes=choice.notes, problem=choice.problem), choice.rest
    else:
        report = read_assessment(cleaned.text, peer=ask.kind is AskKind.PEER_ASSESSMENT)
        reply = Reply(assessment=report.assessment, notes=report.notes, problem=report.problem)
        beside = report.reasoning
    reasons = "\n\n".join(part for part in (visible(thinking)[0], cleaned.reasoning, beside) if part)
    private = {"reasoning": reasons} if reasons else {}
    return replace(reply, raw=storable(raw), notes=cleaned.notes + reply.notes, private=private)
