"""OpenAI's batch protocol: requests as a file, answered within a day for part of the price; and what is kept of it.

Four addresses (files, batches, a batch, a file's content) of an untrusted server, through the SDK, and what it answers,
read without trusting its shape. On disk is which requests are in which batch, written before it is made, and the
answers that came: a run that was killed finds its batches again by the files they were made of, whether or not it lived
to learn their ids, and pays for none twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError

from liescope.common.folders import take_lock
from liescope.generate.players.openai.completion import error_message
from liescope.generate.players.openai.verdict import Refusal, Trouble, judge
from liescope.generate.players.openai.wire import LARGEST, BrokenOff, Response, Wire, response_of, unwrapped
from liescope.generate.players.parsing.choice import storable
from liescope.generate.players.reply_cache import AnswerFile, answer_hash

if TYPE_CHECKING:
    from openai._legacy_response import LegacyAPIResponse


ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"  # the name of what is asked, whatever the base URL
COMPLETED, FAILED, EXPIRED, CANCELLED = "completed", "failed", "expired", "cancelled"
ENDED = frozenset({COMPLETED, FAILED, EXPIRED, CANCELLED})
_CONNECTIONS = 8
_LONGEST_LINE = 2 * LARGEST  # bytes; a response inside JSON, which may escape what it holds
_LONGEST_ID = 512
_PAGES, _PAGE = 10, 100  # of a list of batches, the newest first
_UNKNOWN = frozenset({404, 405, 501})


def _is_id(value: str) -> str:
    if not value.strip(" .") or len(value) > _LONGEST_ID:
        raise ValueError("no id")
    return value


Id = Annotated[str, AfterValidator(_is_id)]
M = TypeVar("M", bound=BaseModel)


class _Named(BaseModel):
    id: Id


class BatchCounts(BaseModel):
    """The requests of a batch."""

    completed: int | None = None
    failed: int | None = None

    @property
    def done(self) -> int:
        return (self.completed or 0) + (self.failed or 0)


class BatchState(BaseModel):
    """What a server says of a batch. status: in lower case, as in OpenAI's protocol ("in_progress", "completed"…);
    input_file_id: the file it was made of; errors: why it failed, as the server says it.
    """

    model_config = ConfigDict(frozen=True)

    id: Id
    status: Annotated[str, StringConstraints(to_lower=True)]
    input_file_id: str | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: BatchCounts | None = None
    errors: Any = None

    @property
    def counts(self) -> BatchCounts:
        return self.request_counts or BatchCounts()

    @property
    def files(self) -> list[str]:
        """Of answers and of errors, as far as there are any."""
        return [_is_id(name) for name in (self.output_file_id, self.error_file_id) if name]

    @property
    def error(self) -> str:
        """Why it failed, on one line."""
        return error_message(json.dumps({"error": self._first_error})) if self._first_error is not None else ""

    @property
    def full(self) -> bool:
        """Whether it failed because as much is waiting as the account may have."""
        code = self._first_error.get("code") if isinstance(self._first_error, Mapping) else None
        return code == "token_limit_exceeded" or self.error.startswith("Enqueued token limit")

    @property
    def _first_error(self) -> Any:
        listed = self.errors.get("data") if isinstance(self.errors, Mapping) else self.errors
        return listed[0] if isinstance(listed, list) and listed else None


class _Page(BaseModel):
    data: list[BatchState]
    has_more: bool | None = None


@dataclass(frozen=True, slots=True)
class BatchLine:
    """A line of a batch's output. answer: the response to the request, or why there is none."""

    key: str
    answer: Response | str


class BatchRefused(Exception):
    """The server will not do it. unknown: it does not know the address, or what was named in it."""

    def __init__(self, problem: str, unknown: bool = False) -> None:
        super().__init__(problem)
        self.unknown = unknown


class BatchLater(Exception):
    """No usable answer came; one may come later. asked: seconds that the server asks to wait."""

    def __init__(self, problem: str, asked: float | None = None) -> None:
        super().__init__(problem)
        self.asked = asked


class BatchClient:
    """The addresses under one base URL. Every method raises Later if no usable answer came, Refused for a refusal.

    headers: of every request; seconds: for which the server may send nothing.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], seconds: float) -> None:
        self._wire = Wire(base_url, headers, _CONNECTIONS, seconds)

    async def upload(self, lines: list[bytes]) -> str:
        """Send a file of requests; its id."""
        file = ("liescope.jsonl", b"".join(lines), "application/jsonl")
        sent = self._wire.sdk.files.with_raw_response.create(file=file, purpose="batch")
        return (await self._answer(sent, _Named)).id

    async def create(self, file: str) -> BatchState:
        """Make a batch of a file that was sent."""
        batches = self._wire.sdk.batches.with_raw_response
        sent = batches.create(input_file_id=file, endpoint=ENDPOINT, completion_window="24h")
        return await self._answer(sent, BatchState)

    async def find(self, file: str) -> BatchState | None:
        """The batch that was made of a file, if there is one among the newest."""
        from openai import omit

        after = ""
        for _ in range(_PAGES):
            sent = self._wire.sdk.batches.with_raw_response.list(limit=_PAGE, after=after or omit)
            page = await self._answer(sent, _Page)
            for state in page.data:
                if state.input_file_id == file:
                    return state
            if not (page.data and page.has_more):
                return None
            after = page.data[-1].id
        return None

    async def state(self, batch: str) -> BatchState:
        return await self._answer(self._wire.sdk.batches.with_raw_response.retrieve(batch), BatchState)

    async def lines(self, file: str, most: int) -> AsyncIterator[bytes]:
        """The lines of a file, at most so many."""
        from openai import APIStatusError

        rest = b""
        try:
            with unwrapped():
                async with self._wire.sdk.files.with_streaming_response.content(file) as response:
                    async for piece in response.iter_bytes():
                        *whole, rest = (rest + piece).split(b"\n")
                        for line in whole:
                            most -= 1
                            if most < 0:
                                raise BatchLater("the file of answers has more lines than were asked for")
                            yield line
                        if len(rest) > _LONGEST_LINE:
                            raise BatchLater(
                                f"a line of the file of answers is larger than {_LONGEST_LINE // 2**20} MiB"
                            )
        except APIStatusError as error:
            raise _refusal(response_of(error.response)) from None
        except BrokenOff as error:
            raise BatchLater(str(error)) from None
        if rest and most:
            yield rest

    async def close(self) -> None:
        await self._wire.close()

    async def _answer(self, sent: Awaitable[LegacyAPIResponse[Any]], model: type[M]) -> M:
        try:
            response = await self._wire.received(sent)
        except BrokenOff as error:
            raise BatchLater(str(error)) from None
        if not 200 <= response.status < 300:
            raise _refusal(response)
        try:
            return model.model_validate_json(storable(response.text))
        except ValidationError:
            raise BatchLater(f"the response has another shape: {error_message(response.text)}") from None


def _refusal(response: Response) -> BatchRefused | BatchLater:
    """What a status means that is no success."""
    if response.status in _UNKNOWN:
        return BatchRefused(f"it answered {response.status}: {error_message(response.text)}", unknown=True)
    verdict = judge(response, {})
    if isinstance(verdict, Trouble):
        return BatchLater(verdict.problem, verdict.asked)
    assert isinstance(verdict, Refusal)
    return BatchRefused(f"{verdict.problem}; {verdict.advice}" if verdict.advice else verdict.problem)


def read_row(line: bytes) -> BatchLine | None:
    """None for a line that belongs to no request."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    key = data.get("custom_id") if isinstance(data, Mapping) else None
    if not isinstance(key, str):
        return None
    response = data.get("response")
    status = response.get("status_code") if isinstance(response, Mapping) else None
    if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
        body = response.get("body")
        return BatchLine(key, Response(status, {}, body if isinstance(body, str) else json.dumps(body)))
    error = data.get("error")
    return BatchLine(key, error_message(json.dumps({"error": error})) if error else "the batch holds no answer to it")


FILE = "batches.sqlite"


@dataclass(frozen=True, slots=True)
class KeptBatch:
    """A batch that has not ended. file: its file at the endpoint; id: None while it is not known that it was made."""

    file: str
    model: str
    id: str | None
    requests: int


class BatchStore(AnswerFile):
    """The batches of one endpoint in a folder, for one process at a time."""

    name = FILE
    what = "batches"
    tables = (
        "CREATE TABLE batches (file TEXT PRIMARY KEY, model TEXT NOT NULL, id TEXT, ended INTEGER NOT NULL DEFAULT 0)",
        "CREATE TABLE requests (key TEXT PRIMARY KEY, file TEXT NOT NULL, answer TEXT, hash BLOB)",
        "CREATE INDEX requests_of_file ON requests (file)",
    )
    largest = 4 * LARGEST

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        try:
            self._lock = take_lock(folder)
        except BaseException:
            super().close()
            raise

    @property
    def advice(self) -> str:
        return f"delete {self.folder} to go on without it; requests in batches are then sent again"

    def close(self) -> None:
        super().close()
        os.close(self._lock)

    def sent(self, file: str, model: str, keys: Sequence[str]) -> None:
        """A file of these requests is at the endpoint, and a batch is about to be made of it."""
        with self.guarded(), self.base:
            self.base.execute("INSERT INTO batches (file, model) VALUES (?, ?)", (file, model))
            rows = ((key, file) for key in keys)
            self.base.executemany("INSERT OR REPLACE INTO requests (key, file) VALUES (?, ?)", rows)

    def made(self, file: str, batch: str) -> None:
        """The batch of a file has this id."""
        with self.guarded(), self.base:
            self.base.execute("UPDATE batches SET id = ? WHERE file = ?", (batch, file))

    def answered(self, file: str, rows: Iterable[BatchLine]) -> None:
        """Keep answers to requests of a file; the first of each stays, and what was not asked for is left out."""
        values = ((text, answer_hash(row.key, text), row.key, file) for row in rows for text in [_dump(row.answer)])
        with self.guarded(), self.base:
            statement = "UPDATE requests SET answer = ?, hash = ? WHERE key = ? AND file = ? AND answer IS NULL"
            self.base.executemany(statement, values)

    def ended(self, file: str) -> None:
        """Nothing more will come of a batch: requests without an answer are in none."""
        with self.guarded(), self.base:
            self.base.execute("DELETE FROM requests WHERE file = ? AND answer IS NULL", (file,))
            self.base.execute("UPDATE batches SET ended = 1 WHERE file = ?", (file,))

    def under_way(self) -> list[KeptBatch]:
        """The batches that have not ended."""
        query = (
            "SELECT file, model, id, (SELECT count(*) FROM requests WHERE requests.file = batches.file) FROM batches "
            "WHERE NOT ended ORDER BY rowid"
        )
        with self.guarded():
            return [KeptBatch(*row) for row in self.base.execute(query)]

    def unanswered(self, file: str) -> list[str]:
        """The requests of a batch that have no answer."""
        query = "SELECT key FROM requests WHERE file = ? AND answer IS NULL"
        with self.guarded():
            return [key for (key,) in self.base.execute(query, (file,))]

    def find(self, key: str) -> tuple[bool, Response | str | None]:
        """Whether a request is in a batch, and its answer if one has come."""
        with self.guarded():
            row = self.base.execute("SELECT answer, hash FROM requests WHERE key = ?", (key,)).fetchone()
        if row is None or row[0] is None:
            return row is not None, None
        if not isinstance(row[0], str) or row[1] != answer_hash(key, row[0]):
            raise self.damaged()
        try:
            match json.loads(row[0]):
                case str(problem):
                    return True, problem
                case [int(status), str(text)]:
                    return True, Response(status, {}, text)
        except (ValueError, RecursionError):
            pass
        raise self.damaged()


def any_under_way(folder: Path) -> bool:
    """Whether batches in the folder of a run's batches, one folder for each endpoint, have not ended. Raises as
    `BatchStore`.
    """
    for file in folder.glob(f"*/{FILE}"):
        with BatchStore(file.parent) as store:
            if store.under_way():
                return True
    return False


def _dump(answer: Response | str) -> str:
    return json.dumps(answer if isinstance(answer, str) else [answer.status, answer.text])
