"""`liescope.forecast`: what a run will take. Nothing is asked, and nothing is written."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from liescope.common.console import emit, put
from liescope.common.settings import resolve, split, takes
from liescope.common.text import plain
from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.game_registry import find_game
from liescope.games.script.persona import PROFILES
from liescope.games.session import Session
from liescope.generate.players.openai.completion import TokenUsage
from liescope.generate.players.openai.spec import default_url, host_of, read_spec
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.player_registry import file_text
from liescope.generate.players.prompts import Templates, load_prompts
from liescope.generate.players.run_limits import Limits, limits_of, price_of
from liescope.generate.players.scripted import ScriptedPlayer, open_scripted
from liescope.generate.runs.job import JudgingJob
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import plan_games, templates_for
from liescope.generate.runs.play import LabelSettings, PlaySettings, judging_of
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
_DOUBTED = (0.9, 1.0, 1.1)  # a sample of games may be shorter or longer than all
_PROFILE = "steady"

Prompts = dict[tuple[str, AskKind], list[str]]
"""Every prompt of some games, by the role (or the judge's spec) and the kind of ask."""


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
        """Of the models with a price; None if none has one."""
        return _sum([ask.cost for ask in self.asks if ask.cost is not None])

    @property
    def unpriced(self) -> list[str]:
        """The models without a known price."""
        return list(dict.fromkeys(ask.model for ask in self.asks if ask.cost is None))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, prompts in full."""
        ranges = ("prompt_tokens", "completion_tokens", "cost")
        asks = [asdict(ask) | {name: _named(getattr(ask, name)) for name in ranges} for ask in self.asks]
        games = {"planned": self.planned, "left": self.left, "sampled": self.sample}
        whole = {"unpriced": self.unpriced, "cost": _named(self.cost), "currency": self.currency, "spent": self.spent}
        return {**self.about, "games": games, "calls": round(self.calls), "asks": asks, **whole}

    def __repr__(self) -> str:
        return f"<Forecast {self.about['game']}: {self.left:,} games, {self.calls:,.0f} calls>"


def _sum(ranges: Sequence[Range]) -> Range | None:
    return Range(*map(sum, zip(*ranges, strict=True))) if ranges else None


def _named(value: Range | None) -> dict[str, float] | None:
    return None if value is None else value._asdict()


@takes(PlaySettings, others="table")
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
    **table
        The game's own options, as `play` takes them.

    Raises
    ------
    UsageError
        For settings that do not fit together, as `play` does.
    PlanChanged
        If the folder holds a run with a different plan.
    """
    played, (own, table) = find_game(game), split(PlaySettings, settings)
    kept = templates_for(own["prompts"], game, None if out is None else Path(out))
    plan = plan_games(played, own, table, kept)
    ended, answers, spent = _so_far(out, plan.to_json())
    script, cells, sampled = ScriptedPlayer(_PROFILE, PROFILES[_PROFILE], game), range(len(plan.cells)), 0
    left = Counter(number % len(cells) for number in plan.numbers if plan.game_id(number) not in ended)
    shares = defaultdict[tuple[str, bool, str], float](float)  # games by spec, whether the cell learns, and role
    prompts: dict[bool, Prompts] = {}
    for learns in {plan.learning_in(place) for place in cells}:
        alike = [place for place in cells if plan.learning_in(place) == learns]
        found: Prompts = defaultdict(list)
        turns = _spread(len(alike) * plan.games)
        for turn, place in (divmod(at, len(alike)) for at in turns):
            one = plan.make(plan.planned(turn * len(cells) + alike[place]))
            _play(Session(one), one.roles, partial(_said, script), game, kept, found)
        prompts[learns], sampled = found, sampled + len(turns)
        for place in alike:
            for role, spec in zip(plan.roles, plan.cells[place], strict=True):
                shares[spec, learns, role] += left[place] / len(turns)
    asked = [(spec, role, share, prompts[learns]) for (spec, learns, role), share in shares.items()]
    asks = _asks(asked, plan.files, limits_of(own), answers)
    about = {"game": game, "plan": plan.hash[:8], "cells": len(cells)}
    return Forecast(about, len(plan), len(plan) - len(ended), sampled, asks, own["currency"], spent)


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
    job = JudgingJob.of(Path(run), asked, spec, own["prompts"], folder, own["part"])
    ended, answers, spent = _so_far(folder, job.plan.to_json())
    script = open_scripted(_PROFILE, PlayerContext(log=lambda _: None, game=job.game))
    games = [planned for (planned, *_) in job.chains(set())]
    found: Prompts = defaultdict(list)
    turns = _spread(len(games))
    for place in turns:
        judged = job.begin(games[place], {asked: script})
        _play(judged, job.seats(games[place], judged.game), _silent, job.game, job.templates, found)
    left = len(job) - len(ended)
    shares = [(one, one, left / max(len(turns), 1), found) for one in job.plan.specs]
    asks = _asks(shares, job.plan.files, limits_of(own), answers)
    about = {"game": job.game, "judged": str(run), "judge": asked}
    return Forecast(about, len(job), left, len(turns), asks, own["currency"], spent)


def _spread(count: int) -> list[int]:
    """Places spread evenly over so many, SAMPLED of them at most."""
    wanted = min(count, SAMPLED)
    return [place * count // wanted for place in range(wanted)]


Answer = Callable[[Ask, Sequence[Event]], Reply]


def _play(
    session: Session, groups: Mapping[str, str], answer: Answer, game: str, prompts: Templates, found: Prompts
) -> None:
    """Play one game and keep its prompts. groups: of each seat."""
    templates = load_prompts(prompts, game)
    while session.asks:
        views = [session.game.view(ask.seat) for ask in session.asks]
        for ask, view in zip(session.asks, views, strict=True):
            found[groups[ask.seat], ask.kind].append(templates.render(ask, view).text)
        session.send(tuple(map(answer, session.asks, views)))


def _silent(_ask: Ask, _view: Sequence[Event]) -> Reply:
    return Reply(problem="nobody was asked")


def _said(script: ScriptedPlayer, ask: Ask, view: Sequence[Event]) -> Reply:
    """A script's reply, its message as long as a model's would be, with words that say nothing."""
    reply = script.say(ask, view)
    text = reply.text or ""
    more = min(round(len(text) * MESSAGES), ask.limit or 10**6) - len(text) - 1
    return replace(reply, text=f"{text} {(_MORE * (more // len(_MORE) + 1))[:more]}") if more > 0 else reply


def _so_far(
    out: str | os.PathLike[str] | None, plan: Mapping[str, Any]
) -> tuple[frozenset[str], Mapping[str, float], float]:
    """Of the run in the folder, if there is one: the games that ended, the mean tokens of answers by kind of ask, and
    what it cost. Raises PlanChanged if it has another plan.
    """
    if out is None or not (Path(out) / PLAN_FILE).exists():
        return frozenset(), {}, 0.0
    with Journal.open(Path(out)) as journal:
        check_unchanged(journal.plan, plan, Path(out))
        return frozenset(journal.game_ids()), journal.answer_tokens() or {}, journal.spent()[1]


def _asks(
    shares: Sequence[tuple[str, str, float, Prompts]],
    files: Mapping[str, str],
    limits: Limits,
    answers: Mapping[str, float],
) -> tuple[AskForecast, ...]:
    """The asks to models at endpoints. shares: specs with the group that they play and how often the prompts of the
    sample count; answers: mean tokens by kind, where known.
    """
    texts = defaultdict[tuple[str, AskKind], list[tuple[float, str]]](list)
    for spec, group, share, prompts in shares:
        for (asked, kind), rendered in prompts.items():
            if asked == group and spec.startswith("openai:"):
                texts[spec, kind] += [(share, text) for text in rendered]
    rows = []
    for (spec, kind), found in texts.items():
        model = read_spec(spec.removeprefix("openai:"))
        host, options = host_of(model.base_url or default_url()), model.options
        persona = len(file_text(options.persona, files)) if options.persona else 0
        price = price_of(limits.prices, limits.currency, host, model.label, model.name)
        calls = sum(share for share, _ in found)
        sent = sum(share * (len(text) + persona) for share, text in found)
        prompt = Range(*(sent / ratio * part for ratio, part in zip(CHARACTERS_A_TOKEN[::-1], _DOUBTED, strict=True)))
        low, likely, high = _ANSWERS.get(kind, _CHOICE)
        thinking, most = model.thinking or 0, options.at(kind).get("max_tokens", float("inf"))
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


_NAME = 26


def say_forecast(found: Forecast, prompts: bool, as_json: bool) -> None:
    """Print a forecast. prompts: also a whole prompt of each kind."""
    if as_json:
        emit(found.to_json())
        return
    for line in forecast_lines(found):
        put(line)
    longest = {ask.kind: ask.prompt for ask in sorted(found.asks, key=lambda ask: len(ask.prompt))}
    for kind, text in longest.items() if prompts else ():
        put(f"\n--- {kind}: a whole prompt ---\n{plain(text)}")


def forecast_lines(found: Forecast) -> Iterator[str]:
    """The summary: one screen."""
    already = f", {found.planned - found.left:,} of {found.planned:,} played" if found.left < found.planned else ""
    games = "game" if found.left == 1 else "games"
    yield f"{found.about['game']}: {found.left:,} {games} left to play{already}; {found.calls:,.0f} calls to models."
    yield f"From {found.sample} of the games, played by scripts. No model was called, nothing written."
    if not found.asks:
        yield "No player in this run costs anything."
        return
    for name in ("kind", "model"):
        yield f"\n{f'by {name}':{_NAME}}{'calls':>9}{'tokens':>13}{f'{found.currency} (from, to)':>32}"
        for one in dict.fromkeys(getattr(ask, name) for ask in found.asks):
            asks = [ask for ask in found.asks if getattr(ask, name) == one]
            tokens = sum(ask.prompt_tokens.likely + ask.completion_tokens.likely for ask in asks)
            cost = _sum([ask.cost for ask in asks if ask.cost is not None])
            words = "no price known" if cost is None else "{1:,.2f} ({0:,.2f}, {2:,.2f})".format(*cost)
            short = one if len(one) < _NAME else f"{one[: _NAME - 3]}…"
            yield f"{plain(short):{_NAME}}{sum(ask.calls for ask in asks):>9,.0f}{tokens:>13,.0f}{words:>32}"
    counted = "as long as those so far in this run" if any(ask.measured for ask in found.asks) else "of usual length"
    low, likely, high = CHARACTERS_A_TOKEN
    yield f"\nTokens are estimated: {likely:g} characters each ({low:g} to {high:g}); answers are"
    yield f"{counted}, without reasoning that is not bounded,"
    yield "which may cost many times as much. Nothing is taken as cached."
    if found.unpriced:
        yield "Where no price is known: --price MODEL=PROMPT,COMPLETION, or a file of prices."
