"""A whole game as the text that a judge reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from liescope.detectors.textualize import PLAYER_TOKEN, TextConfig, clean, hide_roles, replace_names
from liescope.detectors.view.transcript import EXILED, KILLED, SAID, SILENT, VOTED, Moment, Turn


@dataclass(frozen=True, slots=True)
class GameText:
    """text: a line for each turn; called: by the name of a player, what stands for it in the text."""

    text: str
    called: dict[str, str]


def game_text(moment: Moment, config: TextConfig) -> GameText:
    """A game as far as it is seen. With masked names, players are numbered in the order of their appearance, so that
    neither a name nor its place at the table gives anything away.
    """
    game = moment.transcript
    text = "\n".join(_lines(game.turns[: moment.upto]))
    called = {name: name for name in game.names}
    if config.mask_names:
        numbers: dict[str, str] = {}

        def token(name: str) -> str:
            return numbers.setdefault(name, f"{PLAYER_TOKEN}{len(numbers) + 1}")

        text = replace_names(text, game.names, token)
        called = {name: token(name.casefold()) for name in game.names}
    return GameText(hide_roles(text) if config.mask_role_words else text, called)


def _lines(turns: tuple[Turn, ...]) -> Iterator[str]:
    for turn in turns:
        if turn.kind == SAID:
            to = f" (to {', '.join(sorted(turn.audience - {turn.player}))} alone)" if turn.audience else ""
            yield f"{turn.player}{to}: {clean(turn.text)}"
        elif turn.kind == SILENT:
            yield f"{turn.player} says nothing."
        elif turn.kind == VOTED:
            yield f"{turn.player} votes for {turn.target or 'nobody'}."
        elif turn.kind == KILLED:
            yield f"{turn.player} is found dead."
        elif turn.kind == EXILED:
            yield f"{turn.player} is voted out."
