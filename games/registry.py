"""The games that can be played by name.

A game's entry is in the file of its rules; GAMES collects the entries. What another package needs to know about a
game (words, prompts, scripted player, colours, card text) is registered in that package under the same name, in a
`liescope.common.per_game.PerGame`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liescope.common.declared_options import DeclaredOption
from liescope.common.errors import UnknownName
from liescope.games import mafia, one_night, werewolf
from liescope.games.playable import PlayableGame

SHARED = "The table"  # the heading of options shared by different kinds of games
GAMES: dict[str, PlayableGame] = {game.name: game for game in (*mafia.GAMES, *werewolf.GAMES, *one_night.GAMES)}


def find_game(name: str) -> PlayableGame:
    """The game with that name. Raises UnknownName, listing the known names."""
    if name not in GAMES:
        raise UnknownName("game", name, GAMES)
    return GAMES[name]


def table_options() -> list[DeclaredOption]:
    """The options of all games, each once, with each game's defaults."""
    names = dict.fromkeys(option.name for game in GAMES.values() for option in game.options)
    return [_merged(name) for name in names]


def _merged(name: str) -> DeclaredOption:
    """An option of one or more games, under the title of the games that share it."""
    having = {game: option for game in GAMES.values() for option in game.options if option.name == name}
    helps: dict[str, str] = {}
    for game, option in having.items():
        helps.setdefault(option.help, game.title)
    titles = dict.fromkeys(game.title for game in having)
    words = " ".join(f"{title}: {help}" for help, title in helps.items()) if len(helps) > 1 else next(iter(helps))
    minima = [option.minimum for option in having.values()]
    return DeclaredOption(
        name,
        next(iter(having.values())).type,
        f"{words}{_defaults({game: getattr(game.spec, name) for game in having})}",
        next(iter(titles)) if len(titles) == 1 else SHARED,
        None if None in minima else min(minimum for minimum in minima if minimum is not None),
    )


def _defaults(values: Mapping[PlayableGame, Any]) -> str:
    """The default shown in the help: one number, or one per game; nothing for switches and names."""
    numbers = {game.name: value for game, value in values.items() if isinstance(value, int | float)}
    if any(isinstance(value, bool) for value in numbers.values()) or not numbers:
        return ""
    same = len(set(numbers.values())) == 1
    each = f"{next(iter(numbers.values())):g}" if same else ", ".join(f"{name} {n:g}" for name, n in numbers.items())
    return f" [default: {each}]"
