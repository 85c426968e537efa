"""A few of the planned games, played by scripts under the same rules; every prompt is rendered as it would be sent.

Who costs anything is known from the spec strings alone: nobody is asked, and no key is needed. How long texts are in
tokens, where nothing has been counted yet, is estimated.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import NamedTuple, Self

from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.session import Session
from liescope.generate.players.openai.key_rules import default_url, host_of
from liescope.generate.players.openai.spec import read_spec
from liescope.generate.players.registry import SeatOptions, file_text
from liescope.generate.players.replay import read_replay


class Range(NamedTuple):
    """An estimate with the bounds that its assumptions leave open."""

    low: float
    likely: float
    high: float

    def __add__(self, other: tuple[float, ...]) -> Self:  # type: ignore[override]
        return type(self)(*(one + two for one, two in zip(self, other, strict=True)))

    def times(self, factor: float) -> Self:
        return type(self)(*(one * factor for one in self))


NOTHING = Range(0, 0, 0)


# Characters a token: 3.8 to 4.3 by kind of ask, for the built-in prompts of three games, by the tokenizers of Qwen and
# of Mistral (Tekken). Messages: 3,000 of the games that the authors of Mini-Mafia published have 15 to 50 tokens (5% to
# 95%) by either, 29 in the median. The other answers are as long as their formats ask for; no number allows for any
# reasoning. All 39,160 messages have 139 characters in the mean; those of scripts 94 to 115, so they are lengthened.
CHARACTERS_A_TOKEN = Range(3.6, 4.0, 4.5)
_CHOICE = Range(2, 5, 40)
_ANSWERS = {
    AskKind.SPEAK: Range(15, 35, 90),
    AskKind.EXPLAINED_VOTE: Range(20, 45, 110),
    AskKind.SELF_ASSESSMENT: Range(50, 90, 200),
    AskKind.PEER_ASSESSMENT: Range(55, 100, 220),
    AskKind.REFLECTION: Range(60, 150, 400),
    AskKind.NAME_ROLES: Range(20, 40, 100),
    AskKind.TAG_LESSON: Range(15, 25, 60),
    AskKind.FIND_CLAIMS: Range(20, 90, 300),
}


MESSAGES = 139 / 108  # how much longer messages of models are than those of scripts
_MORE = "That is how it looks from here, and so far nothing has been said that would make it look any other way. "


def as_models_say(text: str, limit: int | None) -> str:
    """A script's message, as long as a model's would be, with words that say nothing."""
    length = min(round(len(text) * MESSAGES), limit or 10**6)
    more = length - len(text) - 1
    return f"{text} {(_MORE * (more // len(_MORE) + 1))[:more]}" if more > 0 else text


def tokens_of(characters: float) -> Range:
    """The tokens of a text with so many characters."""
    ratio = CHARACTERS_A_TOKEN
    return Range(characters / ratio.high, characters / ratio.likely, characters / ratio.low)


def answer_tokens(kind: AskKind, most: float | None = None, thinking: int = 0) -> Range:
    """The tokens of an answer. most: the limit that the player sets; thinking: its budget for reasoning."""
    usual = _ANSWERS.get(kind, _CHOICE)
    longest = Range(usual.low, usual.likely + thinking / 2, usual.high + thinking)
    return longest if most is None else Range(*(min(part, most) for part in longest))


Answer = Callable[[Ask, Sequence[Event]], Reply]
Render = Callable[[Ask, Sequence[Event]], str]


@dataclass(slots=True)
class Asked:
    """The asks of one kind to the seats of one group: how many, and the characters of their prompts."""

    calls: int = 0
    characters: int = 0
    longest: int = 0


@dataclass(slots=True)
class Sample:
    """What was counted in some games. asked: by group of seats (a role, or all seats) and kind of ask; games: how many;
    batches: of each game, by group, the batches of asks that it takes part in; prompts: one by kind.
    """

    games: int = 0
    asked: defaultdict[str, defaultdict[AskKind, Asked]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Asked))
    )
    batches: list[list[frozenset[str]]] = field(default_factory=list)
    prompts: dict[AskKind, str] = field(default_factory=dict)
    _characters: list[int] = field(default_factory=list)

    def play(self, session: Session, answer: Answer, render: Render, group: Callable[[str], str]) -> None:
        """Play one game and count its asks. group: of a seat."""
        batches, whole = list[frozenset[str]](), 0
        first = self.games == 0
        while session.asks:
            replies = []
            for ask in session.asks:
                view = session.game.view(ask.seat)
                prompt = render(ask, view)
                one = self.asked[group(ask.seat)][ask.kind]
                one.calls += 1
                one.characters += len(prompt)
                one.longest = max(one.longest, len(prompt))
                whole += len(prompt)
                if first or ask.kind not in self.prompts:
                    self.prompts[ask.kind] = prompt
                replies.append(answer(ask, view))
            batches.append(frozenset(group(ask.seat) for ask in session.asks))
            session.send(tuple(replies))
        self.games += 1
        self.batches.append(batches)
        self._characters.append(whole)

    @property
    def doubt(self) -> float:
        """Two standard errors of the characters of a game, as a share of them; a tenth from one game alone."""
        if len(self._characters) < 2 or not any(self._characters):
            return 0.1
        return 2.0 * stdev(self._characters) / fmean(self._characters) / math.sqrt(len(self._characters))

    def chain(self, groups: Iterable[str]) -> int:
        """The most batches of a game in which a seat of these groups is asked."""
        wanted = frozenset(groups)
        return max((sum(bool(batch & wanted) for batch in game) for game in self.batches), default=0)


def spread(count: int, most: int) -> list[int]:
    """Places spread evenly over so many, at most the given number of them."""
    wanted = min(count, most)
    return [place * count // wanted for place in range(wanted)]


@dataclass(frozen=True, slots=True)
class AskedModel:
    """label: its name in tables; name: as the endpoint calls it; host: "" for a model in this process; persona: the
    characters of its system message; thinking: its budget for reasoning.
    """

    label: str
    name: str
    host: str
    options: SeatOptions
    persona: int = 0
    thinking: int = 0

    def answer(self, kind: AskKind) -> Range:
        return answer_tokens(kind, self.options.at(kind).get("max_tokens"), self.thinking)


def asked_model(spec: str, files: Mapping[str, str]) -> AskedModel | None:
    """The model behind a spec; None for players whose answers cost nothing. files: the texts that specs name.

    Raises UsageError, UnknownName or BadData for a spec that cannot be read.
    """
    kind, _, argument = spec.partition(":")
    if kind == "openai":
        read = read_spec(argument)
        host = host_of(read.base_url or default_url())
        persona = len(file_text(read.options.persona, files)) if read.options.persona else 0
        return AskedModel(read.label, read.name, host, read.options, persona, read.thinking or 0)
    if kind == "local":
        from liescope.generate.players.local.spec import read_spec as read_local

        local = read_local(argument)
        persona = len(file_text(local.seat.persona, files)) if local.seat.persona else 0
        return AskedModel(local.name, local.name, "", local.seat, persona)
    if kind == "replay":  # at most: whatever is on the record costs nothing
        then = read_replay(argument)[1]
        return asked_model(then, files) if then else None
    return None
