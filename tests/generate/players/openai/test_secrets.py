"""A key leaves the process in one place only, the request's own header."""

from __future__ import annotations

import logging
import traceback

import pytest

from liescope.common.errors import PlayerFailed, RunPaused
from liescope.games.core import AskKind

SECRET = "sk-never-to-be-seen-42"

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
}


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


def test_what_holds_a_key_does_not_print_it(desk, monkeypatch) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    one = desk("tiny@http://127.0.0.1:9/v1?key_env=MY_API_KEY")
    assert SECRET not in repr(vars(one.player)) + repr(vars(one.player._endpoint)) + repr(one.table)
    one.ask()
