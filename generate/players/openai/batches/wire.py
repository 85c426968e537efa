"""The wire to the addresses of batches: an untrusted server, as in `openai.wire`, with the same limits on it."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
from yarl import URL

from liescope.generate.players.openai.completion import error_message
from liescope.generate.players.openai.verdict import Refusal, Trouble, judge
from liescope.generate.players.openai.wire import LARGEST, Response, open_session, proxy_for
from liescope.generate.players.parsing.clean import storable

COMPLETED, FAILED, EXPIRED, CANCELLED = "completed", "failed", "expired", "cancelled"
ENDED = frozenset({COMPLETED, FAILED, EXPIRED, CANCELLED})
_LONGEST_ID = 512


@dataclass(frozen=True, slots=True)
class BatchState:
    """status: in lower case, as in OpenAI's protocol ("in_progress", "completed"…); input_file: the file it was made
    of; files: of answers and of errors, as far as there are any; completed, failed, total: requests; full: it failed
    because as much is waiting as the account may have; error: why it failed, on one line.
    """

    id: str
    status: str
    input_file: str = ""
    files: tuple[str, ...] = ()
    completed: int = 0
    failed: int = 0
    total: int = 0
    full: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a batch's output. answer: the response to the request, or why there is none."""

    key: str
    answer: Response | str


def read_id(text: str) -> str:
    """The id of a file that was sent. Raises ValueError if there is none."""
    return _id(_object(text).get("id"))


def read_batch(text: str) -> BatchState:
    """Raises ValueError for what is no batch."""
    return _batch(_object(text))


def read_batches(text: str) -> tuple[list[BatchState], bool]:
    """One page of a list of batches, and whether there are more. Raises ValueError for what is none."""
    data = _object(text)
    found = data.get("data")
    if not isinstance(found, list):
        raise ValueError("the list of batches has another shape")
    return [_batch(one) for one in found if isinstance(one, Mapping)], data.get("has_more") is True


def read_row(line: bytes) -> Row | None:
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
        return Row(key, Response(status, {}, body if isinstance(body, str) else json.dumps(body)))
    error = data.get("error")
    return Row(key, error_message(json.dumps({"error": error})) if error else "the batch holds no answer to it")


def _batch(data: Mapping[str, Any]) -> BatchState:
    counts, errors = data.get("request_counts"), data.get("errors")
    counts = counts if isinstance(counts, Mapping) else {}
    listed = errors.get("data") if isinstance(errors, Mapping) else errors
    first = listed[0] if isinstance(listed, list) and listed else None
    code = first.get("code") if isinstance(first, Mapping) else None
    words = "" if first is None else error_message(json.dumps({"error": first}))
    files = [data.get(name) for name in ("output_file_id", "error_file_id")]
    return BatchState(
        id=_id(data.get("id")),
        status=str(data.get("status")).lower(),
        input_file=str(data.get("input_file_id") or ""),
        files=tuple(_id(name) for name in files if name),
        completed=_count(counts.get("completed")),
        failed=_count(counts.get("failed")),
        total=_count(counts.get("total")),
        full=code == "token_limit_exceeded" or words.startswith("Enqueued token limit"),
        error=words,
    )


def _object(text: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, Mapping):
        raise ValueError("the response is no JSON object")
    return data


def _id(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_ID:
        raise ValueError("the response holds no id")
    return value


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


ENDPOINT = "/v1/chat/completions"  # the name of what is asked, whatever the base URL
_LONGEST_LINE = 2 * LARGEST  # bytes; a response inside JSON, which may escape what it holds
_PAGES, _PAGE = 10, 100  # of a list of batches, the newest first
_UNKNOWN = frozenset({404, 405, 501})
T = TypeVar("T")


class Refused(Exception):
    """The server will not do it. unknown: it does not know the address, or what was named in it."""

    def __init__(self, problem: str, unknown: bool = False) -> None:
        super().__init__(problem)
        self.unknown = unknown


class Later(Exception):
    """No usable answer came; one may come later. asked: seconds that the server asks to wait."""

    def __init__(self, problem: str, asked: float | None = None) -> None:
        super().__init__(problem)
        self.asked = asked


class BatchWire:
    """The addresses under one base URL. Every method raises Later if no usable answer came, Refused for a refusal.

    headers: of every request; seconds: for a request, and for every piece of a file.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], seconds: float) -> None:
        self._base_url = base_url.rstrip("/")
        self._proxy, self._proxy_headers = proxy_for(base_url)
        plain = self._proxy_headers if self._proxy and urlsplit(base_url).scheme == "http" else {}
        own = {name: value for name, value in headers.items() if name != "Content-Type"}
        self._headers = {"Accept": "application/json", "Accept-Encoding": "identity", **own, **plain}
        self._seconds = seconds
        self._session: aiohttp.ClientSession | None = None

    async def upload(self, lines: list[bytes]) -> str:
        """Send a file of requests; its id."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        file = io.BytesIO(b"".join(lines))
        form.add_field("file", file, filename="liescope.jsonl", content_type="application/jsonl")
        return self._read(read_id, await self._text("POST", "/files", data=form))

    async def create(self, file: str) -> BatchState:
        """Make a batch of a file that was sent."""
        wanted = {"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h"}
        return self._read(read_batch, await self._text("POST", "/batches", json=wanted))

    async def find(self, file: str) -> BatchState | None:
        """The batch that was made of a file, if there is one among the newest."""
        after = ""
        for _ in range(_PAGES):
            found, more = self._read(read_batches, await self._text("GET", f"/batches?limit={_PAGE}{after}"))
            for state in found:
                if state.input_file == file:
                    return state
            if not (found and more):
                return None
            after = f"&after={quote(found[-1].id, safe='')}"
        return None

    async def state(self, batch: str) -> BatchState:
        return self._read(read_batch, await self._text("GET", f"/batches/{quote(batch, safe='')}"))

    async def lines(self, file: str, most: int) -> AsyncIterator[bytes]:
        """The lines of a file, at most so many."""
        rest = b""
        async with self._answer("GET", f"/files/{quote(file, safe='')}/content") as response:
            async for piece in response.content.iter_any():
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    most -= 1
                    if most < 0:
                        raise Later("the file of answers has more lines than were asked for")
                    yield line
                if len(rest) > _LONGEST_LINE:
                    raise Later(f"a line of the file of answers is larger than {_LONGEST_LINE // 2**20} MiB")
        if rest and most:
            yield rest

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _text(self, method: str, path: str, **sent: Any) -> str:
        async with self._answer(method, path, **sent) as response:
            return await _bounded(response)

    @asynccontextmanager
    async def _answer(self, method: str, path: str, **sent: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        """A response with a status that means success; the connection lives as long as the context."""
        if self._session is None:
            self._session = open_session(connections=8)
        address = URL(self._base_url + path, encoded=True)
        patience = aiohttp.ClientTimeout(total=None, sock_connect=self._seconds, sock_read=self._seconds)
        try:
            async with self._session.request(
                method,
                address,
                headers=self._headers,
                allow_redirects=False,
                proxy=self._proxy,
                proxy_headers=self._proxy_headers,
                timeout=patience,
                **sent,
            ) as response:
                if not 200 <= response.status < 300:
                    await _refuse(response)
                yield response
        except TimeoutError:
            raise Later(f"nothing came within {self._seconds:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise Later("the connection broke before an answer came") from None

    def _read(self, read: Callable[[str], T], text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise Later(f"{error}: {error_message(text)}") from None


async def _refuse(response: aiohttp.ClientResponse) -> None:
    """Raise what a status means that is no success."""
    text = await _bounded(response)
    if response.status in _UNKNOWN:
        raise Refused(f"it answered {response.status}: {error_message(text)}", unknown=True)
    headers = {name.lower(): value for name, value in response.headers.items()}
    verdict = judge(Response(response.status, headers, text), {})
    if isinstance(verdict, Trouble):
        raise Later(verdict.problem, verdict.asked)
    assert isinstance(verdict, Refusal)
    raise Refused(f"{verdict.problem}; {verdict.advice}" if verdict.advice else verdict.problem)


async def _bounded(response: aiohttp.ClientResponse) -> str:
    pieces, size = [], 0
    async for piece in response.content.iter_any():
        size += len(piece)
        if size > LARGEST:
            raise Later(f"the response is larger than {LARGEST // 2**20} MiB")
        pieces.append(piece)
    return storable(b"".join(pieces).decode("utf-8", "replace"))
