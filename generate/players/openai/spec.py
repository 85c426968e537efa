"""The spec string of a model behind an endpoint: `NAME[@URL][?option=value&…]`.

Options: those of every model (`seat_options`: temperature, top_p, max_tokens, each also by kind of ask, and persona);
reasoning_effort; thinking (a budget of tokens, see `thinking`); extra (a JSON file with more fields of the request, as
the provider names them); key_env (the variable that holds the key); and json (how assessments and forms are requested:
schema (structured output, the default), object (any JSON) or none).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.leaks import find_secret, secrets_of
from liescope.generate.players.openai.key_rules import OPENAI_HOST
from liescope.generate.players.registry import EXTRA, NamedText, SeatOptions, joined, number, read_options

OPTIONS = ("reasoning_effort", "thinking", EXTRA, "key_env", "json")
FORMATS = ("schema", "object", "none")
_BARE = re.compile(
    r"@(localhost|[\w.-]+:\d{2,5}|[\w.-]+\.[\w.-]+/v\d)(?![\w.-])[^@]*$"
)  # an address that lacks its http://
_OURS = frozenset({"model", "messages", "stream", "n", "response_format"})
_NAME = re.compile(r"(?![a-zA-Z]*[0-9][a-zA-Z0-9]{15,}$)[A-Za-z_][A-Za-z0-9_]*")  # and no key without any _
_RANDOM = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9_.~+=-]{20,}")  # a part of a path; ids have one case
_VARIABLE = "put the secret into a variable and name that in key_env"
_SECRETS = ("key", "token", "secret", "password", "authorization")  # the ends of names of fields that hold a secret


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A parsed spec string. base_url: "" if it names none and the environment decides; effort: "" for the endpoint's
    own; thinking: the budget of tokens, if one is given; extra: the name of a file, "" for none.
    """

    name: str
    base_url: str = ""
    key_env: str = ""
    json: str = "schema"
    options: SeatOptions = field(default_factory=SeatOptions)
    effort: str = ""
    thinking: int | None = None
    extra: str = ""

    @property
    def label(self) -> str:
        """The name in tables: the model's, with how it is asked if that is not the endpoint's default."""
        return joined(self.name, self.shown)

    @property
    def shown(self) -> list[str]:
        effort = [f"reasoning_effort={self.effort}"] if self.effort else []
        thinking = [] if self.thinking is None else [f"thinking={self.thinking}"]
        return [*effort, *thinking, *self.options.shown]


def read_spec(argument: str) -> ModelSpec:
    """Read a spec without its "openai:". Raises UsageError, UnknownName."""
    if what := find_secret(argument, secrets_of(os.environ)):
        raise UsageError(f"the spec of a player holds {what}; specs are kept and shown, so {_VARIABLE}")
    head, _, query = argument.partition("?")
    name, url = head, ""
    for scheme in ("http://", "https://"):
        before, at, address = head.partition(f"@{scheme}")
        if at:
            name, url = before, scheme + address.rstrip("/")
    if not name:
        raise UsageError("an openai player needs a model's name, as in openai:gpt-4.1-mini")
    if url:
        check_url(url)
    elif bare := _BARE.search(name):
        raise UsageError(f"an address begins with http:// or https://, as in openai:MODEL@http://{bare[0][1:]}")
    options, own = read_options(query, OPTIONS)
    form = own.get("json", "schema")
    if form not in FORMATS:
        raise UnknownName("json option", form, FORMATS)
    thinking = int(number(own["thinking"], "thinking", 0, 10**9)) if "thinking" in own else None
    effort = own.get("reasoning_effort", "")
    if effort and thinking is not None:
        raise UsageError("thinking and reasoning_effort say the same thing; give one of them")
    key_env = own.get("key_env", "")
    if key_env and not _NAME.fullmatch(key_env):
        raise UsageError(f"key_env names a variable, such as MY_API_KEY, and what it was given is none; {_VARIABLE}")
    return ModelSpec(name, url, key_env, form, options, effort, thinking, own.get(EXTRA, ""))


def check_url(url: str) -> None:
    """Raises UsageError for an invalid address, or one that contains a password or a key."""
    try:
        parts = urlsplit(url)
        secret, host, port = parts.username or parts.password, parts.hostname, parts.port
    except ValueError:
        secret, host, port = None, None, None
    if not host or not url.startswith(("http://", "https://")) or port == 0 or any(sign.isspace() for sign in url):
        raise UsageError("an endpoint's address looks like http://host:port/v1; the given one cannot be read")
    if secret:
        raise UsageError(f"an endpoint's address must hold no password; {_VARIABLE}")
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise UsageError("an endpoint's address ends with its path, as in http://host:port/v1, without ? and #")
    if find_secret(url, secrets_of(os.environ)) or any(map(_RANDOM.fullmatch, unquote(parts.path).split("/"))):
        raise UsageError(
            f"an endpoint's address holds what looks like a key; addresses are kept and shown: {_VARIABLE}"
        )


def read_extra(file: NamedText) -> dict[str, Any]:
    """The fields of a request in a JSON file. Raises BadData for a file that cannot be read, for a field that only
    Liescope sets, and for one that looks like a secret: requests are recorded.
    """
    name = file.name
    try:
        data = json.loads(file.text)
        json.dumps(data, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise BadData(f"{name!r} cannot be read as JSON: {error}") from None
    if not isinstance(data, dict):
        raise BadData(f'{name!r} must hold one JSON object, such as {{"top_k": 20}}')
    if ours := sorted(_OURS & data.keys()):
        raise BadData(f"{name!r} sets {', '.join(ours)}, which Liescope sets itself; take it out")
    if secret := next(_secrets(data), ""):
        raise BadData(f"{name!r} sets {secret}; requests are recorded, so a secret must not be in it")
    return data


def _secrets(data: Any) -> Iterator[str]:
    """The names of fields that look like secrets: their value is a text."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            if isinstance(value, str) and name.casefold().replace("-", "_").endswith(_SECRETS):
                yield name
            yield from _secrets(value)
    elif isinstance(data, list):
        for value in data:
            yield from _secrets(value)


def thinking_fields(host: str, budget: int) -> dict[str, Any]:
    """The fields of a request that set a budget of tokens for reasoning, in the words of each provider.

    OpenRouter normalises it as `reasoning`; Gemini takes a `thinking_config` inside `extra_body` and then puts its
    thoughts into <thought> tags; Anthropic's compatible endpoint takes its own `thinking`; Alibaba takes
    `enable_thinking` and `thinking_budget`. Servers of open models read the chat template's `enable_thinking`; of
    these, vLLM counts `thinking_token_budget` (it wants --reasoning-config for that), llama.cpp
    `thinking_budget_tokens`, and Qwen's template under SGLang `thinking_budget`.

    budget: 0 for no reasoning. Raises UsageError where there is no such thing: OpenAI takes no number.
    """
    name = host.rpartition(":")[0] or host
    if name == OPENAI_HOST:
        raise UsageError("OpenAI takes no budget of thinking tokens; use reasoning_effort=none, low, medium or high")
    if name == "openrouter.ai":
        return {"reasoning": {"max_tokens": budget} if budget else {"effort": "none"}}
    if name == "generativelanguage.googleapis.com":
        config = {"thinking_budget": budget, "include_thoughts": budget > 0}
        return {"extra_body": {"google": {"thinking_config": config}}}
    if name == "api.anthropic.com":
        return {"thinking": {"type": "enabled", "budget_tokens": budget} if budget else {"type": "disabled"}}
    if name.endswith(".aliyuncs.com"):
        return {"enable_thinking": budget > 0} | ({"thinking_budget": budget} if budget else {})
    template: dict[str, Any] = {"enable_thinking": budget > 0}
    if not budget:
        return {"chat_template_kwargs": template}
    counted = {"thinking_token_budget": budget, "thinking_budget_tokens": budget}
    return {"chat_template_kwargs": template | {"thinking_budget": budget}, **counted}
