"""`liescope.forecast`: what a run will take. Nothing is asked, and nothing is written."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from liescope.common.settings import takes
from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.game_registry import find_game
from liescope.games.script.persona import PROFILES
from liescope.games.session import Session, drive
from liescope.generate.players.openai.spec import default_url, host_of, read_spec
from liescope.generate.players.player_registry import NamedText, memory_of
from liescope.generate.players.prompts.render import load_prompts
from liescope.generate.players.run_limits import CHARACTERS_A_TOKEN, TokenUsage, price_of
from liescope.generate.players.scripted import ScriptedPlayer
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import plan_games, templates_for
from liescope.generate.runs.play import PlaySettings
from liescope.generate.runs.run_folder import PLAN_FILE, check_unchanged
from liescope.generate.runs.run_plan import Plan

# Tokens of an answer. Messages: 29 in the median of 3,000 games that the authors of Mini-Mafia published; the others as
# long as their formats ask for. No number allows for any reasoning.
_CHOICE = 5
_ANSWERS = {
    AskKind.SPEAK: 35,
    AskKind.EXPLAINED_VOTE: 45,
    AskKind.SELF_ASSESSMENT: 90,
    AskKind.PEER_ASSESSMENT: 100,
    AskKind.REFLECTION: 150,
    AskKind.SUMMARY: 300,
}
SAMPLED = 32  # games, or one of each cell
_CELLS = 500  # cells up to which each is sampled
_PROFILE = "steady"


@dataclass(frozen=True, slots=True)
class AskForecast:
    """The asks of one kind to one model. cost: None without a price."""

    model: str
    kind: str
    calls: float
    prompt_tokens: float
    completion_tokens: float
    cost: float | None


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
    def cost(self) -> float | None:
        """The money that models with a price take; None if none has one."""
        costs = [ask.cost for ask in self.asks if ask.cost is not None]
        return sum(costs) if costs else None

    @property
    def unpriced(self) -> list[str]:
        """The models without a known price."""
        return list(dict.fromkeys(ask.model for ask in self.asks if ask.cost is None))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        games = {"planned": self.planned, "left": self.left, "sampled": self.sample}
        whole = {"unpriced": self.unpriced, "cost": self.cost, "currency": self.currency, "spent": self.spent}
        asks = [asdict(ask) for ask in self.asks]
        return {**self.about, "games": games, "calls": round(self.calls), "asks": asks, **whole}

    def __repr__(self) -> str:
        return f"<Forecast {self.about['game']}: {self.left:,} games, {self.calls:,.0f} calls>"


@takes(PlaySettings, others="options")
def forecast(game: str, *, out: str | os.PathLike[str] | None = None, **settings: Any) -> Forecast:
    """What `play` with the same settings will take: games, calls, tokens and cost. Nothing is asked or written.

    Scripts play some of the planned games by the same rules, and every prompt is rendered as it would be sent. The
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
    sent = defaultdict[tuple[str, AskKind], list[int]](list)  # characters of each prompt to a player
    memories = dict(zip(plan.specs, map(memory_of, plan.specs), strict=True))
    sample = list(_sample(plan, ended))
    for number in sample:
        planned = plan.planned(number)
        session = Session(plan.make(planned))
        specs = plan.seats(planned, session.game.roles)

        def asked(ask: Ask, view: Sequence[Event], specs: Mapping[str, str] = specs) -> Reply:
            spec = specs[ask.seat]
            sent[spec, ask.kind].append(len(prompts.render(ask, view, memories[spec]).text))
            return script.say(ask, view)

        drive(session, asked)
    left = len(plan) - len(ended)
    share = left / max(len(sample), 1)
    asks = tuple(
        _ask(spec, kind, share, lengths, plan, own, answers.get(kind.value))
        for (spec, kind), lengths in sent.items()
        if spec.startswith("openai:")
    )
    about = {"game": game, "plan": plan.hash[:8], "cells": len(plan.cells)}
    return Forecast(about, len(plan), left, len(sample), asks, own.currency, spent)


def _sample(plan: Plan, ended: frozenset[str]) -> Iterator[int]:
    """The numbers of some games that are left. Cells take turns, so that the first games are of all cells alike."""
    cells, numbers = len(plan.cells), plan.numbers
    wanted = max(SAMPLED // cells, 1) * cells
    if cells > _CELLS:
        wanted = _CELLS
        numbers = Random(0).sample(numbers, min(len(numbers), len(ended) + wanted))
    return islice((number for number in numbers if plan.game_id(number) not in ended), wanted)


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
        return frozenset(journal.game_ids()), journal.answer_tokens(), journal.spent()[1]


def _ask(
    spec: str, kind: AskKind, share: float, lengths: Sequence[int], plan: Plan, own: PlaySettings, mean: float | None
) -> AskForecast:
    """The asks of a kind to a model. share: how often each prompt of the sample counts; mean: tokens of an answer,
    where the run has counted them.
    """
    model = read_spec(spec.removeprefix("openai:"))
    options = model.options
    persona = NamedText.of(options.persona, plan.files)
    calls = share * len(lengths)
    prompt = (share * sum(lengths) + calls * len(persona.text if persona else "")) / CHARACTERS_A_TOKEN
    usual = _ANSWERS.get(kind, _CHOICE) + (options.thinking or 0) / 2
    answers = calls * (min(usual, options.at(kind).get("max_tokens", usual)) if mean is None else mean)
    price = price_of(own.prices, own.currency, host_of(model.base_url or default_url()), model.label, model.name)
    cost = None if price is None else TokenUsage(round(prompt), None, round(answers)).cost(price)
    return AskForecast(model.label, kind.value, calls, prompt, answers, cost)
