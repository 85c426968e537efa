"""Tokens a second of a model in this process, against other ways to have the same model write the same replies.

A Llama of random weights, made on the spot, plays whole games; nothing ends its replies, so all ways write equally many
tokens. Compared in one run: plain `generate` for one prompt after the other; transformers' own continuous batching of
all prompts at once; the local player without and with prompts held for later; and `transformers serve`, asked by the
openai player.

    python tests/performance/bench_local.py [GAMES]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from liescope import play
from liescope.generate.players.local.loading import load, prompt_ids, read_spec
from liescope.generate.runs.journal import Journal
from tests.generate.players.local import small_model
from tests.generate.players.openai.tiny_model import ModelServer

GAMES = 6
TOKENS = 24
SHAPE = {"layers": 4, "width": 256, "num_attention_heads": 4}


def games(player: str, out: Path, count: int) -> tuple[int, float]:
    """(tokens written, seconds) of playing them."""
    began = time.perf_counter()
    result = play("mini-mafia", players=[player], games=count, concurrency=count, out=out)
    seconds = time.perf_counter() - began
    assert result.complete
    return sum(row.completion_tokens or 0 for row in result.tally.kinds), seconds


def prompts(run: Path, loaded: Any) -> list[list[int]]:
    """All prompts of a run, as tokens."""
    options = read_spec("m").options
    with Journal.open(run) as journal:
        asked = [(game, call["step"], call["seat"]) for game in journal.game_ids() for call in journal.calls(game)]
        bodies = [request.body for one in asked for request in journal.requests(*one)]
    return [prompt_ids(loaded, body["messages"], options).tolist() for body in bodies if body]


def one_by_one(model: Any, rows: list[list[int]]) -> tuple[int, float]:
    began = time.perf_counter()
    written = 0
    for row in rows:
        ids = torch.tensor([row])
        out = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=True, max_new_tokens=TOKENS)
        written += out.shape[1] - len(row)
    return written, time.perf_counter() - began


def continuous(model: Any, rows: list[list[int]]) -> tuple[int, float]:
    from transformers import ContinuousBatchingConfig, GenerationConfig

    config = GenerationConfig(do_sample=True, max_new_tokens=TOKENS, eos_token_id=-1)
    memory = ContinuousBatchingConfig(num_blocks=200, max_batch_tokens=512)  # without, it takes all there is
    began = time.perf_counter()
    out = model.generate_batch(rows, config, continuous_batching_config=memory)
    return sum(len(one.generated_tokens) for one in out.values()), time.perf_counter() - began


def bench_local(count: int) -> None:
    with TemporaryDirectory() as made:
        folder = small_model.make(Path(made) / "model", ends=False, **SHAPE)
        player = f"local:{folder}?max_tokens={TOKENS}"
        loaded = load(read_spec(str(folder)))
        ways: dict[str, Callable[[], tuple[int, float]]] = {
            "local player, prompts read anew": lambda: games(f"{player}&prefixes=0", Path(made) / "anew", count),
            "local player": lambda: games(player, Path(made) / "held", count),
            "generate, one by one": lambda: one_by_one(loaded.model, rows),
            "continuous batching of transformers": lambda: continuous(loaded.model, rows),
        }
        games(player, Path(made) / "warm", 1)
        found: dict[str, float] = {}
        rows: list[list[int]] = []
        for name, way in ways.items():
            rows = rows or (prompts(Path(made) / "held", loaded) if found.get("local player") else [])
            tokens, seconds = way()
            found[name] = tokens / seconds
        server = ModelServer(folder)
        try:
            url = f"openai:{folder}@{server.url}?max_tokens={TOKENS}&json=none"
            games(url, Path(made) / "opened", 1)
            tokens, seconds = games(url, Path(made) / "served", count)
            found["openai player, transformers serve"] = tokens / seconds
        finally:
            server.close()
        length = sum(map(len, rows)) / len(rows)
    print(f"local model, {count} games at once, {len(rows)} asks of {length:.0f} tokens, {TOKENS} written each:")
    for name, rate in found.items():
        print(f"  {name:<38} {rate:7.1f} tokens/s  ({rate / found['generate, one by one']:.1f} x)")


if __name__ == "__main__":
    bench_local(int(sys.argv[1]) if len(sys.argv) > 1 else GAMES)
