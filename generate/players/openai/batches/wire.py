"""The wire to the addresses of batches: an untrusted server, as in `openai.wire`, with the same limits on it."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
from yarl import URL

from liescope.generate.players.openai.batches.answers import BatchState, read_batch, read_batches, read_id
from liescope.generate.players.openai.completion import error_message
from liescope.generate.players.openai.verdict import Refusal, Trouble, judge
from liescope.generate.players.openai.wire import LARGEST, Response, open_session, proxy_for
from liescope.generate.players.parsing.clean import storable

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
