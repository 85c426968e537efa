"""What one card makes of fine-tuning and probing, in at most eight minutes, beside the CPU's scores.

Run with: python tests/gpu/check.py CORPUS TOKENIZER [--weights FOLDER] [--small] [--out FILE]

CORPUS is a real one, by path; TOKENIZER a folder with tokenizer.json, such as the bundled MiniLM's. Models have the
shapes of well-known ones and random weights, so that speed, memory and rounding are theirs and what they learn is not;
--weights names the folder of an encoder that is tried too.

Floating-point operations are counted as by Chowdhery and others (2022, PaLM, appendix B): for a token 6N to learn and
2N to score, N the weights without embeddings, and for attention 12 or 4 times layers, width and the tokens of a text.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from transformers import AutoTokenizer, BertConfig, BertModel, LlamaConfig, LlamaForCausalLM, LlamaModel
from transformers.utils.logging import disable_progress_bar

from liescope.common.sentence_encoder import PART
from liescope.detectors.detector_registry import load_parts, make
from liescope.detectors.examples import Labelled, labelled, read_statements
from liescope.detectors.fine_tuning.batches import Batches
from liescope.detectors.kinds.encoder import EncoderDetector
from liescope.detectors.kinds.probe import ProbeDetector, passage
from liescope.detectors.text_form import TextConfig

PEAKS = {"H200": 989, "H100": 989, "A100": 312, "L40S": 362, "L4": 121, "T4": 65}
"""Dense bf16 TFLOP/s as NVIDIA's data sheets give them (T4: fp16), by a part of the card's name."""
GPU = torch.cuda.is_available()


def shaped(folder: Path, tokenizer: Path, model: Any) -> Path:
    """Save a model of random weights beside a tokenizer."""
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        if (tokenizer / name).is_file():
            shutil.copyfile(tokenizer / name, folder / name)
    return folder


def shapes(small: bool, tokenizer: Path) -> dict[str, Callable[[], Any]]:
    """BERT-base to fine-tune, SmolLM2-135M for LoRA, Llama-3.2-1B to probe; small: two narrow layers each."""
    read = AutoTokenizer.from_pretrained(str(tokenizer))
    shared = {"vocab_size": len(read), "pad_token_id": read.pad_token_id}
    if small:
        llama = LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, **shared)
        bert = BertConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, **shared)
        return {
            "encoder": lambda: BertModel(bert),
            "lora": lambda: LlamaModel(llama),
            "probe": lambda: LlamaForCausalLM(llama),
        }
    smol = LlamaConfig(
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        **shared,
    )
    billion = LlamaConfig(
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=16,
        num_attention_heads=32,
        num_key_value_heads=8,
        **shared,
    )
    return {
        "encoder": lambda: BertModel(BertConfig(**shared)),
        "lora": lambda: LlamaModel(smol),
        "probe": lambda: LlamaForCausalLM(billion).to(torch.bfloat16),
    }


@contextmanager
def measuring(found: dict[str, Any]) -> Iterator[None]:
    """seconds of wall-clock, and gigabytes of the card at most."""
    if GPU:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    yield
    if GPU:
        torch.cuda.synchronize()
        found["gigabytes"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
    found["seconds"] = round(time.perf_counter() - began, 2)


def speed(tokens: int, operations: float, seconds: float) -> dict[str, Any]:
    """Tokens a second, TFLOP/s, and the share of the card's peak."""
    rate = operations / seconds / 1e12
    card = torch.cuda.get_device_name() if GPU else ""
    peak = next((peak for name, peak in PEAKS.items() if name in card), None)
    told = {"tokens_per_second": round(tokens / seconds), "tflops": round(rate, 3)}
    return told | ({"share_of_bf16_peak": round(rate / peak, 3)} if peak else {})


def operations(model: Any, lengths: np.ndarray[Any, Any], learning: bool) -> float:
    """Of one pass over texts of these lengths."""
    config, embedded = model.config, model.get_input_embeddings().weight.numel()
    weights = sum(weight.numel() for weight in model.parameters()) - embedded
    attention = 2 * config.num_hidden_layers * config.hidden_size * lengths.astype(float) ** 2
    return float((3 if learning else 1) * 2 * (weights * lengths + attention).sum())


def fine_tuned(data: Labelled, folder: Path, steps: int, batch: int, **options: Any) -> dict[str, Any]:
    """An encoder learns for some steps and scores; then it is read back, and the CPU scores some of the same."""
    ticks: list[float] = []

    def step(what: str, _done: int, _total: int) -> None:
        if what == "fine-tuning":
            ticks.append(time.perf_counter())

    told: dict[str, Any] = {"steps": steps, "batch": batch, **options}
    given = {"encoder": str(folder), "max_steps": steps, "held_out": 0.0, "batch_size": batch, **options}
    made = make("encoder", TextConfig(), given)
    assert isinstance(made, EncoderDetector)
    learn: dict[str, Any] = {}
    with measuring(learn):
        made.fit(data.examples, data.y, data.groups, step)
    rows = made._rows(made._read(data.examples).texts)
    lengths = rows.lengths
    tokens = float(lengths.mean()) * batch * (len(ticks) - 1)  # the first step warms up
    drawn = np.random.default_rng(0).choice(lengths, batch * (len(ticks) - 1))
    learn |= speed(round(tokens), operations(made._model, drawn, learning=True), ticks[-1] - ticks[0])
    batches = Batches(lengths, data.y, batch, 0)
    padded = sum(len(one) * int(lengths[one].max()) for one in batches.every())
    learn |= {"padding": round(1 - lengths.sum() / padded, 3), "precision": made.options.precision}
    score: dict[str, Any] = {}
    made.predict_proba(data.examples[:64])
    with measuring(score):
        there = made.predict_proba(data.examples)[:, 1]
    score |= speed(int(lengths.sum()), operations(made._model, lengths, learning=False), score["seconds"] or 1e-9)
    few = np.random.default_rng(1).choice(len(there), min(256, len(there)), replace=False)
    some, weights = [data.examples[i] for i in few], sum(one.numel() for one in made._model.parameters())
    with TemporaryDirectory() as kept:
        made.save(Path(kept))
        size = sum(path.stat().st_size for path in Path(kept).rglob("*") if path.is_file() and PART not in path.parts)
        again = load_parts("encoder", Path(kept), TextConfig(), made.options.model_dump())
        back = again.predict_proba(some)[:, 1]
    told |= {
        "weights": weights,
        "learning": learn,
        "scoring": score,
        "read_back": {"megabytes": round(size / 1e6, 2), **beside(there[few], back)},
        "loss": [round(one["training"], 4) for one in made.losses if "training" in one][:: max(steps // 10, 1)],
    }
    if not options.get("quantize"):  # which the CPU does not compute in
        made._model = made._model.to("cpu")
        told["beside_cpu"] = beside(there[few], made.predict_proba(some)[:, 1])
    return told


def beside(one: Any, other: Any) -> dict[str, Any]:
    """How two scores of the same statements differ."""
    return {
        "statements": len(one),
        "largest_difference": round(float(np.abs(one - other).max()), 5),
        "rank_correlation": round(float(spearmanr(one, other).statistic), 5),
        "spread_of_scores": round(float(np.std(other)), 5),
    }


def probed(data: Labelled, folder: Path, cpu: int) -> dict[str, Any]:
    """A probe reads hidden states, learns and scores; then the CPU reads some of the same."""
    made = make("probe", TextConfig(), {"model": str(folder), "layers": 4})
    assert isinstance(made, ProbeDetector)
    told: dict[str, Any] = {"statements": len(data.examples)}
    with measuring(told):
        made.fit(data.examples, data.y, data.groups)
    states = made._states
    texts = [passage(one, made.text) for one in data.examples[:cpu]]
    there = states.model.states(texts, states.layers, states.longest).astype(float)
    model = states.model.model
    told |= {"weights": sum(one.numel() for one in model.parameters()), "precision": str(model.dtype)}
    model.to("cpu")
    here = states.model.states(texts, states.layers, states.longest).astype(float)
    cosine = (there * here).sum(-1) / np.linalg.norm(there, axis=-1) / np.linalg.norm(here, axis=-1)
    return told | {"beside_cpu": {"statements": cpu, "least_cosine_of_states": round(float(cosine.min()), 5)}}


def main() -> None:
    """All of it."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("corpus", type=Path)
    asked.add_argument("tokenizer", type=Path)
    asked.add_argument("--weights", type=Path, help="the folder of an encoder to fine-tune too")
    asked.add_argument("--small", action="store_true", help="two narrow layers and few statements, for a CPU")
    asked.add_argument("--out", type=Path, help="a file for the figures")
    given = asked.parse_args()
    torch.manual_seed(0)
    disable_progress_bar()
    every = labelled(read_statements(given.corpus).filter(split="train"), "role", 4)
    rows = np.random.default_rng(0).permutation(len(every.examples))
    count, steps, batch = (300, 6, 8) if given.small else (12_000, 150, 64)

    def part(size: int) -> Labelled:
        mine = rows[:size]
        return replace(
            every, examples=tuple(every.examples[i] for i in mine), y=every.y[mine], groups=every.groups[mine]
        )

    card = torch.cuda.get_device_name() if GPU else f"CPU, {torch.get_num_threads()} threads"
    found: dict[str, Any] = {"on": card, "torch": torch.__version__, "statements": len(rows)}
    with TemporaryDirectory() as scratch:
        make_one = shapes(given.small, given.tokenizer)
        folders = {name: Path(scratch) / name for name in make_one}
        for name, build in make_one.items():
            shaped(folders[name], given.tokenizer, build())
        jobs: dict[str, Callable[[], dict[str, Any]]] = {
            "encoder": lambda: fine_tuned(part(count), folders["encoder"], steps, batch, lr=2e-4),
            "large_batches": lambda: fine_tuned(part(count), folders["encoder"], steps // 2, 8 * batch, lr=2e-4),
            "lora": lambda: fine_tuned(part(count), folders["lora"], steps, batch, lora=8),
            "probe": lambda: probed(part(count // 4), folders["probe"], 4 if given.small else 32),
        }
        if GPU and find_spec("bitsandbytes"):
            jobs["lora_4_bits"] = lambda: fine_tuned(part(count), folders["lora"], steps, batch, lora=8, quantize=4)
        if given.weights:
            jobs["pretrained"] = lambda: fine_tuned(part(count), given.weights, steps, batch)
        for name, job in jobs.items():
            try:
                found[name] = job()
            except Exception as error:  # noqa: BLE001 - what fails is a figure too, and the others are still wanted
                found[name] = {"failed": f"{type(error).__name__}: {error}"[:500]}
            print(name, json.dumps(found[name], indent=1), flush=True)
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if failed := [name for name, told in found.items() if isinstance(told, dict) and "failed" in told]:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
