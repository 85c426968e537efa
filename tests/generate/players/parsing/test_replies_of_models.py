"""Replies as models and their servers really send them.

The spellings of reasoning come from reports against vLLM, llama.cpp, mlx-lm, Ollama, koboldcpp, LM Studio and others
(gpt-oss channels with and without their special tokens, Gemma's channel, Mistral's brackets, a missing opening tag);
end tokens, boxes, fences, labels, stage directions, apologies and other languages from chats with models.
"""

from __future__ import annotations

import pytest

from liescope.games.core import AskKind
from liescope.generate.players.parsing import read_reply

THOUGHT = "Alice looks safe. Charlie? Maybe."
WITH_REASONING = [
    f"<think>\n{THOUGHT}\n</think>\n\nANSWER",
    f"{THOUGHT}\n</think>\n\nANSWER",
    f"<thought>{THOUGHT}</thought>ANSWER",
    f"<seed:think>{THOUGHT}</seed:think>ANSWER",
    f"<mm:think>{THOUGHT}</mm:think>\nANSWER",
    f"[THINK]{THOUGHT}[/THINK]ANSWER",
    f"◁think▷{THOUGHT}◁/think▷ANSWER",
    f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>ANSWER<|END_RESPONSE|>",
    f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|>\n<|begin_of_solution|>ANSWER<|end_of_solution|>",
    f"<|channel>thought\n{THOUGHT}<channel|>ANSWER",
    f"<unused94>thought\n{THOUGHT}<unused95>ANSWER",
    f"<think>{THOUGHT}</think><answer>ANSWER</answer>",
    f"<think>{THOUGHT}</think><|begin_of_box|>ANSWER<|end_of_box|>",
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>ANSWER<|return|>",
    f"<|start|>assistant<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final "
    "<|constrain|>json<|message|>ANSWER",
    f"analysis{THOUGHT}assistantfinalANSWER",
    f"analysis\n{THOUGHT}\nassistant\nfinal\nANSWER",
]
ANSWERS = {
    AskKind.VOTE: "Bob",
    AskKind.EXPLAINED_VOTE: 'Bob\n"He dodged."',
    AskKind.SPEAK: '"He dodged."',
    AskKind.BID: "7",
    AskKind.PEER_ASSESSMENT: '{"deceptive": true, "type": "omission", "confidence": 0.5, "suspicion": 0.5}',
}


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("raw", WITH_REASONING)
def test_reasoning_in_any_spelling_is_taken_off_and_kept_private(make_ask, raw: str, kind: AskKind) -> None:
    plain = read_reply(make_ask(kind), ANSWERS[kind])
    reply = read_reply(make_ask(kind), raw.replace("ANSWER", ANSWERS[kind]))
    assert (reply.choice, reply.text, reply.assessment, reply.problem) == (
        plain.choice,
        plain.text,
        plain.assessment,
        "",
    )
    assert THOUGHT in reply.private["reasoning"]
    assert "<" not in reply.private["reasoning"]
    assert reply.notes


@pytest.mark.parametrize(
    "raw", [raw.partition("ANSWER")[0].partition(THOUGHT)[0] + THOUGHT for raw in WITH_REASONING if raw[0] in "<[◁"]
)
def test_reasoning_that_never_ends_holds_no_answer(make_ask, raw: str) -> None:
    reply = read_reply(make_ask(AskKind.VOTE), raw)
    assert reply.choice is None
    assert reply.problem == "the reasoning block never ends"
    assert THOUGHT in reply.private["reasoning"]


@pytest.mark.parametrize("block", ["<think>But he is my partner.</think>", "<think>But he is my partner."])
def test_reasoning_behind_the_answer_is_private_too(make_ask, block: str) -> None:
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), f"Bob\nHe dodged.\n{block}")
    assert (reply.choice, reply.text) == ("Bob", "He dodged.")
    assert "partner" in reply.private["reasoning"]


@pytest.mark.parametrize(
    "token", ["<|im_end|>", "<|eot_id|>", "</s>", "<end_of_turn>", "<｜end▁of▁sentence｜>", "<|endoftext|>"]
)
def test_an_end_token_that_a_server_left_in_is_no_part_of_the_answer(make_ask, token: str) -> None:
    assert read_reply(make_ask(AskKind.VOTE), f"Bob{token}").choice == "Bob"
    assert read_reply(make_ask(AskKind.SPEAK), f'"He dodged."{token}').text == "He dodged."


# Choices


@pytest.mark.parametrize(
    "raw",
    [
        "**Vote: Bob**\n\nReasoning: Alice has been consistent.",
        "My vote goes to **Bob**.",
        "### Vote\n**Bob**",
        "Vote for: `Bob`",
        "➡️ Bob",
        "Bob ✅",
        "1. Bob",
        "@Bob",
        "Bob (the quiet one)",
        "\\boxed{Bob}",
        "「Bob」",
        "As an AI language model I have no feelings about this, but I vote for Bob.",
        'Here is my vote:\n```json\n{"vote": "Bob"}\n```',
        "Ich stimme nicht für Alice, sondern für Bob.",
        "Je vote pour Bob, pas pour Alice.",
        "Voto por Bob porque Alice dice la verdad.",
        "Голосую за Bob, а не за Alice.",
        "我不投Alice，我投Bob。",
        "AliceではなくBobに投票します。",
        "Bob에게 투표합니다.",
    ],
)
def test_a_vote_is_read_as_it_was_meant(make_ask, raw: str) -> None:
    reply = read_reply(make_ask(AskKind.VOTE), raw)
    assert (reply.choice, reply.problem) == ("Bob", "")
    assert reply.notes


@pytest.mark.parametrize(
    "raw",
    [
        "I'm sorry, but I can't help with that.",
        "Ich stimme nicht für Alice.",
        "Je ne vote pas pour Alice.",
        "No voto por Alice.",
        "我不投Alice。",
        "I cannot take part in eliminating Alice or Bob.",
    ],
)
def test_a_refusal_or_a_negation_in_any_language_is_no_vote(make_ask, raw: str) -> None:
    reply = read_reply(make_ask(AskKind.VOTE), raw)
    assert reply.choice is None
    assert reply.problem


# Speech


@pytest.mark.parametrize(
    "raw",
    [
        "„I trust Bob.“",
        "»I trust Bob.«",
        "「I trust Bob.」",
        "'I trust Bob.'",
        '*leans forward* "I trust Bob."',
        '(after a pause) "I trust Bob."',
        'Sure! Here is my message:\n\n"I trust Bob."',
        'Diana says: "I trust Bob."',
        '[Diana]: "I trust Bob."',
        'Meine Nachricht an alle: „I trust Bob."',
        '{"message": "I trust Bob.", "reasoning": "He is my partner."}',
        '```json\n{"message": "\\"I trust Bob.\\""}\n```',
        '"I trust Bob."\n\nI hope this helps! Let me know if you need anything else.',
        '"I trust Bob."\n\nI apologize for any confusion.',
    ],
)
def test_a_message_is_read_without_what_stands_around_it(make_ask, raw: str) -> None:
    reply = read_reply(make_ask(AskKind.SPEAK), raw)
    assert (reply.text, reply.problem) == ("I trust Bob.", "")
