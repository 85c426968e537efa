"""Which key may be sent where. Keys are bound to hosts.

A spec string may come from someone else (a list of cells, a config file, a copied command), and it names both the
variable that holds the key and the address that the key is sent to. So a known provider's variable may be sent only to
that provider, and any other variable only to this machine. Everything else must be allowed, one variable and one host
at a time, with `--allow-key VARIABLE@HOST` or in the environment variable LIESCOPE_ALLOW_KEYS (several, separated by
commas). A file can never grant this.

An endpoint may echo a key that it was sent, or that stands in the words of a game: `Secrets` takes all keys in use
out of whatever is kept and whatever is sent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from liescope.common.errors import MissingKey, UsageError
from liescope.common.leaks import LONG, Disguised, looks
from liescope.games.core import Reply

HIDDEN = "[key]"
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
        if len(secret) >= _SHORTEST and secret not in self._keys:
            self._keys[secret] = Disguised(secret)

    def hide(self, text: str) -> str:
        """The text without the keys, in any form that `disguises` sees through."""
        for key in self._keys.values():
            text = key.replaced(text, HIDDEN)
        return text

    def hide_in(self, data: Any) -> Any:
        """The same for every text in JSON data."""
        if isinstance(data, str):
            return self.hide(data)
        if isinstance(data, Mapping):
            return {name: self.hide_in(value) for name, value in data.items()}
        return type(data)(map(self.hide_in, data)) if isinstance(data, list | tuple) else data

    def hide_in_reply(self, reply: Reply) -> Reply:
        """The same for a reply: what was read of a completion may hold a key that the completion did not, joined from
        what stood on both sides of something that reading removed.
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
        """The request without keys in its messages: what others said may come from games that were played before, or
        elsewhere. A short key may be a word of the game, and stays.
        """
        keys = [key for secret, key in self._keys.items() if len(secret) >= LONG]
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
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})

# Variables that people set for one provider, and its hosts; variables of other services have no hosts.
_OWN_HOSTS: dict[str, tuple[str, ...]] = {
    DEFAULT_KEY: (OPENAI_HOST, "*.api.openai.com"),
    "ANTHROPIC_API_KEY": ("api.anthropic.com",),
    "AZURE_OPENAI_API_KEY": ("*.openai.azure.com", "*.cognitiveservices.azure.com", "*.services.ai.azure.com"),
    "CEREBRAS_API_KEY": ("api.cerebras.ai",),
    "DEEPINFRA_API_KEY": ("api.deepinfra.com",),
    "DEEPSEEK_API_KEY": ("api.deepseek.com",),
    "FIREWORKS_API_KEY": ("api.fireworks.ai",),
    "GEMINI_API_KEY": ("generativelanguage.googleapis.com",),
    "GOOGLE_API_KEY": ("generativelanguage.googleapis.com",),
    "GROQ_API_KEY": ("api.groq.com",),
    "HF_TOKEN": ("router.huggingface.co", "*.endpoints.huggingface.cloud"),
    "MISTRAL_API_KEY": ("api.mistral.ai",),
    "NVIDIA_API_KEY": ("integrate.api.nvidia.com",),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "TOGETHER_API_KEY": ("api.together.xyz", "api.together.ai"),
    "XAI_API_KEY": ("api.x.ai",),
    "GITHUB_TOKEN": ("models.github.ai",),
    "GH_TOKEN": ("models.github.ai",),
    "AWS_SESSION_TOKEN": (),
    "AWS_SECURITY_TOKEN": (),
    "CI_JOB_TOKEN": (),
    "GITLAB_TOKEN": (),
    "NPM_TOKEN": (),
    "PYPI_TOKEN": (),
    "SLACK_BOT_TOKEN": (),
}


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
            return NO_KEY  # the server at OPENAI_BASE_URL needs no key, or will say so itself
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
            home = f"belongs to {' and '.join(hosts)}" if hosts else "is no key of a model's endpoint"
            raise UsageError(f"the key in {variable} {home}; a spec wants to send it to {host}: {permit}")
    elif not _LOOKS_LIKE_A_KEY.search(variable):
        raise UsageError(
            f"{variable} does not look like an API key (…_API_KEY, …_TOKEN), and a spec wants to send it to {host}: "
            f"{permit}"
        )
    elif not own and not is_this_machine(host):
        raise UsageError(f"a spec wants to send the key in {variable} to {host}: {permit}")


def check_allowed(allowed: Iterable[str]) -> None:
    """Raises UsageError if an entry is not `VARIABLE@HOST`."""
    for words in allowed:
        variable, at, host = words.partition("@")
        if not (variable and at and host) or "/" in host or any(sign.isspace() for sign in words):
            raise UsageError(f"--allow-key takes VARIABLE@HOST, as in CORP_API_KEY@llm.example.com; got {words!r}")


def is_this_machine(host: str) -> bool:
    """Whether a host, with or without its port, is a loopback address."""
    return _without_port(host) in _LOOPBACK


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
