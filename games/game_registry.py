"""The games that can be played by name, and their parts.

A game is a folder whose `__init__` holds its manifest (`liescope.games.playable.PlayableGame`). What a room needs to
know about a game is looked up here by its name: `WORDS["werewolf"]`. Parts that a game does not bring are made of its
manifest (`liescope.games.defaults`); nothing falls back to another game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from liescope.common.errors import UndeclaredGame
from liescope.common.registry import Registry
from liescope.common.settings import Setting
from liescope.games import defaults, mafia, one_night, werewolf
from liescope.games.defaults.script import script
from liescope.games.playable import PlayableGame

T = TypeVar("T")

SHARED = "Any game"  # the heading of options shared by different kinds of games
GAMES: Registry[PlayableGame] = Registry(
    "game",
    "liescope.games",
    {
        **{game.name: game for game in (*mafia.GAMES, *werewolf.GAMES, *one_night.GAMES)},
        "cheat": "liescope.games.cheat:GAME",
        "deal": "liescope.games.deal:GAME",
        "two-truths": "liescope.games.two_truths:GAME",
    },
)


class PerGame(Mapping[str, T]):
    """One field of the manifest, for each game that has it, by the game's name. Looking up another game raises
    UndeclaredGame: no game is ever treated as a different one. what: the field, in words; field: its name.
    """

    def __init__(self, what: str, field: str, get: Callable[[PlayableGame], T | None]) -> None:
        self.what = what
        self.field = field
        self._get = get

    def __getitem__(self, name: str) -> T:
        part = self._get(GAMES[name]) if name in GAMES else None
        if part is None:
            raise UndeclaredGame(name, self.what, self.field)
        return part

    def __contains__(self, name: object) -> bool:
        return name in GAMES and self._get(GAMES[str(name)]) is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name in GAMES if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


WORDS = PerGame("words for its roles", "words", lambda game: game.words)
PROMPTS = PerGame("prompts", "prompts", lambda game: game.prompts or defaults.prompts(game))
SCRIPTS = PerGame("scripted player", "script", lambda game: game.script or script(game))
PAGES = PerGame("rules for people", "page", lambda game: game.page or defaults.PAGE)
CARDS = PerGame("text for the dataset card", "card", defaults.card)
SIDES = PerGame("colours of its roles and teams", "sides", lambda game: game.sides or defaults.sides(game))


def find_game(name: str) -> PlayableGame:
    """The game with that name. Raises UnknownName, listing the known names."""
    return GAMES[name]


def game_lines() -> dict[str, str]:
    """One line about each game: who plays it."""
    lines = {}
    for name, game in GAMES.items():
        dealt = {role: count for role, count in game.spec.composition().items() if count}
        cards = ", ".join(role if count == 1 else f"{role} × {count}" for role, count in dealt.items())
        centre = f"; {game.spec.undealt()} in the centre" if game.spec.undealt() else ""
        lines[name] = f"{len(game.spec.seats())} players: {cards}{centre}."
    return lines


def roles_of(which: Callable[[PlayableGame], frozenset[str]]) -> frozenset[str]:
    """The roles, of all games, for which this holds; for games from elsewhere, without a manifest."""
    return frozenset().union(*(which(game) for game in GAMES.values()))


def game_options() -> list[Setting]:
    """The options of all games, each once, with each game's defaults."""
    having: dict[str, dict[PlayableGame, Setting]] = {}
    for game in GAMES.values():
        for option in game.options:
            having.setdefault(option.name, {})[game] = option
    return [_merged(games) for games in having.values()]


def _merged(having: Mapping[PlayableGame, Setting]) -> Setting:
    """An option of one or more games, under the title of the games that share it."""
    helps: dict[str, str] = {}
    for game, option in having.items():
        helps.setdefault(option.help, game.title)
    titles = {game.title for game in having}
    words = " ".join(f"{title}: {help}" for help, title in helps.items()) if len(helps) > 1 else next(iter(helps))
    least = [option.at_least for option in having.values()]
    first = next(iter(having.values()))
    return Setting(
        name=first.name,
        help=f"{words}{_defaults(having)}",
        type=first.type,
        at_least=None if None in least else min(number for number in least if number is not None),
        group=titles.pop() if len(titles) == 1 else SHARED,
    )


def _defaults(having: Mapping[PlayableGame, Setting]) -> str:
    """The default shown in the help: the most common number, and the games with another; nothing for switches and
    names.
    """
    numbers = {game.name: each.default for game, each in having.items() if each.type in (int, float)}
    if not numbers:
        return ""
    usual = Counter(numbers.values()).most_common(1)[0][0]
    others = ", ".join(f"{name} {number:g}" for name, number in numbers.items() if number != usual)
    return f" [default: {usual:g}{others and f'; {others}'}]"
