"""The commands against a real OpenAI-compatible server: play, build, and open the dataset."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from datasets import load_dataset

from liescope import cli
from liescope.generate.corpus import read
from tests.generate.players.local import small_model

READY_WITHIN = 120.0
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


class ModelServer:
    """`transformers serve` in a process group of its own, offline. Raises RuntimeError when it does not come up."""

    def __init__(self, model: Path) -> None:
        self.model = str(model)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        command = [str(Path(sys.executable).with_name("transformers")), "serve", self.model, "--host", "127.0.0.1"]
        command += ["--port", str(port), "--device", "cpu", "--log-level", "info"]
        told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self._process = subprocess.Popen(command, env=os.environ | OFFLINE, start_new_session=True, **told)
        self._said: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if not self._ready.wait(READY_WITHIN) or self._process.poll() is not None:
            self.close()
            raise RuntimeError("transformers serve did not start:\n" + "".join(self._said[-20:]))

    def _read(self) -> None:
        """Keep the pipe empty, and notice the line that says the server listens; its end counts as a sign too."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.append(line)
            if "Uvicorn running on" in line:
                self._ready.set()
        self._ready.set()

    def close(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()


@pytest.fixture
def model_server(tmp_path: Path) -> Iterator[ModelServer]:
    server = ModelServer(small_model.make(tmp_path / "model", context=16384))
    yield server
    server.close()


@pytest.mark.long
def test_gibberish_becomes_counted_fallbacks_the_run_completes_and_the_corpus_loads(
    model_server: ModelServer, tmp_path: Path, capsys
) -> None:
    player = f"openai:{model_server.model}@{model_server.url}?max_tokens=12&temperature=1"
    run, corpus = str(tmp_path / "run"), str(tmp_path / "corpus")
    play = ["play", "mini-mafia", "--player", player, "--design", "self", "--games", "3", "--assess"]
    assert cli.main([*play, "--no-preflight", "--json", "--out", run]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["games"]["done"], summary["games"]["failed"]) == (3, 0)
    assert cli.main(["build", run, "--out", corpus]) == 0

    games = load_dataset(corpus, "games", cache_dir=str(tmp_path / "cache"))
    rows = [row for split in games.values() for row in split]
    assert {row["source"] for row in rows} == {"model"}
    counted = sum(row["fallbacks"] for row in rows)
    assert counted == sum(summary["fallbacks"].values()) > 0

    calls = read(corpus_folder := tmp_path / "corpus", "calls").collect()
    assert calls.height == summary["calls"]
    assert calls["prompt_tokens"].sum() + calls["completion_tokens"].sum() == summary["tokens"]
    votes = read(corpus_folder, "votes").collect()
    drawn = votes.filter(pl.col("fallback") != "").height
    silences = sum(row["silences"] for row in rows)
    assert drawn + silences <= counted
