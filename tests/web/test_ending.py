"""Servers of pages end in the same way for every signal that asks for it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.web.server import Server


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_table_is_left_in_order_and_its_links_stay(
    serve: Callable[..., Server], tmp_path: Path, number: signal.Signals
) -> None:
    words = ("liescope", "serve", "--out", str(tmp_path / "t"), "--game", "mini-mafia", "--port", "{port}")
    server = serve(*words)
    assert urlopen(f"{server.url}/").status == 200  # it listens a moment before it heeds signals
    server.process.send_signal(number)
    assert server.process.wait(20) == 128 + number
    assert "stopped: the same command goes on with every table, under the same links" in server.said()
    assert "Traceback" not in server.said()
