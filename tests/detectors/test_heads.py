"""The heads of a probe: each finds a planted direction, and none finds one where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.metrics import roc_auc_score

from liescope.common.errors import BadData
from liescope.detectors.probing.heads import Head, HeadName, States, learn

HEADS = get_args(HeadName)
N, WIDTH = 240, 48


def drawn(head: str, seed: int = 0, n: int = N, width: int = WIDTH) -> tuple[States, Any, Any]:
    """(states, y, groups): states of very uneven size, and a direction across them that tells lies."""
    draw = np.random.default_rng(seed)
    along = np.random.default_rng(7).normal(size=width)
    y = draw.random(n) < 0.4
    values = draw.normal(size=(n, width)) + np.where(y, 2.0, -2.0)[:, None] * along / np.linalg.norm(along)
    sizes = 10.0 ** np.linspace(-2, 2, width)
    groups = np.array([f"game-{row // 6}" for row in range(n)])
    if head != "attention":
        return ((values + 3) * sizes).astype(np.float32), y, groups
    # One token of each statement tells; it is marked by another direction, and the rest are noise.
    tokens = draw.normal(size=(n, 9, width))
    tokens[np.arange(n), draw.integers(3, size=n)] = values + np.eye(width)[0] * 6
    tokens[np.arange(9) >= draw.integers(3, 10, n)[:, None]] = np.nan
    return ((tokens + 3) * sizes).astype(np.float32), y, groups


def fit(head: str, states: States, y: Any, groups: Any, strength: float = 0.1) -> Head:
    return learn(head, states, y, groups, strength, 0)


@pytest.mark.parametrize("head", HEADS)
def test_a_planted_direction_is_found_and_labels_that_say_nothing_teach_nothing(head: str) -> None:
    states, y, groups = drawn(head)
    others, truth, _ = drawn(head, seed=1)
    odds = fit(head, states, y, groups).odds(others)
    assert roc_auc_score(truth, odds) > 0.95
    assert np.mean((odds > 0) == truth) > 0.85  # the odds are about right, not only their order
    nothing = np.zeros(N, bool)  # half of the lies, and half of the truths
    for one in (True, False):
        nothing[np.flatnonzero(y == one)[::2]] = True
    assert 0.25 < roc_auc_score(truth, fit(head, states, nothing, groups).odds(others)) < 0.75


@pytest.mark.parametrize("head", HEADS)
def test_more_dimensions_than_statements_and_dimensions_that_never_vary_are_no_obstacle(head: str) -> None:
    states, y, groups = drawn(head, n=120, width=300)
    states[..., 5] = 4.0
    others, truth, _ = drawn(head, seed=1, n=400, width=300)
    assert roc_auc_score(truth, fit(head, states, y, groups).odds(others)) > (0.6 if head == "attention" else 0.75)


@pytest.mark.parametrize("head", HEADS)
def test_the_size_and_origin_of_a_state_do_not_matter(head: str) -> None:
    states, y, groups = drawn(head)
    first = fit(head, states, y, groups).odds(states)
    moved = states * 4 + 1
    assert np.allclose(fit(head, moved, y, groups).odds(moved), first, atol=0.02)


@pytest.mark.parametrize("head", HEADS)
def test_a_head_is_learned_again_and_read_again_as_it_was(head: str, tmp_path: Path) -> None:
    states, y, groups = drawn(head)
    first = fit(head, states, y, groups)
    first.write(tmp_path / "head.safetensors")
    read = Head.read(tmp_path / "head.safetensors", WIDTH, head)
    assert np.array_equal(read.odds(states), first.odds(states))
    assert np.allclose(fit(head, states, y, groups).odds(states), first.odds(states))
    one = states[np.array([3])]
    assert np.allclose(first.odds(one), first.odds(states)[3])
    assert len(first.odds(states[np.arange(0)])) == 0


@pytest.mark.parametrize("head", HEADS)
def test_a_damaged_head_is_one_clear_error(head: str, tmp_path: Path) -> None:
    path = tmp_path / "head.safetensors"
    fit(head, *drawn(head)).write(path)
    arrays, other = load_file(path), next(name for name in ("mlp", "attention") if name != head)
    assert Head.read(path, WIDTH, head)
    for name, width in ((other, WIDTH), (head, WIDTH + 1)):
        with pytest.raises(BadData, match=r"head\.safetensors"):
            Head.read(path, width, name)
    odd = [{**arrays, "spread": arrays["spread"] * 0}, {**arrays, "weights": arrays["weights"] * np.nan}]
    odd += [{**arrays, "more": arrays["mean"]}, {**arrays, "weights": arrays["weights"][1:]}]
    odd += [{key: one for key, one in arrays.items() if key != "mean"}]
    for bad in odd:
        save_file(bad, path, {"head": head})
        with pytest.raises(BadData, match="cannot be read"):
            Head.read(path, WIDTH, head)
    path.write_bytes(b"\x80\x04}.")
    with pytest.raises(BadData, match="cannot be read"):
        Head.read(path, WIDTH, head)


def test_lda_is_scikit_learns_where_it_can_be() -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    states, y, groups = drawn("lda", n=2000)
    found = fit("lda", states, y, groups)
    scaled = (states - states.mean(0)) / states.std(0)
    other = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(scaled, y)
    mine, theirs = found.odds(states), other.decision_function(scaled)
    assert np.corrcoef(mine, theirs)[0, 1] > 0.995
    assert np.mean((mine > 0) == (theirs > 0)) > 0.99


@pytest.mark.long
def test_a_hidden_layer_finds_what_no_direction_tells() -> None:
    draw = np.random.default_rng(0)
    states = draw.normal(size=(2000, 6)).astype(np.float32)
    y, groups = states[:, 0] * states[:, 1] > 0, np.array([f"{row // 4}" for row in range(2000)])
    learned = {head: fit(head, states[:1500], y[:1500], groups[:1500], 1.0) for head in ("logistic", "mlp")}
    found = {head: roc_auc_score(y[1500:], one.odds(states[1500:])) for head, one in learned.items()}
    assert found["mlp"] > 0.9
    assert found["logistic"] < 0.6


def test_the_epochs_of_a_head_are_chosen_on_games_kept_aside() -> None:
    """Nothing can be learned of random labels that holds for other games, so that little is learned of them."""
    draw = np.random.default_rng(0)
    states, groups = draw.normal(size=(200, 64)).astype(np.float32), np.array([f"{row // 5}" for row in range(200)])
    y = draw.random(200) < 0.5
    one = np.full(200, "one")  # a single game leaves none to keep aside
    assert (
        np.abs(fit("mlp", states, y, groups).odds(states)).mean()
        < 1
        < np.abs(fit("mlp", states, y, one).odds(states)).mean()
    )


def test_attention_finds_which_token_tells() -> None:
    """One token of each statement tells and is marked as such; the others point either way, and more strongly."""

    def said(seed: int, n: int = 600) -> tuple[Any, Any, Any]:
        draw, along = np.random.default_rng(seed), np.eye(WIDTH)[1]
        y = draw.random(n) < 0.4
        tokens = draw.normal(size=(n, 9, WIDTH)) + 2 * draw.normal(size=(n, 9, 1)) * along
        telling = draw.normal(size=(n, WIDTH)) + np.where(y, 2.0, -2.0)[:, None] * along + np.eye(WIDTH)[0] * 6
        tokens[np.arange(n), draw.integers(3, size=n)] = telling
        tokens[np.arange(9) >= draw.integers(3, 10, n)[:, None]] = np.nan
        return tokens.astype(np.float32), y, np.array([f"{row // 6}" for row in range(n)])

    (states, y, groups), (others, truth, _) = said(0), said(1)
    assert roc_auc_score(truth, fit("attention", states, y, groups).odds(others)) > 0.95
    mean = fit("logistic", np.nanmean(states, axis=1), y, groups)
    assert roc_auc_score(truth, mean.odds(np.nanmean(others, axis=1))) < 0.75
