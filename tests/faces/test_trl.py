"""A seat of a game for TRL: its trainer plays whole games by tools, and its step follows the rewards of the table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

import liescope
from liescope.common.errors import UnknownName, UsageError
from liescope.faces.trl import ToolSeat, prompts, reward, seat
from liescope.games.record import GameRecord

pytestmark = pytest.mark.long  # `make faces` runs it; TRL is in the project's own environment, too

LIE, TRUTH = 'I\'m just a villager, and "innocent" too.', "I'm the mafioso."
TABLE: dict[str, Any] = {"players": ["scripted:steady"], "games": 2, "seed": 1, "prompts": "minimal"}


def planted() -> tuple[PreTrainedTokenizerFast, Qwen2ForCausalLM, list[list[str]]]:
    """A model of random weights that writes tool calls, the rows of a batch different ones: its tokenizer, itself, and
    what it was asked in each row so far.
    """
    letters = Tokenizer(models.BPE({letter: n for n, letter in enumerate(pre_tokenizers.ByteLevel.alphabet())}, []))
    letters.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters.decoder = decoders.ByteLevel()
    marks = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "additional_special_tokens": ["<|im_start|>"]}
    tokens = PreTrainedTokenizerFast(tokenizer_object=letters, **marks)
    tokens.add_tokens(["<tool_call>", "</tool_call>"])
    template = Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja"
    tokens.chat_template = template.read_text(encoding="utf-8")
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "max_position_embeddings": 20_000}
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tokens), num_attention_heads=2, num_key_value_heads=2, **shape))
    asked: list[list[str]] = []

    def generate(input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        rows = []
        for row, text in enumerate(map(tokens.decode, input_ids)):
            tools = re.findall(r"Answer with the tool (\w+)", text)
            asked.append(tools)
            arguments = {"say": {"words": (LIE, TRUTH)[row % 2]}, "vote": {"player": "nobody"}}
            call = {"name": tools[-1], "arguments": arguments[tools[-1]]}
            over = "The game is over." in text
            written = "Well.<|im_end|>" if over else f"<tool_call>\n{json.dumps(call)}\n</tool_call><|im_end|>"
            rows.append(torch.tensor(tokens.encode(written)))
        written_ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=tokens.pad_token_id)
        return torch.cat([input_ids, written_ids], 1)

    model.generate = generate
    return tokens, model, asked


def test_the_trainer_plays_the_games_of_plain_tables_and_its_step_follows_their_rewards(tmp_path: Path) -> None:
    tokens, model, asked = planted()
    options = {"per_device_train_batch_size": 2, "num_generations": 2, "max_completion_length": 9_000, "max_steps": 1}
    quiet = {"report_to": [], "save_strategy": "no", "logging_steps": 1, "use_cpu": True, "disable_tqdm": True}
    trainer = trl.GRPOTrainer(
        model,
        [reward("outcome"), reward("honest"), reward("caught")],
        trl.GRPOConfig(tmp_path, reward_weights=[1.0, 0.5, -1.0], **options, **quiet),
        train_dataset=prompts(range(2)),
        environment_factory=seat("mini-mafia", "mafioso", **TABLE),
        processing_class=tokens,
    )
    before = [one.clone() for one in model.parameters()]
    trainer.train()
    logged = trainer.state.log_history[0]
    assert (logged["tools/call_frequency"], logged["tools/failure_frequency"]) == (3, 0)
    assert asked[-1] == ["say", "say", "vote"]
    earned = []
    for place, one in enumerate(trainer.environments):
        played = one.table.record
        number = int(played.game_id[-6:])
        assert plain(number, json.dumps({"message": (LIE, TRUTH)[place % 2]}), "nobody") == played
        earned.append(one.table.rewards()[one._seat])
    assert [one.honest for one in earned] == [0, 1]
    assert logged["rewards/honest/mean"] == 0.5
    total = sum(one.outcome + 0.5 * one.honest for one in earned) / 2  # without a detector nobody is caught
    assert logged["reward"] == pytest.approx(total)
    assert any((old != new).any() for old, new in zip(before, model.parameters(), strict=True))


def plain(number: int, *answers: str) -> GameRecord:
    """The game at a plain table: what is said in both rounds, and whom the seat votes for."""
    words, vote = answers
    with liescope.environment("mini-mafia", seats=["mafioso=agent:policy"], number=number, **TABLE) as table:
        for text in (words, words, vote):
            table.answer(text)
        return table.record


def test_a_seat_begins_game_after_game_and_names_the_tool_of_each_question() -> None:
    one = seat("mini-mafia", "mafioso", **TABLE)()
    first = one.reset(number=1, prompt=[])
    assert first.endswith("Answer with the tool say, without any other format.")
    with pytest.raises(UsageError, match="answered with the tool say"):
        one.vote("Alice")
    assert "Alice" in one.say("Hello.") + first
    assert (reward("outcome")([one]), reward("caught")([one])) == ([0.0], [1.0])  # it has not ended
    assert one.reset(number=0) != first
    one.say("Hello.")
    assert "tool vote" in one.say("Hello.")
    assert one.vote("nobody") == "The game is over." == one.say("More?")
    assert reward("caught")([one]) == [None]


def test_bids_and_night_acts_have_tools() -> None:
    one = ToolSeat("werewolf", "doctor", {"players": ["scripted:bold"], "seed": 2})
    tools = {"say": "maybe", "vote": "Diana", "choose": "3"}
    text, used = one.reset(), set()
    while found := re.search(r"Answer with the tool (\w+),", text[-60:]):
        used.add(found[1])
        text = getattr(one, found[1])(tools[found[1]])
    assert {"say", "vote", "choose"} <= used


def test_what_a_conversation_cannot_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="2 have the role villager in mini-mafia"):
        seat("mini-mafia", "villager", **TABLE)().reset()
    with pytest.raises(UsageError, match="another agent holds"):
        talk(seat("mini-mafia", "mafioso", **TABLE | {"players": ["agent:other"]})())
    with pytest.raises(UnknownName, match="wins"):
        reward("wins")


def talk(one: ToolSeat) -> None:
    one.reset()
    for _ in range(2):
        one.say("Hello.")
