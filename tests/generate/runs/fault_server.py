"""An OpenAI-compatible server as a process of its own that does everything wrong that servers do.

    python -m tests.generate.runs.fault_server '{"share": 0.3, "per_second": 500}'

The first line on standard output is the port. Faults of the wire are drawn anew for each request, so they pass; strange
answers depend on the request alone, so the same request always gets the same one. `GET /counts` tells what was done.
A second port stands for another host: redirects lead there, and it counts who comes.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from time import monotonic
from typing import Any

from tests.generate.runs.stub_server import content

TRANSIENT = (
    "429",
    "429 with Retry-After",
    "500",
    "503",
    "cut body",
    "malformed JSON",
    "empty body",
    "reset",
    "redirect",
    "wrong content type",
    "slow drip",
    "stall",
)
STRANGE: dict[str, dict[str, Any]] = {
    "empty content": {"content": ""},
    "null content": {"content": None},
    "tool calls": {
        "content": None,
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "vote", "arguments": '{"name": "Bob"}'}}],
    },
    "reasoning only": {"content": "", "reasoning_content": "Bob looks guilty, and nobody else does."},
    "refusal": {"content": None, "refusal": "I cannot help with deception."},
    "length stop": {"content": '"I was about to say that B'},
    "100 kB": {"content": '"' + "Bob is the mafioso and I can prove it. " * 2600 + '"'},
    "control characters": {"content": '"\x1b[2J\x00\u202eBob\r\n\x07 did it"'},
}
FINISH = {"length stop": "length", "tool calls": "tool_calls", "refusal": "stop"}


@dataclass
class Plan:
    """share: of requests that meet trouble of the wire, among `kinds`; strange: of requests whose answer is odd;
    per_second, tokens_per_second: the limits that it enforces, refilled all the time; latency: seconds; calm: requests
    at the start that meet no trouble; stall: seconds before a stalled request is closed.
    """

    share: float = 0.3
    strange: float = 0.1
    kinds: list[str] = field(default_factory=lambda: list(TRANSIENT))
    per_second: float | None = None
    tokens_per_second: float | None = None
    latency: float = 0.005
    calm: int = 20
    stall: float = 30.0
    seed: int = 1


class FaultServer:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = Random(plan.seed)
        self.seen = 0
        self.done: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        self.elsewhere = 0
        self.refill = monotonic()
        self.left = {"requests": plan.per_second or 0.0, "tokens": plan.tokens_per_second or 0.0}

    async def run(self) -> None:
        server = await asyncio.start_server(self.talk, "127.0.0.1", 0, backlog=1024)
        other = await asyncio.start_server(self.stranger, "127.0.0.1", 0)
        self.other = other.sockets[0].getsockname()[1]
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server, other:
            await server.serve_forever()

    async def stranger(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.elsewhere += 1
        writer.close()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                if head.startswith(b"GET /counts"):
                    writer.write(whole(200, self.counts()))
                elif head.startswith(b"GET"):
                    writer.write(whole(404, {"error": {"message": "there is nothing here"}}))
                elif not await self.answer(body, writer):
                    return
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def counts(self) -> dict[str, Any]:
        twice = sum(count - 1 for count in self.paid.values())
        return {
            "seen": self.seen,
            "done": self.done,
            "paid": self.paid.total(),
            "twice": twice,
            "strangers": self.elsewhere,
        }

    async def answer(self, body: bytes, writer: asyncio.StreamWriter) -> bool:
        """Write what a request gets; False if the connection is over."""
        self.seen += 1
        if self.limited(len(body) // 4 + 7):
            self.done["limit"] += 1
            error = {"message": "Rate limit reached for requests", "type": "requests", "code": "rate_limit_exceeded"}
            writer.write(whole(429, {"error": error}, self.limits()))
            return True
        if self.seen > self.plan.calm and self.random.random() < self.plan.share:
            kind = self.random.choice(self.plan.kinds)
            self.done[kind] += 1
            return await self.trouble(kind, body, writer)
        await asyncio.sleep(self.plan.latency)
        self.done["answer"] += 1
        self.paid[sha256(body).hexdigest()] += 1
        writer.write(whole(200, completion(body, self.plan.strange), self.limits()))
        return True

    def limited(self, tokens: int) -> bool:
        now = monotonic()
        passed, self.refill = now - self.refill, now
        wanted = {"requests": (self.plan.per_second, 1), "tokens": (self.plan.tokens_per_second, tokens)}
        for name, (limit, _) in wanted.items():
            if limit is not None:
                self.left[name] = min(self.left[name] + passed * limit, limit)
        if any(limit is not None and self.left[name] < need for name, (limit, need) in wanted.items()):
            return True
        for name, (_, need) in wanted.items():
            self.left[name] -= need
        return False

    def limits(self) -> dict[str, str]:
        """Headers as OpenAI sends them."""
        limit = self.plan.per_second
        if limit is None:
            return {}
        left = max(self.left["requests"], 0.0)
        reset = f"{(limit - left) / limit * 1000:.0f}ms"
        return {
            "x-ratelimit-limit-requests": f"{limit:.0f}",
            "x-ratelimit-remaining-requests": f"{left:.0f}",
            "x-ratelimit-reset-requests": reset,
        }

    async def trouble(self, kind: str, body: bytes, writer: asyncio.StreamWriter) -> bool:
        good = whole(200, completion(body, 0.0))
        match kind:
            case "429":
                writer.write(whole(429, {"error": {"message": "Too many requests"}}))
            case "429 with Retry-After":
                writer.write(whole(429, {"error": {"message": "Slow down"}}, {"Retry-After": "0.05"}))
            case "500":
                writer.write(whole(500, {"error": {"message": "internal error"}}))
            case "503":
                writer.write(
                    whole(503, b"<html><h1>503 Service Unavailable</h1></html>", {"Content-Type": "text/html"})
                )
            case "malformed JSON":
                writer.write(whole(200, b'{"choices": [{"message": {"content": "Bob'))
            case "empty body":
                writer.write(whole(200, b""))
            case "redirect":
                there = f"http://127.0.0.1:{self.other}/v1/chat/completions"
                writer.write(whole(307, b"", {"Location": there}))
            case "wrong content type":
                writer.write(whole(200, b"<html>Sign in to the network</html>", {"Content-Type": "text/html"}))
            case "cut body":
                writer.write(good[: -len(good) // 3])
                await writer.drain()
                return False
            case "reset":
                writer.write(good[:40])
                writer.transport.abort()
                return False
            case "slow drip" | "stall":
                if kind == "slow drip":
                    for place in range(0, len(good) // 2, 8):
                        if writer.transport.is_closing():
                            return False
                        writer.write(good[place : place + 8])
                        await asyncio.sleep(0.05)
                await asyncio.sleep(self.plan.stall)
                return False
        return True


def completion(body: bytes, strange: float) -> dict[str, Any]:
    """An answer that depends on the request alone."""
    random = Random(sha256(body + b"strange").digest())
    message: dict[str, Any] = {"role": "assistant", "content": content(body)}
    finish = "stop"
    if random.random() < strange:
        name = random.choice(sorted(STRANGE))
        message, finish = {"role": "assistant", **STRANGE[name]}, FINISH.get(name, "stop")
    tokens = {"prompt_tokens": len(body) // 4, "completion_tokens": 7, "total_tokens": len(body) // 4 + 7}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return {"id": "fault", "object": "chat.completion", "model": "stub", "choices": [choice], "usage": tokens}


def whole(status: int, data: object, headers: dict[str, str] | None = None) -> bytes:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    fields = {"Content-Type": "application/json", **(headers or {}), "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Stub\r\n{head}\r\n".encode() + body


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(FaultServer(Plan(**json.loads(sys.argv[1] if len(sys.argv) > 1 else "{}"))).run())
