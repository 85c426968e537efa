"""The image of a Space: its command serves the host alone."""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from tests.web.server import free_port

ROOT = Path(__file__).parents[3]
SPACE = "ann-tables.hf.space"


@pytest.mark.parametrize(
    ("space", "public"),
    [(SPACE, f"https://{SPACE}"), pytest.param("", "http://localhost:7860", marks=pytest.mark.long)],
)
def test_its_command_serves_the_host_alone(tmp_path: Path, space: str, public: str) -> None:
    port, secret = free_port(), secrets.token_urlsafe(16)
    file = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    (command,) = map(json.loads, re.findall(r"^CMD (.*)", file, re.MULTILINE))
    places = {"/data": str(tmp_path), "0.0.0.0": "127.0.0.1", "--port 7860": f"--port {port}"}
    for there, here in places.items():
        assert there in command[-1]
        command[-1] = command[-1].replace(there, here)
    environment = {name: value for name, value in os.environ.items() if name not in ("SPACE_HOST", "LIESCOPE_PUBLIC")}
    environment |= {"SPACE_HOST": space} if space else {}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment | {"LIESCOPE_HOST_SECRET": secret, "PATH": path}, stdout=log, stderr=log
        )
    try:
        name = re.sub(r"https?://", "", public)
        asked = Request(f"http://127.0.0.1:{port}/host/{secret}", headers={"Host": name})
        answer = _answer(asked, process)
        assert "A new game" in answer.read().decode()
        assert "frame-ancestors https://huggingface.co" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Frame-Options"] is None
    finally:
        process.terminate()
        process.wait(20)
    told = (tmp_path / "log").read_text(encoding="utf-8")
    assert f"host: {public}/host/" in told
    assert secret not in told
    assert (tmp_path / "tables" / "tables.sqlite").stat().st_mode & 0o077 == 0
    for kept in (tmp_path / "tables").iterdir():
        assert secret.encode() not in kept.read_bytes()


def _answer(asked: Request, process: subprocess.Popen[bytes]) -> Any:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.poll() is None
        try:
            return urlopen(asked)
        except URLError:
            time.sleep(0.1)
    raise AssertionError("no answer")
