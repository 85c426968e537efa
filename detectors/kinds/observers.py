"""The players' own judgement in public: who deceives, by the votes and by who left the game.

A vote is a choice among the other living players, in which one who deceives weighs e^b against 1 for one who does not
(a conditional logit; McFadden 1974). Voters who deceive have a b of their own: they know each other, and do not vote
at random. The posterior sums over every set of players who may deceive, in which each voter is on either side. Voters
who heard the same talk follow each other: how much their votes are worth together is learned too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter
from scipy.special import logit

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading
from liescope.detectors.examples import Example
from liescope.detectors.options import DetectorOptions
from liescope.detectors.protocol import ROLE, Detector, Progress, silent
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.roles import roles_by_game
from liescope.detectors.view.transcript import Moment
from liescope.detectors.view.votes import Habits, Table, habit_of, posterior_of, table_of, trust_of

_FILE = "observers.json"
_LARGEST = 2**12  # bytes
_SAVED = TypeAdapter(dict[str, Annotated[float, Field(ge=-40, le=40, allow_inf_nan=False)]])


class ObserversOptions(DetectorOptions):
    """How much the numbers that are learned are drawn to chance."""

    prior_votes: float = Field(default=2.0, gt=0, description="votes at random added to those of either side")


class ObserversDetector(Detector):
    """The votes of the players, weighed by what votes were worth in the games of training. It reads no words."""

    kind = "observers"
    options_type = ObserversOptions
    packages = ("scipy",)

    options: ObserversOptions
    _habits: Habits

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        _groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        """Raises UsageError for another target than the role, which is what a vote is about."""
        if any(example.target != ROLE for example in examples):
            raise UsageError(f"votes say who deceives, and nothing of statements; train observers with --target {ROLE}")
        progress("counting votes", 0, 1)
        games = {example.game_id: example.seen.transcript for example in examples if example.seen}
        known = roles_by_game(examples, y)
        votes: dict[bool, Counter[tuple[int, int, bool]]] = {True: Counter(), False: Counter()}
        sides, dead, out, whole = list[bool](), list[bool](), list[bool](), Counter[tuple[Table, tuple[bool, ...]]]()
        for key, game in games.items():
            table = table_of(Moment(game))
            role = [known[key].get(name) for name in game.names]
            sides += [lies for lies in role if lies is not None]
            dead += [lies for at in table.killed if (lies := role[at]) is not None]
            out += [lies for at in table.exiled if (lies := role[at]) is not None]
            if all(lies is not None for lies in role):
                whole[table, tuple(lies is True for lies in role)] += 1
            for vote in table.votes:
                side, others = role[vote.voter], [role[at] for at in vote.candidates]
                lying, honest = others.count(True), others.count(False)
                if side is not None and lying and honest and None not in others:
                    votes[side][lying, honest, role[vote.target] is True] += 1
        prior = self.options.prior_votes
        share = float((sum(sides) + prior * y.mean()) / (len(sides) + prior))

        def moved(players: Sequence[bool]) -> float:
            return float(logit((sum(players) + prior * share) / (len(players) + prior)) - logit(share))

        habits = Habits(habit_of(votes[True], prior), habit_of(votes[False], prior), moved(dead), moved(out), share)
        self._habits = replace(habits, trust=trust_of(whole, habits, prior))
        progress("counting votes", 1, 1)
        return self

    def player_posteriors(self, moments: Sequence[Moment], _progress: Progress = silent) -> list[Mapping[str, float]]:
        """Before anybody votes or leaves, the share of players who deceive."""
        tables = [table_of(moment) for moment in moments]
        found = {table: posterior_of(table, self._habits).tolist() for table in dict.fromkeys(tables)}
        return [dict(zip(m.transcript.names, found[t], strict=True)) for m, t in zip(moments, tables, strict=True)]

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        """By what happened before each statement; without its game, the share of players who deceive."""
        seen = [example.seen for example in examples if example.seen]
        found = iter(self.player_posteriors(seen, progress))
        share = self._habits.prevalence
        score = np.array([next(found).get(e.speaker, share) if e.seen else share for e in examples], dtype=np.float64)
        return np.column_stack([1 - score, score])

    def save(self, folder: Path) -> None:
        (folder / _FILE).write_text(_SAVED.dump_json(asdict(self._habits)).decode(), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        path = folder / _FILE
        with Reading(path, "train the detector again"):
            if path.stat().st_size > _LARGEST:
                raise BadData(f"{path} is larger than any detector of this kind; it is not opened")
            detector._habits = Habits(**_SAVED.validate_json(path.read_bytes()))
            if not 0 < detector._habits.prevalence < 1:
                raise BadData(f"{path} has a share of players that is none; train the detector again")
        return detector
