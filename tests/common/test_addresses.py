"""Addresses of endpoints and names of key variables leave what is passed on; models and their options stay."""

from __future__ import annotations

import pytest

from liescope.common.leaks import all_without_addresses, without_addresses


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
