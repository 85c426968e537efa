"""A reply depends on its own ask, not on its batch; tokens are drawn from the model's own probabilities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from liescope.generate.players.local.loading import Draw, Sampling, random_key, write

SCORES = torch.tensor([2.0, 1.0, 0.0, -1.0, 1.5, -3.0])
MANY = 6_000


def drawn(place: int = 0, **sampling: object) -> np.ndarray:
    """The share of each token among many asks."""
    rows = [Sampling(key=random_key(0, "g", number, "Alice"), **sampling) for number in range(MANY)]
    chosen = Draw(rows, 7, 10, "cpu")(torch.zeros((MANY, 7 + place)), SCORES.repeat(MANY, 1))
    assert torch.equal((chosen == 0).sum(1), torch.ones(MANY, dtype=torch.long))
    return np.bincount(chosen.argmax(1), minlength=len(SCORES)) / MANY


def test_tokens_are_drawn_with_their_probability() -> None:
    for place in (0, 9):
        np.testing.assert_allclose(drawn(place), SCORES.softmax(0), atol=0.022)
    np.testing.assert_allclose(drawn(temperature=2.0), (SCORES / 2).softmax(0), atol=0.022)
    likely = torch.where(torch.tensor([1, 1, 0, 0, 1, 0]).bool(), SCORES, -torch.inf).softmax(0)
    np.testing.assert_allclose(drawn(top_k=3), likely, atol=0.022)
    np.testing.assert_allclose(drawn(top_p=0.75), likely, atol=0.022)
    assert drawn(top_p=0.4)[0] == 1  # the likeliest alone has as much
    assert drawn(temperature=0.0)[0] == 1
    assert drawn(top_k=1)[0] == 1


def test_every_seed_game_step_and_seat_has_numbers_of_its_own() -> None:
    keys = {random_key(seed, game, step, seat) for seed in (0, 1) for game in "gh" for step in (0, 1) for seat in "AB"}
    assert len(keys) == 16


def test_a_reply_is_the_same_alone_and_in_a_batch(loaded, rows) -> None:
    steps = rows(loaded, games=2)[-4:]
    alone = [write(loaded, [row])[0].ids.tolist() for step in steps for row in step]
    assert len({tuple(ids) for ids in alone}) > len(alone) / 2
    assert [one.ids.tolist() for step in steps for one in write(loaded, step)] == alone
    mixed = [replace(steps[0][0], sampling=Sampling(0.0)), replace(steps[0][1], sampling=Sampling(0.7, 0.9, 5, 3))]
    together = write(loaded, mixed)
    assert [one.ids.tolist() for one in together] == [write(loaded, [row])[0].ids.tolist() for row in mixed]


def test_replies_end_at_their_own_limit_or_at_an_end_token(loaded, rows) -> None:
    limits = (1, 5, 12)
    step = [replace(row, most=most) for row, most in zip(rows(loaded)[0], limits, strict=True)]
    plain = write(loaded, step)
    assert [len(one.ids) for one in plain if not one.ended] == [
        most for most, one in zip(limits, plain, strict=True) if not one.ended
    ]
    end = int(plain[2].ids[3])
    cut = write(replace(loaded, ends=(*loaded.ends, end)), step)[2]
    assert cut.ended
    assert cut.ids.tolist() == plain[2].ids[: plain[2].ids.tolist().index(end)].tolist()
    known = loaded.tokenizer.get_added_vocab()
    assert set(loaded.ends) == {loaded.tokenizer.eos_token_id, known["<|end|>"]}  # that of a chat's turn, too


def test_hidden_states_are_those_of_a_direct_pass(loaded, rows) -> None:
    step = [replace(row, layers=(1, 2)) for row in rows(loaded, games=2)[0]]
    for row, reply in zip(step, write(loaded, step), strict=True):
        ids = torch.from_numpy(np.concatenate([row.ids, reply.ids]))[None]
        with torch.no_grad():
            hidden = loaded.model(ids, output_hidden_states=True).hidden_states
        direct = torch.stack([hidden[1], hidden[2]], 2)[0, len(row.ids) :].numpy()
        assert reply.states.shape == (len(reply.ids), 2, 32)
        np.testing.assert_allclose(reply.states, direct, atol=5e-3)
