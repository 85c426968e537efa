"""Fitting every detector of a plan, or reading what was fitted before.

Options are chosen on inner folds that leave units out as the outer ones do. Scores of each fit are kept on disk under a
hash of everything they depend on: a run that was killed goes on, and a later one with another corpus or detector fits
only what is new.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.errors import UsageError
from liescope.common.folders import take_lock
from liescope.common.reading import regular
from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import ROLE, Detector, Progress, posteriors_of_scores
from liescope.detectors.detector_registry import detector_class, versions_of
from liescope.detectors.examples import Example
from liescope.detectors.folds import Rows, by_game, by_unit
from liescope.detectors.study.controls import BEST_WORD, CONTROLS, K_OF_N, LENGTH, ROLE_ORACLE
from liescope.detectors.study.corpora import UNITS, TransferTable
from liescope.detectors.study.metrics import Scored, pairs_within, pooled_auroc
from liescope.detectors.study.plans import LEFT_OUT, PROTOCOLS, Fit, with_labels
from liescope.detectors.study.scores import CONTROL
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.transcript import GameMoment
from liescope.labeling import claims

_FACTS = b"liescope"


@dataclass(frozen=True, slots=True)
class Fitted:
    """score: (n,) of the rows that the fit scores, in [0, 1]; players: of the players of their games; choice: of the
    options; reason: why there are no scores, else empty; cpu_seconds: of choosing, learning and scoring.
    """

    score: Floats
    players: Floats
    choice: Choice
    reason: str = ""
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Store:
    """A folder with one Parquet file for each fit: the scores of its statements, then those of its players (corpus,
    game_id, statement_id or player, score), and the choice in its metadata.
    """

    folder: Path

    def read(self, key: str, fit: Fit, table: TransferTable) -> Fitted | None:
        """What was fitted before; None if it was not, or if its file is damaged."""
        try:
            found = pq.read_table(regular(self.folder / f"{key}.parquet"))
            facts = json.loads(found.schema.metadata[_FACTS])
            every = found["score"].to_numpy().astype(np.float64)
            score, players = np.split(every, [len(every) - found["statement_id"].null_count])
            tried = tuple((setting, value) for setting, value in facts["choice"].pop("tried"))
            choice = Choice(**facts["choice"], tried=tried)
            done = Fitted(score, players, choice, facts["reason"], float(facts["cpu_seconds"]))
        except (OSError, pa.ArrowException, ValueError, LookupError, TypeError):
            return None
        lengths = (len(score), len(players)) == (len(fit.score), len(table.seats(fit.score)))
        whole = lengths and bool(((every >= 0) & (every <= 1)).all())
        return done if whole or done.reason else None

    def write(self, key: str, fit: Fit, done: Fitted, table: TransferTable) -> None:
        """Keep what was fitted. Raises OSError."""
        said = table.frame[fit.score[: len(done.score)]].select("corpus", "game_id", "statement_id")
        seated = table.players[table.seats(fit.score)[: len(done.players)]].select("corpus", "game_id", "player")
        every = pl.Series("score", np.concatenate([done.score, done.players]), dtype=pl.Float64)
        scored = pl.concat([said, seated], how="diagonal").with_columns(every)
        facts = json.dumps({"choice": asdict(done.choice), "reason": done.reason, "cpu_seconds": done.cpu_seconds})
        partial = self.folder / f".{key}.partial"
        arrow = scored.to_arrow()
        pq.write_table(arrow.replace_schema_metadata({_FACTS: facts.encode()}), partial, compression="zstd")
        partial.replace(self.folder / f"{key}.parquet")


@contextmanager
def open_store(out: Path) -> Iterator[Store]:
    """The scores of fits inside a report's folder, for one process at a time. Raises UsageError if `out` holds anything
    else, cannot be written, or is in use.
    """
    fits = out / "fits"
    if out.exists() and not fits.is_dir() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not a report of transfer; choose another --out")
    try:
        fits.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out} cannot be written ({error.strerror or error}); choose another --out") from error
    lock = take_lock(fits)
    try:
        yield Store(fits)
    finally:
        os.close(lock)


@dataclass(frozen=True, slots=True)
class Keys:
    """Names the scores of a fit: a hash of the statements that it learns from and scores, with context, units and their
    games, of the labels that it learns, of the detector with its options and grid, and of the code and packages that do
    it.
    """

    rows: tuple[bytes, ...]
    y: Bools
    recipe: str

    @classmethod
    def of(cls, table: TransferTable, recipe: CellRecipe) -> Keys:
        examples = table.examples(recipe.most_context)
        units = table.frame.select(*UNITS.values()).iter_rows()
        games = {key: game.digest() for key, game in table.transcripts.items()}
        rows = tuple(_hash(e, names, games[e.game_id]) for e, names in zip(examples, units, strict=True))
        kind = recipe.detector.kind
        facts = (kind, recipe.text, recipe.fixed, recipe.grid, recipe.seed, versions_of(kind), _code())
        return cls(rows, table.y, repr(facts))

    def key(self, fit: Fit) -> str:
        learned, scored = (b"".join(self.rows[i] for i in rows) for rows in (fit.learn, fit.score))
        labels = self.y[fit.learn].tobytes()
        return _hash(self.recipe, fit.by, learned, labels, scored).hex()[:32]


def _hash(*facts: object) -> bytes:
    return hashlib.sha256(repr(facts).encode(errors="backslashreplace")).digest()


@lru_cache(maxsize=1)
def _code() -> str:
    """A hash of the code that reads, fits and scores."""
    detectors = Path(__file__).parents[1]
    kinds = ("kinds", "view", "fine_tuning", "judge")
    rooms = (detectors, *(detectors / name for name in kinds), Path(claims.__file__).parent)
    files = [*(file for room in rooms for file in sorted(room.glob("*.py"))), Path(__file__)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


_BY_GAME = "games"  # what inner folds leave out where there is but one unit of every kind

Setting = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CellRecipe:
    """A kind of detector and its settings. fixed: options that are given; grid: values to choose among, by option;
    `context`, in either, is that of the text.
    """

    detector: type[Detector]
    text: TextConfig
    fixed: Setting
    grid: Mapping[str, Sequence[Any]]
    seed: int

    def settings(self) -> list[Setting]:
        """Every combination of the grid, those with equal context next to each other."""
        names = sorted(self.grid, key="context".__ne__)
        return [dict(zip(names, values, strict=True)) for values in product(*(self.grid[name] for name in names))]

    def made(self, setting: Setting) -> Detector:
        """An untrained detector. Raises UsageError."""
        chosen = {**self.fixed, **setting, "seed": self.seed}
        text = self.text.model_copy(update={"context": chosen.pop("context", self.text.context)})
        return self.detector(text, self.detector.options_type.of(self.detector.kind, chosen))

    def to_json(self) -> dict[str, Any]:
        return {"fixed": dict(self.fixed), "grid": {name: list(values) for name, values in self.grid.items()}}

    @property
    def most_context(self) -> int:
        return max((self.made(setting).text.context for setting in self.settings()), default=0)


def recipes_of(
    kinds: Sequence[str], context: int | None, mask_role_words: bool, seed: int, options: Mapping[str, Any]
) -> list[CellRecipe]:
    """How each kind is made. An option goes to every kind that has it, and is then not chosen."""
    classes = [detector_class(kind) for kind in kinds]
    takes = {kind: set(chosen.options_type.model_fields) for kind, chosen in zip(kinds, classes, strict=True)}
    if odd := sorted(set(options) - set().union(*takes.values())):
        raise UsageError(f"none of {', '.join(kinds)} has the option --{odd[0].replace('_', '-')}")
    recipes = []
    for kind, chosen in zip(kinds, classes, strict=True):
        versions_of(kind)
        fixed = {name: value for name, value in options.items() if name in takes[kind]}
        if context is not None:
            fixed["context"] = context
        settled = {*fixed, "epochs"} if fixed.get("max_steps") else {*fixed}  # so many steps, whatever the epochs
        grid = {name: values for name, values in chosen.grid.items() if name not in settled}
        recipe = CellRecipe(chosen, TextConfig(mask_role_words=mask_role_words), fixed, grid, seed)
        made = [recipe.made(setting) for setting in recipe.settings()]
        made[0].prepare()
        recipes.append(recipe)
    return recipes


@dataclass(frozen=True, slots=True)
class Choice:
    """setting: the chosen values; left_out: what the inner folds left out, "" if nothing was chosen; tried: the mean
    AUROC of each setting on what they left out, within games if these have pairs; None where it could not be fitted.
    """

    setting: Setting
    left_out: str
    tried: tuple[tuple[Setting, float | None], ...]


def settings_text(setting: Mapping[str, Any]) -> str:
    """A setting as words: "context 2, strength 4"."""
    return ", ".join(f"{name} {value:g}" for name, value in setting.items())


def choose(table: TransferTable, learn: Rows, by: str, recipe: CellRecipe) -> Choice:
    """The first setting of the grid whose mean AUROC over the inner folds of the rows that are learned from is within
    one standard error of the best (Breiman et al. 1984, "Classification and regression trees", section 3.4.3): settings
    stand in order, those that hold a detector back most first, and few folds of unlike units tell little.
    """
    settings = recipe.settings()
    if len(settings) < 2:
        return Choice(settings[0], "", ())
    left_out, folds = inner_folds(table, learn, by, recipe.seed)
    if not folds:
        return Choice(settings[0], "", ())
    each = np.array([_try(table, recipe, settings, *fold) for fold in folds])
    found = each.mean(axis=0)
    tried = zip(settings, (float(value) if np.isfinite(value) else None for value in found), strict=True)
    return Choice(settings[_first_of_the_best(each)], left_out, tuple(tried))


def _first_of_the_best(each: Floats) -> int:
    """each: (folds, settings), NaN where a setting could not be fitted; the first where none could."""
    found = each.mean(axis=0)
    if not np.isfinite(found).any():
        return 0
    behind = each[:, [np.nanargmax(found)]] - each
    error = behind.std(axis=0, ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.zeros(each.shape[1])
    return int(np.flatnonzero(behind.mean(axis=0) <= error)[0])


def inner_folds(table: TransferTable, learn: Rows, by: str, seed: int) -> tuple[str, list[tuple[Rows, Rows]]]:
    """(what they leave out, folds of rows to fit on and rows to score). Units of the same kind as outside are left out
    where at least two of them can be; else speaking models; else games. No game is on both sides of a fold.
    """
    for kind in dict.fromkeys((by, "model")):
        folds = by_unit(table.column(UNITS[kind]), table.games, table.y, learn)
        if len(folds) >= 2:
            return kind, folds
    return _BY_GAME, by_game(table.games, table.y, learn, seed)


def _try(table: TransferTable, recipe: CellRecipe, settings: Sequence[Setting], rest: Rows, out: Rows) -> Floats:
    """(settings,): the AUROC of each on the rows left out, NaN where it cannot be fitted."""
    found: list[float] = []
    for _, group in groupby(settings, key=lambda setting: setting.get("context")):
        made = [recipe.made(setting) for setting in group]
        examples = table.examples(made[0].text.context)
        learn, others = [examples[i] for i in rest], [examples[i] for i in out]
        try:
            scores = recipe.detector.try_each(made, learn, table.y[rest], table.games[rest], others)
        except UsageError:
            found += [np.nan] * len(made)
            continue
        found += [_auroc(table, out, score) for score in scores]
    return np.array(found)


def _auroc(table: TransferTable, out: Rows, score: Floats) -> float:
    """Within games, as detectors are judged; over all games where none has both classes."""
    own = table.frame["game_id"].gather(out).rank("dense").to_numpy().astype(np.int64)
    data = Scored(table.y[out], score, np.zeros(len(out), np.int64), 1, own)
    (right,), (pairs,) = pairs_within(data)
    return float(right / pairs if pairs else pooled_auroc(data, np.ones((1, 1), np.float32))[0])


@dataclass(frozen=True, slots=True)
class Scores:
    """What the fits of one unit under one protocol give to every statement of the table.

    score: (n,), NaN where there is none; players: of every player of the table, after the whole game; unheard: (n,),
    whether no model of the statement's table spoke in a game that the detector learned from; reasons: why statements
    have no score; choices: of each fit of a detector, with how many statements it learned from, and its CPU seconds.
    """

    by: str
    protocol: str
    unit: str
    scorer: str
    score: Floats
    players: Floats
    unheard: Bools
    reasons: tuple[str, ...]
    choices: tuple[tuple[Choice, int, float], ...]


def fit_all(
    table: TransferTable, fits: Sequence[Fit], recipes: Sequence[CellRecipe], store: Store | None, progress: Progress
) -> list[Scores]:
    """Scores by unit, protocol and detector, in the order of the plan. Fits that the store has are read from it."""
    found: list[Scores] = []
    for recipe in recipes:
        what = f"{recipe.detector.kind}: statements learned from"
        named = Keys.of(table, recipe)
        keys = ["" if fit.reason else named.key(fit) for fit in fits]
        known = {
            "": None,
            **{key: store.read(key, fit, table) for key, fit in zip(keys, fits, strict=True) if key and store},
        }
        missing = {key: fit for key, fit in zip(keys, fits, strict=True) if key and not known.get(key)}
        todo, learned = sum(len(fit.learn) for fit in missing.values()), 0
        for key, fit in missing.items():
            progress(what, learned, todo)
            done = known[key] = _fit(table, fit, recipe)
            if store:
                store.write(key, fit, done, table)
            learned += len(fit.learn)
            progress(what, learned, todo)
        grouped: dict[tuple[str, str, str], list[tuple[Fit, Fitted]]] = {}
        for key, fit in zip(keys, fits, strict=True):
            done = known[key] or Fitted(np.empty(0), np.empty(0), Choice({}, "", ()), fit.reason)
            grouped.setdefault((fit.by, fit.protocol, fit.unit), []).append((fit, done))
        found += [_scores(table, recipe.detector.kind, *where, parts) for where, parts in grouped.items()]
    return found


def without_labels(table: TransferTable, fits: Sequence[Fit], scores: Sequence[Scores]) -> list[Scores]:
    """What detectors that learned nothing of a unit give to the games that those with labels of it score."""
    rows = {(fit.by, fit.unit): fit.score for fit in fits if fit.protocol not in PROTOCOLS and not fit.reason}
    found = []
    for part in scores:
        if part.protocol == LEFT_OUT and (part.by, part.unit) in rows:
            score, players = np.full_like(part.score, np.nan), np.full_like(part.players, np.nan)
            for kept, whole, at in (
                (score, part.score, rows[part.by, part.unit]),
                (players, part.players, table.seats(rows[part.by, part.unit])),
            ):
                kept[at] = whole[at]
            found.append(replace(part, protocol=with_labels(0), score=score, players=players))
    return found


def _fit(table: TransferTable, fit: Fit, recipe: CellRecipe) -> Fitted:
    began = time.process_time()
    choice = choose(table, fit.learn, fit.by, recipe)
    detector = recipe.made(choice.setting)
    examples = table.examples(detector.text.context)
    learn, score = ([examples[i] for i in rows] for rows in (fit.learn, fit.score))
    try:
        (scores,) = recipe.detector.try_each([detector], learn, table.y[fit.learn], table.games[fit.learn], score)
    except UsageError as error:
        return Fitted(np.empty(0), np.empty(0), choice, str(error))
    players = players_of(score, scores, detector)
    return Fitted(scores, players, choice, cpu_seconds=time.process_time() - began)


def players_of(examples: Sequence[Example], scores: Floats, detector: Detector | None = None) -> Floats:
    """The posterior of the players of scored games at their end, game after game; of those whose target is the role.
    Where it follows from the scores of statements, nothing is predicted again. detector: what gave the scores, if it is
    one.
    """
    scored: dict[str, tuple[GameMoment, dict[int, float]]] = {}
    for example, score in zip(examples, scores.tolist(), strict=True):
        if example.target == ROLE and example.seen:
            game = example.seen.transcript
            _, own = scored.setdefault(example.game_id, (GameMoment(game), {}))
            own[game.place(example.statement_id)] = score
    moments = [moment for moment, _ in scored.values()]
    if detector is not None and detector.judges_players:
        found = detector.player_posteriors(moments)
    else:
        found = posteriors_of_scores(moments, [own for _, own in scored.values()])
    seats = zip(moments, found, strict=True)
    return np.array([players[name] for moment, players in seats for name in moment.transcript.names], dtype=np.float64)


def _scores(
    table: TransferTable, scorer: str, by: str, protocol: str, unit: str, parts: Sequence[tuple[Fit, Fitted]]
) -> Scores:
    score, players = np.full(table.frame.height, np.nan), np.full(table.players.height, np.nan)
    unheard = np.zeros(table.frame.height, bool)
    models, speakers = table.frame["models"].to_list(), table.column("speaker_model")
    for fit, done in parts:
        if done.reason:
            continue
        score[fit.score] = done.score
        players[table.seats(fit.score)] = done.players
        learned_in = np.isin(table.games, np.unique(table.games[fit.learn]))
        heard = set(speakers[learned_in])
        unheard[fit.score] = [heard.isdisjoint(models[i] or ()) for i in fit.score]
    return Scores(
        *(by, protocol, unit, scorer, score, players, unheard),
        tuple(dict.fromkeys(done.reason for _, done in parts if done.reason)),
        tuple((done.choice, len(fit.learn), done.cpu_seconds) for fit, done in parts if not done.reason),
    )


FLOORS = (LENGTH, "position", BEST_WORD, "others", K_OF_N, ROLE_ORACLE)
"""The controls that stand beside what is left out; the last where no target is the role itself."""
JUDGED = "judge: "
"""The prefix of the names of judges that came with the corpora."""


def beside(table: TransferTable, fits: Sequence[Fit], seed: int, progress: Progress) -> list[Scores]:
    """The scores of controls, which learn what a detector learns from, and of judges, of each unit that is left out."""
    out = [fit for fit in fits if fit.protocol == LEFT_OUT]
    learned = [fit for fit in out if not fit.reason]
    found: list[Scores] = []
    names = FLOORS[: -1 if ROLE in table.targets.values() else None]
    for done, name in enumerate(names):
        progress("controls", done, len(names))
        if learned and CONTROLS[name].knows(table.frame):
            probe = CONTROLS[name].made(table.frame, seed)
            found += [_beside(table, fit, CONTROL + name, probe(fit.learn, fit.score, table.y)) for fit in learned]
    progress("controls", len(names), len(names))
    said = table.frame.select("corpus", "statement_id").with_row_index("row")
    for name in table.judges["judge"].unique().sort():
        rated = said.join(table.judges.filter(pl.col("judge") == name), on=["corpus", "statement_id"], how="inner")
        every = np.full(table.frame.height, np.nan)
        every[rated["row"].to_numpy()] = rated["score"].to_numpy()
        rows = [fit for fit in out if np.isfinite(every[fit.score]).any()]
        found += [_beside(table, fit, JUDGED + name, every[fit.score]) for fit in rows]
    return found


def _beside(table: TransferTable, fit: Fit, name: str, score: Floats) -> Scores:
    """score: (rows of the fit,)."""
    scores, players = np.full(table.frame.height, np.nan), np.full(table.players.height, np.nan)
    scores[fit.score] = score
    if np.isfinite(score).all():
        every = table.examples(0)
        players[table.seats(fit.score)] = players_of([every[row] for row in fit.score], score)
    unheard = np.zeros(table.frame.height, bool)
    return Scores(fit.by, fit.protocol, fit.unit, name, scores, players, unheard, (), ())
