"""From a spec string to a player: `KIND:ARGUMENT`, for example `scripted:bold?m=1.5` or `openai:gpt-4.1-mini`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from liescope.common.errors import UnknownName
from liescope.generate.players.protocol import Player, PlayerContext
from liescope.generate.players.seat_options import named_files

Opener = Callable[[str, PlayerContext], Player]


def _scripted(argument: str, context: PlayerContext) -> Player:
    from liescope.generate.players.scripted import open_scripted

    return open_scripted(argument, context)


def _openai(argument: str, context: PlayerContext) -> Player:
    from liescope.generate.players.openai.player import open_openai

    return open_openai(argument, context)


def _local(argument: str, context: PlayerContext) -> Player:
    from liescope.generate.players.local.player import open_local

    return open_local(argument, context)


def _replay(argument: str, context: PlayerContext) -> Player:
    from liescope.generate.players.replay import open_replay

    return open_replay(argument, context)


def _human(argument: str, context: PlayerContext) -> Player:
    from liescope.generate.players.human import open_human

    return open_human(argument, context)


def _recording(argument: str) -> dict[str, str]:
    from liescope.generate.players.replay import named_recording

    return named_recording(argument)


PLAYERS: dict[str, Opener] = {
    "scripted": _scripted,
    "openai": _openai,
    "local": _local,
    "replay": _replay,
    "human": _human,
}
FORMS = ("openai:MODEL", "openai:MODEL@URL", "local:FOLDER_OR_HUB_ID", "replay:RUN")
"""How the specs of players that are no scripts look, for messages."""

NAMED: dict[str, Callable[[str], dict[str, str]]] = {
    "openai": named_files,
    "local": named_files,
    "replay": _recording,
}
"""For the kinds whose specs name files: from an argument to their texts."""


def open_player(spec: str, context: PlayerContext) -> Player:
    """The player named by a spec string. Raises UsageError if the spec, a key or a package is missing."""
    kind, _, argument = spec.partition(":")
    if kind not in PLAYERS:
        from liescope.games.script.persona import PROFILES

        raise UnknownName("player", spec, [*FORMS, *(f"scripted:{name}" for name in PROFILES)])
    return PLAYERS[kind](argument, context)


def files_of(specs: Iterable[str]) -> dict[str, str]:
    """The texts of all files that the specs name, by name, for the plan. Raises BadData for one that cannot be read."""
    found: dict[str, str] = {}
    for spec in specs:
        kind, _, argument = spec.partition(":")
        if kind in NAMED:
            found |= NAMED[kind](argument)
    return found
