"""A key leaves the process in one place only, the request's own header."""

from __future__ import annotations

import json
import logging
import random
import re
import string
import sys
import traceback
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from html import unescape
from urllib.parse import quote, unquote

import pyarrow.parquet as pq
import pytest

import liescope
from liescope import cli
from liescope.__main__ import main
from liescope.common.errors import LiescopeError, PlayerFailed, RunPaused
from liescope.common.key_finder import HIDDEN, Disguised, find_secret, looks
from liescope.games.core import AskKind
from liescope.generate.players.openai.spec import Secrets
from liescope.generate.players.parsing.choice import visible
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
    "in headers": lambda s, key: s.Answer(s.says('"Hi."').body, headers={"X-Key": key, "Retry-After": key}),
    "in a header of a limit": lambda s, key: s.fails(429, headers={"X-RateLimit-Limit-Requests": key}),
    "in the status line": lambda s, key: s.Answer(raw=f"HTTP/1.1 500 {key}\r\nContent-Length: 0\r\n\r\n".encode()),
    "instead of HTTP": lambda s, key: s.Answer(raw=f"{key} {key}\r\n\r\n".encode()),
    "as the model's name": lambda s, key: s.Answer(s.says('"Hi."').body | {"model": key, "id": key}),
}


def escaped(key: str) -> str:
    """The key as a server writes it that escapes more of JSON than it must."""
    return "".join(f"\\u{ord(letter):04x}" if letter.isalpha() else letter.replace("/", "\\/") for letter in key)


@pytest.mark.parametrize("name", ECHOES)
def test_a_key_reaches_no_file_of_a_run_no_log_no_error_and_no_terminal(
    serve, stubs, desk, asked, monkeypatch, tmp_path, capsys, caplog, name: str
) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    stub = serve(lambda request, number: ECHOES[name](stubs, request.headers["authorization"].partition(" ")[2]))
    run, spec = tmp_path / "run", f"tiny@{stub.url}?key_env=MY_API_KEY"
    limits = ["--no-preflight", "--give-up-after", "0.02s", "--concurrency", "2", "--cache", f"{run}/cache"]
    play = ["play", "mini-mafia", "--player", f"openai:{spec}", "--games", "1", "--assess", *limits]
    cli.main([*play, "--out", str(run)])
    assert SECRET in stub.requests[0].headers["authorization"]
    with Journal.open(run) as journal:
        for shown in ([], *([game_id] for game_id in [*journal.game_ids(), *journal.begun()])):
            cli.main(["show", str(run), *shown])
    one = desk(spec, give_up_after=0.02)
    with suppress(PlayerFailed, RunPaused):
        print(one.ask(asked[AskKind.SPEAK]))
    print(one.attempts, one.player, one.player._endpoint)
    said = capsys.readouterr()
    kept = [file.read_bytes() for file in sorted(run.rglob("*")) if file.is_file()]
    assert kept
    for form in (SECRET, escaped(SECRET), json.dumps(SECRET)[1:-1]):
        assert form not in said.out + said.err + caplog.text
        assert not [part for part in kept if form.encode() in part]


@pytest.mark.parametrize("key", [SECRET, "sk-ends-in-u", "u0075-u"])
def test_nothing_of_a_key_in_disguise_is_left(key: str) -> None:
    secrets = Secrets()
    secrets.add(key)
    capitals = "".join(f"\\u{ord(letter):04X}" for letter in key)
    entities, url = "".join(f"&#{ord(letter)};" for letter in key), quote(key, safe="")
    for form in (key, escaped(key), capitals, escaped(key).replace("\\", "\\\\"), entities, url):
        assert secrets.hide(f"<{form}>, and so on") == "<[key]>, and so on"
    assert key not in repr(secrets)


LONG = "sk-Never/to+be-seen-0123456789"
DISGUISES = {
    "invisible characters": lambda key: "\u200b".join(key),
    "other format characters": lambda key: "\u2063\U000e0041\u00ad".join(key),
    "joiners, which stay in texts": lambda key: "\u200d".join(key),
    "controls": lambda key: "\x07".join(key),
    "selectors and fillers": lambda key: "\ufe0f\u3164".join(key),
    "escaped invisible characters": lambda key: "\\u200b".join(key),
    "invisible characters as entities": lambda key: "&#x200b;&zwnj;".join(key),
    "invisible characters in a URL": lambda key: "%E2%80%8B".join(key),
    "lines": lambda key: "\n".join(key),
    "spaces": lambda key: "  ".join(key),
    "another case": str.upper,
    "full width": lambda key: "".join(chr(ord(letter) + 0xFEE0) for letter in key),
    "entities": lambda key: "".join(f"&#x{ord(letter):X};" for letter in key),
    "a URL twice": lambda key: quote(quote(key, safe=""), safe=""),
    "base64": lambda key: b64encode(f"Bearer {key}".encode()).decode(),
    "base64 of a login": lambda key: b64encode(f"me:{key}:x".encode()).decode(),
    "hex": lambda key: key.encode().hex().upper(),
    "around reasoning": lambda key: f"{key[:9]}<think>hm</think>{key[9:]}",
}


def forms_of(text: str) -> list[str]:
    """The text as somebody reads it who looks for a key by other means than ours."""
    bare = "".join(
        letter
        for letter in unicodedata.normalize("NFKC", text)
        if unicodedata.category(letter) not in ("Cf", "Cc", "Zs", "Mn", "Lo")
    )
    decoded = [base64_decoded(word) for word in re.findall(r"[A-Za-z0-9+/]{20,}", text)]
    return [text, bare, bare.replace("\\u200b", ""), unquote(unquote(unescape(bare))), *decoded]


def base64_decoded(word: str) -> str:
    return b64decode(word[: len(word) // 4 * 4]).decode("latin-1")


def holds(text: str, key: str) -> bool:
    key = key.casefold()
    return any(key in form.casefold() or key.encode().hex() in form.casefold() for form in forms_of(text))


@pytest.mark.parametrize("name", DISGUISES)
@pytest.mark.parametrize("around", ["{}", "My key is {}, keep it.", '{{"deceptive": true, "reason": "{}"}}'])
def test_a_key_in_disguise_is_hidden(name: str, around: str) -> None:
    secrets = Secrets()
    secrets.add(LONG)
    said = around.format(DISGUISES[name](LONG))
    if name == "around reasoning":
        said = visible(said)[0].replace("<think>hm</think>", "")
    assert not holds(secrets.hide(said), LONG)
    assert HIDDEN in secrets.hide(said)


KEY = "sk-proj-Qm7Zx2Lp9VtR4bNc8WkYf3Hd6JgTs5Aa"
BETWEEN = [
    *"*.,;:|/~_+='\"`\u00b7\u2011\u2014\u3000\u0323",
    "\n> ",
    "**",
    "<b></b>",
    '<span class="a1">',
    "\x1b[31m",
    "\\u001b[1m",
]
MORE = {
    **{f"with {sign!a} between": sign.join for sign in BETWEEN},
    **{
        f"with {sign!a} for hyphens": lambda key, sign=sign: key.replace("-", sign)
        for sign in ("\u2010", "\u2212", "", "\\u2011", "&#8209;")
    },
    **{f"without character {at}": lambda key, at=at: key[:at] + key[at + 1 :] for at in range(len(KEY))},
    **{f"with a star for {at}": lambda key, at=at: f"{key[:at]}*{key[at + 1 :]}" for at in range(0, len(KEY), 5)},
    **{f"from {at}": lambda key, at=at: key[at : at + 14] for at in range(0, len(KEY) - 14, 5)},
    **{
        f"{form} of a part": lambda key, to=to: to(key[9:30])
        for form, to in {
            "base64": lambda part: b64encode(part.encode()).decode(),
            "hex": lambda part: part.encode().hex(" "),
            "percents": lambda part: "".join(f"%25{ord(sign):02x}" for sign in part),
            "upper case": str.upper,
            "escapes": lambda part: "".join(f"\\\\u{ord(sign):04X}" for sign in part),
        }.items()
    },
    "backwards": lambda key: key[::-1],
    "backwards, spaced": lambda key: " ".join(key[::-1]).swapcase(),
    "in Cyrillic": lambda key: key.translate(
        str.maketrans("aocepxAHT", "\u0430\u043e\u0441\u0435\u0440\u0445\u0410\u041d\u0422")
    ),
    "in a word": lambda key: f"hello{key}world",
    "in a tag": lambda key: f'<img alt="{key.lower()}">',
    "around a comment": lambda key: f"{key[:10]}<!-- x -->{key[10:]}",
}


@pytest.mark.parametrize("name", MORE)
def test_whoever_finds_twelve_characters_of_a_key_finds_it_changed(name: str) -> None:
    said, key = f"Ui: {MORE[name](KEY)}, ie ui", Disguised(KEY)
    assert key.within(looks(said))
    hidden = key.replaced(said, HIDDEN)
    assert HIDDEN in hidden
    assert hidden.startswith("Ui: ")
    assert hidden.endswith(", ie ui")
    assert not key.within(looks(hidden))
    assert not re.search("[a-zA-Z0-9]{3}", re.sub("hello|world|key|<.*?>|u?001b|31m|img|alt", "", hidden))


def test_two_messages_with_half_a_key_each_hold_none() -> None:
    key = Disguised(KEY)
    assert [key.replaced(part, HIDDEN) for part in (KEY[:20], KEY[20:])] == [HIDDEN, HIDDEN]


def test_what_people_say_holds_no_key_by_chance() -> None:
    draw = random.Random(7)
    signs = string.ascii_letters + string.digits
    keys = [Disguised("".join(draw.choices(signs, k=40))) for _ in range(20)]
    keys += map(Disguised, ("this-key-is-not-needed", "replace-me-please"))
    words = re.findall(r"\S+", "vote for is not needed key this please Bob \u2019s <b> 50% replace &amp; me to")
    for _ in range(200):
        said = looks(
            f"{' '.join(draw.choices(words, k=40))} {draw.randbytes(40).hex()} {b64encode(draw.randbytes(60))}"
        )
        assert not any(key.within(said) for key in keys)


@pytest.mark.parametrize("word", ["undefined", "anything", "EMPTY", "liescope"])
def test_a_word_that_serves_as_a_key_stays_in_what_people_say_and_in_arguments(word: str, monkeypatch, capsys) -> None:
    monkeypatch.setenv("MY_API_KEY", word)
    secrets = Secrets()
    secrets.add(word)
    assert secrets.hide(f"It is {word}.") == f"It is {word}."
    cli.main(["show", word])
    assert "argument" not in capsys.readouterr().err


ARGUMENTS = [
    ["play", "{}"],
    ["play", "mini-mafia", "--player", "{}"],
    ["play", "mini-mafia", "--player", "openai:x@http://localhost:1?persona={}"],
    ["play", "mini-mafia", "--player", "local:x?persona={}.txt"],
    ["play", "mini-mafia", "--names", "Ann,{},Cid"],
    ["import", "https://me:{}@localhost/x.csv"],
    ["report", "x", "--title", "{}"],
    ["{}"],
    ["show", "--{}"],
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("form", [str, str.upper, lambda key: key[9:30], lambda key: key.replace("-", "\u2011")])
def test_no_argument_with_a_key_is_shown_or_kept(arguments, form, monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    assert cli.main([part.format(form(KEY)) for part in arguments]) == 1
    said = "".join(capsys.readouterr())
    assert "holds" in said
    assert not find_secret(said, {"it": KEY})
    assert not list(tmp_path.iterdir())


SAYS: list[Callable[[str], object]] = [  # every error hides keys when it is made
    lambda key: liescope.play("mini-mafia", players=[f"local:{key}"], out="new"),
    lambda key: liescope.play("mini-mafia", players=["scripted:bold"], design="self", names=["A", key], out="new"),
    lambda key: liescope.play("mini-mafia", players=["scripted:bold"], design="self", out="new", **{key: 1}),
    lambda key: liescope.label("old", judge=f"local:{key}", out="new"),
    lambda key: liescope.build(key, out="new"),
    lambda key: liescope.train("judge", ["a", "b"], [0, 1], model=key, out="new"),
    lambda key: liescope.report("x", title=key, out="new"),
    lambda key: liescope.publish(key, "me/it"),
    lambda key: liescope.read("corpus", key),
]


@pytest.mark.parametrize("number", range(len(SAYS)))
@pytest.mark.parametrize("form", [str, str.lower, lambda key: key[9:30]])
def test_no_error_of_a_function_shows_a_key_that_was_an_argument(number, form, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LiescopeError) as raised:
        SAYS[number](form(KEY))
    assert not find_secret("".join(traceback.format_exception_only(raised.value)) + repr(raised.value), {"it": KEY})
    assert not list(tmp_path.iterdir())


def test_the_traceback_of_something_unforeseen_shows_no_key(monkeypatch, capsys) -> None:
    def broken() -> int:
        try:
            raise KeyError(KEY)
        except KeyError as error:
            raise RuntimeError(f"what to do with {KEY.upper()}?") from error

    monkeypatch.setenv("MY_API_KEY", KEY)
    monkeypatch.setattr(cli, "main", broken)
    assert main() == 1
    said = capsys.readouterr().err
    assert "RuntimeError: what to do with [key]?" in said
    assert said.count("Traceback") == 2
    assert not find_secret(said, {"it": KEY})


def test_a_file_that_an_error_quotes_shows_no_key(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setenv("MY_API_KEY", KEY)
    (tmp_path / "x.csv").write_text(f"text,{KEY}\n")
    assert cli.main(["import", "texts", str(tmp_path / "x.csv"), "--label", "no", "--out", str(tmp_path / "run")]) == 1
    assert not find_secret("".join(capsys.readouterr()), {"it": KEY})


def test_whatever_cleaning_removes_hides_no_key_and_neither_does_any_format_character() -> None:
    secrets = Secrets()
    secrets.add(SECRET)
    signs = [chr(code) for code in range(sys.maxunicode + 1)]
    removed = [sign for sign in signs if unicodedata.category(sign) == "Cf" or visible(f"a{sign}b")[0] == "ab"]
    assert len(removed) > 150
    for sign in removed:
        assert secrets.hide(sign.join(SECRET)) == HIDDEN


def test_words_that_are_no_key_stay() -> None:
    secrets = Secrets()
    for key in (LONG, "ollama", "secret-1"):
        secrets.add(key)
    near = ("Ollama and o l l a m a", "a secret - 1 of many", LONG[:14], b64encode(LONG[:8].encode()).decode())
    long = ("\\" * 100_000, "<" * 100_000, LONG[:5] * 20_000, "%2f" * 50_000)
    for text in (*near, *long):
        assert secrets.hide(text) == text


def test_a_key_in_disguise_reaches_no_other_host_no_file_no_page_and_no_export(
    serve, stubs, monkeypatch, tmp_path, capsys
) -> None:
    """One host's model repeats its key in every way; the other's sits at the same tables."""
    monkeypatch.setenv("MY_API_KEY", LONG)
    monkeypatch.setenv("OTHER_API_KEY", "sk-other-9876543210-abcdef")
    forms = list(DISGUISES.values())
    echo = serve(lambda request, number: stubs.says(f'"I say {forms[number % len(forms)](LONG)} and vote for Alice."'))
    other = serve(stubs.says('"I trust nobody. I vote for Alice."'))
    run, players = tmp_path / "run", []
    for name, stub in (("MY", echo), ("OTHER", other)):
        players += ["--player", f"openai:{name.lower()}@{stub.url}?key_env={name}_API_KEY"]
    play = ["play", "mini-mafia", *players, "--games", "3", "--no-preflight", "--out", str(run), "--concurrency", "4"]
    assert cli.main([*play, "--cache", str(run / "cache")]) == 0
    assert len(echo.requests) > 2 * len(forms) < len(other.requests)
    assert not [request for request in other.requests if holds(json.dumps(request.body, ensure_ascii=False), LONG)]
    with Journal.open(run) as journal:
        for game_id in journal.game_ids():
            assert cli.main(["show", str(run), game_id]) == 0
    assert cli.main(["build", str(run), "--out", str(tmp_path / "corpus")]) == 0
    for source, to in ((run, "inspect"), (tmp_path / "corpus", "kto")):
        cli.main(["export", str(source), "--to", to, "--out", str(tmp_path / to)])
    said = capsys.readouterr()
    assert not holds(said.out + said.err, LONG)
    for file in sorted(tmp_path.rglob("*")):
        if file.suffix in (".json", ".jsonl", ".toml", ".md", ".eval", ".sqlite"):
            assert not holds(file.read_bytes().decode("utf-8", "ignore"), LONG), file
        if file.suffix == ".parquet":
            assert not holds(str(pq.read_table(file).to_pylist()), LONG), file


def test_what_an_earlier_version_let_through_is_not_exported_nor_sent_on(
    serve, stubs, monkeypatch, tmp_path, capsys
) -> None:
    """A run whose log holds a key: no judge at another host is told it, and no export is made."""
    quiet = serve(stubs.says(f'"I say {LONG} and vote for Alice."'))
    run = tmp_path / "run"
    play = ["play", "mini-mafia", "--player", f"openai:my@{quiet.url}", "--games", "1", "--no-preflight"]
    assert cli.main([*play, "--out", str(run)]) == 0
    monkeypatch.setenv("MY_API_KEY", LONG)
    judge = serve(stubs.says('{"deceptive": false, "confidence": 0.5, "suspicion": 0.5, "type": "none", "reason": ""}'))
    spec = f"openai:judge@{judge.url}?key_env=MY_API_KEY"
    assert cli.main(["label", str(run), "--judge", spec, "--no-preflight", "--out", str(tmp_path / "judged")]) == 0
    assert judge.requests
    assert not [request for request in judge.requests if LONG in json.dumps(request.body)]
    capsys.readouterr()
    assert cli.main(["export", str(run), "--to", "inspect", "--out", str(tmp_path / "export")]) == 1
    said = capsys.readouterr().err
    assert "run.eval holds the value of MY_API_KEY, so nothing was exported" in said
    assert LONG not in said
    assert not (tmp_path / "export").exists()
