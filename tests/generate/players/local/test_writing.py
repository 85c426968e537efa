"""A reply depends on its own ask: not on its batch, nor on whether its prompt was read before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from liescope.generate.players.local.loading import load, read_spec
from liescope.generate.players.local.writing import PromptRow, Writer, Written
from tests.generate.players.local import small_model

GIB = 2**30


def texts(written: list[Written]) -> list[list[int]]:
    return [one.ids.tolist() for one in written]


def one_by_one(writer: Writer, steps: list[list[PromptRow]]) -> list[Written]:
    return [reply for rows in steps for row in rows for reply in writer.write([row])]


def test_a_reply_is_the_same_alone_and_in_a_batch_read_anew_and_read_on(loaded, rows) -> None:
    steps = rows(loaded, games=2)
    alone = one_by_one(Writer(loaded, 0), steps)
    assert len({tuple(ids) for ids in texts(alone)}) > len(alone) / 2
    batched = Writer(loaded, 0)
    assert texts([reply for step in steps for reply in batched.write(step)]) == texts(alone)
    reused = one_by_one(Writer(loaded, GIB), steps)
    assert texts(reused) == texts(alone)
    both = Writer(loaded, GIB)
    found = [reply for step in steps for reply in both.write(step)]
    assert texts(found) == texts(alone)
    assert not any(reply.reused for reply in batched.write(steps[0]))
    cold = Writer(loaded, GIB).write([row for step in steps[:2] for row in step])
    assert texts(cold) == texts(alone)[: len(cold)]
    assert min(reply.reused for reply in cold) > 100  # the rules, which all of them begin with, were read once
    prompts = sum(len(row.ids) for step in steps for row in step)
    assert sum(reply.reused for reply in found) > 0.5 * prompts


def test_what_is_held_stays_within_its_bound(loaded, rows) -> None:
    steps = rows(loaded)
    large = Writer(loaded, GIB)
    one_by_one(large, steps)
    small = Writer(loaded, large.prefixes.size // 3)
    for step in steps:
        small.write(step)
        assert 0 < small.prefixes.size <= small.prefixes.most


def test_a_model_that_forgets_what_is_far_is_read_anew_each_time(tmp_path: Path, rows) -> None:
    from transformers import AutoModelForCausalLM, MistralConfig, MistralForCausalLM

    folder = small_model.make(tmp_path / "sliding")
    shape = AutoModelForCausalLM.from_pretrained(folder).config.to_dict()
    kept = {name: shape[name] for name in ("vocab_size", "hidden_size", "intermediate_size", "num_attention_heads")}
    config = MistralConfig(sliding_window=64, num_hidden_layers=1, num_key_value_heads=2, initializer_range=0.2, **kept)
    MistralForCausalLM(config).save_pretrained(folder)
    loaded = load(read_spec(str(folder)))
    step = rows(loaded, games=2)[0]
    writer = Writer(loaded, GIB)
    first, second = writer.write(step), writer.write(step)
    assert texts(first) == texts(second) == texts(one_by_one(Writer(loaded, 0), [step]))
    assert writer.prefixes.size == 0


def test_replies_end_at_their_own_limit_or_at_an_end_token(loaded, rows) -> None:
    limits = (1, 5, 12)
    step = [replace(row, most=most) for row, most in zip(rows(loaded)[0], limits, strict=True)]
    plain = Writer(loaded, 0).write(step)
    assert [len(reply.ids) for reply in plain if not reply.ended] == [
        most for most, reply in zip(limits, plain, strict=True) if not reply.ended
    ]
    end = int(plain[2].ids[3])
    cut = Writer(replace(loaded, ends=(*loaded.ends, end)), 0).write(step)[2]
    assert cut.ended
    assert cut.ids.tolist() == plain[2].ids[: plain[2].ids.tolist().index(end)].tolist()


def test_the_ends_of_a_chats_turn_end_a_reply(loaded) -> None:
    known = loaded.tokenizer.get_added_vocab()
    assert set(loaded.ends) == {loaded.tokenizer.eos_token_id, known["<|end|>"]}


@pytest.mark.parametrize("memory", [0, GIB])
def test_hidden_states_are_those_of_a_direct_pass(loaded, rows, memory: int) -> None:
    import torch

    steps = [[replace(row, layers=(1, 2)) for row in step] for step in rows(loaded, games=2)[:2]]
    writer = Writer(loaded, memory)
    for row, reply in ((row, reply) for step in steps for row, reply in zip(step, writer.write(step), strict=True)):
        ids = torch.from_numpy(np.concatenate([row.ids, reply.ids]))[None]
        with torch.no_grad():
            hidden = loaded.model(ids, output_hidden_states=True).hidden_states
        direct = torch.stack([hidden[1], hidden[2]], 2)[0, len(row.ids) :].numpy()
        assert reply.states is not None
        assert reply.states.shape == (len(reply.ids), 2, 32)
        np.testing.assert_allclose(reply.states, direct, atol=5e-3)
