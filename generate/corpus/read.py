"""Reading a corpus, from a folder or from the Hub: lazily, and only if its files are unchanged since `build`.

Splits are made by game: all rows of a game, and of its siblings, are in the same split, in every config. Turns to speak
are found from the tables, used or not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import polars as pl
from pydantic import BaseModel, model_validator

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.reading import Reading, read_text, regular
from liescope.common.stores import local
from liescope.common.text import number_of
from liescope.data_cards.licences import Licensed
from liescope.data_cards.tables import SPLITS, TABLES, arrow_schema, scanned
from liescope.games.record import GameRecord, Status
from liescope.generate.corpus.hub import download, hub_repo
from liescope.labeling.record_rows import family_of

if TYPE_CHECKING:
    from liescope.generate.importers.receipt import Receipt

FORMAT = 6
FACTS_FILE, CARD_FILE, CROISSANT_FILE = "corpus.json", "README.md", "croissant.json"


def data_file(config: str, split: str) -> str:
    """The path of a split's file within a corpus."""
    return f"{config}/{split}-00000.parquet"


@dataclass(frozen=True, repr=False, eq=False)
class CorpusInMemory:
    """The corpus that `build` would make of some games. tables: all but calls; licences: as in corpus.json; receipt: of
    the rows that they were read from, None for games that were not.
    """

    name: str
    tables: Mapping[str, pl.DataFrame]
    licences: Sequence[Mapping[str, Any]]
    receipt: Receipt | None = None

    def __str__(self) -> str:
        return self.name


Source = str | os.PathLike[str]
Corpus = Source | CorpusInMemory


def read(source: Corpus, config: str, split: str | None = None) -> pl.LazyFrame:
    """The rows of one config, of one split or of all; nothing is loaded before the frame is collected.

    source: a corpus folder, a dataset on the Hub as "USER/NAME" or "hf://datasets/USER/NAME", or a corpus in memory.
    Before a file is read, its SHA-256 is compared with the one in corpus.json.

    Raises UnknownName for a config or split, and BadData if the folder is not a corpus or a file is missing, damaged,
    changed since `build` wrote it, or in another layout.
    """
    if config not in TABLES:
        raise UnknownName("config", config, TABLES)
    if split is not None and split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    if isinstance(source, CorpusInMemory):
        rows = source.tables[config].lazy()
        return rows.filter(pl.col("split") == split) if split else rows
    folder = corpus_folder(source, config)
    facts = read_facts(folder)
    return scanned(config, [whole_file(folder, config, name, facts) for name in ([split] if split else SPLITS)])


def collected(frame: pl.LazyFrame, source: Corpus) -> pl.DataFrame:
    """The rows of a frame that `read` returned. Raises BadData if the file is invalid Parquet although its SHA-256
    matches, which shows only when its rows are read.
    """
    try:
        return frame.collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise unreadable(source, error) from error


def unreadable(source: Corpus, error: BaseException) -> BadData:
    """The error for a table that cannot be read."""
    words = " ".join(str(error).split())
    return BadData(f"{source} holds a table that cannot be read ({words}); build the corpus again")


def corpus_folder(source: Source, *configs: str) -> Path:
    """The folder of a corpus; for one on the Hub, a copy in the Hub's cache with these configs."""
    folder = local(source)
    if folder.exists() or (repo := hub_repo(source)) is None:
        return folder
    return download(repo, [FACTS_FILE, *(f"{config}/*.parquet" for config in configs)])


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run that a corpus was built from. plan, versions: of its run.json, without addresses of endpoints."""

    name: str
    plan: Mapping[str, Any]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DataFile:
    """One Parquet file: its path in the corpus, rows, size in bytes, and SHA-256 in hexadecimal."""

    path: str
    config: str
    split: str
    rows: int
    bytes: int
    sha256: str


class _Facts(BaseModel):
    """What is read of corpus.json: each config has each split exactly once."""

    name: str
    liescope: str
    rows: dict[str, dict[str, int]]
    files: list[DataFile]
    runs: list[RunFacts]
    licences: list[Licensed]
    seat_sources: list[str]
    key_variables: list[str]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        expected = sorted((config, split) for config in TABLES for split in SPLITS)
        if sorted((config, split) for config, counts in self.rows.items() for split in counts) != expected:
            raise ValueError("it does not count the rows of every config and split")
        if sorted(file.path for file in self.files) != sorted(data_file(*pair) for pair in expected):
            raise ValueError("it does not give the SHA-256 of every file")
        return self


def read_facts(source: Source) -> dict[str, Any]:
    """The contents of corpus.json. Raises BadData if it is missing or is not what `build` wrote."""
    folder = corpus_folder(source)
    path = folder / FACTS_FILE
    if folder.is_file():
        raise BadData(
            f"{folder} is a file and not a corpus; import it, and use the run instead: liescope import text {folder} "
            "--out runs/NAME (conversations: import chat)"
        )
    if not path.is_file():
        raise BadData(
            f"{folder} is not a corpus: it has no {FACTS_FILE}; make one with: liescope build runs/NAME --out …"
        )
    with Reading(path, "build the corpus again"):
        text = read_text(path)
        facts = json.loads(text)
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        number = facts.get("format") if isinstance(facts, dict) else None
        found = f"has format {number}" if isinstance(number, int) else "names no format"
        raise BadData(f"{path} {found}, and this version reads format {FORMAT}; build the corpus again from its runs")
    with Reading(path, "build the corpus again"):
        return facts | _Facts.model_validate_json(text, strict=True).model_dump(mode="json")


def is_corpus(folder: Path) -> bool:
    """Whether a folder contains a corpus built by any version of `build`."""
    return "liescope" in read_built(folder)


def read_built(folder: Path) -> Mapping[str, Any]:
    """The corpus.json of any version of `build`, unchecked; empty if there is none."""
    try:
        facts = json.loads(read_text(folder / FACTS_FILE))
    except (BadData, OSError, ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, Mapping) else {}


def licences_of(source: Corpus) -> Sequence[Mapping[str, Any]]:
    """The terms of a corpus's words, as corpus.json lists them. Raises BadData."""
    return source.licences if isinstance(source, CorpusInMemory) else read_facts(source)["licences"]


def check(source: Corpus) -> None:
    """Raises BadData if a file of the corpus is damaged or a game has rows in two splits."""
    if isinstance(source, CorpusInMemory):
        return
    folder = corpus_folder(source, *TABLES)
    ids = [read(folder, config).select("game_id", "split") for config in TABLES]
    repeated = pl.concat(ids).unique().group_by("game_id").len().filter(pl.col("len") > 1)
    leaked = collected(repeated.select(pl.col("game_id").sort()), source)
    if leaked.height:
        raise BadData(
            f"{source}: game {leaked.item(0, 0)!r} has rows in more than one split ({leaked.height} such games), "
            "so a detector would be tested on games that it was trained on; build the corpus again"
        )


def whole_file(folder: Path, config: str, split: str, facts: Mapping[str, Any]) -> Path:
    """A Parquet file of a corpus. Raises BadData if it is not as `build` wrote it."""
    import pyarrow as pa  # imported here, since help pages and scoring texts do without
    import pyarrow.parquet as pq

    name = data_file(config, split)
    path, rows = folder / name, facts["rows"][config][split]
    (expected,) = (file["sha256"] for file in facts["files"] if file["path"] == name)
    try:
        state = regular(path).stat()
        head = pq.read_metadata(path)
        digest = sha256_of(path, state.st_size, state.st_mtime_ns)
        schema = head.schema.to_arrow_schema()
    except FileNotFoundError as error:
        raise BadData(f"{path} is missing; build the corpus again") from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadData(f"{path} is truncated or damaged; build the corpus again") from error
    if not schema.equals(arrow_schema(config)):
        odd = sorted({field.name for field in {*schema} ^ {*arrow_schema(config)}})
        named = ", ".join(odd[:3]) + (f" and {len(odd) - 3} more" if odd[3:] else "")
        raise BadData(f"{path} has other columns than this version writes ({named}); build the corpus again")
    if head.num_rows != rows:
        raise BadData(f"{path} has {head.num_rows} rows where {FACTS_FILE} counts {rows}; build the corpus again")
    if digest != expected:
        raise BadData(
            f"{path} was changed after it was built: its SHA-256 is not the one in {FACTS_FILE}; build the corpus again"
        )
    return path


@lru_cache(maxsize=1024)
def sha256_of(path: Path, size: int, changed: int) -> str:  # noqa: ARG001
    """The SHA-256 of a file in hexadecimal. size, changed: its size and modification time, so that a
    changed file is read again.
    """
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


_MARKED = pl.col("meta").str.json_path_match("$.silent").is_not_null().fill_null(False)
SILENT = (pl.col("status") == Status.DONE.value) & _MARKED
"""Whether a game ended in which a seat, of a model, gave no usable reply at all: who wins it is in no count."""


def silent_note(games: pl.DataFrame) -> tuple[str, ...]:
    """What to say of such games where statements are read. games: that table of a corpus."""
    count = number_of(int(games.select(SILENT.sum()).item()), "game")
    words = "no reply of one of the models could be used; who won them is in no count, what the others said is here"
    return () if count.startswith("0 ") else (f"In {count}, {words}.",)


def silent_turns(spoken: pl.DataFrame, games: pl.DataFrame) -> pl.DataFrame:
    """One row per turn to speak in rounds of discussion (game_id, day, speaker, speaker_model, speaker_role, silent).

    A silence leaves no statement; it is found as a player who was in the game in a round without speaking. Games in
    which this does not find as many silences as the game counted are left out: there, the floor is given in other ways.
    spoken, games: those tables of a corpus.
    """
    talk = spoken.filter(pl.col("phase") == "discussion")
    rounds = talk.group_by("game_id", "day", "round").agg(
        speaker=pl.col("alive").explode(empty_as_null=False, keep_nulls=False).unique(), said=pl.col("speaker")
    )
    turns = rounds.explode("speaker", empty_as_null=False, keep_nulls=False).with_columns(
        silent=~pl.col("said").list.contains(pl.col("speaker"))
    )
    counted = turns.group_by("game_id").agg(derived=pl.col("silent").sum())
    sure = games.join(counted, on="game_id").filter(pl.col("derived") == pl.col("silences")).select("game_id", "seats")
    seats = (
        sure.explode("seats")
        .unnest("seats")
        .select("game_id", speaker="name", speaker_model="model", speaker_role="role")
    )
    found = turns.join(seats, on=["game_id", "speaker"]).sort("day", "round", "speaker")
    ordered = games.select("game_id").join(found, on="game_id", maintain_order="left_right")
    return ordered.select("game_id", "day", "speaker", "speaker_model", "speaker_role", "silent")


SHARES = {"train": 0.70, "validation": 0.15, "test": 0.15}


def split_of(game_id: str) -> str:
    """The split of a game by a hash of its id: 70% train, 15% validation, 15% test.

    It depends on nothing else, so a game keeps its split when a corpus grows or is rebuilt.
    """
    draw = int.from_bytes(sha256(game_id.encode("utf-8", "surrogatepass")).digest()[:8]) / 2**64
    if draw < SHARES["train"]:
        return "train"
    return "validation" if draw < SHARES["train"] + SHARES["validation"] else "test"


def siblings_of(game: GameRecord) -> str:
    """One name for games that stay in one split: the game that it continues or replays, its group of texts, the copies
    of a text; else its own id.
    """
    return family_of(game) or game.game_id


def split_game(game: GameRecord, hold_out: Collection[str], held_out_siblings: Collection[str] = ()) -> str:
    """The split of a game: the official one, if its publishers gave it one; "test" if a held-out model plays in it or
    in a game with the same beginning (held_out_siblings, as `siblings_of` names them); otherwise by the game that it
    goes back to, so that games with a common beginning stay together.

    Raises UsageError if an official train or validation game would have to be held out.
    """
    root, official = siblings_of(game), game.meta.get("split")
    held_out = root in held_out_siblings or any(seat.model in hold_out for seat in game.seats)
    if official and held_out and official != "test":
        raise UsageError(
            f"a held-out model plays in game {game.game_id!r}, which its publishers put into {official}; an official "
            "split is kept, so build without --hold-out-model, or build those games apart"
        )
    return official or ("test" if held_out else split_of(root))
