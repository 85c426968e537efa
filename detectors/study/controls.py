"""Cheap scorers that a lie detector must beat: what a statement's length, position and author alone give away.

`role_oracle` knows the speaker's role, where a source says it, and shows how closely a target follows the role;
`shuffled` is the TF-IDF detector trained on labels moved to other games, and shows that the protocol leaks nothing;
`majority` knows the prevalence; `k_of_n` knows how many of how many players deceive in each game, and reads no word:
all that it reaches, it reaches between games.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from liescope.detectors.detector import ROLE, Progress, silent
from liescope.detectors.examples import (
    WORDS,
    Labelled,
    check_trainable,
    keeps_reasoning,
    labelled,
    make_examples,
    target_column,
)
from liescope.detectors.folds import Rows, fold_of, out_of_fold
from liescope.detectors.kinds.tfidf import TfidfDetector, TfidfOptions
from liescope.detectors.logistic import logistic
from liescope.detectors.study.scores import CONTROL, compared_in, score_table, with_tasks
from liescope.detectors.textualize import TextConfig, View

_LAST_PLACE = 20
_FOLDS = 5
K_OF_N, ROLE_ORACLE = "k_of_n", "role_oracle"

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
FitPredict = Callable[[pl.DataFrame, Bools, pl.DataFrame, int], Floats]


def control_scores(
    train: pl.DataFrame,
    others: pl.DataFrame,
    target: str,
    seed: int = 0,
    progress: Progress = silent,
    view: str = WORDS,
    own: bool = True,
) -> pl.DataFrame:
    """A score table of the controls of a view, fitted on the training statements: scores of every statement in `others`
    and, if `own`, out-of-fold scores of `train` with their fold; for reasoning, of those that keep some. Raises
    UsageError if the training split cannot train.
    """
    if view != WORDS:
        train, others = (table.filter(keeps_reasoning()) for table in (train, others))
    controls = CONTROLS if view == WORDS else OF_REASONING
    train, others = (with_k_of_n(table, target) for table in (train, others))
    data = labelled(train, target, context=0)
    check_trainable(data, target, _FOLDS)
    learn = train.filter(pl.col(f"label_{target}").is_not_null())
    fold = fold_of(data.y, data.groups, _FOLDS, seed)
    tables = []
    for done, (name, control) in enumerate(controls.items()):
        if name == ROLE_ORACLE and not knows_roles(train):
            continue
        progress(f"controls of {target}", done, len(controls))
        detector = CONTROL + name

        def held_out(fit: Rows, score: Rows, _number: int, control: FitPredict = control) -> Floats:
            return control(learn[fit], data.y[fit], learn[score], seed)

        if own:
            tables.append(score_table(learn["statement_id"], out_of_fold(fold, held_out), detector, target, fold))
        if others.height:
            tables.append(score_table(others["statement_id"], control(learn, data.y, others, seed), detector, target))
    progress(f"controls of {target}", len(controls), len(controls))
    return pl.concat(tables)


def with_k_of_n(statements: pl.DataFrame, target: str) -> pl.DataFrame:
    """The statements with `k_of_n`, from `read_statements`: for the role, the share of their game's players that
    deceive; for other targets, that of its labelled statements, or of its task's; the mean share where it is not known.
    """
    label = pl.col(target_column(target))
    statements = with_tasks(statements, label)
    share = pl.col("deceiving") if target == ROLE else label.mean().over(compared_in(statements))
    found = statements.with_columns(k_of_n=share.cast(pl.Float64))
    return found.with_columns(k_of_n=pl.col("k_of_n").fill_null(pl.col("k_of_n").mean()).fill_null(0.5))


def knows_roles(statements: pl.DataFrame) -> bool:
    """Whether the role of any speaker is known: without one, `role_oracle` has nothing to know and is left out."""
    return statements["label_role"].null_count() < statements.height


def deal_to_other_games(data: Labelled, seed: int) -> Bools:
    """Labels shuffled by game: each game's set of labels is dealt to a random game and shuffled. The prevalence and
    its spread over games stay; any link between a text and its label is gone.
    """
    rng = np.random.default_rng(seed)
    _, game = np.unique(data.groups, return_inverse=True)
    place = rng.permutation(game.max() + 1)[game]
    shuffled = np.empty_like(data.y)
    shuffled[np.argsort(game, kind="stable")] = data.y[np.lexsort((rng.random(len(game)), place))]
    return shuffled


def logistic_on(features: Callable[[pl.DataFrame], pl.DataFrame], one_hot: bool = False) -> FitPredict:
    """A scorer that fits a logistic regression to some columns made of the statements; one_hot: they are categories."""

    def control(learn: pl.DataFrame, y: Bools, score: pl.DataFrame, seed: int) -> Floats:
        scale = OneHotEncoder(handle_unknown="ignore") if one_hot else StandardScaler()
        model = make_pipeline(scale, logistic(10.0, seed)).fit(features(learn).to_numpy(), y)
        return np.asarray(model.predict_proba(features(score).to_numpy())[:, 1], dtype=np.float64)

    return control


def _length_of(column: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    text = pl.col(column)
    return lambda table: table.select(
        characters=text.str.len_chars().cast(pl.Float64).log1p(),
        words=text.str.count_matches(r"\S+").cast(pl.Float64).log1p(),
    )


def _position(table: pl.DataFrame) -> pl.DataFrame:
    return table.select(pl.col("position").clip(upper_bound=_LAST_PLACE))


def _model(table: pl.DataFrame) -> pl.DataFrame:
    return table.select("speaker_model")


def _k_of_n(_learn: pl.DataFrame, _y: Bools, score: pl.DataFrame, _seed: int) -> Floats:
    return score["k_of_n"].to_numpy()


def _role(table: pl.DataFrame) -> pl.DataFrame:
    role = pl.col("label_role")
    return table.select(deceives=role.fill_null(False).cast(pl.Float64), known=role.is_not_null().cast(pl.Float64))


def _shuffled_of(view: View) -> FitPredict:
    def control(learn: pl.DataFrame, y: Bools, score: pl.DataFrame, seed: int) -> Floats:
        examples, groups = make_examples(learn, 0), learn["game_id"].to_numpy().astype(np.str_)
        detector = TfidfDetector(TextConfig(view=view), TfidfOptions(seed=seed))
        detector.fit(examples, deal_to_other_games(Labelled(examples, y, groups, 0), seed), groups)
        return detector.predict_proba(make_examples(score, 0))[:, 1]

    return control


def _majority(_learn: pl.DataFrame, y: Bools, score: pl.DataFrame, _seed: int) -> Floats:
    return np.full(score.height, y.mean())


CONTROLS: dict[str, FitPredict] = {
    K_OF_N: _k_of_n,
    "length": logistic_on(_length_of("text")),
    "position": logistic_on(_position, one_hot=True),
    "model_identity": logistic_on(_model, one_hot=True),
    ROLE_ORACLE: logistic_on(_role),
    "shuffled": _shuffled_of("words"),
    "majority": _majority,
}
"""Each takes (statements to learn from, their labels, statements to score, seed) and returns probabilities."""
OF_REASONING: dict[str, FitPredict] = {
    "reasoning_length": logistic_on(_length_of("reasoning")),
    "reasoning_shuffled": _shuffled_of("reasoning"),
}
"""The same beside detectors that read reasoning."""
