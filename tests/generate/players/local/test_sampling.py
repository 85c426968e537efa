"""Tokens are drawn from the model's own probabilities, by numbers that belong to the ask."""

from __future__ import annotations

import numpy as np
import torch

from liescope.generate.players.local.loading import Sampling
from liescope.generate.players.local.writing import Draw, gumbel, random_key

SCORES = torch.tensor([2.0, 1.0, 0.0, -1.0, 1.5, -3.0])
MANY = 20_000


def drawn(place: int = 0, **sampling: object) -> np.ndarray:
    """The share of each token among many asks."""
    rows = [Sampling(key=random_key(0, "g", number, "Alice"), **sampling) for number in range(MANY)]
    chosen = Draw(rows, 7, "cpu")(torch.zeros((MANY, 7 + place)), SCORES.repeat(MANY, 1))
    assert torch.equal((chosen == 0).sum(1), torch.ones(MANY, dtype=torch.long))
    return np.bincount(chosen.argmax(1), minlength=len(SCORES)) / MANY


def test_tokens_are_drawn_with_their_probability() -> None:
    for place in (0, 9):
        np.testing.assert_allclose(drawn(place), SCORES.softmax(0), atol=0.012)
    np.testing.assert_allclose(drawn(temperature=2.0), (SCORES / 2).softmax(0), atol=0.012)


def test_top_k_and_top_p_leave_out_the_unlikeliest() -> None:
    likely = torch.where(torch.tensor([1, 1, 0, 0, 1, 0]).bool(), SCORES, -torch.inf).softmax(0)
    np.testing.assert_allclose(drawn(top_k=3), likely, atol=0.012)
    assert drawn(top_p=0.4)[[0]].sum() == 1  # the likeliest alone has as much
    np.testing.assert_allclose(drawn(top_p=0.75), likely, atol=0.012)
    assert drawn(temperature=0.0)[0] == 1
    assert drawn(top_k=1)[0] == 1


def test_a_row_is_drawn_alike_beside_any_others() -> None:
    rows = [
        Sampling(key=random_key(1, "g", 0, "Bob")),
        Sampling(0.0),
        Sampling(0.7, 0.9, 0, random_key(1, "g", 1, "Bob")),
        Sampling(1.0, 1.0, 2, random_key(1, "g", 2, "Bob")),
    ]
    scores = torch.randn((len(rows), 50), generator=torch.Generator().manual_seed(0))
    ids = torch.zeros((len(rows), 9))
    together = Draw(rows, 4, "cpu")(ids, scores)
    for number, row in enumerate(rows):
        alone = Draw([row], 4, "cpu")(ids[:1], scores[number : number + 1])
        assert torch.equal(alone[0], together[number])


def test_every_ask_place_and_token_has_its_own_noise() -> None:
    keys = {random_key(seed, game, step, seat) for seed in (0, 1) for game in "gh" for step in (0, 1) for seat in "AB"}
    assert len(keys) == 16
    noise = torch.cat([gumbel(torch.tensor(sorted(keys)), place, torch.arange(500)[None]) for place in range(20)])
    assert len(noise.unique()) > 0.99 * noise.numel()
    assert noise.isfinite().all()
    flat = noise.reshape(-1)
    np.testing.assert_allclose([flat.mean(), flat.var()], [0.5772, np.pi**2 / 6], atol=0.02)
    assert np.abs(np.corrcoef(noise.reshape(20 * 16, 500)) - np.eye(320)).max() < 0.25
