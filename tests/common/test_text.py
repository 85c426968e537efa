"""Text from elsewhere, addresses and files stay harmless: in a terminal, in Markdown, in a spreadsheet, in an error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from liescope.common.errors import BadData, LiescopeError, MissingExtra
from liescope.common.leaks import all_without_addresses, without_addresses
from liescope.common.reading import Reading, check_folder, read_bytes, read_text
from liescope.common.text import Units, cell, look_alikes, look_of, markdown, plain

HOSTILE = [
    "[click](javascript:alert(1))",
    "![x](http://evil.example/a.png)",
    "<img src=x onerror=alert(1)>",
    "see http://evil.example and www.evil.example",
    "a | b\n| c |",
    "`code` *bold* _italic_ ~gone~ $x$",
    "\x1b[31mred\x1b[0m \u202eright to left",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_begins_no_link_markup_or_cell(text: str) -> None:
    shown = markdown(text)
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert not re.search(r"(?<!\\)[\[\]`*_|~$<>]", shown)
    assert not re.search(r"(?<!\\)://", shown)
    assert "www." not in shown
    assert markdown("gpt-4.1 (mini), 50%") == "gpt-4.1 (mini), 50%"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Alice", "\u0410lice"),  # a Cyrillic A
        ("Bob", "\u0412\u043eb"),
        ("Sasha", "\u0405\u0430sh\u0430"),
        ("Zoe", "\u0396oe"),  # a Greek Z
        ("Kim", "\u212aim"),  # the sign for kelvin
        ("Ann", "\uff21\uff4e\uff4e"),
        ("Ann", "A\u200bnn"),
        ("Ann Lee", " ann\u00a0 LEE"),
        ("Zo\u00eb", "Zoe\u0308"),
    ],
)
def test_names_that_no_reader_can_tell_apart_look_alike(name: str, other: str) -> None:
    assert look_alikes(["Charlie", name, other]) == (name, other)


def test_names_that_a_reader_can_tell_apart_do_not() -> None:
    names = [
        "Zoe",
        "Zo\u00eb",
        "\u0410\u043b\u0438\u0441\u0430",
        "Alisa",
        "\u674e\u96f7",
        "\u674e",
        "P1",
        "P2",
        "\u041e\u043b\u044f",
        "Olya",
    ]
    assert look_alikes(names) is None
    assert not look_of(" \u200b")


def test_a_terminal_and_a_spreadsheet_run_nothing() -> None:
    assert plain("\x1b]0;title\x07") == r"\x1b]0;title\x07"
    assert [cell(text) for text in ("=1+1", "+1", "-1", "@sum", "\tx", "model")] == [
        "'=1+1",
        "'+1",
        "'-1",
        "'@sum",
        "'\tx",
        "model",
    ]


@pytest.mark.parametrize(
    ("kinds", "said", "counted"),
    [
        (["mini-mafia", "mafia"], "a statement of each game's 60 statements", "2 statements of 1 game"),
        (["chat"], "a statement of each conversation's 60 statements", "2 statements of 1 conversation"),
        (["inspect"], "a statement of each conversation's 60 statements", "2 statements of 1 conversation"),
        (["text"], "a text of each group's 60 texts", "2 texts of 1 group"),
    ],
)
def test_what_is_said_of_games_is_said_of_conversations_and_texts_in_their_own_words(
    kinds: list[str], said: str, counted: str
) -> None:
    units = Units.of(kinds)
    assert units.say("a statement of each game's 60 statements") == said
    assert units.counted(2, 1) == counted
    assert Units.of(["text"]).counted(480, 480, "labelled") == "480 labelled texts"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("openai:gpt-4.1-mini", "openai:gpt-4.1-mini"),
        ("openai:m@http://10.0.0.7:8000/v1", "openai:m"),
        ("openai:m@https://h/v1?key_env=MY_KEY", "openai:m"),
        ("openai:m@https://h/v1?key_env=MY_KEY&temperature=0.7", "openai:m?temperature=0.7"),
        ("openai:m?temperature=0.7&key_env=MY_KEY", "openai:m?temperature=0.7"),
        ("openai:a@http://h | scripted:bold?m=1 | learning on", "openai:a | scripted:bold?m=1 | learning on"),
        ("http://10.0.0.7:8000/v1: connection refused", "[address] connection refused"),
        ('no answer from "https://user:pass@h/v1" (500)', 'no answer from "[address]" (500)'),
        ("vote=Bob? I say ask@home.", "vote=Bob? I say ask@home."),
    ],
)
def test_only_the_address_and_the_name_of_the_key_go(text: str, plain: str) -> None:
    assert without_addresses(text) == plain


def test_plain_data_is_searched_to_its_leaves() -> None:
    plan = {"players": ["openai:m@http://h/v1"], "cells": [["openai:m@http://h/v1", "scripted:bold"]], "seed": 1}
    assert all_without_addresses(plan) == {"players": ["openai:m"], "cells": [["openai:m", "scripted:bold"]], "seed": 1}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no\nsuch luck"), "x.bin cannot be read (no); train again"),
        (RecursionError(), "x.bin cannot be read (RecursionError); train again"),
        (Exception("a" * 1000), f"x.bin cannot be read ({'a' * 200}); train again"),
        (MissingExtra("torch", "train"), str(MissingExtra("torch", "train"))),
        (KeyboardInterrupt("stop"), "stop"),
    ],
)
def test_an_error_of_a_library_becomes_one_line(error: BaseException, words: str) -> None:
    with (
        pytest.raises((LiescopeError, KeyboardInterrupt), match=f"^{re.escape(words)}$"),
        Reading("x.bin", "train again"),
    ):
        raise error


def test_a_folder_of_ordinary_files_and_links_to_them_passes(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.json").write_text("{}")
    (tmp_path / "link.json").symlink_to(tmp_path / "below" / "a.json")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    check_folder(tmp_path)
    assert read_text(tmp_path / "link.json") == "{}"
    (tmp_path / "below" / "b.json").symlink_to("/dev/null")
    with pytest.raises(BadData, match=r"b\.json is not a regular file"):
        check_folder(tmp_path)


def test_a_text_is_read_up_to_its_bound_and_must_be_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"ab\xffd")
    with pytest.raises(BadData, match="not text in UTF-8"):
        read_text(file)
    with pytest.raises(BadData, match="more than"):
        read_bytes(file, 3)
    assert read_bytes(file, 4) == b"ab\xffd"
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "none")
