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
from itertools import takewhile
from pathlib import Path

import polars as pl
import pytest
from datasets import load_dataset

from liescope import cli
from liescope.generate.corpus.read import read
from tests.generate.players.local import small_model

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


@pytest.fixture
def model_at(tmp_path: Path) -> Iterator[str]:
    """MODEL@URL of a model that `transformers serve` serves, offline."""
    model = str(small_model.make(tmp_path / "model", context=16384))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("transformers")), "serve", model, "--host", "127.0.0.1"]
    command += ["--port", str(port), "--device", "cpu", "--log-level", "info"]
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, env=os.environ | OFFLINE, start_new_session=True, **told) as server:
        said = list(takewhile(lambda line: "Uvicorn running on" not in line, server.stdout))
        emptied = threading.Thread(target=server.stdout.read)  # or the server would wait for room in the pipe
        emptied.start()
        try:
            assert server.poll() is None, "".join(said[-20:])
            yield f"{model}@http://127.0.0.1:{port}/v1"
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            emptied.join()


@pytest.mark.long
def test_gibberish_becomes_counted_fallbacks_the_run_completes_and_the_corpus_loads(
    model_at: str, tmp_path: Path, capsys
) -> None:
    player = f"openai:{model_at}?max_tokens=12&temperature=1"
    run, corpus = str(tmp_path / "run"), str(tmp_path / "corpus")
    play = ["play", "mini-mafia", "--player", player, "--design", "self", "--games", "3", "--assess"]
    play += ["--max-fallbacks", "1"]
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
