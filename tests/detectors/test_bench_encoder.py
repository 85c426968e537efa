"""The benchmark of the encoder, on a sample so small that only its form is tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.performance.bench_encoder import bench_encoder


def test_the_benchmark_gives_a_speed_and_a_curve(tiny_encoder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench_encoder(6, 4, str(tiny_encoder))
    _, learns, scores, loss = capsys.readouterr().out.splitlines()[:4]
    assert [line.split()[0] for line in (learns, scores, loss)] == ["learns", "scores", "loss"]
    assert all(re.search(r" [\d,]+ tokens/s \(\d+\.\d\d TFLOP/s", line) for line in (learns, scores))
    assert all(float(one) > 0 for one in loss.split()[1:])
