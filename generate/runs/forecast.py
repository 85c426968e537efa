"""`liescope.forecast`: what a run will take. Nothing is asked, and nothing is written."""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Unpack, overload

from liescope.common.settings import resolve, split, takes
from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.game_registry import find_game
from liescope.games.script.persona import PROFILES
from liescope.games.session import Session
from liescope.generate.players.openai.completion import TokenUsage
from liescope.generate.players.openai.spec import default_url, host_of, read_spec
from liescope.generate.players.player_protocol import EndpointFacts, PlayerContext
from liescope.generate.players.player_registry import SeatOptions, file_text
from liescope.generate.players.prompts import Templates, load_prompts
from liescope.generate.players.run_limits import Limits, bundled_price, limits_of, price_of
from liescope.generate.players.scripted import ScriptedPlayer, open_scripted
from liescope.generate.runs.forecast_result import (
    CHARACTERS_A_TOKEN,
    NOTHING,
    Forecast,
    KindForecast,
    ModelForecast,
    Range,
)
from liescope.generate.runs.job import JudgingJob
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import plan_games, templates_for
from liescope.generate.runs.play import LabelSettings, PlaySettings, judging_of
from liescope.generate.runs.run_folder import PLAN_FILE, check_unchanged
from liescope.generate.runs.run_plan import Plan

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
class AskCount:
    """The asks of one kind to the seats of one group: how many, and the characters of their prompts."""

    calls: int = 0
    characters: int = 0
    longest: int = 0


@dataclass(slots=True)
class SampledGames:
    """What was counted in some games. asked: by group of seats (a role, or all seats) and kind of ask; games: how many;
    batches: of each game, by group, the batches of asks that it takes part in; prompts: one by kind.
    """

    games: int = 0
    asked: defaultdict[str, defaultdict[AskKind, AskCount]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(AskCount))
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
        from liescope.generate.players.local.loading import read_spec as read_local

        local = read_local(argument)
        persona = len(file_text(local.seat.persona, files)) if local.seat.persona else 0
        return AskedModel(local.name, local.name, "", local.seat, persona)
    return None


SAMPLED = 8  # games of each way to play
_PROFILE = "steady"


@dataclass(frozen=True, slots=True)
class _SoFar:
    """What a run that has begun tells: games that ended, the mean tokens of answers by kind, seconds of a request."""

    ended: frozenset[str] = frozenset()
    answers: Mapping[str, float] | None = None
    latency: float | None = None
    facts: tuple[EndpointFacts, ...] = ()
    spent: float = 0.0


@dataclass(frozen=True, slots=True)
class _Share:
    """How many games a player plays in the seats of one group, and the sample that tells what it is asked there."""

    sample: SampledGames
    group: str
    games: int


@overload
def forecast(game: str, *, out: str | os.PathLike[str] | None = None, **settings: Unpack[PlaySettings]) -> Forecast: ...


@overload
def forecast(game: str, *, out: str | os.PathLike[str] | None = None, **settings: Any) -> Forecast: ...


@takes(PlaySettings, others="table")
def forecast(game: str, *, out: str | os.PathLike[str] | None = None, **settings: Any) -> Forecast:
    """What `play` with the same settings will take: games, calls, tokens, cost and time. Nothing is asked or written.

    Scripts play a few of the planned games by the same rules, and every prompt is rendered as it would be sent. The
    length of texts in tokens and of answers is estimated (`liescope.generate.runs.forecast`), unless the run has
    begun in `out`: then answers are as long as its own were, and only what is left is counted. Prices are those given,
    else bundled ones (`liescope.generate.players.run_limits`); a model without one has no cost. Budgets, `timeout` and
    other limits of a run change nothing.

    Parameters
    ----------
    game : str
        A name in `liescope.games.game_registry.GAMES`.
    out : str or path, optional
        The folder of a run that has begun, which is only read.
    **settings
    **table
        The game's own options, as `play` takes them.

    Returns
    -------
    Forecast
        Estimates with the bounds that their assumptions leave open.

    Raises
    ------
    UsageError
        For settings that do not fit together, as `play` does.
    PlanChanged
        If the folder holds a run with a different plan.
    """
    played, (own, table) = find_game(game), split(PlaySettings, settings)
    kept = templates_for(own["prompts"], game, None if out is None else Path(out))
    plan, limits = plan_games(played, own, table, kept), limits_of(own)
    so_far = _so_far(out, plan.to_json())
    samples = {
        learns: _played(plan, [place for place in range(len(plan.cells)) if plan.learning_in(place) == learns], kept)
        for learns in sorted(set(map(plan.learning_in, range(len(plan.cells)))))
    }
    ended = Counter(int(game_id.rpartition("-")[2]) % len(plan.cells) for game_id in so_far.ended)
    shares, chain = defaultdict[str, list[_Share]](list), 0.0
    models = {spec: asked_model(spec, plan.files) for spec in plan.players}
    for place, cell in enumerate(plan.cells):
        left, learns = plan.games - ended[place], plan.learning_in(place)
        for role, spec in zip(plan.roles, cell, strict=True):
            shares[spec].append(_Share(samples[learns], role, left))
        asked = [role for role, spec in zip(plan.roles, cell, strict=True) if models[spec] is not None]
        chain = max(chain, samples[learns].chain(asked) * (left if learns else min(left, 1)))
    about = {"game": game, "plan": plan.hash[:8], "cells": len(plan.cells)}
    return _forecast(about, len(plan), len(plan) - len(so_far.ended), shares, models, chain, limits, so_far)


@takes(LabelSettings)
def forecast_label(
    run: str | os.PathLike[str],
    judge: str | None = None,
    *,
    claims_by: str | None = None,
    out: str | os.PathLike[str] | None = None,
    **settings: Unpack[LabelSettings],
) -> Forecast:
    """What `label` with the same settings will take: the questions about each game that is to be judged, with the
    prompts that the judge would get. Nothing is asked or written; otherwise as `forecast`. Raises as `label` does.
    """
    own = resolve(LabelSettings, settings)
    folder, asked, spec = judging_of(Path(run), judge, claims_by, out, own)
    job, limits = JudgingJob.of(Path(run), asked, spec, own["prompts"], folder), limits_of(own)
    so_far = _so_far(folder, job.plan.to_json())
    sample = _judged(job, asked)
    left = len(job) - len(so_far.ended)
    about = {"game": job.game, "judged": str(run), "judge": asked}
    shares = {one: [_Share(sample, one, left)] for one in job.plan.specs}
    models = {one: asked_model(one, job.plan.files) for one in job.plan.specs}
    paid = [one for one, model in models.items() if model]
    chain = sample.chain(paid) if left and paid else 0
    return _forecast(about, len(job), left, shares, models, chain, limits, so_far)


def _played(plan: Plan, places: Sequence[int], prompts: Templates) -> SampledGames:
    """Some games of the cells at these places."""
    sample, render = SampledGames(), _renderer(prompts, plan.game)
    for at in spread(len(places) * plan.games, SAMPLED):
        turn, place = divmod(at, len(places))
        played = plan.make(plan.planned(turn * len(plan.cells) + places[place]))
        sample.play(Session(played), _script(plan.game), render, played.roles.__getitem__)
    return sample


def _judged(job: JudgingJob, judge: str) -> SampledGames:
    """The judging of some games."""
    sample, render = SampledGames(), _renderer(job.templates, job.game)
    games = [planned for (planned, *_) in job.chains(set())]
    script = open_scripted(_PROFILE, PlayerContext(log=lambda _: None, game=job.game))
    for place in spread(len(games), SAMPLED):
        judged = job.begin(games[place], {judge: script})
        sample.play(judged, _silent, render, job.seats(games[place], judged.game).__getitem__)
    return sample


def _renderer(prompts: Templates, game: str) -> Render:
    templates = load_prompts(prompts, game)
    return lambda ask, view: templates.render(ask, view).text


def _silent(_ask: Ask, _view: Sequence[Event]) -> Reply:
    return Reply(problem="nobody was asked")


def _script(game: str) -> Answer:
    script = ScriptedPlayer(_PROFILE, PROFILES[_PROFILE], game)

    def said(ask: Ask, view: Sequence[Event]) -> Reply:
        reply = script.say(ask, view)
        return replace(reply, text=as_models_say(reply.text, ask.limit)) if reply.text else reply

    return said


def _so_far(out: str | os.PathLike[str] | None, plan: Mapping[str, Any]) -> _SoFar:
    """What the run in the folder tells, if there is one. Raises PlanChanged if it has another plan."""
    if out is None or not (Path(out) / PLAN_FILE).exists():
        return _SoFar()
    with Journal.open(Path(out)) as journal:
        check_unchanged(journal.plan, plan, Path(out))
        facts = journal.endpoint_facts()
        known = [one.latency_ms for one in facts if one.latency_ms is not None]
        latency = journal.latency_ms() or (max(known) if known else None)
        return _SoFar(
            frozenset(journal.game_ids()),
            journal.answer_tokens(),
            None if latency is None else latency / 1000,
            facts,
            journal.spent()[1],
        )


def _forecast(
    about: Mapping[str, Any],
    planned: int,
    left: int,
    shares: Mapping[str, Sequence[_Share]],
    models: Mapping[str, AskedModel | None],
    chain: float,
    limits: Limits,
    so_far: _SoFar,
) -> Forecast:
    kinds: dict[AskKind, tuple[float, Range, Range, str, bool]] = {}
    found = []
    for spec, model in models.items():
        if model is None:
            continue
        calls, sent, answered, longest = 0.0, NOTHING, NOTHING, 0
        for share in shares[spec]:
            for kind, asked in share.sample.asked[share.group].items():
                times = asked.calls / share.sample.games * share.games
                whole = (asked.characters / max(asked.calls, 1) + model.persona) * times
                prompt = _doubted(tokens_of(whole), share.sample.doubt)
                mean = (so_far.answers or {}).get(kind.value)
                length = model.answer(kind) if mean is None else Range(0.9 * mean, mean, 1.1 * mean)
                answer = _doubted(length.times(times), share.sample.doubt)
                calls, sent, answered = calls + times, sent + prompt, answered + answer
                longest = max(longest, asked.longest + model.persona)
                old = kinds.get(kind, (0.0, NOTHING, NOTHING, share.sample.prompts[kind], mean is not None))
                kinds[kind] = (old[0] + times, old[1] + prompt, old[2] + answer, old[3], old[4])
        found.append(_model(model, calls, sent, answered, tokens_of(longest), limits, so_far.facts))
    sampled = {id(share.sample): share.sample.games for spec in shares for share in shares[spec]}
    return Forecast(
        about,
        planned,
        left,
        sum(sampled.values()),
        chain,
        tuple(KindForecast(kind.value, *rest) for kind, rest in kinds.items() if rest[0]),
        tuple(found),
        limits.concurrency,
        so_far.latency,
        limits.currency,
        so_far.spent,
    )


def _model(
    model: AskedModel,
    calls: float,
    sent: Range,
    answered: Range,
    longest: Range,
    limits: Limits,
    facts: Sequence[EndpointFacts],
) -> ModelForecast:
    price = price_of(limits.prices, limits.currency, model.host, model.label, model.name) if model.host else None
    bundled = bundled_price(model.host, model.name)
    cost = None
    if price is not None:
        amounts = [TokenUsage(round(p), None, round(c)).cost(price) or 0.0 for p, c in zip(sent, answered, strict=True)]
        cost = Range(*amounts)
    context = next((one.context for one in facts if (one.host, one.model) == (model.host, model.name)), None)
    priced = bundled.as_of if bundled is not None and bundled.price is price else None
    return ModelForecast(model.label, model.host, calls, sent, answered, longest, price, priced, cost, context)


def _doubted(range_: Range, doubt: float) -> Range:
    return Range(range_.low * max(1 - doubt, 0), range_.likely, range_.high * (1 + doubt))
