"""Tokens a second of the detector that fine-tunes an encoder, learning and scoring, with the curve of the loss; on a
GPU also the share of its bf16 peak and its memory.

Run with: python tests/performance/bench_encoder.py [GAMES] [STEPS] [ENCODER]

The games are scripted. Floating-point operations are counted as by Chowdhery and others (2022, PaLM, appendix B): for a
token 6N to learn and 2N to score, N the weights without embeddings, and for attention 12 or 4 times layers, width and
the tokens of a text.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

import liescope
from liescope.detectors.detector_registry import make
from liescope.detectors.examples import Labelled, labelled, read_statements
from liescope.detectors.kinds.encoder import EncoderDetector
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.transcript import read_transcripts

BATCH = 32
PEAKS = {"H200": 989, "H100": 989, "A100": 312, "L40S": 362, "L4": 121, "A10G": 70}
"""Dense bf16 TFLOP/s as NVIDIA's data sheets give them, by a part of the card's name, the longer ones first."""


@dataclass(frozen=True, slots=True)
class Speed:
    """tokens: without padding; seconds: wall-clock; operations: floating-point, of these tokens."""

    tokens: int
    seconds: float
    operations: float

    def __str__(self) -> str:
        rate = self.operations / self.seconds / 1e12
        card = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
        peak = next((peak for name, peak in PEAKS.items() if name in card), None)
        share = f", {rate / peak:.0%} of its bf16 peak" if peak else ""
        return f"{self.tokens / self.seconds:>9,.0f} tokens/s ({rate:.2f} TFLOP/s{share})"


def games_of(count: int, folder: Path) -> Labelled:
    """The statements of scripted games, with their games."""
    liescope.play("mini-mafia", players=["scripted:bold", "scripted:novice"], games=count, out=folder / "run")
    corpus = liescope.build([folder / "run"], out=folder / "corpus").folder
    return labelled(read_statements(corpus), "role", 0, read_transcripts(corpus))


def operations(detector: EncoderDetector, lengths: np.ndarray[Any, Any], learning: bool) -> float:
    """Of one pass over texts of these lengths."""
    model = detector._model
    config, embedded = model.config, model.get_input_embeddings().weight.numel()
    weights = sum(weight.numel() for weight in model.parameters()) - embedded
    attention = 2 * config.num_hidden_layers * config.hidden_size * lengths.astype(float) ** 2
    return float((3 if learning else 1) * 2 * (weights * lengths + attention).sum())


def bench(data: Labelled, steps: int, encoder: str) -> tuple[Speed, Speed, list[dict[str, float]]]:
    """(learning, scoring, curve of the loss). The first step, which warms up, is not counted; the tokens of the others
    are those of as many texts, drawn at random.
    """
    began: list[float] = []

    def step(what: str, _done: int, _total: int) -> None:
        if what == "fine-tuning":
            began.append(time.perf_counter())

    options = {"encoder": encoder, "max_steps": steps, "held_out": 0.0, "batch_size": BATCH}
    made = make("encoder", TextConfig(), options)
    assert isinstance(made, EncoderDetector)
    read: list[np.ndarray[Any, Any]] = []
    logits = made._logits

    def watched(rows: Any, progress: Any) -> Any:
        read.append(np.array([len(row["input_ids"]) for row in rows]))
        return logits(rows, progress)

    made._logits = watched  # type: ignore[method-assign]
    made.fit(data.examples, data.y, data.groups, step)
    made.predict_proba(data.examples[:8])
    start = time.perf_counter()
    made.predict_proba(data.examples)
    seconds = time.perf_counter() - start
    lengths = read[-1]
    learned = np.random.default_rng(0).choice(lengths, BATCH * (steps - 1))
    return (
        Speed(int(learned.sum()), began[-1] - began[0], operations(made, learned, learning=True)),
        Speed(int(lengths.sum()), seconds, operations(made, lengths, learning=False)),
        made.losses,
    )


def bench_encoder(games: int = 60, steps: int = 20, encoder: str = "") -> None:
    """All of it."""
    with TemporaryDirectory() as name:
        data = games_of(games, Path(name))
    gpu = torch.cuda.is_available()
    print(f"on {torch.cuda.get_device_name() if gpu else f'the CPU, {torch.get_num_threads()} threads'}:")
    learning, scoring, curve = bench(data, steps, encoder)
    training = [point["training"] for point in curve if "training" in point]
    print(f"learns {learning}")
    print(f"scores {scoring}")
    print(f"loss   {' '.join(f'{loss:.3f}' for loss in training[:: max(len(training) // 10, 1)])}")
    if gpu:
        print(f"memory {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB at most")


if __name__ == "__main__":
    given = sys.argv[1:]
    bench_encoder(*map(int, given[:2]), *given[2:])
