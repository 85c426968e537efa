"""The benchmark of the encoders, on a sample so small that only its form is tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.performance.bench_encoder import BATCH, bench_encoder


def test_the_benchmark_gives_a_speed_and_a_curve_for_every_kind_that_fine_tunes(
    tiny_encoder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench_encoder(6, 4, str(tiny_encoder))
    lines = capsys.readouterr().out.splitlines()
    for kind in BATCH:
        own = [line.removeprefix(f"{kind:12} ") for line in lines if line.startswith(f"{kind:12} ")]
        assert [line.split()[0] for line in own[:3]] == ["learns", "scores", "loss"]
        assert all(re.search(r" [\d,]+ tokens/s \(\d+\.\d\d TFLOP/s", line) for line in own[:2])
        assert all(float(loss) > 0 for loss in own[2].split()[1:])
