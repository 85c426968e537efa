"""What fine-tuning takes: memory to hold a million statements and read each once, CPU seconds and memory to learn.

Run with: python tests/performance/bench_fine_tuning.py [STATEMENTS]

Each is measured in a fresh process, whole: the interpreter, all imports, the work. Statements are made of common words,
four to forty of them.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys

import numpy as np

HELD, LEARNED = 1_000_000, 1_000
WORDS = ("talk", "about", "this", "look", "people", "voted", "before", "deciding", "who", "lying", "today", "trust")


def statements(count: int) -> tuple[list[object], np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Statements of games of ten, and whether each lies."""
    from liescope.detectors.examples import Example

    draw = random.Random(0)
    said = (" ".join(draw.choices(WORDS, k=draw.randrange(4, 41))) for _ in range(count))
    names = ("Ann", "Bob")
    examples = [Example(str(n), str(n // 10), "Ann", "m", text, names) for n, text in enumerate(said)]
    return list(examples), np.random.default_rng(0).random(count) < 0.3


def hold(count: int) -> None:
    """Tokenise statements as training does, and read every batch of a pass."""
    from liescope.detectors.detector_registry import make
    from liescope.detectors.fine_tuning.loop import Items
    from liescope.detectors.text_form import TextConfig

    examples, y = statements(count)
    detector = make("encoder", TextConfig(), {})
    detector._begin()  # type: ignore[attr-defined]
    texts = detector._read(examples).texts  # type: ignore[attr-defined]
    tokens = detector._rows(texts)  # type: ignore[attr-defined]
    every = np.arange(count)
    items = Items(tokens, y, np.array([one.game_id for one in examples]), every, every[:0])  # type: ignore[attr-defined]
    batches = items.batches(detector.options, every)  # type: ignore[arg-type]
    read = sum(int(tokens.batch(batch)["attention_mask"].sum()) for batch in batches)
    print(f"{len(batches):,} batches, {read:,} tokens", end="; ")


def learn(count: int) -> None:
    """The bundled MiniLM makes one pass."""
    from liescope.detectors.detector_registry import make
    from liescope.detectors.text_form import TextConfig

    examples, y = statements(count)
    groups = np.array([one.game_id for one in examples])  # type: ignore[attr-defined]
    make("encoder", TextConfig(), {"epochs": 1.0}).fit(examples, y, groups)  # type: ignore[arg-type]


def main() -> None:
    held = int(sys.argv[1]) if len(sys.argv) > 1 else HELD
    for name, count in (("hold", held), ("learn", LEARNED)):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, __file__, name, str(count)], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{name} {count:,} statements: {seconds:.0f} CPU s, {after.ru_maxrss / 2**20:.2f} GB at most", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        {"hold": hold, "learn": learn}[sys.argv[1]](int(sys.argv[2]))
    else:
        main()
