"""Verdicts on statements: what they promised, what they kept, and how often they abstained.

As in the promise, games have equal weight: a statement weighs one over the number in its game. For players: how often
the top suspect deceives when the detector answers only if sure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from liescope.common.statistics import Bools, Estimate, at_share, estimate, game_weights, share
from liescope.detectors.detector import ROLE, Progress
from liescope.detectors.detector_settings import COVERAGE
from liescope.detectors.examples import make_examples
from liescope.detectors.exchangeable import UNLIKE
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.figures import Figure, describe, figures_of
from liescope.detectors.study.metrics import Scored
from liescope.detectors.study.scores import SPEAKER, ScoringPlan, per_detector, resampled_as, scored
from liescope.detectors.view.transcript import KILLED, GameMoment, Transcript

PROMISED, PLAYERS, ANSWERED = "promised=", "players:", "answered="
DEFAULT = f"{PROMISED}{COVERAGE:.0%}"
COVERAGES, SHARES = (0.8, 0.9, 0.95), (1.0, 0.75, 0.5, 0.25)


def on_promises(
    models: Mapping[str, LoadedDetector],
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    games: Mapping[str, Transcript],
    truth: Mapping[str, frozenset[str]],
    plan: ScoringPlan,
    progress: Progress,
) -> tuple[list[Figure], list[str]]:
    """Rows by promised coverage, of statements and, for detectors of the role, of players; and notes.
    scores: those of `evaluate`; truth: who deceives, by game; games where nobody or everybody does are left out.
    """
    rows, notes, evaluated = list[Figure](), list[str](), plan.evaluated(statements)
    for name, model in models.items():
        mine, sets = scores.filter(pl.col("scorer") == name), model.file.confidence.labels
        asked = evaluated.join(mine.select("statement_id", "score"), on="statement_id", maintain_order="left")
        others = model.others(make_examples(asked, 0, model.file.target), asked["score"].to_numpy()).sum()
        if sets is None:
            notes.append(f"{name}: it gives no verdicts, since it was trained without validation games")
        elif others:
            notes.append(f"{name}: {UNLIKE.format(int(others))}")
        else:
            score = mine["score"].to_numpy()
            held = [pl.Series(f"{one}", sets.allowed(score, one).tolist()) for one in COVERAGES]
            rows += _on_statements(mine.with_columns(held), statements, plan)
        if model.file.target == ROLE:
            told = _told(evaluated, games, truth)
            posteriors = model.player_posteriors([GameMoment(games[key]) for key in told["game_id"]], progress)
            judged = [
                _judged(games[key], players, truth[key])
                for key, players in zip(told["game_id"], posteriors, strict=True)
            ]
            told = told.hstack(pl.DataFrame(judged)) if judged else told
            rows += _on_players(name, f"{plan.split}:{PLAYERS}", told, plan) if judged else ()
    return rows, notes


def _on_statements(mine: pl.DataFrame, statements: pl.DataFrame, plan: ScoringPlan) -> Iterator[Figure]:
    """Rows by promised coverage; for the default promise also by speaking model, since an overall promise may hold
    while one model's lies get through. mine: scores, with what each coverage allows.
    """
    for name, target, table in per_detector(mine, statements):
        whole = plan.evaluated(table)
        models = sorted(whole["speaker_model"].unique())
        parts = [("", whole, coverage) for coverage in COVERAGES if whole.height]
        for model in models if len(models) > 1 else ():
            parts.append((f":{SPEAKER}{model}", whole.filter(pl.col("speaker_model") == model), COVERAGE))
        for place, part, coverage in parts:
            data, allowed = scored(part), np.array(part[f"{coverage}"].to_list(), dtype=bool)
            held, answered = allowed[np.arange(len(data.y)), data.y.astype(int)], allowed.sum(axis=1) == 1
            found = kept(data, held, answered, {"deceptive_covered": data.y, "honest_covered": ~data.y}, plan.seed)
            where = f"{plan.split}:{PROMISED}{coverage:.0%}{place}"
            yield from figures_of(name, target, where, found.items(), describe(part))


def kept(data: Scored, held: Bools, answered: Bools, classes: Mapping[str, Bools], seed: int) -> dict[str, Estimate]:
    """By class, how often the set of its cases contains the truth; abstained: how often there is no answer;
    answered_accuracy: how often an answer is right. held, answered, and each class: (n,).
    """
    weights, everyone = game_weights(data.games, seed), np.ones(len(data.y), dtype=bool)
    own = data.game if data.own is None else data.own

    def part_of(what: Bools, among: Bools, each: Bools = everyone) -> Estimate:
        said = np.maximum(np.bincount(own[each], minlength=len(own)), 1)[own]
        games = len(np.unique(data.game[among]))
        return estimate(share((what & among) / said, among / said, data.game, weights), games)

    return {
        **{name: part_of(held, among, among) for name, among in classes.items()},
        "abstained": part_of(~answered, everyone),
        "answered_accuracy": part_of(held, answered),
    }


def _told(
    evaluated: pl.DataFrame, games: Mapping[str, Transcript], truth: Mapping[str, frozenset[str]]
) -> pl.DataFrame:
    """The evaluated games with both deceivers and honest players: game_id, siblings."""
    some = [key for key, who in truth.items() if key in games and 0 < len(who) < len(games[key].names)]
    told = evaluated.select("game_id", siblings=resampled_as(evaluated)).filter(pl.col("game_id").is_in(some))
    return told.unique("game_id", keep="first", maintain_order=True)


def _judged(game: Transcript, players: Mapping[str, float], deceivers: frozenset[str]) -> dict[str, Any]:
    """A whole game: the top suspect's probability, and the chance that it deceives, with ties broken by lot; the same
    for a random player who was not killed.
    """
    score = np.array([players[name] for name in game.names])
    lies = np.array([name in deceivers for name in game.names])
    killed = {turn.player for turn in game.turns if turn.kind == KILLED} - deceivers
    chance = len(deceivers) / (len(lies) - len(killed))
    top1 = float(lies[score == score.max()].mean())
    return {"score": float(score.max()), "top1": top1, "chance": chance, "y": True}


def _on_players(name: str, where: str, part: pl.DataFrame, plan: ScoringPlan) -> Iterator[Figure]:
    data, shared = scored(part), (part.height, part.height, float(part["chance"].to_numpy().mean()))
    weights, top1 = game_weights(data.games, plan.seed), part["top1"].to_numpy()
    for answered in SHARES:
        right = at_share(data.score, top1, answered, weights[:, data.game])
        found = {"top1": estimate(right, data.games)}
        yield from figures_of(name, ROLE, f"{where}{ANSWERED}{answered:.0%}", found.items(), shared)
