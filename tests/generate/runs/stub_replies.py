"""What a stub of a model answers: a function of the request alone."""

from __future__ import annotations

import json
from hashlib import sha256
from random import Random

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
