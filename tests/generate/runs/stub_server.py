"""An OpenAI-compatible server as a process of its own: slow, and its answer is a function of the request alone.

Run as a script with the latency in seconds. The first line on standard output is the port; every request adds a line
with a digest of its body, before it is answered.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from hashlib import sha256
from random import Random

LATENCY = float(sys.argv[1]) if __name__ == "__main__" and len(sys.argv) > 1 else 0.0
NAMES = ("Alice", "Bob", "Charlie", "Diana")
LESSONS = (
    "Speak in the first turn of every day.",
    "Accuse somebody whom everybody trusts.",
    "Change your vote between the two ballots.",
    "Never answer a question directly.",
    "Claim to be the doctor and then deny it.",
    "Stay silent when you are accused.",
)


def content(body: bytes) -> str:
    """Something between a good answer and none; the same for the same request."""
    random = Random(sha256(body).digest())
    if random.random() < 0.1:
        return random.choice(["", "I would rather not say.", "\x00\u202e]]"])
    if b'"name":"lessons"' in body:
        return json.dumps({"to_do": random.sample(LESSONS, 2), "to_avoid": [], "winning_tactic": []})
    if b'"name":"roles"' in body:
        return json.dumps(dict.fromkeys(NAMES, random.choice(["villager", "werewolf"])))
    if b'"name":"tags"' in body:
        return json.dumps({"categories": ["aggression"], "order": random.randint(1, 3)})
    if b"response_format" in body:
        fields = {"deceptive": random.random() < 0.5, "type": "omission", "confidence": round(random.random(), 3)}
        return json.dumps({**fields, "suspicion": round(random.random(), 3), "reason": "so", "reasoning": "thus"})
    if b"# Bid for turn" in body:
        return random.choice(["0", "3", "**7**", "Bid: 9"])
    name = random.choice(NAMES)
    if b"# First vote" in body:
        return f'{name}\n"I do not like what {name} said, reason {random.randrange(1000)}."'
    return random.choice([name, f'"I trust {name}, reason {random.randrange(1000)}."', f"**{name}**"])


def answer(body: bytes) -> bytes:
    """To a request with a body; to one without, such as for the list of models, that there is no such page."""
    if not body:
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    message = {"role": "assistant", "content": content(body)}
    data = {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": json.loads(body)["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": len(body) // 4, "completion_tokens": 7, "total_tokens": len(body) // 4 + 7},
    }
    text = json.dumps(data).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    return head.encode() + text


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            if body:
                print(sha256(body).hexdigest(), flush=True)
            await asyncio.sleep(LATENCY)
            writer.write(answer(body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
