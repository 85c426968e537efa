"""Every code example of README and docs runs as it is printed, page by page, against a server on loopback.

What changes: the address of the server, that no cell of a command plays more than a few games, that `evaluate`,
`transfer` and `audit` resample them less often, and that figures of games are left out.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope import cli
from liescope.benchmark.analyses import analysis_registry as registry_of_analyses
from liescope.detectors.detector_registry import DETECTORS
from liescope.games.game_registry import GAMES
from liescope.generate.exports.exporting import EXPORTERS
from liescope.generate.importers.importing import IMPORTERS
from liescope.generate.players.player_registry import PLAYERS
from liescope.generate.runs.play import RunResult
from tests.common.without_figures import leave_out_figures
from tests.docs.examples import ELSEWHERE, ROOT, Block, blocks, commands, pages
from tests.generate.corpus.stand_in import hubs
from tests.generate.players.openai.stub import Answer, Request, Stub, says

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("shared_fits")]
MOST_GAMES = 4
SAMPLING = ("fit", "report")
SHORT = ("--draws", "400", "--tune", "400")
LANGUAGES = {"sh", "python", "toml", "json", "jsonl", "csv", "text", "jinja", "yaml"}


def answer(request: Request, _: int) -> Answer:
    """What a small, obliging model would say: a form where one is asked for, else a message with a name in it."""
    if "response_format" in request.body:
        rating = {"deceptive": False, "type": "none", "confidence": 0.7, "suspicion": 0.3, "reason": "Nothing odd."}
        return says(json.dumps(rating))
    return says('"Alice has been quiet. I would like to hear what she has to say."')


@pytest.fixture(scope="module")
def server() -> Iterator[Stub]:
    stub = Stub(answer)
    yield stub
    stub.close()


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a process that knows no Hub but a stand-in on loopback."""
    with hubs(tmp_path_factory.mktemp("hub")) as start:
        yield start().env | {"HF_HUB_OFFLINE": "0"}


@pytest.fixture
def registries() -> Iterator[None]:
    """What a page registers is not there for other tests."""
    known: list[dict[str, Any]] = [DETECTORS, EXPORTERS, GAMES, IMPORTERS, PLAYERS]
    before, analyses = [dict(registry) for registry in known], registry_of_analyses.ANALYSES
    yield
    registry_of_analyses.ANALYSES = analyses
    for registry, was in zip(known, before, strict=True):
        registry.clear()
        registry.update(was)


@pytest.fixture
def folder(tmp_path: Path, server: Stub, monkeypatch: pytest.MonkeyPatch, registries: None) -> Path:
    """A reader's folder: the checkout's files that a page names are beside it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-stand-in-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setattr(liescope, "play", few_games(liescope.play))
    leave_out_figures(monkeypatch)
    for name in ("benchmark", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def few_games(play: Callable[..., RunResult]) -> Callable[..., RunResult]:
    """Of several players, whose combinations are many."""

    def few(*words: Any, **settings: Any) -> RunResult:
        several = len(settings.get("players", ())) > 1
        return play(*words, **settings | ({"games": min(settings["games"], MOST_GAMES)} if several else {}))

    return few


def adapted(words: list[str], server: Stub) -> list[str]:
    """The words of a command with the stand-in's address, few games and few draws."""
    words = [word.replace("http://localhost:8000/v1", server.url) for word in words]
    words += SHORT if words[0] in SAMPLING and "--draws" not in words else []
    return [
        str(min(int(word), MOST_GAMES)) if before == "--games" else word
        for before, word in zip(["", *words], words, strict=False)
    ]


def run_shell(block: Block, server: Stub, hub: dict[str, str]) -> None:
    for words in commands(block):
        if words[0] in ELSEWHERE:
            continue
        if words[:2] == ["liescope", "publish"] or any(word.startswith("you/") for word in words):
            command = [sys.executable, "-m", "liescope", *words[1:]]
            done = subprocess.run(command, env=os.environ | hub, capture_output=True, text=True)
            assert done.returncode == 0, f"{block}: {done.stderr}"
            continue
        if "|" in words or words[0] == "python" or "=" in words[0]:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            line = " ".join(word if word == "|" else shlex.quote(word) for word in adapted(words, server))
            done = subprocess.run(
                ["bash", "-ec", line], env=os.environ | {"PATH": path}, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{block}: {done.stderr}"
            continue
        assert words[0] == "liescope", f"{block}: {words[0]} is no command that this test knows"
        assert cli.main(adapted(words[1:], server)) == 0, f"{block}: {' '.join(words)}"


def run_python(block: Block, namespace: dict[str, Any]) -> None:
    exec(compile(block.text, str(block), "exec"), namespace)


FIRST = {"README.md", "docs/guides/own-data.md"}
"""Pages that a newcomer follows; the others are long."""
NAMES = [str(page.relative_to(ROOT)) for page in pages()]


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.long] * (one not in FIRST)) for one in NAMES])
@pytest.mark.timeout(600)
def test_the_examples_of_a_page_run(name: str, folder: Path, server: Stub, hub: dict[str, str]) -> None:
    namespace: dict[str, Any] = {"__name__": "example"}
    for block in blocks(ROOT / name):
        assert block.language in LANGUAGES, f"{block}: a block in {block.language!r} that nothing checks"
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            run_shell(block, server, hub)
        elif block.language == "python":
            run_python(block, namespace)


def test_every_page_of_the_site_is_in_its_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert [name for name in missing if f" {name}\n" not in menu] == []
