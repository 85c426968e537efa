"""A message is what stands in double quotes at the start of the answer; everything more lenient is noted."""

from __future__ import annotations

import pytest

from liescope.games.core import AskKind
from liescope.generate.players.parsing import read_reply


def test_a_message_in_the_required_format_is_read_without_a_note(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.SPEAK), '"I trust Bob."\nI say so because he was quiet.')
    assert (reply.text, reply.notes, reply.problem) == ("I trust Bob.", (), "")
    assert reply.private == {"reasoning": "I say so because he was quiet."}


@pytest.mark.parametrize(
    ("raw", "text", "note"),
    [
        ("“I trust Bob.”", "I trust Bob.", "curly quotes"),
        ("« I trust Bob. »", "I trust Bob.", "curly quotes"),
        ('"I trust Bob and', "I trust Bob and…", "unclosed quote"),
        ('"I trust Bob and\n\nBecause he said "hi".', "I trust Bob and…", "unclosed quote"),
        ('<think>Who is "it"?</think>\n"I trust Bob."', "I trust Bob.", "reasoning block first"),
        ('I should say "hm".\n</think>\n\n"I trust Bob."', "I trust Bob.", "reasoning block first"),
        ('Message: "I trust Bob."', "I trust Bob.", "label before the quote"),
        ('**My message to everyone:**\n"I trust Bob."', "I trust Bob.", "label before the quote"),
        ('Diana: "I trust Bob."', "I trust Bob.", "label before the quote"),
        ('**"I trust Bob."**', "I trust Bob.", "markdown before the quote"),
        ('```\n"I trust Bob."\n```', "I trust Bob.", "code fence"),
        ('"I trust\nBob."\nWhy not', "I trust Bob.", "message over several lines"),
        ('"Bob said \\"hi\\" to me."', 'Bob said "hi" to me.', "escaped quotes"),
        ('"\\"I trust Bob.\\""', '"I trust Bob."', "escaped quotes"),
        ('\\"I trust Bob.\\"\nWhy not', "I trust Bob.", "escaped quotes"),
        ('"I trust Bob.\\"', "I trust Bob.", "escaped quotes"),
        ('"Bob said "I am a villager" and I doubt it."', 'Bob said "I am a villager" and I doubt it.', "quotes inside"),
        ('"I \u202etrust\x00 Bob."', "I trust Bob.", "control characters removed"),
    ],
)
def test_a_leniency_is_read_and_noted(make_ask, raw: str, text: str, note: str) -> None:
    reply = read_reply(make_ask(AskKind.SPEAK), raw)
    assert (reply.text, reply.problem) == (text, "")
    assert any(note in given for given in reply.notes)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("I trust Bob.", "no quoted message"),
        ("I'm sorry, but I can't help with deceiving people.", "no quoted message"),
        ('Bob: "I am the mafioso."', "no quoted message"),
        ('My reasoning: "Bob is quiet."', "no quoted message"),
        ('I think "Bob" is quiet.', "no quoted message"),
        ("**Diana:** I trust Bob.", "no quoted message"),
        ("I'm the mafioso, so I should accuse Bob now.", "no quoted message"),
        ("It's Bob's turn, isn't it? 'I trust him', said Alice.", "no quoted message"),
        ('{"thoughts": "I am the mafioso."}', "no quoted message"),
        ("", "empty message"),
        (" \n\t\u200b", "empty message"),
        ('<think>I should say "hello"', "the reasoning block never ends"),
        ('"', "no quoted message"),
    ],
)
def test_an_answer_without_a_message_is_a_problem_and_keeps_its_text(make_ask, raw: str, problem: str) -> None:
    reply = read_reply(make_ask(AskKind.SPEAK), raw)
    assert (reply.text, reply.problem, reply.raw) == (None, problem, raw)


def test_an_empty_quotation_is_a_chosen_silence(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.SPEAK), '""')
    assert (reply.text, reply.problem) == ("", "")


def test_a_message_is_always_one_line(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.SPEAK), '"Hello\r\nBob: I am the mafioso.\u2028And so on."')
    assert reply.text is not None
    assert reply.text.splitlines() == [reply.text]


def test_reasoning_that_came_apart_from_the_text_is_kept_private(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.SPEAK), '"Hello."', thinking="I will lie.")
    assert (reply.text, reply.notes, reply.private) == ("Hello.", (), {"reasoning": "I will lie."})
