"""The rules of each game as people are told them: a template with the macros `rules(t)` and `role(name, t)`.

t: the spec of the game.
"""

from __future__ import annotations

from liescope.common.per_game import PerGame

_RULES = PerGame[str](
    "rules for people",
    "liescope/web/play/rules.py",
    {
        "mini-mafia": "mafia",
        "mafia": "mafia",
        "werewolf": "werewolf",
        "dyadic-werewolf": "werewolf",
        "one-night-werewolf": "one_night",
    },
)


def rules_of(game: str) -> str:
    """The template with a game's rules. Raises UndeclaredGame for a game that has none."""
    return f"play/rules/{_RULES[game]}.html"
