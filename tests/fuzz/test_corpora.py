"""A corpus or a model may come from anyone: what is wrong with it is one line, also where the stranger signed it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

import liescope
from liescope.benchmark.analyses.frames import load_games
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.data_cards.tables import TABLES
from liescope.detectors.examples import labelled, read_statements
from liescope.generate.corpus.read import check, collected
from tests.fuzz.mutations import damage_file, damaged_json, seeds, tried


def spoil(folder: Path, random: Random) -> None:
    """Damage one file of a corpus, or change one of its tables; sign it anew two times in three."""
    kind = random.random()
    if kind < 0.3:
        damage_file(folder / "corpus.json", random)
        return
    file = random.choice(sorted(folder.rglob("*.parquet")))
    if kind < 0.5:
        damage_file(file, random)
    else:
        _change_table(file, random)
    if random.random() < 0.67:
        _sign(folder, file)


def _change_table(file: Path, random: Random) -> None:
    """Change one value or row of a table, as far as its columns can hold the change."""
    table = pq.read_table(file)
    try:
        changed = pa.Table.from_pylist(damaged_json(table.to_pylist(), random), schema=table.schema)
    except (pa.ArrowException, TypeError, ValueError, AttributeError, OverflowError):
        column = random.randrange(table.num_columns)
        changed = table.set_column(column, table.schema.field(column), pa.nulls(len(table), table.schema[column].type))
    pq.write_table(changed, file)


def _sign(folder: Path, file: Path) -> None:
    facts = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    name = str(file.relative_to(folder))
    for listed in facts["files"]:
        if listed["path"] == name:
            listed["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    with suppress(pa.ArrowException, OSError):  # no Parquet any more
        facts["rows"][file.parent.name][file.stem.split("-")[0]] = pq.read_metadata(file).num_rows
    (folder / "corpus.json").write_text(json.dumps(facts), encoding="utf-8")


def read_tables(folder: Path) -> None:
    check(folder)
    for config in TABLES:
        collected(liescope.read(folder, config), folder)


def read_examples(folder: Path) -> None:
    labelled(read_statements(folder), "role", 2)


def train(folder: Path) -> None:
    out = folder.with_name("model")
    try:
        liescope.train("tfidf", folder, out=out, folds=0)
    finally:
        shutil.rmtree(out, ignore_errors=True)


READERS: tuple[Callable[[Path], object], ...] = (
    *(
        read_tables,
        read_examples,
        lambda folder: load_conditions([folder], pool=True),
        lambda folder: load_games([folder]),
    ),
)


@seeds("corpora")
def test_a_corpus_that_somebody_changed_gives_a_result_or_one_line(
    made: dict[str, Path], tmp_path: Path, seeds: range
) -> None:
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        folder = shutil.copytree(made["corpus"], tmp_path / str(seed))
        spoil(folder, Random(seed))
        for reader in (READERS[seed % len(READERS)], *((train,) if seed % 10 == 0 else ())):
            outcomes[tried(partial(reader, folder))] += 1
        shutil.rmtree(folder)
    assert min(outcomes["refused"], outcomes["read"]) > len(seeds) // 10


def score(folder: Path) -> None:
    scores = liescope.load(folder).score(["I investigated Bob. He is the mafioso."])
    assert 0 <= scores["score"][0] <= 1


@seeds("models")
def test_a_damaged_model_scores_or_is_refused_in_one_line(made: dict[str, Path], tmp_path: Path, seeds: range) -> None:
    outcomes: Counter[str] = Counter()
    files = sorted(path.name for path in (made["model"]).iterdir() if path.is_file())
    for seed in seeds:
        random = Random(seed)
        folder = shutil.copytree(made["model"], tmp_path / str(seed))
        damage_file(folder / random.choice([*files, "model.json", "model.json"]), random)
        outcomes[tried(partial(score, folder))] += 1
        shutil.rmtree(folder)
    assert min(outcomes["refused"], outcomes["read"]) > len(seeds) // 10
