"""Several detectors of any kind as one, stacked on what they did not learn from: games of other rules where there are
some, else other games.

A logistic regression over the members' log-odds with weights that are not negative (Wolpert 1992, "Stacked
generalization"; Breiman 1996, "Stacked regressions"). Where it is no better than their mean, the mean is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator
from scipy.special import expit, logit

from liescope.common.reading import Reading, read_json
from liescope.detectors.detector import ROLE, TRAIN_AGAIN, Detector, DetectorOptions, Progress, silent
from liescope.detectors.detector_registry import DETECTORS, detector_class
from liescope.detectors.examples import Example, moment_of
from liescope.detectors.folds import INNER_FOLDS, Rows, by_game, by_unit
from liescope.detectors.kinds.whole_game import lesson
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.joint_posterior import Bools, Floats, SeatedCandidates, logits_of
from liescope.detectors.view.transcript import GameMoment

_HELD_BACK = 1.0  # L2 penalty on the distance from the mean, so that weights stay finite


@dataclass(frozen=True, slots=True)
class MemberLogits:
    """What members say, and what is true. logits: (rows, members); tables: how the rows sit together; true, false:
    (rows,) who is known to deceive, and who not to.
    """

    logits: Floats
    tables: SeatedCandidates
    true: Bools
    false: Bools


class Stack(BaseModel):
    """A weight for each member, and an offset, which matters where it is not known how many of a table deceive."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    weights: tuple[Annotated[float, Field(ge=0)], ...]
    offset: float = 0.0

    def __call__(self, logits: Floats) -> Floats:
        """(rows,) log-odds. logits: (rows, members)."""
        return np.asarray(logits @ np.array(self.weights) + self.offset)

    def loss(self, answers: MemberLogits) -> float:
        """Minus the log-likelihood of what is true."""
        return answers.tables.loss(self(answers.logits), answers.true, answers.false)[0]

    @classmethod
    def mean(cls, members: int) -> Self:
        """The mean of the members' log-odds: the normalised geometric mean of their odds."""
        return cls(weights=(1 / members,) * members)

    @classmethod
    def chosen(cls, folds: Sequence[MemberLogits], members: int) -> Self:
        """The stack of answers out of fold, if it has a lower log loss on each fold, fitted on the others, than the
        mean has; else the mean. folds: the answers of each fold, which count alike; none for the mean.
        """
        floor, alike = cls.mean(members), _alike(folds)
        if len(folds) < 2:
            return floor
        stacked = [cls.fitted([*folds[:at], *folds[at + 1 :]], members).loss(fold) for at, fold in enumerate(folds)]
        return cls.fitted(folds, members) if alike @ stacked < alike @ [floor.loss(fold) for fold in folds] else floor

    @classmethod
    def fitted(cls, folds: Sequence[MemberLogits], members: int) -> Self:
        """The weights, none negative, and the offset with the largest likelihood of all answers."""
        from scipy.optimize import minimize

        alike = _alike(folds)

        def loss(at: Floats) -> tuple[float, Floats]:
            apart = at[:-1] - 1 / members
            value, slope = _HELD_BACK * float(apart @ apart) / 2, np.append(_HELD_BACK * apart, 0.0)
            for fold, weight in zip(folds, alike, strict=True):
                more, gradient = fold.tables.loss(fold.logits @ at[:-1] + at[-1], fold.true, fold.false)
                more_slope = np.append(fold.logits.T @ gradient, gradient.sum())
                value, slope = value + weight * more, slope + weight * more_slope
            return value, slope

        start = np.append(np.full(members, 1 / members), 0.0)
        bounds = [(0.0, None)] * members + [(None, None)]
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x.tolist()
        return cls(weights=tuple(found[:-1]), offset=found[-1])


def _alike(folds: Sequence[MemberLogits]) -> Floats:
    """(folds,): what each table of a fold weighs, so that a fold of few tables counts as much as one of many; 1 on
    average over all tables.
    """
    tables = np.array([len(fold.tables.place) for fold in folds], dtype=np.float64)
    return tables.sum() / len(folds) / tables if len(folds) else tables


_FEWEST, _MOST = 2, 16


@dataclass(frozen=True, slots=True)
class Member:
    """A kind of detector with the options that are not its defaults, as text or as values."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.kind}:{given}" if given else self.kind

    @property
    def type(self) -> type[Detector]:
        return detector_class(self.kind)

    @classmethod
    def of(cls, detector: Detector) -> Member:
        """What a detector is after it has learned, without what names a file of this machine."""
        fields, now = type(detector.options).model_fields, detector.options
        changed = {name: value for name, value in now.model_dump().items() if value != fields[name].default}
        changed.pop("seed", None)
        return cls(detector.kind, changed)

    def untrained(self, text: TextConfig, seed: int) -> Detector:
        """Raises UsageError for an option, MissingExtra."""
        from liescope.detectors.detector_registry import make

        return make(self.kind, text, {**self.options, "seed": seed})


def read_members(line: str) -> tuple[Member, ...]:
    """Members are separated by `;`, or by `,` where none has options; options by `,`, and what has no `=` goes on with
    the value before it. Raises ValueError.
    """
    parts = line.split(";" if ";" in line or ":" in line else ",")
    found = tuple(_member(part.strip()) for part in parts if part.strip())
    if not _FEWEST <= len(found) <= _MOST:
        raise ValueError(f'name {_FEWEST} to {_MOST} kinds of detector, as in "linear,embedding"')
    return found


def _member(part: str) -> Member:
    kind, _, given = part.partition(":")
    if kind == "ensemble":
        raise ValueError("an ensemble is no member of an ensemble; name its members instead")
    if kind in DETECTORS and (named := DETECTORS[kind].named) and "=" not in given.partition(",")[0]:
        given = f"{named}={given}"
    if kind not in DETECTORS:
        raise ValueError(f"{kind[:50]!r} is no kind of detector; there are {', '.join(DETECTORS)}")
    return Member(kind, dict(_options(given)))


def _options(given: str) -> Iterator[tuple[str, str]]:
    name, value = "", ""
    for piece in given.split(",") if given else ():
        if "=" in piece:
            if name:
                yield name, value
            name, _, value = piece.partition("=")
        elif name:
            value += f",{piece}"
        else:
            raise ValueError(f"{piece[:50]!r} is no option; write them as name=value")
    if name:
        yield name.strip().replace("-", "_"), value


_FILE = "stacks.json"
_LARGEST = 2**16
_EDGE = 1e-6
_MOMENTS = 2


class EnsembleOptions(DetectorOptions):
    """members: see `liescope.detectors.kinds.ensemble`."""

    members: str = Field(
        default="linear,tfidf",
        description="kinds of detector, each with options of its own, as in linear:strength=1;embedding:strength=0.03",
    )

    @field_validator("members")
    @classmethod
    def _known(cls, value: str) -> str:
        read_members(value)
        return value


class EnsembleDetector(Detector):
    """Several detectors, weighed by what they are worth together.

    Where the question is who deceives, it reads whole games, whatever its members read: their log-odds of each player
    are weighed and normalised at the table. Where it is a single statement, their log-odds of the statement are.
    """

    kind = "ensemble"
    options_type = EnsembleOptions
    reads_games = True
    reads_reasoning = True
    folds = 3
    packages = ("scikit-learn", "scipy")
    presets = MappingProxyType(
        {
            "best": {"members": "linear:claim_weight=0.1;table;tfidf"},
            "fast": {"members": "linear:moments=0;table"},
            "tiny": {"members": "table;tfidf:words=1"},
        }
    )
    needs = "It asks its members, named under `members` below, and takes whatever each of them takes."

    options: EnsembleOptions
    _members: list[Detector]
    _players: Stack
    _statements: Stack
    _replies: Path | None = None

    def __init__(self, text: TextConfig, options: DetectorOptions) -> None:
        super().__init__(text, options)
        self._members = self._untrained()

    @classmethod
    def base_model(cls, options: DetectorOptions) -> str | None:
        return next((name for kind, own in _classes(options) if (name := kind.base_model(own))), None)

    @classmethod
    def verbatim(cls, options: DetectorOptions) -> bool:
        return any(kind.verbatim(own) for kind, own in _classes(options))

    def requests(self, learn: Sequence[Example], score: Sequence[Example]) -> int:
        fits = INNER_FOLDS + 1 if learn else 0
        return sum(
            fits * one.requests(learn, ()) + one.requests((), learn) + one.requests((), score) for one in self._members
        )

    def prepare(self) -> None:
        for member in self._untrained():
            member.prepare()

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        players, statements = list[MemberLogits](), list[MemberLogits]()
        for learn, away in _folds(examples, y, groups, self.options.seed):
            part = [examples[i] for i in learn]
            members = [one.fit(part, y[learn], groups[learn], progress) for one in self._untrained()]
            whole = [i for i in away if examples[i].target == ROLE]
            alone = [i for i in away if examples[i].target != ROLE]
            if whole:
                players.append(_of_players(members, [examples[i] for i in whole], y[whole], progress))
            if alone:
                statements.append(_of_statements(members, [examples[i] for i in alone], y[alone], progress))
        self._members = [one.fit(examples, y, groups, progress) for one in self._untrained()]
        self._players = Stack.chosen(players, len(self._members))
        self._statements = Stack.chosen(statements, len(self._members))
        self.options = self.options.model_copy(update={"members": ";".join(str(Member.of(m)) for m in self._members)})
        own = tuple(f"{one.kind}: {words}" for one in self._members for words in one.notes)
        self.notes = (*own, *self._weighed(self._players, players), *self._weighed(self._statements, statements))
        return self

    def player_posteriors(
        self, moments: Sequence[GameMoment], progress: Progress = silent
    ) -> list[Mapping[str, float]]:
        tables = _seated(moments)
        found = iter(tables.posterior(self._players(_player_logits(self._members, moments, progress))).tolist())
        return [{name: next(found) for name in moment.transcript.names} for moment in moments]

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        score = np.empty(len(examples))
        whole = [i for i, one in enumerate(examples) if one.target == ROLE]
        alone = [i for i, one in enumerate(examples) if one.target != ROLE]
        if whole:
            moments = [moment_of(examples[i]) for i in whole]
            distinct = {(id(moment.transcript), moment.upto): moment for moment in moments}
            found = dict(zip(distinct, self.player_posteriors(list(distinct.values()), progress), strict=True))
            score[whole] = [
                found[id(moment.transcript), moment.upto][examples[i].speaker]
                for i, moment in zip(whole, moments, strict=True)
            ]
        if alone:
            parts = [examples[i] for i in alone]
            score[alone] = expit(self._statements(_statement_logits(self._members, parts, progress)))
        return np.column_stack([1 - score, score])

    def keep_replies_in(self, folder: Path | None) -> None:
        self._replies = folder
        for member in self._members:
            member.keep_replies_in(folder)

    def save(self, folder: Path) -> None:
        for path, member in zip(_folders(folder, self._members), self._members, strict=True):
            path.mkdir()
            member.save(path)
        (folder / _FILE).write_bytes(_SAVED.dump_json({"players": self._players, "statements": self._statements}))

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        from liescope.detectors.detector_registry import load_parts

        detector = cls(text, options)
        stacks = read_json(path := folder / _FILE, _SAVED, _LARGEST, TRAIN_AGAIN)
        with Reading(path, TRAIN_AGAIN):
            detector._players, detector._statements = stacks["players"], stacks["statements"]
            if {len(stack.weights) for stack in stacks.values()} != {len(detector._members)}:
                raise ValueError("it does not have one weight for each member")
        detector._members = [
            load_parts(one.kind, part, text, one.options.model_dump())
            for part, one in zip(_folders(folder, detector._members), detector._members, strict=True)
        ]
        return detector

    def _untrained(self) -> list[Detector]:
        found = [one.untrained(self.text, self.options.seed) for one in read_members(self.options.members)]
        for member in found:
            member.keep_replies_in(self._replies)
        return found

    def _weighed(self, stack: Stack, folds: Sequence[MemberLogits]) -> tuple[str, ...]:
        """What to say of a stack."""
        if not folds:
            return ()
        if stack == Stack.mean(len(self._members)):
            return ("the mean of the members' log-odds is used; no weights did better on held-out games",)
        each = (f"{one.kind} {weight:.2f}" for one, weight in zip(self._members, stack.weights, strict=True))
        return (f"weights of the members' log-odds, learned on held-out games: {', '.join(each)}",)


def _folds(
    examples: Sequence[Example], y: NDArray[np.bool_], groups: NDArray[np.str_], seed: int
) -> list[tuple[Rows, Rows]]:
    """By rules of the game, so that weights are what members are worth in a game of other rules, where there are
    several; else by game.
    """
    rows = np.arange(len(y))
    rules = np.array([one.seen.transcript.rules if one.seen else "" for one in examples])
    away = by_unit(rules, groups, y, rows)
    return away if len(away) > 1 else by_game(groups, y, rows, seed)


_SAVED = TypeAdapter(dict[str, Stack])


def _classes(options: DetectorOptions) -> list[tuple[type[Detector], DetectorOptions]]:
    assert isinstance(options, EnsembleOptions)
    members = read_members(options.members)
    return [(one.type, one.type.options_type.of(one.kind, one.options)) for one in members]


def _folders(folder: Path, members: Sequence[Detector]) -> list[Path]:
    """Where each member is kept."""
    return [folder / f"{at}-{member.kind}" for at, member in enumerate(members, 1)]


def _of_players(
    members: Sequence[Detector], examples: Sequence[Example], y: NDArray[np.bool_], progress: Progress
) -> MemberLogits:
    """What members say of the players of whole games, at a few moments of each."""
    asked = lesson(examples, y, _MOMENTS)
    moments = [asked.candidates[row[0]].moment for row in asked.tables.place]
    return MemberLogits(_player_logits(members, moments, progress), asked.tables, asked.true, asked.false)


def _of_statements(
    members: Sequence[Detector], examples: Sequence[Example], y: NDArray[np.bool_], progress: Progress
) -> MemberLogits:
    apart = SeatedCandidates.of([1] * len(y), [None] * len(y))
    return MemberLogits(_statement_logits(members, examples, progress), apart, y, ~y)


def _player_logits(members: Sequence[Detector], moments: Sequence[GameMoment], progress: Progress) -> Floats:
    """(players of all moments, members)."""
    tables, columns = _seated(moments), []
    for member in members:
        found = member.player_posteriors(moments, progress)
        each = [own[name] for own, moment in zip(found, moments, strict=True) for name in moment.transcript.names]
        columns.append(logits_of(np.array(each, dtype=np.float64), tables))
    return np.column_stack(columns)


def _statement_logits(members: Sequence[Detector], examples: Sequence[Example], progress: Progress) -> Floats:
    """(statements, members)."""
    found = [member.predict_proba(examples, progress)[:, 1] for member in members]
    return np.asarray(logit(np.clip(np.column_stack(found), _EDGE, 1 - _EDGE)))


def _seated(moments: Sequence[GameMoment]) -> SeatedCandidates:
    games = [moment.transcript for moment in moments]
    return SeatedCandidates.of([len(game.names) for game in games], [game.deceivers for game in games])
