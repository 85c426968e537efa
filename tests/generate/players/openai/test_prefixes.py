"""Prompt caches of providers: what they report is read, and prompts that begin alike let the first one fill them."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest

from liescope.games.core import AskKind
from liescope.generate.players.openai.completion import read_completion
from liescope.generate.players.openai.endpoint import Endpoint
from liescope.generate.players.openai.spec import find_key
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.run_limits import Price

BEGINNING = "All have heard this. " * 300

USAGES = {
    "OpenAI": ({"prompt_tokens": 2006, "prompt_tokens_details": {"cached_tokens": 1920}}, 2006, 1920),
    "DeepSeek": ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}, 100, 64),
    "Moonshot": ({"prompt_tokens": 19, "cached_tokens": 10}, 19, 10),
    "Anthropic": (
        {"input_tokens": 3, "cache_read_input_tokens": 1800, "cache_creation_input_tokens": 200, "output_tokens": 5},
        2003,
        1800,
    ),
    "Anthropic by LiteLLM": ({"prompt_tokens": 2003, "cache_read_input_tokens": 1800}, 2003, 1800),
    "Responses": ({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 5}, 100, 60),
    "vLLM without": ({"prompt_tokens": 9, "prompt_tokens_details": None}, 9, None),
    "nonsense": ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": -5}, "cached_tokens": "9"}, 9, None),
}


@pytest.mark.parametrize("provider", USAGES)
def test_cached_tokens_are_read_in_each_providers_spelling(provider: str) -> None:
    usage, prompt, cached = USAGES[provider]
    body = {"choices": [{"message": {"content": "Hello."}}], "usage": {"completion_tokens": 5} | usage}
    read = read_completion(json.dumps(body)).usage
    assert (read.prompt, read.cached, read.completion) == (prompt, cached, 5)


def ask_at_once(serve, stubs, asked, cached: int, *prompts: str) -> tuple[list[int], PlayerContext]:
    """The requests under way as each prompt arrives, when they are sent together after a first answer."""
    lock, under_way, seen = threading.Lock(), 0, []

    def script(request, number):
        nonlocal under_way
        with lock:
            under_way += 1
            seen.append(under_way)
        time.sleep(0.2)
        with lock:
            under_way -= 1
        details = {"cached_tokens": cached}
        usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": details}
        return stubs.says("Hello.", usage=usage)

    context = PlayerContext(log=lambda attempt: None, game="mafia")
    url = serve(script).url
    endpoint = Endpoint.of(context, url, find_key("openai:m", url, "", False, ()))
    ask, _ = asked[AskKind.SPEAK]

    async def run() -> None:
        def one(prompt: str):
            body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
            return endpoint.complete(ask, body, Price(10.0, 20.0, 1.0))

        await one("Hello?")
        await asyncio.gather(*map(one, prompts))
        await endpoint.close()

    asyncio.run(run())
    return seen[1:], context


def test_simultaneous_prompts_with_one_beginning_go_together_after_the_first(serve, stubs, asked) -> None:
    seen, context = ask_at_once(serve, stubs, asked, 500, *(f"{BEGINNING}You are {name}." for name in "abcd"))
    assert seen == [1, 1, 2, 3]
    (host,) = context.activity.hosts.values()
    assert host.cached == 0  # counted by the run, of its attempts
    assert host.saved == pytest.approx(5 * 500 * 9 / 1e6)


@pytest.mark.parametrize(
    ("cached", "prompts"),
    [
        (0, [f"{BEGINNING}You are {name}." for name in "abcd"]),
        (500, [f"You are {name}. {BEGINNING}" for name in "abcd"]),
        (500, [f"Short. You are {name}." for name in "abcd"]),
    ],
    ids=["no caching seen", "other beginnings", "too short to be cached"],
)
def test_nothing_waits_where_nothing_could_be_gained(serve, stubs, asked, cached: int, prompts: list[str]) -> None:
    seen, _ = ask_at_once(serve, stubs, asked, cached, *prompts)
    assert sorted(seen) == [1, 2, 3, 4]
