"""Text from elsewhere stays text in a terminal, in Markdown and in a spreadsheet."""

from __future__ import annotations

import re

import pytest

from liescope.common.text import Units, cell, markdown, plain

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
