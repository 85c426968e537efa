"""The stand-in for the Hub (hub.py) as a running process, and clients that know no other Hub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from huggingface_hub import constants

from liescope import cli

ROOT = Path(__file__).parents[3]


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
        """The command, in this process, as if it had begun with that environment."""
        given, said, complained = self.env | env, StringIO(), StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(complained):
            for name in [name for name in os.environ if name.startswith("HF_")]:
                patch.delenv(name)
            patch.setenv("HF_TOKEN", given["HF_TOKEN"])
            patch.setattr(constants, "HF_TOKEN_PATH", str(Path(given["HF_HOME"]) / "token"))
            patch.setattr(constants, "ENDPOINT", given["HF_ENDPOINT"])
            patch.setattr(constants, "HF_HUB_OFFLINE", False)
            patch.setattr(constants, "HF_HUB_DISABLE_XET", True)
            with warnings.catch_warnings(category=DeprecationWarning, action="ignore"):  # of httpx, in the Hub's client
                code = cli.main(["publish", *words])
        return subprocess.CompletedProcess(words, code, said.getvalue(), complained.getvalue())

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
        return Hub(process.stdout.readline().strip(), home)

    yield start
    for process in started:
        process.terminate()
        process.communicate()
