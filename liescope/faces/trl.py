"""A seat of a game for TRL's GRPOTrainer: an environment with typed tools, its rewards and its prompts.

GRPOTrainer(model, [reward("outcome"), reward("caught")], GRPOConfig(reward_weights=[1.0, -1.0]), prompts(range(64)),
            environment_factory=seat("mini-mafia", "mafioso", games=64, detector="models/tfidf"))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from liescope.common.errors import UnknownName, UsageError
from liescope.games.core import CHOICES, AskKind
from liescope.live_table import Table, environment

if TYPE_CHECKING:
    from datasets import Dataset

_POLICY = "policy"
_OVER = "The game is over."
_TOOLS = {AskKind.VOTE: "vote", AskKind.EXPLAINED_VOTE: "vote"}
_WORST = {"outcome": 0.0, "honest": 0.0, "believed": 0.0, "caught": 1.0}


class ToolSeat:
    """The policy's seat, game after game. table: the game under way, None before the first; every method that has no
    underscore is a tool, but `reset`.
    """

    def __init__(self, game: str, role: str, settings: Mapping[str, Any]) -> None:
        self._game, self._role = game, role
        self._settings = {**settings, "seats": [*settings.get("seats", []), f"{role}=agent:{_POLICY}"]}
        self._seat = ""
        self.table: Table | None = None

    def reset(self, number: int = 0, **_: object) -> str:
        """Begin game `number` of the plan: its rules and the first question. Raises UsageError for a role that several
        seats have, since one conversation must not hold the secrets of two.
        """
        if self.table is not None:
            self.table.close()
        self.table = environment(self._game, number=number, **self._settings)
        held = [seat.name for seat in self.table.record.seats if seat.model == _POLICY]
        if len(held) != 1:
            raise UsageError(
                f"a conversation holds one seat of a game, and {len(held)} have the role {self._role} in {self._game}; "
                "name a role that one seat has"
            )
        (self._seat,) = held
        return self._next(self.table)

    def say(self, words: str) -> str:
        """Say something to the other players, or give the text or form that you are asked for.

        Args:
            words: What you say.

        Returns:
            What happened then, and the next question.
        """
        return self._answered("say", words)

    def vote(self, player: str, reason: str = "") -> str:
        """Vote for a player.

        Args:
            player: The player's name.
            reason: The reason that everybody hears, where the question asks for one.

        Returns:
            What happened then, and the next question.
        """
        return self._answered("vote", player, reason)

    def choose(self, option: str) -> str:
        """Choose one of the options that the question names.

        Args:
            option: The option, as it is named.

        Returns:
            What happened then, and the next question.
        """
        return self._answered("choose", option)

    def _answered(self, tool: str, text: str, reason: str = "") -> str:
        table = self.table
        if table is None or table.ask is None:
            return _OVER
        kind = table.ask.kind
        if tool != (wanted := _tool(kind)):
            raise UsageError(f"this question is answered with the tool {wanted}")
        if kind is AskKind.SPEAK:
            text = json.dumps({"message": text}, ensure_ascii=False)  # which holds quotation marks, too
        elif kind is AskKind.EXPLAINED_VOTE:
            text = json.dumps({"vote": text, "reason": reason}, ensure_ascii=False)
        table.answer(text)
        return self._next(table)

    def _next(self, table: Table) -> str:
        if table.ask is None:
            return _OVER
        if table.ask.seat != self._seat:
            raise UsageError(f"another agent holds {table.ask.seat}; give the other seats players of other kinds")
        tool = _tool(table.ask.kind)
        return f"{table.prompt()}\n\nAnswer with the tool {tool}, without any other format."


def _tool(kind: AskKind) -> str:
    return _TOOLS.get(kind, "choose" if kind in CHOICES else "say")


def seat(game: str, role: str, **settings: Any) -> Callable[[], ToolSeat]:
    """The `environment_factory` of a trainer whose policy plays a role. settings: as `liescope.environment` takes them;
    by default all others are `scripted:steady`.
    """
    return partial(ToolSeat, game, role, settings)


def reward(part: str) -> Callable[..., list[float | None]]:
    """A reward function of one part of `liescope.table_rewards.Rewards`, which the trainer weighs (`reward_weights`). A
    game that the policy did not end earns the worst value; what cannot be measured earns none.

    Raises UnknownName for a part that does not exist.
    """
    if part not in _WORST:
        raise UnknownName("reward", part, _WORST)

    def earned(environments: Iterable[ToolSeat], **_: object) -> list[float | None]:
        return [_earned(one, part) for one in environments]

    earned.__name__ = part
    return earned


def _earned(one: ToolSeat, part: str) -> float | None:
    if one.table is None or not one.table.done:
        return _WORST[part]
    found: float | None = getattr(one.table.rewards()[one._seat], part)
    return found


def prompts(numbers: Iterable[int]) -> Dataset:
    """Rows that begin these games: `reset` says what the prompt lacks."""
    from datasets import Dataset

    return Dataset.from_list([{"prompt": [{"role": "user", "content": ""}], "number": number} for number in numbers])
