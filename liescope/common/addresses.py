"""Endpoint addresses stay on this machine: anything published names only the model."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_OF_PLAYER = re.compile(r"@https?://[^\s|?]*", re.IGNORECASE)
_ANYWHERE = re.compile(r"https?://[^\s\"'<>|,;)\]}]+", re.IGNORECASE)
_KEY_NAME = re.compile(r"(?<=[?&])key_env=[^&\s|]*&?")
_EMPTY_QUERY = re.compile(r"[?&](?=\s|$)")
ADDRESS = "[address]"


@lru_cache(maxsize=4096)
def without_addresses(text: str) -> str:
    """The text without endpoints' addresses and names of key variables: `openai:NAME@http://host/v1?key_env=KEY` is
    `openai:NAME`, and any other address, for example in an error, is "[address]".
    """
    if "://" not in text and "key_env=" not in text:
        return text
    return _ANYWHERE.sub(ADDRESS, _EMPTY_QUERY.sub("", _KEY_NAME.sub("", _OF_PLAYER.sub("", text))))


def all_without_addresses(data: Any) -> Any:
    """Plain JSON data with `without_addresses` applied to every text in it."""
    if isinstance(data, str):
        return without_addresses(data)
    if isinstance(data, dict):
        return {key: all_without_addresses(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [all_without_addresses(value) for value in data]
    return data
