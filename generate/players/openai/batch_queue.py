"""The queue of batches: collects the requests to one endpoint, makes batches of them, and hands each its answer.

Requests are collected until no more come (all games wait for an answer then) or a file is full. Batches are asked about
at growing intervals. What a batch holds is on disk before it is made, so that a run that was killed goes on with it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from liescope.common.errors import EndpointRefused, EndpointSilent
from liescope.generate.players.openai.batch_client import (
    CANCELLED,
    ENDED,
    ENDPOINT,
    EXPIRED,
    FAILED,
    BatchClient,
    BatchLater,
    BatchLine,
    BatchRefused,
    BatchState,
    BatchStore,
    KeptBatch,
    read_row,
)
from liescope.generate.players.openai.spec import OPENAI_HOST, host_of
from liescope.generate.players.openai.wire import Response
from liescope.generate.players.player_protocol import PlayerContext

QUIET = 2.0  # seconds without another request after which those that came are sent
LONGEST_QUIET = 60.0  # seconds after which they are sent in any case
MOST_REQUESTS, MOST_BYTES = 50_000, 100_000_000  # of a file; OpenAI takes twice as many bytes, others do not
FIRST_POLL, POLL_GROWTH, LONGEST_POLL = 5.0, 1.5, 60.0  # seconds
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds before something that failed is tried again
_FULL_PAUSE = 60.0  # seconds before a batch is tried again for which there was no room
_ROWS = 500  # answers written at once
_DISCOUNTS = {OPENAI_HOST: 0.5, "api.groq.com": 0.5, "api.deepinfra.com": 0.8}  # shares of the price
T = TypeVar("T")


@dataclass(slots=True)
class _BatchFile:
    """The next file for a model. lines: by key; size: in bytes."""

    lines: dict[str, bytes] = field(default_factory=dict)
    size: int = 0


class Unsent(Enum):
    """A request whose batch was not taken, and that is to be sent again."""

    UNSENT = "unsent"


Answer = Response | str | Unsent


def discount(host: str) -> float:
    """The share of the usual price that a host asks for requests in batches; 1 where that is not known."""
    return _DISCOUNTS.get(host, 1.0)


class BatchQueue:
    """The batches of one endpoint. hide: removes keys from a text. Nothing is opened before the first request."""

    def __init__(
        self, base_url: str, client: BatchClient, variable: str, context: PlayerContext, hide: Callable[[str], str]
    ) -> None:
        assert context.batches is not None
        self._base_url = base_url
        self._client = client
        self._context = context
        self._hide = hide
        name = blake2b(f"{base_url} {variable}".encode(), digest_size=8).hexdigest()
        self._folder: Path = context.batches / name
        self._activity = context.activity.at(host_of(base_url))
        self._store: BatchStore | None = None
        self._files: dict[str, _BatchFile] = {}  # by model, what was collected
        self._waiting: dict[str, list[asyncio.Future[Answer]]] = {}
        self._under_way: dict[str, tuple[int, int]] = {}  # requests that are done and all, of each file's batch
        self._most: dict[str, int] = {}  # requests of a file, where a model's limit on what waits was met
        self._full_since: float | None = None
        self._end = asyncio.Event()  # set when a batch ends
        self._last = 0.0  # when the last request came
        self._collecting = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._broken: BaseException | None = None

    async def ask(self, key: str, body: Mapping[str, Any], again: bool) -> Answer:
        """The response to a request, why there is none, or UNSENT. key: of the request; again: an answer that has come
        before is not wanted.

        Raises RunPaused if no more can be had for now.
        """
        store = self._opened()
        if self._broken is not None:
            raise self._broken
        if key not in self._waiting:
            known, answer = store.find(key)
            if answer is not None and not again:
                return answer
            if not known or answer is not None:
                self._enqueue(key, body)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(future)
        return await future

    async def close(self) -> None:
        """Leave; batches under way stay where they are, and the next process finds them."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.close()
        if self._store is not None:
            self._store.close()

    def _opened(self) -> BatchStore:
        if self._store is None:
            self._store = BatchStore(self._folder)
            self._start(self._until_halt())
            for kept in self._store.under_way():
                self._start(self._follow(kept, unsure=True))
        return self._store

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._break(error)

    async def _until_halt(self) -> None:
        while True:
            await self._context.halt.sleep(3600)

    def _break(self, error: BaseException) -> None:
        """Tell every request that waits, and every later one."""
        self._broken = self._broken or error
        for futures in self._waiting.values():
            for future in futures:
                if not future.done():
                    future.set_exception(self._broken)
        self._waiting.clear()
        self._files.clear()

    def _hand_out(self, key: str, answer: Answer) -> None:
        for future in self._waiting.pop(key, ()):
            if not future.done():
                future.set_result(answer)

    # Collecting

    def _enqueue(self, key: str, body: Mapping[str, Any]) -> None:
        line = json.dumps({"custom_id": key, "method": "POST", "url": ENDPOINT, "body": dict(body)}).encode() + b"\n"
        model = str(body.get("model"))
        if model in self._files and self._files[model].size + len(line) > MOST_BYTES:
            self._send(model)
        file = self._files.setdefault(model, _BatchFile())
        file.lines[key] = line
        file.size += len(line)
        if len(file.lines) >= self._most.get(model, MOST_REQUESTS):
            self._send(model)
        self._last = time.monotonic()
        if not self._collecting:
            self._collecting = True
            self._start(self._collect())

    async def _collect(self) -> None:
        """Send what was collected once no more comes."""
        latest = time.monotonic() + LONGEST_QUIET
        while (wait := min(self._last + QUIET, latest) - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        self._collecting = False
        for model in list(self._files):
            self._send(model)

    def _send(self, model: str) -> None:
        file = self._files.pop(model, None)
        if file is not None:
            self._start(self._new(model, file.lines))

    # One batch

    async def _new(self, model: str, lines: Mapping[str, bytes]) -> None:
        file = await self._patiently(self._client.upload, list(lines.values()), unknown="takes no files of requests")
        self._opened().sent(file, model, list(lines))
        await self._follow(KeptBatch(file, model, None, len(lines)), unsure=False)

    async def _follow(self, kept: KeptBatch, unsure: bool) -> None:
        """Wait for a batch, and hand out its answers. unsure: it may have been made before."""
        store = self._opened()
        file = kept.file
        if kept.id is None:
            state = await self._make(file, unsure)
            store.made(file, state.id)
        else:
            state = BatchState(id=kept.id, status="")
        self._under_way[file] = (state.counts.done, kept.requests)
        self._context.activity.tell("batch", host=host_of(self._base_url), batch=state.id, requests=kept.requests)
        lost = f"if they are lost, delete {self._folder} to send the requests in its batches again"
        interval = FIRST_POLL
        while state.status not in ENDED:
            self._show(interval)
            await self._context.halt.sleep(interval)
            interval = min(interval * POLL_GROWTH, LONGEST_POLL)
            state = await self._patiently(
                self._client.state, state.id, unknown=f"knows no batch {state.id}", advice=lost
            )
            self._under_way[file] = (state.counts.done, kept.requests)
        unknown = f"does not have the files of the batch {state.id}"
        left = await self._patiently(self._take_in, state, kept, unknown=unknown, advice=lost)
        store.ended(file)
        del self._under_way[file]
        self._activity.wait = None
        self._end.set()
        self._end.clear()
        await self._see_to(left, state, kept)

    async def _make(self, file: str, unsure: bool) -> BatchState:
        """The batch of a file, made now unless it was before."""

        async def attempt() -> BatchState:
            nonlocal unsure
            if unsure:
                try:
                    found = await self._client.find(file)
                except BatchRefused:  # a server without a list of batches
                    found = None
                if found is not None:
                    return found
            unsure = True
            return await self._client.create(file)

        return await self._patiently(attempt, unknown="makes no batches")

    async def _take_in(self, state: BatchState, kept: KeptBatch) -> list[str]:
        """Keep and hand out the answers of a batch that has ended; the requests without any."""
        rows: list[BatchLine] = []
        for name in state.files:
            async for line in self._client.lines(name, 2 * kept.requests + 100):
                row = read_row(self._hide(line.decode("utf-8", "replace")).encode())
                rows += [] if row is None else [row]
                if len(rows) >= _ROWS:
                    await self._keep(kept.file, rows)
                    rows = []
        await self._keep(kept.file, rows)
        left = self._opened().unanswered(kept.file)
        if state.counts.completed and len(left) == kept.requests:
            raise BatchLater(f"the files of the batch {state.id} hold none of its {state.counts.completed} answers")
        return left

    async def _keep(self, file: str, rows: list[BatchLine]) -> None:
        self._opened().answered(file, rows)
        for row in rows:
            self._hand_out(row.key, row.answer)
        await asyncio.sleep(0)

    async def _see_to(self, left: list[str], state: BatchState, kept: KeptBatch) -> None:
        """What becomes of the requests that a batch has left without an answer."""
        if state.status == CANCELLED:
            raise EndpointRefused(
                f"{self._base_url}: the batch {state.id} was cancelled; the same command sends what is left of it again"
            )
        if state.status == FAILED and not state.full:
            raise EndpointRefused(f"{self._base_url}: it refuses the batch {state.id}: {self._hide(state.error)}")
        answer: Answer = "the batch expired before it came" if state.status == EXPIRED else "the batch left it out"
        if state.status == FAILED:
            await self._room(kept, self._hide(state.error))
            answer = Unsent.UNSENT
        else:
            self._full_since = None
        for key in left:
            self._hand_out(key, answer)

    async def _room(self, kept: KeptBatch, why: str) -> None:
        """Wait until there may be room for a batch: until another ends, or for some time."""
        now = time.monotonic()
        self._full_since = self._full_since or now
        if not self._under_way:
            if now - self._full_since >= self._context.limits.give_up_after:
                raise EndpointSilent(f"{self._base_url} takes no batch: {why} (--give-up-after says how long to wait)")
            self._most[kept.model] = max(kept.requests // 2, 1)
        ended = asyncio.create_task(self._end.wait())
        try:
            await asyncio.wait({ended}, timeout=_FULL_PAUSE)
        finally:
            ended.cancel()

    async def _patiently(
        self, work: Callable[..., Awaitable[T]], *what: Any, unknown: str, advice: str = "leave --batch out"
    ) -> T:
        """Do something until it succeeds. unknown: what it means if the server does not know the address, and advice:
        what to do then.
        """
        since, pause = time.monotonic(), FIRST_PAUSE
        while True:
            try:
                return await work(*what)
            except BatchRefused as refused:
                why = f"{unknown} ({refused}); {advice}" if refused.unknown else str(refused)
                raise EndpointRefused(f"{self._base_url}: {self._hide(why)}") from None
            except BatchLater as later:
                why = self._hide(str(later))
                if time.monotonic() - since >= self._context.limits.give_up_after:
                    raise EndpointSilent(
                        f"{self._base_url} has answered nothing about batches for {time.monotonic() - since:.0f} s; "
                        f"the last time, {why} (--give-up-after says how long to wait)"
                    ) from None
                self._activity.wait = (time.monotonic() + (later.asked or pause), why)
                await self._context.halt.sleep(min(later.asked or pause, LONGEST_PAUSE))
                pause = min(2 * pause, LONGEST_PAUSE)

    def _show(self, seconds: float) -> None:
        count = len(self._under_way)
        done, total = (sum(numbers) for numbers in zip(*self._under_way.values(), strict=True))
        words = f"{count} {'batch' if count == 1 else 'batches'}, {done:,} of {total:,} requests done"
        self._activity.wait = (time.monotonic() + seconds, words)
