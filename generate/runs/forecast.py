"""`liescope.forecast`: what a run will take. Nothing is asked, and nothing is written."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from liescope.common.settings import takes
from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.game_registry import find_game
from liescope.games.script.persona import PROFILES
from liescope.games.session import Session, drive
from liescope.generate.players.openai.spec import default_url, host_of, read_spec
from liescope.generate.players.player_registry import NamedText
from liescope.generate.players.prompts import Prompts, load_prompts
from liescope.generate.players.run_limits import Limits, TokenUsage, price_of
from liescope.generate.players.scripted import ScriptedPlayer
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import plan_games, templates_for
from liescope.generate.runs.play import PlaySettings
from liescope.generate.runs.rating import LabelSettings, RatingJob, rating_of
from liescope.generate.runs.run_folder import PLAN_FILE, check_unchanged


class Range(NamedTuple):
    """An estimate with the bounds that its assumptions leave open."""

    low: float
    likely: float
    high: float


# Characters a token: 3.8 to 4.3 by kind of ask, for the built-in prompts of three games, by the tokenizers of Qwen and
# of Mistral (Tekken). Messages: 3,000 of the games that the authors of Mini-Mafia published have 15 to 50 tokens (5% to
# 95%) by either, 29 in the median. The other answers are as long as their formats ask for; no number allows for any
# reasoning. All 39,160 messages have 139 characters in the mean; those of scripts 94 to 115, so they are lengthened.
CHARACTERS_A_TOKEN = Range(3.6, 4.0, 4.5)
MESSAGES = 139 / 108
_MORE = "That is how it looks from here, and so far nothing has been said that would make it look any other way. "
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
    AskKind.BELIEFS: Range(8, 20, 120),
}
SAMPLED = 8  # games of each way to play
_DOUBTED = (0.9, 1.0, 1.1)  # a sample's games may be shorter or longer than the average
_PROFILE = "steady"

Found = dict[tuple[Hashable, AskKind], list[str]]
"""Every prompt of some games, by who is asked (seats that are asked alike) and the kind of ask."""


@dataclass(frozen=True, slots=True)
class AskForecast:
    """The asks of one kind to one model. prompt: the longest of them; measured: whether the length of the answers was
    counted in the run so far; cost: None without a price.
    """

    model: str
    kind: str
    calls: float
    prompt_tokens: Range
    completion_tokens: Range
    cost: Range | None
    prompt: str
    measured: bool


@dataclass(frozen=True, slots=True)
class Forecast:
    """A run before it is played, or what is left of one. about: what was asked for; planned, left: games; sample: how
    many of them scripts played for this; spent: what the run has cost so far.
    """

    about: Mapping[str, Any]
    planned: int
    left: int
    sample: int
    asks: tuple[AskForecast, ...]
    currency: str
    spent: float

    @property
    def calls(self) -> float:
        return sum(ask.calls for ask in self.asks)

    @property
    def cost(self) -> Range | None:
        """The money that models with a price take; None if none has one."""
        costs = [ask.cost for ask in self.asks if ask.cost is not None]
        return Range(*map(sum, zip(*costs, strict=True))) if costs else None

    @property
    def unpriced(self) -> list[str]:
        """The models without a known price."""
        return list(dict.fromkeys(ask.model for ask in self.asks if ask.cost is None))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, prompts in full."""
        ranges = ("prompt_tokens", "completion_tokens", "cost")
        named = [{name: one._asdict() for name in ranges if (one := getattr(ask, name))} for ask in self.asks]
        asks = [asdict(ask) | ranged for ask, ranged in zip(self.asks, named, strict=True)]
        games = {"planned": self.planned, "left": self.left, "sampled": self.sample}
        cost = self.cost and self.cost._asdict()
        whole = {"unpriced": self.unpriced, "cost": cost, "currency": self.currency, "spent": self.spent}
        return {**self.about, "games": games, "calls": round(self.calls), "asks": asks, **whole}

    def __repr__(self) -> str:
        return f"<Forecast {self.about['game']}: {self.left:,} games, {self.calls:,.0f} calls>"


@takes(PlaySettings, others="options")
def forecast(game: str, *, out: str | os.PathLike[str] | None = None, **settings: Any) -> Forecast:
    """What `play` with the same settings will take: games, calls, tokens and cost. Nothing is asked or written.

    Scripts play a few of the planned games by the same rules, and every prompt is rendered as it would be sent. The
    length of texts in tokens and of answers is estimated (`liescope.generate.runs.forecast`), unless the run has
    begun in `out`: then answers are as long as its own were, and only what is left is counted. Prices are those given,
    else bundled ones (`liescope.generate.players.run_limits`); a model without one has no cost, and neither has a
    player in this process. Limits of the run change nothing.

    Parameters
    ----------
    game : str
        A name in `liescope.games.game_registry.GAMES`.
    out : str or path, optional
        The folder of a run that has begun, which is only read.
    **settings
    **options
        The game's own options, as `play` takes them.

    Raises
    ------
    UsageError
        For settings that do not fit together, as `play` does.
    PlanChanged
        If the folder holds a run with a different plan.
    """
    played, (own, options) = find_game(game), PlaySettings.with_rest(settings)
    kept = templates_for(own.prompts, game, None if out is None else Path(out))
    plan = plan_games(played, own, options, kept)
    ended, answers, spent = _so_far(out, plan.to_json())
    prompts, script = load_prompts(kept, game), ScriptedPlayer(_PROFILE, PROFILES[_PROFILE], game)
    cells, sampled = range(len(plan.cells)), 0
    left = Counter(number % len(cells) for number in plan.numbers if plan.game_id(number) not in ended)
    shares, found = defaultdict[tuple[str, Hashable], float](float), Found()
    for learns in {plan.learning_in(place) for place in cells}:
        alike = [place for place in cells if plan.learning_in(place) == learns]
        turns = _spread(len(alike) * plan.games)
        for turn, place in (divmod(at, len(alike)) for at in turns):
            one = plan.make(plan.planned(turn * len(cells) + alike[place]))
            seats = {name: (role, learns) for name, role in one.roles.items()}
            _play(Session(one), seats, script, prompts, found)
        sampled += len(turns)
        for place in alike:
            for role, spec in zip(plan.roles, plan.cells[place], strict=True):
                shares[spec, (role, learns)] += left[place] / len(turns)
    asks = _asks(shares, found, plan.files, own, answers)
    about = {"game": game, "plan": plan.hash[:8], "cells": len(cells)}
    return Forecast(about, len(plan), len(plan) - len(ended), sampled, asks, own.currency, spent)


@takes(LabelSettings)
def forecast_label(
    run: str | os.PathLike[str],
    judge: str | None = None,
    *,
    claims_by: str | None = None,
    out: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Forecast:
    """What `label` with the same settings will take: the questions about each game that is to be rated, with the
    prompts that the rater would get. Nothing is asked or written; otherwise as `forecast`. Raises as `label` does.
    """
    own = LabelSettings.of(settings)
    folder, asked, spec = rating_of(Path(run), judge, claims_by, out, own)
    job = RatingJob.of(Path(run), asked, spec, own.prompts, folder, own.part)
    ended, answers, spent = _so_far(folder, job.plan.to_json())
    game = job.plan.game
    prompts, script = load_prompts(job.templates, game), ScriptedPlayer(_PROFILE, PROFILES[_PROFILE], game)
    games, found = [planned for (planned, *_) in job.chains(set())], Found()
    turns = _spread(len(games))
    for place in turns:
        rated = job.begin(games[place], {asked: script})
        _play(rated, job.seats(games[place], rated.game), None, prompts, found)
    left = len(job) - len(ended)
    shares: dict[tuple[str, Hashable], float] = {(spec, spec): left / max(len(turns), 1) for spec in job.plan.specs}
    asks = _asks(shares, found, job.plan.files, own, answers)
    about = {"game": game, "judged": str(run), "judge": asked}
    return Forecast(about, len(job), left, len(turns), asks, own.currency, spent)


def _spread(count: int) -> list[int]:
    """Places spread evenly over so many, SAMPLED of them at most."""
    wanted = min(count, SAMPLED)
    return [place * count // wanted for place in range(wanted)]


def _play(
    session: Session, who: Mapping[str, Hashable], script: ScriptedPlayer | None, prompts: Prompts, found: Found
) -> None:
    """Play one game and keep its prompts. who: is asked in each seat; script: answers, None if nobody does."""

    def asked(ask: Ask, view: Sequence[Event]) -> Reply:
        found.setdefault((who[ask.seat], ask.kind), []).append(prompts.render(ask, view).text)
        return Reply(problem="nobody was asked") if script is None else _said(script, ask, view)

    drive(session, asked)


def _said(script: ScriptedPlayer, ask: Ask, view: Sequence[Event]) -> Reply:
    """A script's reply, its message as long as a model's would be, with words that say nothing."""
    reply = script.say(ask, view)
    text = reply.text or ""
    more = min(round(len(text) * MESSAGES), ask.limit or 10**6) - len(text) - 1
    return replace(reply, text=f"{text} {(_MORE * (more // len(_MORE) + 1))[:more]}") if more > 0 else reply


def _so_far(
    out: str | os.PathLike[str] | None, plan: Mapping[str, Any]
) -> tuple[frozenset[str], Mapping[str, float], float]:
    """The games that have ended in the run in the folder, if there is one, the mean tokens of answers by kind of ask,
    and what it cost. Raises PlanChanged if it has another plan.
    """
    if out is None or not (Path(out) / PLAN_FILE).exists():
        return frozenset(), {}, 0.0
    with Journal.open(Path(out)) as journal:
        check_unchanged(journal.plan, plan, Path(out))
        return frozenset(journal.game_ids()), journal.answer_tokens() or {}, journal.spent()[1]


def _asks(
    shares: Mapping[tuple[str, Hashable], float],
    prompts: Found,
    files: Mapping[str, str],
    limits: Limits,
    answers: Mapping[str, float],
) -> tuple[AskForecast, ...]:
    """The asks to models at endpoints. shares: how often the prompts of a sample count, by the spec of the player and
    who it is asked as; answers: mean tokens by kind, where known.
    """
    texts = defaultdict[tuple[str, AskKind], list[tuple[float, str]]](list)
    for (spec, who), share in shares.items():
        for (asked, kind), rendered in prompts.items():
            if asked == who and spec.startswith("openai:"):
                texts[spec, kind] += [(share, text) for text in rendered]
    rows = []
    for (spec, kind), found in texts.items():
        model = read_spec(spec.removeprefix("openai:"))
        host, options = host_of(model.base_url or default_url()), model.options
        persona = NamedText.of(options.persona, files)
        price = price_of(limits.prices, limits.currency, host, model.label, model.name)
        calls = sum(share for share, _ in found)
        more = len(persona.text) if persona else 0
        sent = sum(share * (len(text) + more) for share, text in found)
        prompt = Range(*(sent / ratio * part for ratio, part in zip(CHARACTERS_A_TOKEN[::-1], _DOUBTED, strict=True)))
        low, likely, high = _ANSWERS.get(kind, _CHOICE)
        thinking, most = model.options.thinking or 0, options.at(kind).get("max_tokens", float("inf"))
        usual = [min(part, most) for part in (low, likely + thinking / 2, high + thinking)]
        mean = answers.get(kind.value)
        each = usual if mean is None else [mean] * 3
        answer = Range(*(calls * part * doubt for part, doubt in zip(each, _DOUBTED, strict=True)))
        pairs = zip(prompt, answer, strict=True)
        costs = [TokenUsage(round(sent), None, round(said)).cost(price) or 0.0 for sent, said in pairs]
        longest = max((text for _, text in found), key=len)
        cost = None if price is None else Range(*costs)
        rows.append(AskForecast(model.label, kind.value, calls, prompt, answer, cost, longest, mean is not None))
    return tuple(row for row in rows if row.calls)
