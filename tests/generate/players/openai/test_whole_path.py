"""The commands against a real OpenAI-compatible server: play, build, and open the dataset."""

from __future__ import annotations

import json

import polars as pl
from datasets import load_dataset

from liescope import cli
from liescope.generate.corpus import read


def test_gibberish_becomes_counted_fallbacks_the_run_completes_and_the_corpus_loads(
    tiny_model_server, tmp_path, capsys
) -> None:
    player = f"openai:{tiny_model_server.model}@{tiny_model_server.url}?max_tokens=12&temperature=1"
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
