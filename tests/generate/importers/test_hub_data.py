"""Data of one's own that lies on the Hub: read by its name, and its marks kept, end to end against a stand-in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from liescope.games.record import GameRecord
from liescope.generate.importers.importing import read_games
from liescope.generate.runs.journal import Journal
from tests.generate.corpus.stand_in import Hub, hubs
from tests.generate.importers import inspect_log

pytestmark = [pytest.mark.slow, pytest.mark.long]

TRAINED = "train", "tfidf", "--folds", "0"


@pytest.fixture
def start_hub(tmp_path: Path) -> Iterator[Callable[..., Hub]]:
    with hubs(tmp_path / "home") as start:
        yield start


def pushed(hub: Hub, repo: str, files: dict[str, Path]) -> None:
    """Put files into a dataset."""
    script = (
        "import json, sys; from huggingface_hub import HfApi; api = HfApi(); repo, files = json.loads(sys.argv[1])\n"
        "api.create_repo(repo, repo_type='dataset')\n"
        "for name, path in files.items():\n"
        "    api.upload_file(path_or_fileobj=path, path_in_repo=name, repo_id=repo, repo_type='dataset')"
    )
    done = hub.run("-c", script, json.dumps([repo, {name: str(path) for name, path in files.items()}]))
    assert done.returncode == 0, done.stderr


def command(hub: Hub, *words: str) -> tuple[int, str]:
    done = hub.run("-m", "liescope", *words, env={"HF_HUB_OFFLINE": "0"})
    return done.returncode, done.stdout + done.stderr


def records(run: Path) -> list[GameRecord]:
    with Journal.open(run) as journal:
        return list(journal.records())


def test_the_marks_of_rows_that_nobody_may_learn_from_outlive_build_and_publish(
    start_hub: Callable[..., Hub], tmp_path: Path
) -> None:
    rows = [
        {"text": f"I {'never' if n % 2 else 'often'} said so, {n}.", "lie": n % 2, "group": n // 2} for n in range(60)
    ]
    marks: dict[int, dict[str, object]] = {31: {"canary": "canary 7f3a"}, 41: {"do_not_train": True}}
    for name, some in (("free", {}), ("marked", marks)):  # the second row of a group carries the mark
        lines = [json.dumps({**row, "group": f"{name}{row['group']}", **some.get(n, {})}) for n, row in enumerate(rows)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    hub = start_hub()
    at = {name: str(tmp_path / name) for name in ("free", "marked", "corpus", "model", "report")}
    for name in ("free", "marked"):
        code, said = command(hub, "import", "text", f"{at[name]}.jsonl", "--out", at[name], "--licence", "mit")
        assert code == 0, said
    assert command(hub, "build", at["marked"], "--out", at["corpus"])[0] == 0
    assert command(hub, "publish", at["corpus"], "--repo", "me/marked")[0] == 0
    for corpus in (at["marked"], at["corpus"], "me/marked"):
        code, said = command(hub, *TRAINED, "--corpus", corpus, "--out", at["model"])
        assert code == 1
        assert "2 texts carry a canary" in said
    assert command(hub, *TRAINED, "--corpus", at["free"], "--out", at["model"])[0] == 0
    code, said = command(hub, "evaluate", at["model"], "--corpus", "me/marked", "--draws", "20", "--out", at["report"])
    assert code == 0, said


@pytest.mark.skipif(not find_spec("inspect_ai"), reason="inspect_ai is not installed: make inspect")
def test_eval_logs_in_a_dataset_are_read_by_its_name(start_hub: Callable[..., Hub], tmp_path: Path) -> None:
    log, hub, run = inspect_log.written(tmp_path / "cars.eval"), start_hub(), tmp_path / "run"
    pushed(hub, "me/logs", {"logs/cars.eval": log})
    code, said = command(hub, "import", "inspect", "me/logs", "--out", str(run))
    assert code == 0, said
    local = [game for game in read_games("inspect", log) if isinstance(game, GameRecord)]
    assert [game.events for game in records(run)] == [game.events for game in local]
