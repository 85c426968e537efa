"""Scoring statements with a saved detector, given in memory or in a file of any length.

Files of statements are read a few rows at a time; files of scores appear when they are complete.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Unpack

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.console import let_interrupts_end_reads
from liescope.common.errors import BadData, UsageError
from liescope.common.parts import Part
from liescope.common.settings import resolve, takes
from liescope.common.text import cell
from liescope.detectors.detector_settings import ScoreSettings
from liescope.detectors.progress import shown
from liescope.detectors.saved import WINDOW, LoadedDetector, load
from liescope.detectors.statement_inputs import COLUMNS

FORMATS = (".jsonl", ".jsonl.gz", ".parquet", ".csv")
_LONGEST = 2**24  # characters of a line
_ROWS = 1024

Share = Callable[[], float]
"""How much of a file has been read, from 0 to 1."""
Write = Callable[[pl.DataFrame], None]


def lines(stream: IO[str]) -> Iterator[str]:
    """The lines of a text stream. Raises BadData for text that is not UTF-8 and for a line of 16 million characters."""
    number = 0
    try:
        while True:
            let_interrupts_end_reads()
            if not (line := stream.readline(_LONGEST)):
                return
            number += 1
            if len(line) == _LONGEST:
                raise BadData(f"line {number} is longer than {_LONGEST:,} characters; give one statement a line")
            yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BadData(f"line {number + 1} is not UTF-8; convert the file first") from error


@contextmanager
def statements_of(path: Path) -> Iterator[tuple[Iterator[object], Share]]:
    """Yield the rows of a file of statements, read as they are asked for, and how much of it has been read.

    Raises UsageError for a kind of file that has no reader; reading raises BadData for a damaged one.
    """
    kind = _format(path, "convert it, or pipe in one text a line")
    if not path.is_file():
        raise UsageError(f"{path} is not a file")
    if kind == ".parquet":
        yield _parquet_rows(path)
        return
    size = max(path.stat().st_size, 1)
    with path.open("rb") as raw, gzip.open(raw) if kind == ".jsonl.gz" else raw as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        rows = _csv_rows(path, text) if kind == ".csv" else _jsonl_rows(path, text)
        yield rows, lambda: raw.tell() / size
        text.detach()


@contextmanager
def score_writer(path: Path, overwrite: bool) -> Iterator[Write]:
    """Yield a function to call with each table of scores. The file appears when the block ends, unless it raises.

    Raises UsageError for a kind of file that has no writer, one that already exists, or one that cannot be written.
    """
    writer = {".parquet": _parquet_writer, ".csv": _csv_writer}.get(
        _format(path, "choose another --out"), _jsonl_writer
    )
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists; add --overwrite to replace it, or choose another --out")
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writer(partial) as write:
            yield write
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror or error}); choose another --out") from error
    finally:
        partial.unlink(missing_ok=True)


def _format(path: Path, advice: str) -> str:
    """The ending of a path. Raises UsageError if no format has it."""
    found = next((ending for ending in FORMATS if path.name.lower().endswith(ending)), None)
    if found is None:
        raise UsageError(f"{path} has none of the endings {', '.join(FORMATS)}; {advice}")
    return found


def _jsonl_rows(path: Path, stream: IO[str]) -> Iterator[object]:
    try:
        for number, line in enumerate(lines(stream), start=1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadData(f"{path}, line {number} is not JSON ({str(error)[:100]})") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadData(f"{path} is not compressed with gzip, or damaged ({str(error)[:100]})") from error


def _csv_rows(path: Path, stream: Iterable[str]) -> Iterator[object]:
    csv.field_size_limit(_LONGEST)
    try:
        for row in csv.DictReader(stream):
            yield {name: value for name, value in row.items() if name is not None}
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadData(f"{path} is not CSV in UTF-8 ({str(error)[:100]})") from error


def _parquet_rows(path: Path) -> tuple[Iterator[object], Share]:
    read, total = 0, 1

    def rows() -> Iterator[object]:
        nonlocal read, total
        try:
            with pq.ParquetFile(path) as file:
                total = max(file.metadata.num_rows, 1)
                names = file.schema_arrow.names
                wanted = [name for name in names if name in COLUMNS] if "text" in names else names
                for batch in file.iter_batches(_ROWS, columns=wanted):
                    read += batch.num_rows
                    yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise BadData(f"{path} is not Parquet, or damaged ({str(error).splitlines()[0][:100]})") from error

    return rows(), lambda: read / total


@contextmanager
def _jsonl_writer(path: Path) -> Iterator[Write]:
    packed = path.name.lower().endswith(".gz.partial")
    with gzip.open(path, "wt", encoding="utf-8") if packed else path.open("w", encoding="utf-8") as stream:
        yield lambda table: stream.writelines(
            json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in table.iter_rows(named=True)
        )


@contextmanager
def _csv_writer(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        empty = True

        def write(table: pl.DataFrame) -> None:
            nonlocal empty
            if empty:
                writer.writerow(table.columns)
                empty = False
            writer.writerows([_cell(value) for value in row] for row in table.iter_rows())

        yield write


@contextmanager
def _parquet_writer(path: Path) -> Iterator[Write]:
    with path.open("wb") as stream:
        writer: pq.ParquetWriter | None = None

        def write(table: pl.DataFrame) -> None:
            nonlocal writer
            rows = table.to_arrow()
            writer = writer or pq.ParquetWriter(stream, rows.schema, compression="zstd")
            writer.write_table(rows.cast(writer.schema))

        try:
            yield write
        finally:
            if writer is not None:
                writer.close()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return cell("; ".join(value))
    return cell(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class ScoredFile:
    """A file of scores. model: as named by the caller; statements, scored: its rows, and those with a score; seconds:
    wall-clock time, without loading the model; notes: what the user should know of the scores.
    """

    model: str
    out: Path
    statements: int
    scored: int
    seconds: float
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What `liescope score --out … --json` prints."""
        return {**asdict(self), "out": str(self.out)}


@takes(ScoreSettings)
def score(
    model: str | os.PathLike[str] | LoadedDetector,
    statements: Any,
    *,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[ScoreSettings],
) -> pl.DataFrame:
    """The probability that each statement is deceptive.

    model: a model folder, or what `load` returned. statements: a string; a mapping with `text` and, if known,
    `speaker`, `names` (of every player of the game), `context` (earlier statements, oldest first: strings,
    (speaker, text) pairs or mappings) and `reasoning` (what the speaker thought, without which a model whose view shows
    that gives no score); a conversation, as a list of messages; a list of these; or a frame of polars, pandas, pyarrow
    or `datasets` with these columns. Rows with `game_id` and no `context` have as their context the earlier rows of
    that game that everybody in their `audience` (empty or absent: everyone) had heard.

    For a statement without `names`, the names that were common in training are used as its players' names.

    Returns one row for each statement, in order: `statement_id` (if any was given), `text`, `score` in [0, 1],
    `flag_at_1pct_fpr` and `flag_at_5pct_fpr` (whether the score is above the threshold that keeps this false positive
    rate on the model's validation games; null if there was nothing to choose it on), `verdict` ("deceptive", "honest"
    or "abstain"; null where nothing is promised), `abstains`, why a verdict does, and `score_null`, the reason if there
    is no score: no text, a text that was lost before publication, or no reasoning where that is read.

    coverage: how much of either class the verdicts may not get wrong, in games like those of the model's corpus, from
    0.5 to 0.99: of deceptive statements at most 1 - coverage are called honest, of honest ones at most as many
    deceptive. Whether the texts could be more of those is tested, with games as units; where they could not, there are
    no verdicts, and `load(model).notes` says so after its `score`.

    reasons: how many words or claims to name for each score, those that weigh most in its log-odds, in a column
    `reasons`; for the kinds that have them.

    cache: the folder for the replies of a chat model, for the kinds that ask one.

    Raises UsageError for something that is not a statement, a coverage out of range or a kind without reasons, BadData
    for a folder that is not a model, MissingExtra.

    Example:
        >>> liescope.score("models/tfidf", ["I investigated Bob. He is the mafioso."])
    """
    own, detector = resolve(ScoreSettings, settings), opened(model, cache)
    return detector.score(statements, coverage=own["coverage"], reasons=own["reasons"], progress=progress)


@takes(ScoreSettings)
def score_file(
    model: str | os.PathLike[str] | LoadedDetector,
    statements: str | os.PathLike[str] | Iterable[object],
    *,
    out: str | os.PathLike[str],
    cache: str | os.PathLike[str] | None = None,
    part: str | None = None,
    overwrite: bool = False,
    progress: bool = False,
    **settings: Unpack[ScoreSettings],
) -> ScoredFile:
    """Score the statements of a file into another, a few thousand at a time, so that memory use stays flat.

    model, coverage, reasons, cache: see `score`; statements: a .jsonl, .jsonl.gz, .parquet or .csv file with a column
    `text` and any other that `score` reads, or an iterable of statements; out: a file with one of these endings, which
    gets the columns of `score`, one row for each statement, in order. It appears when it is complete, however the
    scoring ends.
    part: score only the K-th of N shares of the file, as "K/N": the scores of the parts, one after the other, are those
    of the whole. Statements are scored in windows of 4,096, and parts are of whole windows.
    overwrite: replace an existing `out`.

    Raises what `score` raises, UsageError for a part that has no statement, an ending or an `out` that is taken or
    cannot be written, and BadData for a damaged file.

    Example:
        >>> liescope.score_file("models/tfidf", "said.parquet", out="scores.parquet")
    """
    own, detector = resolve(ScoreSettings, settings), opened(model, cache)
    coverage, reasons = own["coverage"], own["reasons"]
    name = detector.name if isinstance(model, LoadedDetector) else os.fspath(model)
    if isinstance(statements, str | os.PathLike):
        windows = None if part is None else _windows(Path(statements), Part.read(part))
        with statements_of(Path(statements)) as (rows, share):
            return _score_into(detector, name, rows, share, Path(out), coverage, reasons, overwrite, progress, windows)
    if part is not None:
        raise UsageError("--part scores a share of a file; name one with --in")
    return _score_into(detector, name, statements, lambda: 1.0, Path(out), coverage, reasons, overwrite, progress)


def _windows(statements: Path, part: Part) -> range:
    """The windows of a file that a part scores. Raises UsageError if there is none."""
    with statements_of(statements) as (rows, _):
        windows = -(-sum(1 for _ in rows) // WINDOW)
    if not (share := part.share(windows)):
        raise UsageError(
            f"--part {part} has no statement: {statements} has {windows} windows of {WINDOW:,}, which are scored "
            "together; make fewer parts"
        )
    return share


def opened(model: str | os.PathLike[str] | LoadedDetector, cache: str | os.PathLike[str] | None) -> LoadedDetector:
    """A detector that keeps the replies of a chat model, if it asks one, in a folder. Raises UsageError without one for
    a detector that was trained with a folder of its own, and what `load` raises.
    """
    found = model if isinstance(model, LoadedDetector) else load(model)
    found.detector.keep_replies_in(None if cache is None else Path(cache))
    return found


def _score_into(
    model: LoadedDetector,
    name: str,
    statements: Iterable[object],
    share: Share,
    out: Path,
    coverage: float,
    reasons: int,
    overwrite: bool,
    progress: bool,
    windows: range | None = None,
) -> ScoredFile:
    began = time.perf_counter()
    rows = scored = 0
    with score_writer(out, overwrite) as write, shown(progress) as show:

        def estimated(what: str, done: int, read: int) -> None:
            show(what, done, max(read, round(read / (share() or 1.0))))

        for table in model.score_stream(statements, estimated, coverage, reasons, windows):
            write(table)
            rows += table.height
            scored += table["score"].count()
        if not rows:
            write(model.score_batch([], reasons=reasons))
    return ScoredFile(name, out, rows, scored, time.perf_counter() - began, model.notes)
