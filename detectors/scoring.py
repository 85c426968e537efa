"""Scoring statements with a saved detector, given in memory or in a file of any length.

Files of statements are read a few rows at a time; files of scores appear when they are complete.
"""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import BadData, UsageError
from liescope.common.parts import Part
from liescope.common.report.files import csv_text
from liescope.common.settings import takes
from liescope.common.stores import check_not_in_store, local, stored
from liescope.common.text import cut, plain
from liescope.detectors.detector import AsksChatModel, shown
from liescope.detectors.detector_settings import ScoreFileSettings, ScoreSettings
from liescope.detectors.saved import ABOVE_ORDINARY, WINDOW, LoadedDetector, load
from liescope.detectors.statement_inputs import COLUMNS, each_statement
from liescope.generate.importers.conversations import PARTS
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.tables import read_rows

FORMATS = (".jsonl", ".jsonl.gz", ".parquet", ".csv")
Write = Callable[[pl.DataFrame], None]


def rows_of(path: Path, own: ScoreFileSettings) -> Iterator[object]:
    """The rows of a file of statements, read as needed. own: names columns. Raises BadData for an unreadable one."""
    path = local(path)
    if not path.is_file():
        raise UsageError(f"{path} is not a file")
    for number, row in read_rows(path, (*COLUMNS, *(getattr(own, what) for what in PARTS)), names=own.names()):
        if isinstance(row, Rejected):
            raise BadData(f"{path}, line {number}: {row.reason}")
        yield row


@contextmanager
def score_writer(path: Path, overwrite: bool) -> Iterator[Write]:
    """Yield a function to call with each table of scores. The file appears when the block ends, unless it raises.

    Raises UsageError for a kind of file that has no writer, one that already exists, or one that cannot be written.
    """
    check_not_in_store(path)
    kind = next((ending for ending in FORMATS if path.name.lower().endswith(ending)), None)
    if kind is None:
        raise UsageError(f"{path} has none of the endings {', '.join(FORMATS)}; choose another --out")
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists; add --overwrite to replace it, or choose another --out")
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _parquet(partial) if kind == ".parquet" else _text(partial, kind) as write:
            yield write
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror or error}); choose another --out") from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _text(path: Path, kind: str) -> Iterator[Write]:
    with gzip.open(path, "wt", encoding="utf-8") if kind.endswith(".gz") else path.open("w", encoding="utf-8") as file:
        empty = True

        def write(table: pl.DataFrame) -> None:
            nonlocal empty
            rows = csv_text(table) if kind == ".csv" else table.write_ndjson()
            file.write(rows if empty or kind != ".csv" else rows.partition("\n")[2])
            empty = False

        yield write


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    import pyarrow.parquet as pq

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
    **settings: Any,
) -> pl.DataFrame:
    """The probability that each statement is deceptive.

    model: a model folder, or what `load` returned. statements: a string; a mapping with `text` and, if known,
    `speaker`, `names` (of every player of the game), `context` (earlier statements, oldest first: strings,
    (speaker, text) pairs or mappings) and `reasoning` (what the speaker thought); a conversation, as a list of
    messages; a list of these; or a frame of polars, pandas, pyarrow or `datasets` with these columns. Rows with
    `game_id` and no `context` have as their context the earlier rows of that game that everybody in their `audience`
    (empty or absent: everyone) had heard. Without `names`, those that were common in training are players' names. Rows
    of `prompt` and `response`, or of `conversation_id`, `role` and `content` (a turn each, in order), are conversations
    too; columns of other names are named by text, prompt, response, conversation, role and content.

    Returns one row for each statement, in order: `statement_id` (if any was given), `text`, `score` in [0, 1],
    `flag_at_1pct_fpr` and `flag_at_5pct_fpr` (whether the score is above the threshold that keeps this false positive
    rate on the model's validation games; null if there was nothing to choose it on), `flag_at_1pct_ordinary` (the same
    for ordinary chats, of a model that was trained with some), `verdict` ("deceptive", "honest" or "abstain"; null
    where nothing is promised), `abstains` (why a verdict abstains), `score_null` (why there is no score), and
    `score_NAME` for each criterion, or judge, of a judge that has several. coverage: from 0.5 to 0.99; at most
    1 - coverage of either class gets the other's verdict, in games like those of the model's corpus. Whether the texts
    could be such games is tested; where they could not, there are no verdicts, and `load(model).notes` says so.
    reasons: how many of the weightiest words or claims to name in a column
    `reasons`. cache: the folder for the replies of a chat model, for the kinds that ask one.

    Raises UsageError for something that is not a statement, a coverage out of range or a kind without reasons, BadData
    for a folder that is not a model, MissingExtra.

    Example:
        >>> liescope.score("models/tfidf", ["I investigated Bob. He is the mafioso."])
    """
    own, detector = ScoreSettings.of(settings), opened(model, cache, settings.get("states"))
    return detector.score(statements, coverage=own.coverage, reasons=own.reasons, progress=progress, columns=dict(own))


@takes(ScoreFileSettings)
@stored
def score_file(
    model: str | os.PathLike[str] | LoadedDetector,
    statements: str | os.PathLike[str] | Iterable[object],
    *,
    out: str | os.PathLike[str],
    progress: bool = False,
    **settings: Any,
) -> ScoredFile:
    """Score the statements of a file into another, a few thousand at a time, so that memory use stays flat.

    model, coverage, reasons, cache and columns: see `score`; statements: a file of any kind that an import reads, or an
    iterable of statements; out: a .jsonl, .jsonl.gz, .parquet or .csv file, which gets the columns of `score`, one row
    for each statement, in order. It appears only once it is complete. part: score only the K-th of N shares of the
    file, as "K/N": the scores of the parts, one after the other, are those of the whole. Statements are scored in
    windows of 4,096, and parts are of whole windows. overwrite: replace an existing `out`.

    Raises what `score` raises, UsageError for a part that has no statement, an unknown ending, an `out` that exists or
    cannot be written, and BadData for a damaged file.

    Example:
        >>> liescope.score_file("models/tfidf", "said.parquet", out="scores.parquet")
    """
    own = ScoreFileSettings.of(settings)
    detector, part = opened(model, own.cache, own.states), own.part
    file = Path(statements) if isinstance(statements, str | os.PathLike) else None
    given = rows_of(file, own) if file else each_statement(statements)
    if part is not None and file is None:
        raise UsageError("--part scores a share of a file; name one with --in")
    total = sum(1 for _ in rows_of(file, own)) if file and (progress or part) else 0
    windows = _windows(file, total, Part.read(part)) if file and part is not None else None
    began, rows, scored = time.perf_counter(), 0, 0
    with score_writer(Path(out), own.overwrite) as write, shown(progress) as show:

        def of_all(what: str, done: int, read: int) -> None:
            show(what, done, max(total, read))

        for table in detector.score_stream(given, of_all, own.coverage, own.reasons, windows, dict(own)):
            write(table)
            rows += table.height
            scored += table["score"].count()
        if not rows:
            write(detector.score_batch([], reasons=own.reasons))
    name = detector.name if isinstance(model, LoadedDetector) else os.fspath(model)
    return ScoredFile(name, Path(out), rows, scored, time.perf_counter() - began, detector.notes)


def _windows(file: Path, rows: int, part: Part) -> range:
    """The windows of a file that a part scores. Raises UsageError if there is none."""
    if not (share := part.share(windows := -(-rows // WINDOW))):
        raise UsageError(
            f"--part {part} has no statement: {file} has {windows} windows of {WINDOW:,}, which are scored "
            "together; make fewer parts"
        )
    return share


def opened(
    model: str | os.PathLike[str] | LoadedDetector, cache: str | os.PathLike[str] | None, states: str | None = None
) -> LoadedDetector:
    """An opened detector; if it asks a chat model, it keeps the replies in this folder; states: kept by players. Raises
    UsageError without a folder if the detector was trained with one of its own, and what `load` raises.
    """
    found = model if isinstance(model, LoadedDetector) else load(model)
    if isinstance(found.detector, AsksChatModel):
        found.detector.keep_replies_in(None if cache is None else Path(cache))
    if states is not None:
        found.detector.use_states(states)
    return found


_FLAGS = {"flag_at_1pct_fpr": "flagged at 1% FPR", "flag_at_5pct_fpr": "flagged at 5% FPR"}
_FLAGS[ABOVE_ORDINARY] = "over 99% of chats"


def score_lines(table: pl.DataFrame, width: int | None) -> Iterator[str]:
    """One line per statement: its score, the strictest threshold it exceeds, its verdict, its text; below a flagged one
    without a verdict, why. Without a width (for a pipe), columns are separated by tabs, the text is not cut, and the
    verdict says why it abstains.
    """
    for row in table.iter_rows(named=True):
        above = [words for column, words in _FLAGS.items() if row.get(column)]
        below = "–" if all(row.get(column) is None for column in _FLAGS) else "not flagged"
        score = "–" if row["score"] is None else f"{row['score']:.3f}"
        flag = row["score_null"] or (above[0] if above else below)
        verdict, text = row["verdict"] or "–", " ".join(plain(row["text"]).split())
        why = row.get("abstains")
        if width is None:
            yield f"{score}\t{flag}\t{f'{verdict} ({why})' if why else verdict}\t{text}"
        else:
            yield cut(f"{score:5}  {flag:17}  {verdict:9}  {text}", width)
            yield from reason_lines([f"abstains: {why}"] if why and above else (), width)
        own = {n.removeprefix("score_"): row[n] for n in table.columns if n.startswith("score_") and n != "score_null"}
        parts = [f"{name} {one:.2f}" for name, one in own.items() if one is not None]
        yield from reason_lines([*[", ".join(parts)] * bool(parts), *(row.get("reasons") or ())], width)


def reason_lines(reasons: Iterable[str], width: int | None) -> Iterator[str]:
    """Indented lines, to go below the line of their score."""
    for reason in reasons:
        line = f"    {plain(reason)}"
        yield line if width is None else cut(line, width)
