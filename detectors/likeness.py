"""Whether texts are like those that verdicts were chosen on, and sets of labels for texts that are not.

Conformal sets keep their promise for games that are exchangeable with the calibration games. Without any label it can
be tested whether the texts to be scored are: by a permutation test of the means of what is counted in a game (its
words, hashed, its length, its scores), with games as units, which is exact whatever their number. If they are not,
calibration games weigh by how much they look like the others (weighted conformal prediction; Tibshirani, Foygel Barber,
Candès and Ramdas 2019, "Conformal prediction under covariate shift", arXiv:1904.06019), by the odds of a logistic
regression that tells both apart, each game by one that did not see it. Where nothing looks like them, no verdict is
left. Such sets are right as far as words that look alike mean alike; what else has changed, no text can tell.

Copies among many texts, exact or near, are found in time linear in their number: MinHash with banding (Broder 1997).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.special import logit

from liescope.common.errors import BadData
from liescope.common.reading import Reading
from liescope.detectors.calibrate import LEVELS, level_of
from liescope.detectors.examples import Example
from liescope.detectors.textualize import TextConfig, View, textualize

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

ALPHA = 0.01
"""How often texts of exchangeable games are taken for others."""
_WORDS = 256  # hashed
_WIDTH = _WORDS + 3
_MOST = 500  # games that are kept, and others that the test and the weights are learned on
_DRAWS = 999
_STRENGTH = 0.01  # scikit-learn's C; chosen on a held-out model, QUACK and LLMafia, reported on others
_EDGE = 1e-6
_FOLDS = 5
_SCHEMA: Mapping[str, pl.DataType] = {
    "game": pl.List(pl.Float32),
    "statement": pl.List(pl.Float32),
    "honest": pl.List(pl.Float64),
    "deceptive": pl.List(pl.Float64),
    "suspect": pl.Float64(),
}
_ADVICE = "train the detector again"


@dataclass(frozen=True, slots=True, eq=False)
class _UnlikeGames:
    """Games, or lone statements, that are not like the calibration games. rows: of their statements; names: of the
    games, "" for a lone statement; unit: which of them each statement is of; mass, other: the weights of calibration
    games, and of these.
    """

    rows: NDArray[np.int64]
    names: NDArray[np.str_]
    unit: NDArray[np.int64]
    mass: Floats
    other: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Unlike:
    """Statements that are not like those that verdicts were chosen on. rows: (n,) which of those asked about; units: of
    how many games they are, a lone statement being one; told_apart: how well these can be told from the calibration
    games, the area under a cross-validated ROC curve, None for a single game or statement.
    """

    rows: Bools
    units: int
    told_apart: float | None
    _score: Floats
    _parts: Sequence[_UnlikeGames]
    _likeness: Likeness

    def allowed(self, coverage: float) -> Bools:
        """(n, 2): whether the set of a statement holds honest, and deceptive; False beyond `rows`. Raises UsageError
        for an odd coverage.
        """
        level, found = LEVELS[level_of(coverage)], np.zeros((len(self.rows), 2), dtype=bool)
        for part in self._parts:
            for column, sign, scores in ((0, -1.0, self._likeness.honest), (1, 1.0, self._likeness.deceptive)):
                least = _limits([sign * one for one in scores], part.mass, part.other, level)
                found[part.rows, column] = sign * self._score[part.rows] >= least[part.unit]
        return found

    def least(self, coverage: float) -> dict[str, float]:
        """By game, how probable a player must be to be among its suspects. Raises UsageError for an odd coverage."""
        level, known = LEVELS[level_of(coverage)], ~np.isnan(self._likeness.suspect)
        each = [self._likeness.suspect[[at]] if there else np.empty(0) for at, there in enumerate(known)]
        return {
            name: limit
            for part in self._parts
            for name, limit in zip(
                part.names.tolist(), _limits(each, part.mass, part.other, level).tolist(), strict=True
            )
        }


def warning(found: Sequence[Unlike], verdicts_left: int) -> str:
    """What to say of statements, in one part or several, that are not like those that verdicts were chosen on."""
    statements, units = sum(int(one.rows.sum()) for one in found), sum(one.units for one in found)
    known = [one.told_apart for one in found if one.told_apart is not None]
    apart = f": the two are told apart with an AUROC of {max(known):.2f}" if known else ""
    return (
        f"{statements:,} statements ({units:,} games or lone statements) are not like the games that verdicts were "
        f"chosen on{apart}. Nothing is promised for them; their sets are "
        f"wider, by how unlike they are, and {verdicts_left:,} of their verdicts are not to abstain"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """Calibration games. game, statement: (games, features) of each game, and of one of its statements drawn at random;
    honest, deceptive: by game, the calibrated scores of its statements of a class; suspect: (games,), the least
    probability of those who deceive in the whole game, NaN where it is not known.
    """

    game: Floats
    statement: Floats
    honest: Sequence[Floats]
    deceptive: Sequence[Floats]
    suspect: Floats

    @classmethod
    def of(
        cls,
        examples: Sequence[Example],
        score: Floats,
        truth: Sequence[bool | None],
        seed: int,
        view: View = "words",
        suspect: Mapping[str, float] = MappingProxyType({}),
    ) -> Self:
        """examples: all statements of the calibration games, with or without a label; score: (n,), calibrated; view:
        what the detector reads of them; suspect: by game, the least probability of those who deceive.
        """
        draw = np.random.default_rng(seed)
        names = np.array([example.game_id for example in examples], dtype=np.str_)
        kept = draw.permutation(np.unique(names))[:_MOST]
        rows = [np.flatnonzero(names == name) for name in kept]
        features = _features(examples, score, view)
        honest, deceptive = (
            [np.array([score[at] for at in own.tolist() if truth[at] is lies], dtype=np.float64) for own in rows]
            for lies in (False, True)
        )
        return cls(
            np.stack([features[own].mean(axis=0) for own in rows]),
            np.stack([features[draw.choice(own)] for own in rows]),
            honest,
            deceptive,
            np.array([suspect.get(str(name), np.nan) for name in kept], dtype=np.float64),
        )

    def unlike(self, examples: Sequence[Example], score: Floats, view: View = "words") -> Unlike | None:
        """The statements that are not like these; None if all may be. score: (n,), calibrated; view: what the detector
        reads of them. Games are compared with games, and statements without a game with lone statements.
        """
        features = _features(examples, score, view)
        lone = np.array([not example.game_id for example in examples], dtype=bool)
        parts, apart = list[_UnlikeGames](), list[float]()
        for own, rows in ((self.game, np.flatnonzero(~lone)), (self.statement, np.flatnonzero(lone))):
            if not len(rows):
                continue
            keys = np.array([examples[at].game_id or f"{at}" for at in rows.tolist()], dtype=np.str_)
            units, unit = np.unique(keys, return_inverse=True)
            theirs = np.zeros((len(units), features.shape[1]))
            np.add.at(theirs, unit, features[rows])
            theirs /= np.bincount(unit)[:, None]
            if _chance(own, theirs) <= ALPHA:
                mass, other, told = _weights(own, theirs)
                parts.append(
                    _UnlikeGames(rows, units if own is self.game else np.full(len(units), ""), unit, mass, other)
                )
                apart += [] if told is None else [told]
        if not parts:
            return None
        found = np.zeros(len(examples), dtype=bool)
        for part in parts:
            found[part.rows] = True
        units_of_all = sum(len(part.other) for part in parts)
        return Unlike(found, units_of_all, max(apart, default=None), score, parts, self)

    def save(self, path: Path) -> None:
        """Write it as Parquet."""
        columns = {"game": self.game, "statement": self.statement, "honest": self.honest, "deceptive": self.deceptive}
        lists = {name: [list(row) for row in rows] for name, rows in columns.items()}
        least = pl.Series(self.suspect).fill_nan(None)
        pl.DataFrame({**lists, "suspect": least}, schema=dict(_SCHEMA)).write_parquet(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Raises BadData for what `save` never writes."""
        with Reading(path, _ADVICE):
            if pq.read_metadata(path).num_rows > _MOST:
                raise BadData(f"{path} has more games than any model keeps; it is not opened")
            table = pq.read_table(path)
            table.validate(full=True)
            saved = pl.DataFrame(pl.from_arrow(table))
            if dict(saved.schema) != dict(_SCHEMA):
                raise ValueError("it has other columns")
            game, statement = (np.array(saved[name].to_list(), dtype=np.float64) for name in ("game", "statement"))
            if not all(one.shape == (saved.height, _WIDTH) and np.isfinite(one).all() for one in (game, statement)):
                raise ValueError("its features are not finite numbers, as many for each game")
            scores = [[np.array(one, dtype=np.float64) for one in saved[name]] for name in ("honest", "deceptive")]
            suspect = saved["suspect"].to_numpy().astype(np.float64)
            known = suspect[~np.isnan(suspect)]
            if not all(((one >= 0) & (one <= 1)).all() for one in (*scores[0], *scores[1], known)):
                raise ValueError("its scores are no probabilities")
        return cls(game, statement, scores[0], scores[1], suspect)


def _features(examples: Sequence[Example], score: Floats, view: View) -> Floats:
    """(n, features): the words of what the view shows of each statement, names masked, hashed and of length 1; how many
    they are; its score and the square of it, as log-odds.
    """
    from sklearn.feature_extraction.text import HashingVectorizer

    if not examples:
        return np.empty((0, _WIDTH))
    texts = [textualize(example, TextConfig(view=view)) for example in examples]
    words = HashingVectorizer(n_features=_WORDS, token_pattern=r"(?u)\b\w+\b").transform(texts).toarray()
    odds = logit(np.clip(score, _EDGE, 1 - _EDGE))
    count = np.log1p([len(text.split()) for text in texts])
    return np.column_stack([words, odds, odds**2, count]).astype(np.float32).astype(np.float64)


def _scaled(own: Floats, theirs: Floats) -> tuple[Floats, NDArray[np.float64]]:
    """Both, one after the other, with mean 0 and variance 1 over all; and 1 for each of `theirs`, 0 for each own."""
    both = np.vstack([own, theirs])
    spread = both.std(axis=0)
    return (both - both.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.repeat(
        [0.0, 1.0], [len(own), len(theirs)]
    )


def _some(theirs: Floats) -> Floats:
    """At most so many as are kept of their own kind, the same for the same."""
    return theirs[np.random.default_rng(0).permutation(len(theirs))[:_MOST]]


def _chance(own: Floats, theirs: Floats) -> float:
    """The p-value of their having one distribution, by permutations: how often the means of units dealt at random are
    as far apart.
    """
    both, _ = _scaled(own, _some(theirs))
    if len(both) == len(own) + 1:  # each in the place of the last, which is all that can be dealt
        distance = (both**2).sum(axis=1)[::-1]
    else:
        means = _dealt(len(own), len(both) - len(own)) @ both  # the mean over all is 0, so that this tells both means
        distance = (means**2).sum(axis=1)
    return float((distance >= distance[0] * (1 - 1e-9)).mean())


@lru_cache(maxsize=2)
def _dealt(own: int, theirs: int) -> Floats:
    """(deals, units): 1 where a unit is dealt to theirs; as they are, and then at random, the same for the same."""
    side = np.repeat([0.0, 1.0], [own, theirs])
    return np.vstack([side, np.random.default_rng(0).permuted(np.tile(side, (_DRAWS, 1)), axis=1)])


def _weights(own: Floats, theirs: Floats) -> tuple[Floats, Floats, float | None]:
    """(weights of the own units, of theirs, and how well both are told apart): odds of being one of theirs, each by a
    regression that has not learned from it.
    """
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    from liescope.detectors.logistic import logistic

    both, side = _scaled(own, theirs)
    learned = np.zeros(len(side), dtype=bool)
    learned[: len(own)] = True
    learned[len(own) + np.random.default_rng(0).permutation(len(theirs))[:_MOST]] = True
    rows = np.flatnonzero(learned)
    folds = min(_FOLDS, len(own), len(rows) - len(own))
    odds, times = np.zeros(len(side)), np.zeros(len(side))
    splits: Any = [(rows, rows)]
    if folds > 1:
        shuffled = StratifiedKFold(folds, shuffle=True, random_state=0).split(rows, side[rows])
        splits = [(rows[fit], rows[away]) for fit, away in shuffled]
    for fit, away in splits:
        head = logistic(_STRENGTH).fit(both[fit], side[fit])
        prior = np.log(side[fit].sum() / (1 - side[fit]).sum())
        scored = np.concatenate([away, np.flatnonzero(~learned)])
        odds[scored] += head.decision_function(both[scored]) - prior
        times[scored] += 1
    odds /= times
    weight = np.exp(np.clip(odds, -20, 20))
    told = float(roc_auc_score(side[rows], odds[rows])) if folds > 1 else None
    return weight[: len(own)], weight[len(own) :], told


def _limits(fit: Sequence[Floats], mass: Floats, other: Floats, level: float) -> Floats:
    """(units,): for each unit to come, with its weight in `other`, the highest limit that weighted calibration games
    keep; minus infinity where they cannot. fit: by game, how well its statements fit the class; mass: their weights.
    """
    held = [at for at, one in enumerate(fit) if len(one)]
    if not held:
        return np.full(len(other), -np.inf)
    values = np.concatenate([fit[at] for at in held])
    each = np.concatenate([np.full(len(fit[at]), mass[at] / len(fit[at])) for at in held])
    order = np.argsort(-values, kind="stable")
    reached, total = each[order].cumsum(), mass[held].sum()
    place = np.searchsorted(reached, level * (total + other) * (1 - 1e-9))
    return np.asarray(np.append(values[order], -np.inf)[np.minimum(place, len(order))])


ALIKE = 0.8
"""The Jaccard similarity of their 5-character shingles from which two texts are near copies."""
SHORT = 5
"""Statements of fewer words repeat by nature ("I agree."), so that only copies of longer ones count."""
BANDS, ROWS = 20, 5
"""Of the hashes of a text: a pair of similarity 0.8 shares a band of five with probability 0.9996."""

_SHINGLE = 5
_COMMON = 20  # games beyond which a text says nothing about which one was copied
_SAME = 3  # statements that a copied game shares at least
_PRIME = (1 << 31) - 1
_COMPARED = 50  # texts of one bucket


def normal(examples: Sequence[Example]) -> list[str]:
    """Each statement as it is compared: names masked, the words alone, in small letters."""
    return [" ".join(re.findall(r"\w+", textualize(one, TextConfig()).casefold())) for one in examples]


def is_long(text: str) -> bool:
    """Whether a normal text has enough words for a copy of it to count."""
    return text.count(" ") >= SHORT - 1


def copied_games(learned: pl.DataFrame, there: pl.DataFrame) -> dict[str, str]:
    """Games of `there` that share most of their statements, and at least three, with one learned game, and which one
    that is. learned, there: `game_id` and `normal`, the text or its hash.
    """
    mine = there.select(game="game_id", text="normal").unique()
    theirs = learned.select(other="game_id", text="normal").unique().filter(pl.len().over("text") <= _COMMON)
    pairs = mine.join(theirs, on="text").group_by("game", "other").agg(shared=pl.len())
    sizes = mine.group_by("game").agg(size=pl.len())
    most = pl.max_horizontal(pl.lit(_SAME), pl.col("size") / 2)
    copied = pairs.join(sizes, on="game").filter(pl.col("shared") >= most)
    return dict(copied.sort("game", "shared", "other").select("game", "other").iter_rows())


def near_copies(texts: list[str], among: Bools, wanted: Bools, seed: int) -> Bools:
    """(n,): which of the `wanted` texts, of 5 characters or more, are near copies of one `among` the others. Pairs that
    share a band are compared exactly.
    """
    found = np.zeros(len(texts), dtype=bool)
    if not (among.any() and wanted.any()):
        return found
    use = np.flatnonzero(among | wanted)
    shingles = shingled([texts[row] for row in use])
    left, right = (pl.DataFrame({"row": np.flatnonzero(rows[use])}) for rows in (wanted, among))
    pairs = []
    for band in signatures(shingles, seed):
        keys = pl.DataFrame(band, schema=[str(number) for number in range(ROWS)], orient="col")
        mine, theirs = (pl.concat([keys[side["row"]], side], how="horizontal") for side in (left, right))
        buckets = theirs.group_by(keys.columns).agg(other=pl.col("row").head(_COMPARED))
        pairs.append(mine.join(buckets, on=keys.columns).select("row", "other").explode("other"))
    sizes = np.diff(shingles.indptr)
    for part in pl.concat(pairs).unique().iter_slices(100_000):
        one, other = part["row"].to_numpy(), part["other"].to_numpy()
        both = np.asarray(shingles[one].multiply(shingles[other]).sum(axis=1)).ravel()
        found[use[one[both >= ALIKE * (sizes[one] + sizes[other] - both)]]] = True
    return found


def shingled(texts: Sequence[str]) -> Any:
    """The 5-character pieces of texts, as a sparse matrix of their hashes."""
    from sklearn.feature_extraction.text import HashingVectorizer

    size = (_SHINGLE, _SHINGLE)
    counting = HashingVectorizer(analyzer="char", ngram_range=size, binary=True, norm=None, alternate_sign=False)
    return counting.transform(texts).tocsr()


def signatures(shingles: Any, seed: int) -> NDArray[np.int64]:
    """(bands, rows, n): for each text, the least value of each hash over its shingles."""
    draw = np.random.default_rng(seed)
    factors, shifts = draw.integers(1, _PRIME, BANDS * ROWS), draw.integers(0, _PRIME, BANDS * ROWS)
    values, starts = shingles.indices.astype(np.int64), shingles.indptr[:-1]
    least = [
        np.minimum.reduceat((values * factor + shift) % _PRIME, starts)
        for factor, shift in zip(factors, shifts, strict=True)
    ]
    return np.stack(least).reshape(BANDS, ROWS, -1)
