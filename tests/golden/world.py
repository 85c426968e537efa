"""The runs and corpora that the goldens describe: small, scripted, with fixed seeds. Each is made when asked for."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.golden.driving import command, refused

INPUTS = Path(__file__).parent / "inputs"
TWO = ("--player", "scripted:bold", "--player", "scripted:novice")
SELF = (*TWO, "--design", "self")
FACTORIAL = ("--player", "scripted:steady", "--player", "scripted:bold?j=2", "--design", "factorial")

RUNS: Mapping[str, Sequence[str]] = {
    "mini": ("play", "mini-mafia", *TWO, "--games", "2", "--seed", "5", "--assess"),
    "mini-told": (
        *("play", "mini-mafia", *SELF, "--games", "2", "--seed", "6", "--rounds", "1", "--mutual-discovery"),
        *("--reveal-dead", "--names", "Ann,Bob,Cy,Dee", "--spared", "Ann", "--message-limit", "80"),
        *("--roles", "shuffled"),
    ),
    "mafia": (
        *("play", "mafia", *SELF, "--games", "1", "--mafiosos", "2", "--detectives", "1", "--villagers", "3"),
        *("--assess", "--assess-share", "0.4", "--show-suspicion", "--days", "3"),
    ),
    "wolves": (
        *("play", "werewolf", "--player", "scripted:steady", "--player", "scripted:bold?j=2", "--design", "self"),
        *("--games", "1", "--seed", "2", "--villagers", "3", "--seers", "1", "--doctors", "1", "--debate-turns", "3"),
        *("--defence-turns", "2", "--assess", "--assess-share", "0.3"),
    ),
    "dyadic": (
        *("play", "dyadic-werewolf", *SELF, "--games", "1", "--debate-turns", "2", "--villagers", "4"),
        *("--seed", "3", "--assess", "--assess-share", "0.2", "--days", "2"),
    ),
    "one-night": ("play", "one-night-werewolf", *SELF, "--games", "2", "--assess", "--rounds", "1", "--centre", "2"),
    "fork": (
        *("fork", "runs/mini", "0", "4", *TWO, "--say", "I am a villager.", "--say", "I am the detective."),
        *("--times", "3", "--seed", "3"),
    ),
    "judged": ("label", "runs/mini", "--judge", "scripted:steady", "--roles", "--share", "0.5"),
    "wolves-judged": ("label", "runs/wolves", "--judge", "scripted:novice", "--roles", "--lessons", "--share", "0.1"),
    "rows": ("import", "jsonl", "inputs/rows.jsonl", "--game", "parlour", "--licence", "mit", "--allow-rejected"),
    "log": ("import", "mini-mafia", "inputs/log.jsonl", "--batches", "inputs/batches.jsonl"),
    "avalon": ("import", "avalon-nlu", "inputs/avalon.jsonl"),
    "diplomacy": ("import", "diplomacy", "inputs/validation.jsonl"),
    "quack": ("import", "quack", "inputs/quack"),
}
DEAR: Mapping[str, Sequence[str]] = {
    "big": ("play", "mini-mafia", *TWO, "--games", "4", "--seed", "7", "--assess"),
    "learned": (
        *("play", "werewolf", "--player", "scripted:steady", "--learning", "off,on", "--games", "3", "--seed", "2"),
        *("--villagers", "3", "--debate-turns", "2", "--defence-turns", "1", "--assess", "--assess-share", "0.3"),
    ),
    "learned-judged": ("label", "runs/learned", "--judge", "scripted:novice", "--roles", "--lessons", "--share", "0.2"),
}
"""Runs of which reports are made, or which load an encoder (learning)."""
CORPORA: Mapping[str, Sequence[str]] = {
    **{name: (f"runs/{name}",) for name in RUNS},
    "held": ("runs/mini", "runs/fork", "runs/one-night", "--transcript", "--hold-out-model", "scripted:novice"),
}


class World:
    """A folder with runs/NAME and corpus/NAME, each made with its command when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said: dict[str, str] = {}
        shutil.copytree(INPUTS, folder / "inputs")

    def run(self, name: str) -> Path:
        """The folder of that run, as `runs/NAME`. What its command said with --json is in `said`."""
        words = RUNS.get(name) or DEAR[name]
        for word in words:
            if word.startswith("runs/"):
                self.run(word.removeprefix("runs/"))
        return self._make(f"runs/{name}", words)

    def corpus(self, name: str) -> Path:
        """The folder of the corpus made of the run of that name, or of several runs, as `corpus/NAME`."""
        sources = CORPORA.get(name, (f"runs/{name}",))
        for word in sources:
            if word.startswith("runs/"):
                self.run(word.removeprefix("runs/"))
        return self._make(f"corpus/{name}", ("build", *sources))

    def command(self, *words: str, code: int = 0) -> str:
        """What a command prints that is run in this folder."""
        return command(self.folder, *words, code=code)

    def refused(self, *words: str) -> str:
        """What is said to a command that fails in this folder."""
        return refused(self.folder, *words)

    def _make(self, out: str, words: Sequence[str]) -> Path:
        if out not in self.said:
            self.said[out] = self.command(*words, "--out", out, "--json")
        return self.folder / out
