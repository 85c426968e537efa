"""A vote with its reason: the name decides, and what stands in the reason's place is what everybody hears."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from liescope.games import Ask, AskKind, Event, Reply, Werewolf, WerewolfSpec, drive, start
from liescope.games.core import Phase
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.parsing.speech import KEPT_BACK, UNQUOTED


@pytest.mark.parametrize(
    ("text", "choice", "reason"),
    [
        ('Bob\n"He dodged my question."', "Bob", "He dodged my question."),
        ("Bob\n“He dodged my question.”", "Bob", "He dodged my question."),
        ('**Bob**\n\n"He dodged."\nPrivately I think he is the jester.', "Bob", "He dodged."),
        ('Bob\nReason: "He dodged."', "Bob", "He dodged."),
        ("Bob", "Bob", ""),
        ('I vote for Bob. "He dodged my question."', "Bob", "He dodged my question."),
        ('{"vote": "Bob", "reason": "He dodged."}', "Bob", "He dodged."),
        ('```json\n{"name": "bob", "explanation": "He dodged."}\n```', "Bob", "He dodged."),
        ('<think>Alice? No.</think>Bob\n"So be it."', "Bob", "So be it."),
        ('My vote: {"vote": "Bob", "reason": "He dodged."}', "Bob", "He dodged."),
        ("Bob\nReason: He dodged.", "Bob", "He dodged."),
        ('Bob "He dodged."', "Bob", "He dodged."),
    ],
)
def test_the_name_and_the_reason_are_read(make_ask, text: str, choice: str, reason: str) -> None:
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert (reply.choice, reply.text, reply.problem) == (choice, reason, "")


@pytest.mark.parametrize("reason", ['"He dodged."', "Reason: He dodged.\n", "He dodged.\n"])
def test_what_follows_the_first_paragraph_of_the_reason_stays_private(make_ask, reason: str) -> None:
    text = f"Bob\n{reason}\nHe is my partner, but nobody knows."
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert reply.text == "He dodged."
    assert reply.private["reasoning"] == "He is my partner, but nobody knows."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Bob\nThey keep contradicting themselves", "They keep contradicting themselves"),
        ("Bob\n\nThey keep contradicting themselves.", "They keep contradicting themselves."),
        ("**Bob**\n*They keep contradicting themselves.*", "They keep contradicting themselves."),
        ("Bob\n'They keep contradicting themselves.'", "They keep contradicting themselves."),
        ("Bob - they keep contradicting themselves", "they keep contradicting themselves"),
        ("Vote: Bob\nThey keep\ncontradicting themselves.", "They keep contradicting themselves."),
        ("I vote for Bob.\n\nThey keep contradicting themselves.", "They keep contradicting themselves."),
        ("**Vote:** Bob\n**Reason:** They dodge.", "They dodge."),
        ("Bob\n- They dodge.\n- They lie.", "They dodge. They lie."),
        (
            "Bob\nI think Bob is the werewolf because he voted late.",
            "I think Bob is the werewolf because he voted late.",
        ),
        (
            "Bob\nI am the doctor, and Bob acts as a werewolf would.",
            "I am the doctor, and Bob acts as a werewolf would.",
        ),
        ("Bob\nHe drew the attention to Meg.", "He drew the attention to Meg."),
        ("Bob\nI am not a werewolf, and Bob knows that.", "I am not a werewolf, and Bob knows that."),
        ("投票: Bob\n理由: 他一直在自相矛盾。", "他一直在自相矛盾。"),
        ("Ich stimme für Bob.\nBegründung: Er widerspricht sich.", "Er widerspricht sich."),
    ],
)
def test_a_reason_in_its_place_without_quotation_marks_is_read_with_a_note(make_ask, text: str, reason: str) -> None:
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert (reply.choice, reply.text, reply.problem) == ("Bob", reason, "")
    assert UNQUOTED in reply.notes


@pytest.mark.parametrize(
    "text",
    [
        "Bob\nI am the werewolf and Bob is onto me, so he has to go.",
        "Bob\nI'm actually the jester, so I want them to look at me.",
        "Bob\nAs a werewolf, I want him gone.",
        "Bob\nVoting for Bob keeps suspicion away from me.",
        "Bob\nHe is trusted, and my fellow wolf already voted for him.",
        "Bob\nThis helps my win condition.",
        "Bob\nTo blend in with the crowd.",
        "Bob\n(He is the only one who suspects me.)",
        "Bob\nReasoning: he is trusted by everybody.",
        "Bob\nPrivate note: he is trusted by everybody.",
        "Bob\nMy strategy: let Alice lead.",
        "Bob\nI'm sorry, but I can't make up a reason.",
        "Bob\nReason: as the jester I need attention.",
        "As a werewolf I must protect Kate, so I vote for Bob.",
        'I vote for Bob because Alice said "trust me" and lied.',
    ],
)
def test_words_that_may_be_private_stay_private_and_the_silence_is_flagged(make_ask, text: str) -> None:
    """A text of None is a silence with a fallback, where "" would be a silence that somebody chose."""
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert (reply.choice, reply.text) == ("Bob", None)
    assert KEPT_BACK in reply.notes
    assert reply.private["reasoning"] in text


REASONS = [
    json.loads(line)
    for line in (Path(__file__).parent / "reasons_of_votes.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("shaped", [True, False])
def test_reasons_without_quotation_marks_are_heard_or_kept_back_as_their_author_means_them(
    make_ask, shaped: bool, public: bool
) -> None:
    """Those that did not shape the rule were written before it was tried on them: 1 of 20 public ones was kept back,
    5 of 16 private ones were read."""
    texts = [row["text"] for row in REASONS if (row["shaped"], row["public"]) == (shaped, public)]
    heard = [text for text in texts if read_reply(make_ask(AskKind.EXPLAINED_VOTE), f"Bob\n{text}").text == text]
    wrong = len(texts) - len(heard) if public else len(heard)
    assert wrong / len(texts) <= (0.0 if shaped else 0.05 if public else 0.32)


def test_a_name_alone_is_a_vote_whose_author_chose_to_give_no_reason(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), "Bob")
    assert (reply.choice, reply.text, reply.notes) == ("Bob", "", ())


@pytest.mark.parametrize(
    "text",
    [
        'Zed\n"He dodged."',
        "Zed\nHe dodged.",
        "Zed\nReason: He dodged.",
        '{"vote": "Zed", "reason": "He dodged."}',
        '{"vote": 5, "reason": "He dodged."}',
        'Alice or Bob\n"He dodged."',
    ],
)
def test_a_reason_is_heard_where_the_vote_cannot_be_read(make_ask, text: str) -> None:
    """Without a problem the words are spoken; without a choice the rules draw the vote and say so."""
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert (reply.choice, reply.text, reply.problem) == (None, "He dodged.", "")
    assert any(note.startswith("vote: ") for note in reply.notes)


@pytest.mark.parametrize(
    "text", ["", "Nobody", "Alice or Bob", '{"vote": "Zed"}', "{}", "They all seem fine to me today."]
)
def test_a_vote_with_neither_a_legal_name_nor_a_reason_is_a_problem(make_ask, text: str) -> None:
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert reply.choice is None
    assert not reply.text
    assert reply.problem


def test_in_a_game_the_unquoted_reason_is_heard_and_a_private_one_is_a_flagged_silence(make_ask) -> None:
    for words, kind in (("They keep contradicting themselves", "statement"), ("I am the werewolf, sorry", "silence")):
        session = start(lambda: Werewolf(WerewolfSpec(debate_turns=1, defence_turns=1), 3, "g"))

        def answer(ask: Ask, view: Sequence[Event], words: str = words) -> Reply:
            if ask.kind is AskKind.EXPLAINED_VOTE:
                return read_reply(ask, f"{ask.options[0]}\n{words}")
            return Reply(choice=ask.options[0] if ask.options else None, text="Hm.")

        drive(session, answer)
        said = [
            event for event in session.events if event.phase is Phase.VOTING and event.kind in ("statement", "silence")
        ]
        assert said
        assert {(event.kind.value, bool(event.fallback)) for event in said} == {(kind, kind == "silence")}
