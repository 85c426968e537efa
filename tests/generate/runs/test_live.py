"""What a run shows while it is under way, on a terminal and on a pipe, in 80 columns."""

from __future__ import annotations

import io
import re
import time
from collections import Counter

import pytest
from rich.console import Console

from liescope.generate.players.player_protocol import Activity
from liescope.generate.runs import run_progress
from liescope.generate.runs.run_progress import RunProgress, clock, live_display, state_lines


def busy(seconds: float = 3600.0, currency: str = "EUR") -> RunProgress:
    """A run with everything going on at once."""
    activity = Activity()
    near = activity.at("models.some-provider.example:8443")
    near.under_way, near.limit, near.tokens, near.limited = 63, 80, 98_000_000, 1290
    near.retries = Counter({"429": 1234, "500": 56, "nothing came within 120 s": 7, "x": 1})
    near.wait = (
        time.monotonic() + 12.3,
        "it limits the rate (429): Rate limit reached for gpt \x1b[2J in organization org-abc on requests per min",
    )
    activity.at("localhost:8000").under_way = 1
    progress = RunProgress(
        currency=currency,
        planned=14_000,
        done=6_999,
        failed=1,
        before=2_000,
        playing=64,
        calls=123_456,
        tokens=98_765_432,
        cost=1234.5,
        activity=activity,
    )
    progress.stand(seconds)
    return progress


def test_everything_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(state_lines(busy()))
    for part in (
        "64 games, 64 requests under way",
        "123,456 replies, 34.3/s",
        "98,765,432 tokens",
        "1,234.50 EUR",
        "1 failed",
        "1,234 × 429",
        "56 × 500",
        "models.some-provider.exampl…: 63/80 under way",
        "98M tokens",
        "1,290 × 429",
        "localhost:8000: 1 under way",
        "models.some-provider.exampl… waits 12 s: it limits the rate (429)",
    ):
        assert part in text
    assert "\x1b" not in text


def test_the_time_left_follows_from_the_games_that_ended_since_the_start() -> None:
    def after(seconds: float, **counts: int) -> str:
        return clock(RunProgress(planned=100, seconds=seconds, **counts))

    assert after(60.0, done=50, before=40) == "1:00, about 5:00 left"
    assert after(60.0, done=40, before=40) == "1:00"
    assert after(3700.0, done=100, before=40) == "1:01:40"


def test_a_pipe_gets_a_line_now_and_then_and_the_last_state(capsys: pytest.CaptureFixture[str]) -> None:
    with live_display("play", True) as show:
        for second in range(1, 41):
            show(busy(float(second)))
    lines = capsys.readouterr().err.splitlines()
    assert sum("games" in line and "7000/14000" in line for line in lines) == 3
    assert all(len(line) <= 80 for line in lines)
    assert not any("\x1b" in line for line in lines)


def test_a_terminal_of_80_columns_wraps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, color_system=None, legacy_windows=False)
    monkeypatch.setattr(run_progress, "Console", lambda stderr: console)
    with live_display("label", True) as show:
        show(busy(3723.0))
    frame = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue()).rstrip().splitlines()[-7:]
    near = "models.some-provider.exampl…"
    first = ["64", "98,765,432", f"{near}:", near, "localhost:8000:", "sent"]
    assert [line.split()[0] for line in frame[1:]] == first
    assert "7000/14000 games" in frame[0]
    assert all(len(line) <= 80 for line in frame)


def test_nothing_is_shown_where_nothing_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    with live_display("play", False) as show:
        show(busy())
    assert capsys.readouterr() == ("", "")
