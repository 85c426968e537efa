"""A chat model as a detector: asked about every statement, or about all players of a game at once.

The model itself is not trained. With `shots`, training statements or games are examples in the prompt; a few more are
asked about to calibrate its answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Field, TypeAdapter

from liescope.common.errors import UsageError
from liescope.common.reading import Strict, read_json
from liescope.common.statistics import Bools, Floats, expit, log_expit, logit
from liescope.detectors.detector import ROLE, AsksChatModel, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.detector_settings import REASONING, WORDS
from liescope.detectors.examples import Example, moment_of, roles_by_game
from liescope.detectors.judge.prompt import JudgePrompt, Question, read_prompt
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.text_form import PLAYER_TOKEN, TextConfig, clean, hide_roles, replace_names, textualize, viewed
from liescope.detectors.view.joint_posterior import posterior
from liescope.detectors.view.transcript import EXILED, KILLED, SAID, SILENT, VOTED, GameMoment, TranscriptTurn
from liescope.generate.players.run_limits import Limits

_FILE = "judge.json"
_LARGEST = 2**23  # bytes
_LONGEST = 4000  # characters of a statement that can be an example
_EDGE = 0.0025  # stated probabilities are kept so far from 0 and 1
EVERYBODY = ""


class PlattScaling(Strict):
    """Platt scaling: the log-odds of an answer, times slope, plus intercept (Platt 1999). A slope below 0 is not
    learned.
    """

    slope: Annotated[float, Field(ge=0, le=100)] = 1.0
    intercept: Annotated[float, Field(ge=-100, le=100)] = 0.0

    @classmethod
    def fitted(cls, probability: Floats, y: Bools) -> Self:
        """The scaling under which probabilities, (n,), fit labels, (n,), best. With few answers it stays near slope 1
        and intercept 0, the means of normal priors with variance 1.
        """
        from scipy.optimize import minimize

        odds, sign = cls().log_odds(probability), np.where(y, 1.0, -1.0)

        def loss(at: Floats) -> float:
            return float(((at - (1, 0)) ** 2).sum() / 2 - log_expit(sign * (at[0] * odds + at[1])).sum())

        slope, intercept = minimize(loss, (1.0, 0.0), bounds=((0, 100), (-100, 100)), method="L-BFGS-B").x
        return cls(slope=float(slope), intercept=float(intercept))

    def log_odds(self, probability: Floats) -> Floats:
        return np.asarray(self.slope * logit(np.clip(probability, _EDGE, 1 - _EDGE)) + self.intercept)


class LearnedJudge(Strict):
    """prompt: the one asked with; examples: statements or games in it, word for word, and whether each player deceives,
    "" for a statement; prevalence: the share of what was learned from that deceives; stated: whether the model states
    numbers, None if it was not asked; own_cache: whether its user named a folder for its replies.
    """

    prompt: JudgePrompt
    examples: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...] = ()
    prevalence: Annotated[float, Field(gt=0, lt=1)]
    calibration: PlattScaling = PlattScaling()
    stated: bool | None = None
    own_cache: bool = False


class JudgeOptions(DetectorOptions):
    """cache and prompt name a folder and a file of this machine and are not saved; the prompt is, word for word."""

    model: str = Field(default="", description="the chat model, as in openai:NAME or openai:NAME@URL")
    cache: str = Field(default="", exclude=True, description=Limits.model_fields["cache"].description)
    price: list[str] | None = Field(default=None, description=Limits.model_fields["price"].description)
    max_cost: float | None = Field(default=None, ge=0, description=Limits.model_fields["max_cost"].description)
    shots: int = Field(
        default=0, ge=0, le=64, description="examples in the prompt, of training games; half of them deceptive"
    )
    whole: bool = Field(default=False, description="ask about the players of a game, not about a statement")
    prompt: str = Field(default="", exclude=True, description="a TOML file with another prompt")
    fit_limit: int = Field(
        default=100, ge=0, le=100_000, description="requests that its calibration is learned from, 0 for none"
    )

    def limits(self) -> Limits:
        """Raises UsageError for a price that cannot be read, or a budget without one."""
        return Limits.of({"max_cost": self.max_cost, "price": self.price or (), "cache": self.cache or None})


class JudgeDetector(AsksChatModel):
    """A chat model, its prompt and a calibration. An unusable answer scores the prevalence in training, and a note says
    so; it never counts as honest.
    """

    kind = "judge"
    options_type = JudgeOptions
    reads_reasoning = True
    folds = 0
    packages = ("scipy",)
    publication = Publication(
        needs="It asks the chat model named under `model` below: its server, and a key if that wants one, have to be "
        "at hand, and statements cost requests."
    )

    options: JudgeOptions
    _learned: LearnedJudge
    _failed: Counter[str]
    _loaded = False

    def verbatim(self) -> bool:
        return self.options.shots > 0

    def prepare(self) -> None:
        from liescope.detectors.judge.asking import check_model  # with everything that requests need

        check_model(self.options.model, self.options.limits())

    def requests(self, learn: Sequence[Example], score: Sequence[Example]) -> int:
        if self.options.whole:
            moments = [moment_of(example) for example in score]
            asked = {
                (id(m.transcript), upto): GameMoment(m.transcript, upto) for m in moments for upto in (m.upto, None)
            }
            last = {example.game_id: moment_of(example) for example in learn}
            fit = sorted((len(asked_about(m, self.text.view)) for m in last.values()), reverse=True)
            return sum(fit[: self.options.fit_limit]) + sum(len(asked_about(m, self.text.view)) for m in asked.values())
        # One more finds out whether there are log-probabilities. Folds may ask about equal statements apart.
        return min(self.options.fit_limit, len(learn)) + len(score) + bool(learn)

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        """Raises UsageError without a model, or if it cannot be opened; RunPaused if it cannot be asked for now."""
        from liescope.detectors.judge.asking import check_model

        o = self.options
        check_model(o.model, None)
        prompt = read_prompt(Path(o.prompt) if o.prompt else None)
        prompt.check_has(examples=o.shots > 0, whole=o.whole, view=self.text.view)
        if o.whole and any(example.target != ROLE for example in examples):
            raise UsageError(f"a judge of whole games says who deceives; train it with --target {ROLE}")
        self._failed = Counter()
        draw = np.random.default_rng(o.seed)
        units: dict[Any, Example | GameMoment]
        truth: Mapping[Any, Mapping[str, bool]]
        if o.whole:
            units = {example.game_id: moment_of(example) for example in examples}  # up to its last statement
            truth = roles_by_game(examples, y)
            order = draw.permutation(np.unique(groups)).tolist()
            shown, rest = order[: o.shots], order[o.shots :]
        else:
            units, truth = dict(enumerate(examples)), {row: {"": lies} for row, lies in enumerate(y.tolist())}
            shown, rest = _drawn(examples, y, groups, o.shots, draw)
        prevalence = float(np.mean([lies for who in truth.values() for lies in who.values()]))
        self._learned = LearnedJudge(prompt=prompt, prevalence=prevalence, own_cache=bool(o.cache))
        given = [self._example(units[unit], truth[unit], number) for number, unit in enumerate(shown)]
        self._learned = self._learned.model_copy(update={"examples": tuple(one for one in given if one)})
        rest = rest[: o.fit_limit]
        told = zip(rest, self._tell([units[unit] for unit in rest], progress), strict=True)
        pairs = [(said[name], lies) for unit, said in told for name, lies in truth[unit].items() if name in said]
        if pairs:
            probability, known = np.array([p for p, _ in pairs]), np.array([lies for _, lies in pairs])
            calibration = PlattScaling.fitted(probability, known)
            self._learned = self._learned.model_copy(update={"calibration": calibration})
        return self

    def _example(
        self, unit: Example | GameMoment, truth: Mapping[str, bool], number: int
    ) -> tuple[str, tuple[tuple[str, bool], ...]] | None:
        """A statement, or a game with the truth about those asked about: everybody, or one player, alternating between
        a deceiver and an honest one where both can be asked about.
        """
        if isinstance(unit, Example):
            return textualize(unit, self.text), tuple(truth.items())
        asked = [name for name in asked_about(unit, self.text.view) if name == EVERYBODY or name in truth]
        judged = min(asked, key=lambda name: truth.get(name) != (number % 2 == 0), default=None)
        if judged is None:
            return None
        text, called = game_text(unit, self.text, judged)
        about = truth if judged == EVERYBODY else {judged: truth[judged]}
        return text, tuple((called[name], lies) for name, lies in about.items())

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        learned = self._learned
        if self.options.whole:
            found = self.player_posteriors([moment_of(example) for example in examples], progress)
            scores = [one.get(e.speaker, learned.prevalence) for one, e in zip(found, examples, strict=True)]
        else:
            odds = [self._log_odds(said.get("")) for said in self._tell(examples, progress)]
            scores = expit(np.array(odds, dtype=np.float64)).tolist()
        score = np.array(scores, dtype=np.float64)
        return np.column_stack([1 - score, score])

    def _log_odds(self, probability: float | None) -> float:
        if probability is None:
            return float(logit(self._learned.prevalence))
        return float(self._learned.calibration.log_odds(np.array(probability)))

    @property
    def judges_players(self) -> bool:
        return self.options.whole

    def player_posteriors(
        self, moments: Sequence[GameMoment], progress: Progress = silent
    ) -> list[Mapping[str, float]]:
        """For whole games: its answers about each player, normalised within the game."""
        if not self.options.whole:
            return super().player_posteriors(moments, progress)
        found: list[Mapping[str, float]] = []
        for moment, said in zip(moments, self._tell(moments, progress), strict=True):
            names = moment.transcript.names
            odds = np.array([self._log_odds(said.get(name)) for name in names])
            found.append(dict(zip(names, posterior(odds, moment.transcript.deceivers).tolist(), strict=True)))
        return found

    def _about(self, unit: Example | GameMoment) -> Iterator[tuple[Question, Mapping[str, str]]]:
        """The questions about a statement or a game, and the name that each player asked about has there."""
        learned, view = self._learned, self.text.view
        if isinstance(unit, Example):
            text = textualize(unit, self.text)
            yield learned.prompt.about_statement(text, unit.target, learned.examples, view), {"": ""}
            return
        for judged in asked_about(unit, view):
            game, called = game_text(unit, self.text, judged)
            called = called if judged == EVERYBODY else {judged: called[judged]}
            known, players = unit.transcript.deceivers, sorted(called.values())
            yield learned.prompt.about_game(game, players, known, learned.examples, view), called

    def _tell(self, units: Sequence[Example | GameMoment], progress: Progress) -> list[dict[str, float]]:
        """By unit, its answer about each player, or under "" about a statement, without players not asked about and
        unusable answers. Equal questions are asked once.
        """
        from liescope.detectors.judge.asking import SPENT, ask_judge, check_model

        asked = [list(self._about(unit)) for unit in units]
        if not any(asked):
            return [{} for _ in units]
        o, learned = self.options, self._learned
        check_model(o.model, None, saved=self._loaded)
        self.keep_replies_in(Path(o.cache) if o.cache else None)
        once = dict.fromkeys(question for each in asked for question, _ in each)
        stated, say = o.whole or learned.stated, progress is not silent
        found = ask_judge(o.model, list(once), o.limits(), progress, stated=stated, spent=SPENT[o.model], say=say)
        answers = {question: found.answers.get(at, {}) for at, question in enumerate(once)}
        self._learned = learned.model_copy(update={"stated": found.stated})
        self._failed += found.failed
        self.notes = tuple(
            f"{count:,} answers of the judge could not be used ({why}); the share of training, "
            f"{learned.prevalence:.2f}, stands for them"
            for why, count in self._failed.most_common()
        )
        return [
            {name: answers[q][token] for q, called in each for name, token in called.items() if token in answers[q]}
            for each in asked
        ]

    def keep_replies_in(self, folder: Path | None) -> None:
        if folder is None and self._loaded and self._learned.own_cache and not self.options.cache:
            raise UsageError(
                "this detector was trained with a folder for the replies of its chat model, whose path is not saved; "
                "name that folder, or another: --cache FOLDER (--judge-cache of evaluate)"
            )
        if folder is not None:
            self.options = self.options.model_copy(update={"cache": str(folder)})

    def save(self, folder: Path) -> None:
        (folder / _FILE).write_text(self._learned.model_dump_json(indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        """Paths in a stranger's options are not used, and a stranger's address is asked only as `check_model` says."""
        detector = cls(text, options.model_copy(update={"prompt": "", "cache": ""}))
        detector._learned = read_json(folder / _FILE, TypeAdapter(LearnedJudge), _LARGEST, TRAIN_AGAIN)
        detector._failed, detector._loaded = Counter(), True
        return detector


def _drawn(
    examples: Sequence[Example], y: Bools, groups: Groups, shots: int, draw: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Rows to show as examples (one deceptive and one honest statement per game until there are enough) and all other
    rows, in random order of games; no game is on both sides.
    """
    short = np.array([len(example.text) <= _LONGEST for example in examples])
    chosen, rest = list[int](), list[int]()
    for game in draw.permutation(np.unique(groups)):
        rows = np.flatnonzero(groups == game)
        sides = [rows[(y[rows] == lies) & short[rows]] for lies in (True, False)]
        if len(chosen) < shots and all(map(len, sides)):
            chosen += [int(draw.choice(sides[side])) for side in draw.permutation(np.arange(2))]
        else:
            rest += rows.tolist()
    return chosen[:shots], rest


def asked_about(moment: GameMoment, view: str) -> tuple[str, ...]:
    """Whom each question about a game asks about: everybody at once if words are read; if reasoning is, each player
    with some in a question of its own, so that nobody is judged by what others thought.
    """
    if view == WORDS:
        return (EVERYBODY,)
    thought = {turn.player for _, turn in moment.transcript.said(moment.upto) if turn.reasoning.strip()}
    return tuple(name for name in moment.transcript.names if name in thought)


def game_text(moment: GameMoment, config: TextConfig, judged: str = EVERYBODY) -> tuple[str, dict[str, str]]:
    """A game as far as it is seen, a line for each turn; and by player, the name used there. With
    masked names, players are numbered in the order of their appearance, so that neither a name nor its place at the
    table gives anything away. judged: whose statements are shown by the view; the others' are shown by their words.
    """
    game = moment.transcript
    text = "\n".join(line for turn in game.turns[: moment.upto] for line in _lines(turn, judged, config.view))
    called = {name: name for name in game.names}
    if config.mask_names:
        numbers: dict[str, str] = {}

        def token(name: str) -> str:
            return numbers.setdefault(name, f"{PLAYER_TOKEN}{len(numbers) + 1}")

        text = replace_names(text, game.names, token)
        called = {name: token(name.casefold()) for name in game.names}
    return hide_roles(text) if config.mask_role_words else text, called


_DID = {SILENT: "says nothing", KILLED: "is found dead", EXILED: "is voted out"}


def _lines(turn: TranscriptTurn, judged: str, view: str) -> list[str]:
    if turn.kind == VOTED:
        return [f"{turn.player} votes for {turn.target or 'nobody'}."]
    if turn.kind != SAID:
        return [f"{turn.player} {_DID[turn.kind]}."] if turn.kind in _DID else []
    to = f" (to {', '.join(sorted(turn.audience - {turn.player}))} alone)" if turn.audience else ""
    own, kept = view if turn.player == judged else WORDS, bool(turn.reasoning.strip())
    if own == REASONING and not kept:  # its words never replace its reasoning
        return [f"{turn.player}{to} says what is not shown."]
    shown = viewed(f"{turn.player}{to}", turn.text, turn.reasoning, own if kept else WORDS)
    return [f"{who}: {clean(said)}" for who, said in shown]
