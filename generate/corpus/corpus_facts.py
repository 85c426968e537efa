"""The facts of a corpus, counted from its Parquet, for the card, croissant.json and corpus.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from liescope.common.statistics import kappa
from liescope.data_cards.licences import NOT_STATED, OURS, Licensed, Terms, own_terms
from liescope.data_cards.tables import SPLITS, TABLES, TARGETS, scanned
from liescope.generate.corpus.read import FORMAT, SILENT, DataFile, RunFacts, data_file, sha256_of
from liescope.labeling.label import LOST_TEXT
from liescope.labeling.ledger import BY_MODEL, PROMISED


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """origins: how many claims each found; classes, kinds: how many have each; promises: how many were kept, were
    broken and stayed open (these three without claims found by models, which make no labels); lying:
    statements of a deceiving role that have label_claim, and those of them in which it is true; others: the same for
    the other statements; raw, kappa: how far label_claim and label_role agree on statements with both, None if
    undefined.
    """

    origins: Mapping[str, int]
    classes: Mapping[str, int]
    kinds: Mapping[str, int]
    promises: Mapping[str, int]
    lying: tuple[int, int]
    others: tuple[int, int]
    raw: float | None
    kappa: float | None


def count_claims(claims: pl.LazyFrame, statements: pl.LazyFrame) -> ClaimFacts:
    """Count the facts of the tables `claims` and `statements`."""
    both = statements.drop_nulls(["label_role", "label_claim"]).group_by("label_role", "label_claim").len()
    counts = {(role, claim): count for role, claim, count in both.collect(engine="streaming").iter_rows()}
    table = np.array([[counts.get((role, claim), 0) for claim in (False, True)] for role in (False, True)])
    raw, agreed = (None if np.isnan(share) else float(share) for share in kappa(table))
    fate = pl.when("kept").then(pl.lit("kept")).when(~pl.col("kept")).then(pl.lit("broken")).otherwise(pl.lit("open"))
    own = claims.filter(~pl.col("origin").str.starts_with(BY_MODEL))
    promises = own.filter(pl.col("kind").is_in(sorted(PROMISED))).select(fate=fate)
    return ClaimFacts(
        origins=counted(claims, "origin"),
        classes=counted(own, "claim_class"),
        kinds=counted(own, "kind"),
        promises=counted(promises, "fate"),
        lying=_labelled(counts, role=True),
        others=_labelled(counts, role=False),
        raw=raw,
        kappa=agreed,
    )


def _labelled(counts: Mapping[tuple[bool, bool], int], role: bool) -> tuple[int, int]:
    true = counts.get((role, True), 0)
    return true + counts.get((role, False), 0), true


def counted(frame: pl.LazyFrame, column: str) -> dict[str, int]:
    """How often each value of a text column occurs, most frequent first."""
    table = frame.group_by(column).len().sort("len", column, descending=[True, False]).collect(engine="streaming")
    return dict(table.iter_rows())


NOT_SAID = Terms("games whose run does not say whose they are", f"Licence {NOT_STATED}.")


def licences_of(games: pl.LazyFrame, terms: Mapping[str, Mapping[str, Terms]]) -> tuple[Licensed, ...]:
    """The terms of the games of a corpus, by origin. games: the table; terms: by run, and by origin."""
    counts: Counter[tuple[str, Terms]] = Counter()
    kinds = games.group_by("run", "origin", "source").len().sort("origin", "run", "source")
    for run, origin, source, count in kinds.collect(engine="streaming").iter_rows():
        of_origin = own_terms(source) if origin == OURS else terms.get(run, {}).get(origin, NOT_SAID)
        counts[origin, of_origin] += count
    return tuple(Licensed(origin, of_origin, count) for (origin, of_origin), count in counts.items())


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """One label over all statements: how many have it, in how many it is true, and why it is null in the others."""

    target: str
    labelled: int
    positive: int
    nulls: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model: games in which it holds a seat, its statements, how many of them have a known role, and how many a
    deceiving role.
    """

    model: str
    games: int
    statements: int
    known: int
    deceiving: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a corpus is built from. key_variables: those that the runs' players name with key_env; hold_out: models
    whose games all go to the test split; transcript: statements include what was said before them; official_splits:
    games that keep the split of their publishers; game_texts: what the card says about games from elsewhere, by name;
    withdrawn: statements left out, because their speakers withdrew them.
    """

    runs: tuple[RunFacts, ...]
    key_variables: tuple[str, ...] = ()
    hold_out: tuple[str, ...] = ()
    transcript: bool = False
    official_splits: int = 0
    game_texts: Mapping[str, str] = field(default_factory=dict)
    withdrawn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFacts(Origin):
    """Facts of one corpus.

    liescope: the version that built it; built: the day, in UTC; licences: the terms of the words, by origin; rows:
    config to split to count; games, failed: finished and failed games (failures: reason to count); silent: finished
    games with a seat of a model that gave no usable reply at all; kinds: game to count; judges: judges that gave the
    assessments, to count of games; sources: source to statements; seat_sources: the sources of all seats, and of what
    was said from them; roles_known, roles_deceiving: split to statements whose speaker's role is known, and deceives;
    silences, fallbacks, truncated: how often, over all games; repeated: statements whose text occurs more than once,
    word for word; test_in_train: statements of the test split whose text also occurs in the train split; lost:
    statements of which only a backslash is left.
    """

    name: str
    liescope: str
    built: str
    licences: tuple[Licensed, ...]
    rows: Mapping[str, Mapping[str, int]]
    games: int
    failed: int
    failures: Mapping[str, int]
    silent: int
    kinds: Mapping[str, int]
    judges: Mapping[str, int]
    sources: Mapping[str, int]
    seat_sources: tuple[str, ...]
    models: tuple[ModelFacts, ...]
    labels: tuple[LabelFacts, ...]
    claims: ClaimFacts
    roles_known: Mapping[str, int]
    roles_deceiving: Mapping[str, int]
    silences: int
    fallbacks: int
    truncated: int
    repeated: int
    test_in_train: int
    lost: int
    files: tuple[DataFile, ...]

    @property
    def statements(self) -> int:
        return sum(self.rows["statements"].values())

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, as corpus.json keeps it."""
        return {"format": FORMAT, **asdict(self)}


def count_facts(
    folder: Path, name: str, version: str, built: str, origin: Origin, terms: Mapping[str, Mapping[str, Terms]]
) -> CorpusFacts:
    """Count the facts of the Parquet files in a folder. terms: of imported games, by run and origin."""
    files = tuple(_file(folder, config, split) for config in TABLES for split in SPLITS)
    rows = {config: {file.split: file.rows for file in files if file.config == config} for config in TABLES}
    games = _scan(folder, "games")
    statements = _scan(folder, "statements")
    status = counted(games, "status")
    seats = _seats(games)
    repeated, test_in_train = _repeated(statements)
    return CorpusFacts(
        name=name,
        liescope=version,
        built=built,
        **{part.name: getattr(origin, part.name) for part in fields(origin)},
        licences=licences_of(games, terms),
        rows=rows,
        games=status.get("done", 0),
        failed=status.get("failed", 0),
        failures=counted(games.filter(pl.col("status") == "failed"), "failure"),
        silent=_sum(games.select(silent=SILENT), "silent"),
        kinds=counted(games, "game"),
        judges=counted(games.filter(pl.col("judge").is_not_null()), "judge"),
        sources=counted(statements, "source"),
        seat_sources=tuple(sorted({*counted(seats, "source"), *counted(statements, "source")})),
        models=_models(seats, statements),
        labels=tuple(_label(statements, target) for target in TARGETS),
        claims=count_claims(_scan(folder, "claims"), statements),
        roles_known=counted(statements.filter(pl.col("label_role").is_not_null()), "split"),
        roles_deceiving=counted(statements.filter("label_role"), "split"),
        silences=_sum(games, "silences"),
        fallbacks=_sum(games, "fallbacks"),
        truncated=_sum(statements, "truncated"),
        repeated=repeated,
        test_in_train=test_in_train,
        lost=_sum(statements.select(lost=pl.col("read_notes").list.contains(LOST_TEXT)), "lost"),
        files=files,
    )


def _scan(folder: Path, config: str) -> pl.LazyFrame:
    return scanned(config, [folder / data_file(config, split) for split in SPLITS])


def _file(folder: Path, config: str, split: str) -> DataFile:
    path = folder / data_file(config, split)
    state, rows = path.stat(), pq.read_metadata(path).num_rows
    digest = sha256_of(path, state.st_size, state.st_mtime_ns)
    return DataFile(data_file(config, split), config, split, rows, state.st_size, digest)


def _sum(frame: pl.LazyFrame, column: str) -> int:
    return int(frame.select(pl.col(column).sum()).collect(engine="streaming").item())


def _seats(games: pl.LazyFrame) -> pl.LazyFrame:
    """One row per seat: game_id, model, source."""
    seat = pl.col("seats").struct
    return games.select("game_id", "seats").explode("seats").select("game_id", seat.field("model", "source"))


def _repeated(statements: pl.LazyFrame) -> tuple[int, int]:
    """Statements whose text occurs more than once, and those of the test split whose text is in train. Texts are
    counted by a 64-bit hash, to keep memory small.
    """
    in_split = [(pl.col("split") == name).sum().alias(name) for name in ("train", "test")]
    texts = statements.group_by(pl.col("text").hash()).agg(pl.len().alias("times"), *in_split)
    counts = texts.select(
        pl.col("times").filter(pl.col("times") > 1).sum().alias("repeated"),
        pl.col("test").filter(pl.col("train") > 0).sum().alias("test_in_train"),
    ).collect(engine="streaming")
    repeated, test_in_train = counts.row(0)
    return int(repeated), int(test_in_train)


def _models(seats: pl.LazyFrame, statements: pl.LazyFrame) -> tuple[ModelFacts, ...]:
    played = seats.group_by("model").agg(pl.col("game_id").n_unique().alias("games"))
    said = statements.group_by("speaker_model").agg(
        pl.len().alias("statements"),
        pl.col("label_role").count().alias("known"),
        pl.col("label_role").sum().alias("deceiving"),
    )
    table = (
        played.join(said, left_on="model", right_on="speaker_model", how="left")
        .with_columns(pl.col("statements", "known", "deceiving").fill_null(0))
        .sort("model")
        .collect(engine="streaming")
    )
    return tuple(
        ModelFacts(*row) for row in table.select("model", "games", "statements", "known", "deceiving").iter_rows()
    )


def _label(statements: pl.LazyFrame, target: str) -> LabelFacts:
    label = f"label_{target}"
    labelled, positive = (
        statements.select(pl.col(label).count(), pl.col(label).sum().alias("positive"))
        .collect(engine="streaming")
        .row(0)
    )
    missing = counted(statements.filter(pl.col(label).is_null()), f"{label}_null")
    return LabelFacts(target, labelled, positive, missing)
