"""The stand-in for the Hub (hub.py) as a running process, and clients that know no other Hub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).parents[3]
COMMAND = (
    "import sys; from typer.main import get_command; from liescope.front_commands import app; "
    "from liescope.common.errors import LiescopeError\n"
    "try: get_command(app).main(['publish', *sys.argv[1:]], standalone_mode=False)\n"
    "except LiescopeError as error: print(f'error: {error}', file=sys.stderr); sys.exit(1)"
)


class Hub:
    """A running stand-in and clients that know no other Hub."""

    def __init__(self, url: str, home: Path) -> None:
        self.url = url
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | {
            "HF_ENDPOINT": url,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HOME": str(home),
            "HF_TOKEN": "hf_writer_token",
        }

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        env = {**self.env, **(env or {})}
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)

    def publish(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.run("-c", COMMAND, *words, env=env)

    def state(self) -> dict[str, Any]:
        with urlopen(f"{self.url}/state") as reply:
            state: dict[str, Any] = json.load(reply)
            return state


@contextmanager
def hubs(home: Path) -> Iterator[Callable[..., Hub]]:
    """Yield a function that starts a stand-in, with the words of its command. home: the clients' cache."""
    started = []

    def start(*words: str) -> Hub:
        command = [sys.executable, str(Path(__file__).parent / "hub.py"), *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        return Hub(process.stdout.readline().strip(), home)

    yield start
    for process in started:
        process.terminate()
        process.communicate()
