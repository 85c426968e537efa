"""A server of pages as a process of its own, on loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

PATIENCE_S = 240


class Server:
    """`python -m WORDS`, where a word "{port}" becomes the port; ready once it takes connections, and has
    told its links if it is one of ours.

    port: 0 for a free one; a server that starts again takes that of the one before. log: gets what it prints.
    """

    def __init__(self, words: Sequence[str], log: Path, port: int = 0) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        self._told = "Ctrl-C ends this" if words[0] == "liescope" else ""
        command = [sys.executable, "-m", *(word.format(port=self.port) for word in words)]
        with log.open("ab") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """As Ctrl-C or a power cut would, whichever it heeds first. Nothing happens if it has ended."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def kill(self) -> None:
        """End it with no chance to tidy up."""
        self.process.kill()
        self.process.wait()

    def said(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def _wait(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            assert self.process.poll() is None, f"the server ended with {self.process.returncode}: {self.said()}"
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0 and self._told in self.said():
                    return
            time.sleep(0.05)
        raise AssertionError(f"no server on port {self.port} within {PATIENCE_S} s: {self.said()}")


def free_port() -> int:
    """A port on loopback that nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
