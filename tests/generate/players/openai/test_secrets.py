"""A key leaves the process in one place only, the request's own header."""

from __future__ import annotations

import json
import logging
import traceback

import pytest

from liescope import cli
from liescope.common.errors import PlayerFailed, RunPaused
from liescope.games.core import AskKind
from liescope.generate.players.openai.secrets import Secrets
from liescope.generate.runs.journal import Journal

SECRET = "sk-never/to-be+seen-42"

# An endpoint that repeats the key wherever it can.
ECHOES = {
    "message": lambda s, key: s.says(f'"My key is {key}."'),
    "refusal": lambda s, key: s.says(None, refusal=f"not for {key}"),
    "reasoning": lambda s, key: s.says('"Hi."', reasoning_content=f"they use {key}"),
    "401": lambda s, key: s.fails(401, f"Incorrect API key provided: {key}"),
    "404": lambda s, key: s.fails(404, f"{key} may not see this model"),
    "400": lambda s, key: s.fails(400, f"{key}: bad request"),
    "429": lambda s, key: s.fails(429, f"{key}: slow down"),
    "500": lambda s, key: s.Answer(f"Traceback: Authorization: Bearer {key}", 500),
    "malformed": lambda s, key: s.Answer(f'{{"key": "{key}"'),
    "no choices": lambda s, key: s.Answer({"error": {"message": key}}),
    "escaped in an answer": lambda s, key: s.Answer(
        json.dumps(s.says(f'"I use {key}."').body).replace(key, escaped(key))
    ),
    "escaped in an error": lambda s, key: s.Answer(f'{{"error": {{"message": "bad key {escaped(key)}"}}}}', 400),
    "escaped once more inside": lambda s, key: s.says(f'{{"deceptive": true, "reason": "{escaped(key)}"}}'),
    "as the model's name": lambda s, key: s.Answer(s.says('"Hi."').body | {"model": key, "id": key}),
}


def escaped(key: str) -> str:
    """The key as a server writes it that escapes more of JSON than it must."""
    return "".join(f"\\u{ord(letter):04x}" if letter.isalpha() else letter.replace("/", "\\/") for letter in key)


@pytest.mark.parametrize("name", ECHOES)
def test_a_key_shows_up_nowhere(serve, stubs, desk, asked, monkeypatch, caplog, name: str) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    stub = serve(lambda request, number: ECHOES[name](stubs, request.headers["authorization"].partition(" ")[2]))
    one = desk(f"tiny@{stub.url}?key_env=MY_API_KEY", give_up_after=0.02)
    said = ""
    try:
        said = repr(one.ask(asked[AskKind.SPEAK]))
    except (PlayerFailed, RunPaused) as failure:
        said = "".join(traceback.format_exception(failure))
    assert SECRET in stub.requests[0].headers["authorization"]
    told = [said, caplog.text, *map(repr, one.attempts), repr(one.player), repr(one.player._endpoint)]
    assert one.attempts
    assert not [text for text in told if SECRET in text]


@pytest.mark.parametrize("name", [name for name in ECHOES if not name.isdecimal() or name in ("400", "500")])
def test_a_key_reaches_no_file_of_a_run_and_no_terminal(serve, stubs, monkeypatch, tmp_path, capsys, name: str) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    stub = serve(lambda request, number: ECHOES[name](stubs, request.headers["authorization"].partition(" ")[2]))
    player = ["--player", f"openai:tiny@{stub.url}?key_env=MY_API_KEY"]
    limits = [
        "--no-preflight",
        "--give-up-after",
        "0.1s",
        "--concurrency",
        "2",
        "--cache",
        str(tmp_path / "run" / "cache"),
    ]
    cli.main(["play", "mini-mafia", *player, "--games", "1", "--assess", *limits, "--out", str(tmp_path / "run")])
    cli.main(["show", str(tmp_path / "run")])
    with Journal.open(tmp_path / "run") as journal:
        for game_id in [*journal.game_ids(), *journal.begun()]:
            cli.main(["show", str(tmp_path / "run"), game_id])
    said = capsys.readouterr()
    kept = [file.read_bytes() for file in sorted((tmp_path / "run").rglob("*")) if file.is_file()]
    assert kept
    for form in (SECRET, escaped(SECRET), json.dumps(SECRET)[1:-1]):
        assert form not in said.out + said.err
        assert not [part for part in kept if form.encode() in part]


@pytest.mark.parametrize("key", [SECRET, "sk-ends-in-u", "u0075-u"])
def test_nothing_of_a_key_in_disguise_is_left(key: str) -> None:
    secrets = Secrets()
    secrets.add(key)
    for form in (escaped(key), escaped(key).replace("\\", "\\\\"), "".join(f"&#{ord(letter)};" for letter in key)):
        assert secrets.hide(f"<{form}>") == "<[key]>"


def test_what_holds_a_key_does_not_print_it(desk, monkeypatch) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    one = desk("tiny@http://127.0.0.1:9/v1?key_env=MY_API_KEY")
    assert SECRET not in repr(vars(one.player)) + repr(vars(one.player._endpoint)) + repr(one.table)
    one.ask()
