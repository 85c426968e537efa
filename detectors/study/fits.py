"""What detectors, controls and judges give in each trial.

A detector's options are chosen on inner folds that leave units out as the trials do. Scores of each fit are kept on
disk under a hash of everything they depend on: a run that was killed goes on, and a later one with another corpus or
detector fits only what is new.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.errors import UsageError
from liescope.common.reading import regular
from liescope.common.statistics import Floats
from liescope.detectors.detector import ROLE, Detector, Progress, posteriors_of_scores
from liescope.detectors.detector_registry import detector_class, versions_of
from liescope.detectors.folds import Rows, by_game, by_unit
from liescope.detectors.study.controls import BEST_WORD, CONTROLS, K_OF_N, LENGTH, ROLE_ORACLE
from liescope.detectors.study.corpora import JUDGED, UNITS, TransferTable
from liescope.detectors.study.metrics import pooled_auroc, within_games
from liescope.detectors.study.plans import LEFT_OUT, Trial
from liescope.detectors.study.schemes import Part
from liescope.detectors.study.scores import CONTROL, scored
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.transcript import GameMoment
from liescope.labeling import claims

Setting = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recipe:
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
        return self.detector(text, self.detector.options_type.of(chosen, self.detector.kind))


def recipes_of(
    kinds: Sequence[str], context: int | None, mask_role_words: bool, seed: int, options: Mapping[str, Any]
) -> list[Recipe]:
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
        grid = {name: list(values) for name, values in chosen.grid.items() if name not in settled}
        recipe = Recipe(chosen, TextConfig(mask_role_words=mask_role_words), fixed, grid, seed)
        made = [recipe.made(setting) for setting in recipe.settings()]
        made[0].prepare()
        recipes.append(recipe)
    return recipes


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A detector that learned. setting: the chosen values; left_out: what the inner folds left out, "" if nothing was
    chosen; tried: the mean AUROC of each setting on what they left out, within games if these have pairs; None where it
    could not be fitted; score: in [0, 1], of the statements that it scores, then of the players of their games; why:
    why there is none, else empty; learned: from how many statements; seconds: of the processor.
    """

    setting: Setting
    left_out: str = ""
    tried: Sequence[tuple[Setting, float | None]] = ()
    score: Floats = field(default_factory=lambda: np.empty(0))
    why: str = ""
    learned: int = 0
    seconds: float = 0.0

    @classmethod
    def read(cls, file: Path) -> Fit | None:
        """What was kept; None if nothing was, or if its file is damaged."""
        try:
            (row,) = pq.read_table(regular(file)).to_pylist()
            return cls(**json.loads(row["facts"]), score=np.array(row["score"]))
        except (OSError, pa.ArrowException, ValueError, LookupError, TypeError):
            return None

    def keep(self, file: Path) -> None:
        """Raises OSError."""
        facts = asdict(self)
        row = pa.table({"score": [facts.pop("score")], "facts": [json.dumps(facts)]})
        pq.write_table(row, partial := file.with_suffix(".partial"), compression="zstd")
        partial.replace(file)


def folder_of_fits(out: Path) -> Path:
    """That inside a report's folder. Raises UsageError if `out` holds anything else, or cannot be written."""
    fits = out / "fits"
    if out.exists() and not fits.is_dir() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not a report of transfer; choose another --out")
    try:
        fits.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out} cannot be written ({error.strerror or error}); choose another --out") from error
    return fits


Shared = Mapping[tuple[str, bytes], tuple[Rows, Rows]]
"""By the kind of unit and what is learned from: the rows that are learned from, and all that are scored then."""


def files_of(fits: Path, table: TransferTable, recipe: Recipe, shared: Shared) -> dict[tuple[str, bytes], Path]:
    """The file of each fit, named by a hash of the statements that are learned from and scored, with context, units and
    their games, of the labels that are learned, of the detector with its options and grid, and of the code and packages
    that do it.
    """
    kind, rooms = recipe.detector.kind, (Path(__file__).parents[1], Path(claims.__file__).parent)
    code = b"".join(file.read_bytes() for room in rooms for file in sorted(room.rglob("*.py")))
    facts = (kind, recipe.text, recipe.fixed, recipe.grid, recipe.seed, versions_of(kind), _hash(code))
    examples = table.examples(max(recipe.made(setting).text.context for setting in recipe.settings()))
    units = table.frame.select(*UNITS.values()).iter_rows()
    games = {key: game.digest() for key, game in table.transcripts.items()}
    rows = [_hash(one, names, games[one.game_id]) for one, names in zip(examples, units, strict=True)]
    found = {}
    for (by, key), (learn, score) in shared.items():
        learned, others = (b"".join(rows[at] for at in part) for part in (learn, score))
        name = _hash(facts, by, learned, table.y[learn].tobytes(), others).hex()[:32]
        found[by, key] = fits / f"{name}.parquet"
    return found


def _hash(*facts: object) -> bytes:
    return hashlib.sha256(repr(facts).encode(errors="backslashreplace")).digest()


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What a scorer gives in a trial. score: (n + m,), to the statements of the table, then to its players after the
    whole game; NaN where there is none; why: why statements have none; fits: of a detector, those that gave scores.
    """

    trial: Trial
    scorer: str
    score: Floats
    why: str = ""
    fits: Sequence[Fit] = ()


def fit_all(
    table: TransferTable, trials: Sequence[Trial], recipes: Sequence[Recipe], kept: Path | None, progress: Progress
) -> list[Scores]:
    """Scores of each detector in each trial. Trials that learn from the same rows share a fit. kept: the folder of
    fits; those that it has are read.
    """
    shared: dict[tuple[str, bytes], tuple[Rows, Rows]] = {}
    for by, part in ((trial.by, part) for trial in trials for part in trial.parts if len(part.learn)):
        learn, score = shared.get(key := (by, part.learn.tobytes()), (part.learn, part.score))
        shared[key] = learn, np.union1d(score, part.score)
    found: list[Scores] = []
    for recipe in recipes:
        kind, files = recipe.detector.kind, files_of(kept, table, recipe, shared) if kept else {}
        fits = {key: fit for key, file in files.items() if (fit := Fit.read(file)) is not None}
        todo, done = {key: rows for key, rows in shared.items() if key not in fits}, 0
        for key, (learn, score) in todo.items():
            fits[key] = _fit(table, recipe, key[0], learn, score)
            if key in files:
                fits[key].keep(files[key])
            done += len(learn)
            progress(f"{kind}: statements learned from", done, sum(len(rows) for rows, _ in todo.values()))
        for trial in trials:
            every = np.full(table.frame.height + table.players.height, np.nan)
            own = [(part.score, (trial.by, part.learn.tobytes())) for part in trial.parts if len(part.learn)]
            gave = [(rows, key) for rows, key in own if not fits[key].why]
            for rows, key in gave:
                at = table.judged(rows)
                every[at] = fits[key].score[np.searchsorted(table.judged(shared[key][1]), at)]
            why = "; ".join(dict.fromkeys(filter(None, [trial.why, *(fits[key].why for _, key in own)])))
            found.append(Scores(trial, kind, every, why, [fits[key] for _, key in gave]))
    return found


def _fit(table: TransferTable, recipe: Recipe, by: str, learn: Rows, score: Rows) -> Fit:
    began = time.process_time()
    fit = choose(table, learn, by, recipe)
    detector = recipe.made(fit.setting)
    try:
        (said,) = _learned(table, [detector], learn, score)
    except UsageError as error:
        return replace(fit, why=str(error))
    every = np.r_[said, players_of(table, score, said, detector)]
    return replace(fit, score=every, learned=len(learn), seconds=time.process_time() - began)


def _learned(table: TransferTable, made: Sequence[Detector], learn: Rows, score: Rows) -> Floats:
    """(detectors, scored rows): what detectors that read the same text give. UsageError where they cannot learn."""
    examples = table.examples(made[0].text.context)
    shown, others = ([examples[row] for row in rows] for rows in (learn, score))
    return type(made[0]).try_each(made, shown, table.y[learn], table.games[learn], others)


def choose(table: TransferTable, learn: Rows, by: str, recipe: Recipe) -> Fit:
    """The first setting of the grid whose mean AUROC over the inner folds of the rows that are learned from is within
    one standard error of the best (Breiman et al. 1984, "Classification and regression trees", section 3.4.3): settings
    stand in order, those that hold a detector back most first, and few folds of unlike units tell little.
    """
    settings = recipe.settings()
    left_out, folds = _inner_folds(table, learn, by, recipe.seed) if len(settings) > 1 else ("", [])
    if not folds:
        return Fit(settings[0])
    each = np.array([_try(table, recipe, settings, *fold) for fold in folds])
    means = [value if np.isfinite(value) else None for value in each.mean(axis=0).tolist()]
    return Fit(settings[_first_of_the_best(each)], left_out, list(zip(settings, means, strict=True)))


def _first_of_the_best(each: Floats) -> int:
    """each: (folds, settings), NaN where a setting could not be fitted; the first where none could."""
    found = each.mean(axis=0)
    if not np.isfinite(found).any():
        return 0
    behind = each[:, [np.nanargmax(found)]] - each
    error = behind.std(axis=0, ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.zeros(each.shape[1])
    return int(np.flatnonzero(behind.mean(axis=0) <= error)[0])


def _inner_folds(table: TransferTable, learn: Rows, by: str, seed: int) -> tuple[str, list[tuple[Rows, Rows]]]:
    """(what they leave out, folds of rows to fit on and rows to score). Units of the same kind as outside are left out
    where at least two of them can be; else speaking models; else games. No game is on both sides of a fold.
    """
    for kind in dict.fromkeys((by, "model")):
        folds = by_unit(table.units(kind), table.games, table.y, learn)
        if len(folds) >= 2:
            return kind, folds
    return "games", by_game(table.games, table.y, learn, seed)


def _try(table: TransferTable, recipe: Recipe, settings: Sequence[Setting], rest: Rows, out: Rows) -> list[float]:
    """The AUROC of each setting on the rows left out, within games, as detectors are judged, or over all games where
    none has both classes; NaN where it cannot be fitted.
    """
    found: list[float] = []
    for _, group in groupby(settings, key=lambda setting: setting.get("context")):
        made = [recipe.made(setting) for setting in group]
        try:
            scores = _learned(table, made, rest, out)
        except UsageError:
            found += [np.nan] * len(made)
            continue
        for data in (scored(table.frame[out].with_columns(score=score)) for score in scores):
            alike = np.ones((1, data.games), np.float32)
            within = within_games(data, alike)
            found += (within if np.isfinite(within[0]) else pooled_auroc(data, alike)).tolist()
    return found


def players_of(table: TransferTable, rows: Rows, scores: Floats, detector: Detector | None = None) -> Floats:
    """The posterior of the players of scored games at their end, those of `TransferTable.seats`. Where it follows from
    the scores of statements, nothing is predicted again. detector: what gave the scores, if it is one.
    """
    seats = table.players[table.seats(rows)].select("game_id", "player")
    said: dict[str, dict[int, float]] = {game: {} for game in seats["game_id"]}
    for game, key, score in zip(*table.frame[rows].select("game_id", "statement_id"), scores.tolist(), strict=True):
        if game in said:
            said[game][table.transcripts[game].place(key)] = score
    moments = [GameMoment(table.transcripts[game]) for game in said]
    if detector is not None and detector.judges_players:
        found = detector.player_posteriors(moments)
    else:
        found = posteriors_of_scores(moments, list(said.values()))
    posterior = dict(zip(said, found, strict=True))
    return np.array([posterior[game][player] for game, player in seats.iter_rows()], dtype=np.float64)


FLOORS = (LENGTH, "position", BEST_WORD, "others", K_OF_N, ROLE_ORACLE)
"""The controls that stand beside what is left out; the last where no target is the role itself."""


def beside(table: TransferTable, trials: Sequence[Trial], seed: int, progress: Progress) -> list[Scores]:
    """The scores of controls, which learn what a detector learns from, and of judges, of each unit that is left out."""
    out = [(trial, trial.parts[0]) for trial in trials if trial.protocol == LEFT_OUT]
    found: list[Scores] = []
    controls = [name for name in FLOORS if name != ROLE_ORACLE or ROLE not in table.targets.values()]
    for done, name in enumerate(controls):
        progress("controls", done, len(controls))
        if CONTROLS[name].knows(table.frame):
            probe = CONTROLS[name].made(table.frame, seed)
            learned = ((one, part, probe(part.learn, part.score, table.y)) for one, part in out if not one.why)
            found += [_beside(table, CONTROL + name, *one) for one in learned]
    progress("controls", len(controls), len(controls))
    for name in sorted(column for column in table.frame.columns if column.startswith(JUDGED)):
        rated = table.frame[name].to_numpy()
        given = ((one, part, rated[part.score]) for one, part in out if np.isfinite(rated[part.score]).any())
        found += [_beside(table, name, *one) for one in given]
    return found


def _beside(table: TransferTable, scorer: str, trial: Trial, part: Part, said: Floats) -> Scores:
    every = np.full(table.frame.height + table.players.height, np.nan)
    every[part.score] = said
    if np.isfinite(said).all():
        every[table.judged(part.score)] = np.r_[said, players_of(table, part.score, said)]
    return Scores(trial, scorer, every)
