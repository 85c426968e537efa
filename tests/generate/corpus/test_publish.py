"""Publishing, end to end against a local stand-in for the Hub: what is pushed is what `load_dataset` gives back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.data_cards.tables import TABLES
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.corpus.publish import publish
from liescope.generate.corpus.read import read
from liescope.generate.importers.importing import read_games
from liescope.generate.runs.journal import Journal
from tests.generate.corpus.games import as_classes, call, fail, pack, play, stream
from tests.generate.corpus.stand_in import Hub, hubs
from tests.generate.importers import inspect_log

pytestmark = pytest.mark.slow

# Loads a dataset of the Hub with `datasets`, opens it as a corpus, and imports it; what it finds is a JSON file.
LOAD = """
import json, sys, datasets
from liescope import cli
from liescope.common.errors import BadData
from liescope.generate.corpus.read import read
from liescope.generate.corpus.open import open_games
folder, *configs = sys.argv[1:]
loaded = {config: datasets.load_dataset("me/games", config) for config in configs}
rows = {config: {name: list(split) for name, split in splits.items()} for config, splits in loaded.items()}
heights = [
    [read(name, "statements").collect().height, open_games(name, ["votes"]).tables["votes"].height]
    for name in ("me/games", "hf://datasets/me/games")
]
try:
    read("me/nothing", "games")
except BadData as error:
    missing = str(error)
words = ["jsonl", "me/games:statements", "--game", "again", "--map", "alive=", "--out", f"{folder}/run"]
assert cli.main(["import", *words]) == 0
with open(f"{folder}/found.json", "w") as file:
    json.dump([rows, heights, missing], file)
"""


@pytest.fixture
def start_hub(tmp_path: Path) -> Iterator[Callable[..., Hub]]:
    with hubs(tmp_path / "home") as start:
        yield start


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A Hub of several tests."""
    with hubs(tmp_path_factory.mktemp("home")) as start:
        yield start()


@pytest.mark.long
def test_what_is_pushed_last_is_loaded_read_and_imported_row_for_row(corpus: Path, hub: Hub, tmp_path: Path) -> None:
    pack(stream([play(number) for number in range(9)]), tmp_path / "earlier")
    assert hub.publish(str(tmp_path / "earlier"), "--repo", "me/games").returncode == 0
    done = hub.publish(str(corpus), "--repo", "me/games", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["url"] == f"{hub.url}/datasets/me/games"
    configs = ("statements", "games", "lessons")
    loaded = hub.run("-c", LOAD, str(tmp_path), *configs, env={"HF_HUB_OFFLINE": "0"})
    assert loaded.returncode == 0, loaded.stderr
    found, heights, missing = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    for config in configs:
        for split, rows in found[config].items():
            expected = read(corpus, config, split).collect().to_dicts()
            assert rows == [as_classes(row, config) for row in expected]
        assert sum(map(len, found[config].values())) == read(corpus, config).collect().height
    assert heights == [[read(corpus, config).collect().height for config in ("statements", "votes")]] * 2
    assert missing.endswith("no dataset of that name that you may see on the Hub")
    with Journal.open(tmp_path / "run") as journal:
        (source,) = journal.plan["sources"]
        assert (source["name"], source["config"], len(source["revision"])) == ("me/games", "statements", 40)
        games = list(journal.records())
    imported = {
        (game.game_id, game.meta["split"], event.actor, event.text, game.seat(event.actor or "").deceives)
        for game in games
        for event in game.events
        if event.kind is EventKind.STATEMENT
    }
    statements = read(corpus, "statements").collect()
    assert imported == set(statements.select("game_id", "split", "speaker", "text", "label_role").iter_rows())


def test_settings_come_first_then_data_then_the_card_and_nothing_else_leaves(
    corpus: Path, start_hub: Callable[..., Hub]
) -> None:
    (corpus / "journal.sqlite").write_text("private", encoding="utf-8")
    (corpus / "games" / "notes.parquet").write_bytes(b"private")
    hub = start_hub()
    assert hub.publish(str(corpus), "--repo", "me/games", "--gated").returncode == 0
    state = hub.state()
    repo = state["repos"]["me/games"]
    assert (repo["private"], repo["gated"]) == (True, "manual")
    assert [message.split()[0] for message in repo["messages"]] == ["Data", "Card"]
    log = state["log"]
    first_upload = next(place for place, line in enumerate(log) if line.startswith("PUT /blob/"))
    assert log.index("PUT /api/datasets/me/games/settings") < first_upload
    data = {f"{config}/{split}-00000.parquet" for config in TABLES for split in ("train", "validation", "test")}
    assert set(repo["files"]) == data | {"README.md", "croissant.json", "corpus.json"}
    for words, private in ((["--public"], False), ([], True)):  # public only when asked
        assert hub.publish(str(corpus), "--repo", "me/games", *words).returncode == 0
        assert hub.state()["repos"]["me/games"]["private"] is private


def test_a_push_that_broke_off_goes_on_and_sends_nothing_twice(corpus: Path, start_hub: Callable[..., Hub]) -> None:
    hub = start_hub("--break-at", "4")
    broken = hub.publish(str(corpus), "--repo", "me/games")
    assert broken.returncode == 1
    assert "400" in broken.stderr
    assert "same command again" in broken.stderr
    assert hub.state()["repos"]["me/games"]["files"] == []
    assert hub.publish(str(corpus), "--repo", "me/games").returncode == 0
    sent = [oid for oid in hub.state()["uploads"] if oid != "refused"]
    assert len(sent) == len(set(sent))


@pytest.mark.parametrize(
    ("token", "repo", "words"),
    [
        ("hf_wrong_token", "me/games", "does not accept the token (401)"),
        ("hf_reader_token", "me/games", "may not do this (403)"),
        ("hf_writer_token", "nobody/games", "has no nobody/games"),
        ("", "me/games", "HF_TOKEN"),
        ("away", "me/games", "cannot be reached"),
    ],
)
def test_a_refusal_is_one_line_that_says_what_to_do(corpus: Path, hub: Hub, token: str, repo: str, words: str) -> None:
    log = hub.state()["log"]
    away = {"HF_ENDPOINT": "http://127.0.0.1:9"} if token == "away" else {"HF_TOKEN": token}
    done = hub.publish(str(corpus), "--repo", repo, **away)
    assert done.returncode == 1
    assert words in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not token.startswith("hf_") or token not in done.stderr
    assert token or hub.state()["log"] == log, "without a token nobody is called"


@pytest.mark.parametrize("repo", ["games", "me/games/more", "/games", "me/", "me games/x", "../x/y", ""])
def test_a_name_that_is_no_dataset_is_refused(corpus: Path, repo: str) -> None:
    with pytest.raises(UsageError, match="USER/NAME"):
        publish(corpus, repo)


@pytest.mark.parametrize("place", ["text", "raw", "model", "quote", "card"])
def test_a_secret_of_the_environment_is_never_published(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-not-a-real-one-1234"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_writer_token")
    said = f"I am the detective {secret}" if place in ("text", "quote") else None
    models = ("a", secret, "b") if place == "model" else ("a", "b", "c")
    game = play(1, said=said, models=models)
    corpus = tmp_path / "corpus"
    pack([("run", game, [call(game, raw=f"key: {secret}" if place == "raw" else "fine")])], corpus)
    if place == "card":
        (corpus / "README.md").write_text(f"made with {secret}", encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    for dry_run in (True, False):
        with pytest.raises(UsageError, match="OPENAI_API_KEY") as raised:
            publish(corpus, "me/games", dry_run=dry_run)
        assert secret not in str(raised.value)


@pytest.mark.parametrize("place", ["text", "raw", "model"])
def test_a_log_that_holds_a_key_of_the_environment_is_not_built(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-not-a-real-one-1234"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    said = f"I am the detective {secret[:5]}\u200b{secret[5:]}" if place == "text" else None
    game = play(1, said=said, models=("a", secret, "b") if place == "model" else ("a", "b", "c"))
    calls = [call(game, raw=f"key: {secret}" if place == "raw" else "fine")]
    with pytest.raises(UsageError, match="the value of OPENAI_API_KEY") as raised:
        pack([("run", game, calls)], tmp_path / "corpus")
    assert secret not in str(raised.value)
    assert not (tmp_path / "corpus").exists()


def packed(tmp_path: Path, game: Any, call: dict[str, Any], plan: Mapping[str, Any] | None = None) -> Path:
    pack([("run", game, [call])], tmp_path / "corpus", heads={"run": (plan or {}, {})})
    return tmp_path / "corpus"


@pytest.mark.parametrize(
    "raw",
    [
        'key: "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2"',
        '{"key": "\\u0073k-proj-a1B2c3D4e5F6g7H8i9J0k1L2"}',
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "https://x.y/?key=%73k-a1B2c3D4e5F6g7H8i9J0k1L2",
        "<b>&#115;&#x6b;-a1B2c3D4e5F6g7H8i9J0k1L2</b>",
        "gsk_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_key_is_never_published(raw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_writer_token")
    game = play(1)
    with pytest.raises(UsageError, match=r"what looks like .*nothing was published") as raised:
        publish(packed(tmp_path, game, call(game, raw=raw)), "me/games")
    assert "a1B2" not in str(raised.value)


@pytest.mark.parametrize("raw", ["told: pass/word-of-mine", 'told: {"it": "pass\\/word\\u002dof-mine"}'])
def test_a_key_that_a_players_spec_names_is_never_published(
    raw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_writer_token")
    game, plan = play(1), {"players": ["openai:m@https://llm.acme.example/v1?key_env=ACME_LLM&temperature=1"]}
    corpus = packed(tmp_path, game, call(game, raw=raw), plan)
    monkeypatch.setenv("ACME_LLM", "pass/word-of-mine")
    with pytest.raises(UsageError, match="ACME_LLM"):
        publish(corpus, "me/games")


def test_no_address_of_an_endpoint_is_in_a_corpus(tmp_path: Path) -> None:
    spec = "openai:m@https://llm.acme.example:8000/v1?key_env=ACME_LLM&temperature=1"
    game = replace(fail(play(1), f"{spec} gave no answer"), cell=f"{spec} | scripted:bold")
    lost = {**call(game), "problem": "https://llm.acme.example:8000/v1 does not answer"}
    corpus = packed(tmp_path, game, lost, {"players": [spec], "cells": [[spec, "scripted:bold"]]})
    row = read(corpus, "games").collect().row(0, named=True)
    assert row["cell"] == "openai:m?temperature=1 | scripted:bold"
    for path in corpus.rglob("*"):
        if path.is_file() and path.suffix != ".parquet":
            assert "acme.example" not in path.read_text("utf-8")
    for config in TABLES:
        assert "acme.example" not in str(read(corpus, config).collect().to_dicts())


def test_links_are_not_followed(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "hf_writer_token")
    card = corpus / "README.md"
    card.rename(tmp_path / "elsewhere.md")
    card.symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(UsageError, match=r"README\.md is a symbolic link"):
        publish(corpus, "me/games")
    card.unlink()
    (tmp_path / "elsewhere.md").rename(card)
    (corpus / "votes").rename(tmp_path / "votes")
    (corpus / "votes").symlink_to(tmp_path / "votes")
    with pytest.raises(UsageError, match="votes is a symbolic link"):
        publish(corpus, "me/games")


def test_a_dry_run_shows_everything_and_asks_nobody(corpus: Path, hub: Hub) -> None:
    log = hub.state()["log"]
    done = hub.publish(str(corpus), "--repo", "me/games", "--dry-run", "--gated", HF_TOKEN="")
    assert done.returncode == 0, done.stderr
    assert (corpus / "README.md").read_text(encoding="utf-8") in done.stdout
    for path in corpus.rglob("*"):
        if path.is_file():
            assert f"{path.stat().st_size:,}  {path.relative_to(corpus).as_posix()}\n" in done.stdout
    assert "would be at" in done.stdout.splitlines()[-1]
    assert "(private, gated)" in done.stdout.splitlines()[-1]
    assert hub.state()["log"] == log


TRAINED = "train", "tfidf", "--folds", "0"


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


@pytest.mark.long
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
    code, said = command(hub, "evaluate", at["model"], "--corpus", "me/marked", "--out", at["report"])
    assert code == 0, said


@pytest.mark.long
@pytest.mark.skipif(not find_spec("inspect_ai"), reason="inspect_ai is not installed: make faces")
def test_eval_logs_in_a_dataset_are_read_by_its_name(start_hub: Callable[..., Hub], tmp_path: Path) -> None:
    log, hub, run = inspect_log.written(tmp_path / "cars.eval"), start_hub(), tmp_path / "run"
    pushed(hub, "me/logs", {"logs/cars.eval": log})
    code, said = command(hub, "import", "inspect", "me/logs", "--out", str(run))
    assert code == 0, said
    local = [game for game in read_games("inspect", log) if isinstance(game, GameRecord)]
    with Journal.open(run) as journal:
        assert [game.events for game in journal.records()] == [game.events for game in local]
