"""The spec string of a model behind an endpoint, `NAME[@URL][?option=value&…]`, and which key it may use.

A spec may come from someone else (a list of cells, a config file, a copied command), and it names both the variable
that holds the key and the address that the key is sent to. So a known provider's variable may be sent only to that
provider, and any other variable only to this machine. Everything else must be allowed, one variable and one host at a
time, with `--allow-key VARIABLE@HOST` or in the environment variable LIESCOPE_ALLOW_KEYS (several, separated by
commas). A file can never grant this. An endpoint may echo a key that it was sent, or one that occurs in the words of a
game: `Secrets` takes all keys in use out of whatever is kept and whatever is sent.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field

from liescope.common.errors import BadData, MissingKey, UsageError
from liescope.common.key_finder import HIDDEN, Disguised, find_secret, is_word, looks, secrets_of
from liescope.games.core import Reply
from liescope.generate.players.kept_states import StatesOptions
from liescope.generate.players.player_registry import NamedText, joined

_SHORTEST = 6  # a shorter key is no secret, and removing it would garble the text


@dataclass(frozen=True, slots=True)
class Key:
    """An endpoint's secret and the variable it came from; never shown. Both are empty if no key is needed."""

    variable: str
    secret: str

    def __repr__(self) -> str:
        return f"Key({self.variable!r})"


class Secrets:
    """Every key that a run uses. An endpoint may echo any of them, not only its own."""

    def __init__(self) -> None:
        self._keys: dict[str, Disguised] = {}

    def __repr__(self) -> str:
        return f"Secrets({len(self._keys)})"

    def add(self, secret: str) -> None:
        if len(secret) >= _SHORTEST and not is_word(secret) and secret not in self._keys:
            self._keys[secret] = Disguised(secret)

    def hide(self, text: str) -> str:
        """The text without the keys, in any form that `disguises` sees through."""
        for key in self._keys.values() if text else ():
            text = key.replaced(text, HIDDEN)
        return text

    def hide_in(self, data: Any) -> Any:
        """JSON data with the keys taken out of every text in it."""
        if isinstance(data, str):
            return self.hide(data)
        if isinstance(data, Mapping):
            return {name: self.hide_in(value) for name, value in data.items()}
        return type(data)(map(self.hide_in, data)) if isinstance(data, list | tuple) else data

    def hide_in_reply(self, reply: Reply) -> Reply:
        """A reply without the keys. It may hold a key that the completion did not, joined from both sides of something
        that reading removed.
        """
        assessment = reply.assessment
        return replace(
            reply,
            text=self.hide_in(reply.text),
            assessment=assessment and replace(assessment, reason=self.hide(assessment.reason)),
            form=self.hide_in(reply.form),
            raw=self.hide(reply.raw),
            private=self.hide_in(reply.private),
        )

    def without(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The request without keys in its messages: what others said may come from earlier games or from elsewhere. A
        short key may be a word of the game, and stays.
        """
        keys = [key for key in self._keys.values() if key.long]
        read = [looks(part["content"]) for part in body["messages"]] if keys else []
        if not any(key.within(part) for key in keys for part in read):
            return body
        return {**body, "messages": self.hide_in(body["messages"])}


OPENAI_HOST = "api.openai.com"
DEFAULT_KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
NO_KEY = Key("", "")
ALLOW_KEYS = "LIESCOPE_ALLOW_KEYS"
_LOOKS_LIKE_A_KEY = re.compile(r"API_?KEY|_TOKEN$")

_OWN_HOSTS = tomllib.loads(Path(__file__).with_name("key_hosts.toml").read_text("utf-8"))


def host_of(url: str) -> str:
    """The host of an address, and its port if given; in lower case, without path, user or scheme."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return host if parts.port is None else f"{host}:{parts.port}"


def default_url() -> str:
    """Where `openai:MODEL` goes: OPENAI_BASE_URL, or OpenAI itself."""
    return os.environ.get(BASE_URL, "").strip().rstrip("/") or f"https://{OPENAI_HOST}/v1"


def find_key(player: str, url: str, key_env: str, own: bool, allowed: Sequence[str] = ()) -> Key:
    """The key of a player at an address, from the environment. key_env: the variable named in its spec, or ""; own: the
    spec names no address, so the user's environment decides it.

    Raises UsageError if the key may not go there, MissingKey if the variable is not set.
    """
    host = host_of(url)
    variable = key_env or (DEFAULT_KEY if own else "")
    if not variable:
        return NO_KEY
    if not (own and variable == DEFAULT_KEY):
        check_binding(variable, host, own, allowed)
    secret = os.environ.get(variable, "").strip()
    if not secret:
        if own and not key_env and host != OPENAI_HOST:
            return NO_KEY  # the server at OPENAI_BASE_URL may need no key; if it does, it will say so
        raise MissingKey(variable, f"{player} at {url}")
    if not (secret.isascii() and secret.isprintable()):
        raise UsageError(f"the key in {variable} holds characters that no HTTP header takes; copy it again")
    return Key(variable, secret)


def check_binding(variable: str, host: str, own: bool = False, allowed: Iterable[str] = ()) -> None:
    """Raises UsageError if the key in this variable may not be sent to this host (given with its port).

    own: the user's environment names the host, not a spec.
    """
    bare = _without_port(host)
    permitted = {*allowed, *(words.strip() for words in os.environ.get(ALLOW_KEYS, "").split(","))}
    if {f"{variable}@{host}", f"{variable}@{bare}"} & permitted:
        return
    permit = f"if you mean it, add --allow-key {variable}@{host}"
    if variable in _OWN_HOSTS:
        hosts = _OWN_HOSTS[variable]
        if not any(fnmatchcase(bare, pattern) for pattern in hosts):
            home = f"belongs to {' and '.join(hosts)}" if hosts else "is not the key of a model's endpoint"
            raise UsageError(f"the key in {variable} {home}; a spec wants to send it to {host}: {permit}")
    elif not _LOOKS_LIKE_A_KEY.search(variable):
        raise UsageError(
            f"{variable} does not look like an API key (…_API_KEY, …_TOKEN), and a spec wants to send it to {host}: "
            f"{permit}"
        )
    elif not own and not is_this_machine(host):
        raise UsageError(f"a spec wants to send the key in {variable} to {host}: {permit}")


def is_this_machine(host: str) -> bool:
    """Whether a host, with or without its port, is a loopback address."""
    return _without_port(host) in ("localhost", "127.0.0.1", "[::1]")


def _without_port(host: str) -> str:
    return re.sub(r":\d+$", "", host)


_BARE = re.compile(r"@(localhost|[\w.-]+:\d{2,5}|[\w.-]+\.[\w.-]+/v\d)(?![\w.-])[^@]*$")  # an address without http://
_OURS = frozenset({"model", "messages", "stream", "n", "response_format"})
# a variable's name; letters and digits alone, and many, may be the key itself
_NAME = re.compile(r"(?![a-zA-Z]*[0-9][a-zA-Z0-9]{15,}$)[A-Za-z_][A-Za-z0-9_]*")
_RANDOM = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9_.~+=-]{20,}")  # a part of a path; ids have one case
_VARIABLE = "put the secret into a variable and name that in key_env"
_SECRET_FIELD = re.compile(r'"([^"]*(?:key|token|secret|password|authorization))": "', re.I)  # in JSON


class EndpointOptions(StatesOptions):
    """The options of a spec string that only models behind endpoints have."""

    reasoning_effort: str = Field(default="", description="How much the model reasons, in the endpoint's words.")
    thinking: int | None = Field(
        default=None, ge=0, le=10**9, description="A budget of tokens for reasoning, instead of an effort."
    )
    stream: bool = Field(
        default=False, description="Ask for streamed answers; found out where nothing else is answered."
    )
    extra: str = Field(default="", description="A JSON file: more fields of the request, as the provider names them.")
    key_env: str = Field(default="", description="The variable that holds the key.")
    form: Literal["schema", "object", "none"] = Field(
        default="schema", alias="json", description="How assessments and forms are asked for."
    )


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A parsed spec string. base_url: "" if it names none and the environment decides."""

    name: str
    base_url: str = ""
    options: EndpointOptions = field(default_factory=EndpointOptions)

    @property
    def label(self) -> str:
        """The name in tables: the model's, with every setting that is not the endpoint's default."""
        return joined(self.name, self.shown)

    @property
    def shown(self) -> list[str]:
        own = {name: getattr(self.options, name) for name in ("reasoning_effort", "thinking")}
        return [*(f"{name}={value}" for name, value in own.items() if value not in ("", None)), *self.options.shown]


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
    options = EndpointOptions.read(query, f"openai:{name}")
    if options.reasoning_effort and options.thinking is not None:
        raise UsageError("thinking and reasoning_effort say the same thing; give one of them")
    if options.key_env and not _NAME.fullmatch(options.key_env):
        raise UsageError(f"key_env names a variable, such as MY_API_KEY, and what it was given is none; {_VARIABLE}")
    return ModelSpec(name, url, options)


def check_url(url: str) -> None:
    """Raises UsageError for an invalid address, or one that contains a password or a key."""
    try:
        parts = urlsplit(url)
        readable = url.startswith(("http://", "https://")) and parts.hostname and parts.port != 0
    except ValueError:
        readable = False
    if not readable or any(sign.isspace() for sign in url):
        raise UsageError("an endpoint's address looks like http://host:port/v1; the given one cannot be read")
    if parts.username or parts.password:
        raise UsageError(f"an endpoint's address must hold no password; {_VARIABLE}")
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
    if secret := _SECRET_FIELD.search(json.dumps(data)):
        raise BadData(f"{name!r} sets {secret[1]}; requests are recorded, so a secret must not be in it")
    return data


def thinking_fields(host: str, budget: int) -> dict[str, Any]:
    """The fields of a request that set a budget of tokens for reasoning, in the words of each provider.

    OpenRouter normalises it as `reasoning`; Gemini takes a `thinking_config` inside `extra_body` and then puts its
    thoughts into <thought> tags; Anthropic's compatible endpoint takes its own `thinking`; Alibaba takes
    `enable_thinking` and `thinking_budget`. Servers of open models read the chat template's `enable_thinking`; of
    these, vLLM counts `thinking_token_budget` (it wants --reasoning-config for that), llama.cpp
    `thinking_budget_tokens`, and Qwen's template under SGLang `thinking_budget`.

    budget: 0 for no reasoning. Raises UsageError for OpenAI, which takes no number.
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
