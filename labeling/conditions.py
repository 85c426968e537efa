"""The settings that a recorded game was played with, and how they differ from the defaults of its rules."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

from liescope.common.leaks import all_without_addresses, without_addresses
from liescope.data_cards.licences import OURS
from liescope.games.game_options import NAMES
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord

SETTINGS: Final = "settings"
"""Where a record's `meta` keeps its settings, a mapping of texts; reading a run fills it in from the run's plan."""
PROMPTS = "templates"
"""The setting that holds the version of the prompts."""
_DEFAULTS = {"prompts": "full", "seating": "balanced"}
IMPORTED: Final = "imported from"
"""The setting that holds the format of an imported game."""
_ELSEWHERE = frozenset({PROMPTS, IMPORTED})  # settings that have columns of their own


def origin_of(record: GameRecord) -> str:
    """Where a game comes from: the format that it was imported from, or `OURS`."""
    found = record.meta.get(SETTINGS) or {}
    return without_addresses(str(found[IMPORTED])) if IMPORTED in found else OURS


def settings_of(record: GameRecord) -> dict[str, str]:
    """The settings of a game by name, without addresses of endpoints; empty if they are not known."""
    found = record.meta.get(SETTINGS) or {}
    return {str(name): str(all_without_addresses(value)) for name, value in found.items()}


def prompt_version_of(record: GameRecord) -> str | None:
    """The version of the prompts that the players read; None if it is not known."""
    return settings_of(record).get(PROMPTS) or record.meta.get("prompt_version")


def condition_of(record: GameRecord) -> str:
    """Settings that differ from the defaults, sorted by name, as "message_limit=500 rounds=8"; "" if none do."""
    return _differences(record.game, len(record.seats), tuple(sorted(settings_of(record).items())))


@lru_cache(maxsize=64)
def _differences(game: str, seats: int, found: tuple[tuple[str, str], ...]) -> str:
    own = {name: setting_words(value) for name, value in GAMES[game].spec} if game in GAMES else {}
    defaults = {**own, **_DEFAULTS, "names": setting_words(NAMES[:seats])} if found else {}
    return " ".join(
        f"{name}={value}" for name, value in found if name not in _ELSEWHERE and value != defaults.get(name)
    )


def setting_words(value: Any) -> str:
    """A setting's value as text: "on" and "off" for switches, lists with commas."""
    if isinstance(value, list | tuple):
        return ", ".join(map(setting_words, value))
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
