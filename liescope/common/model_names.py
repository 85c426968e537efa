"""Whether two names mean one model: prefixes of providers, quantisation, dates and separators are ignored.

`openai/gpt-4.1_mini` is `gpt-4.1-mini-2025-04-14`, and `mistral-7b-instruct-v0.2.Q4_K_M.gguf` is
`Mistral-7B-Instruct-v0.2`. A bare family, such as `mistral.gguf`, may be any model of it: it matches each of them, and
code that relies on such a match says so. Sizes, versions and `instruct` do distinguish models.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256

_ADDRESS = re.compile(r"@https?://.*$")
_PREFIX = re.compile(r"^(?:openai:|local:|agent:|vertex_ai:|models?:|.*[/\\])")  # of a player, a provider, a folder
_FILE = re.compile(r"\.(?:gguf|ggml|bin|safetensors)$")
_QUANTISATION = re.compile(
    r"[-_.:](?:(?:i?q[1-8](?:[-_](?:[0-9km]|k[-_](?:s|m|l|xl)|xxs|xs|s|m|l|nl))*)|(?:u?int|fp|bf|nf|mxfp)\d+|[48]-?bit|"
    r"awq|gptq|ggml|gguf|bnb|exl2|quantized|f16|f32)$"
)
_DATE = re.compile(r"[-_@](?:20\d{6}|20\d\d-[01]\d-[0-3]\d|latest|preview)$")
_SEPARATORS = re.compile(r"[-_\s:]+")
_VENDOR = re.compile(r"^(?:meta-(?=llama)|google-(?=gemma)|qwen-(?=qwen)|mistralai-|openai-|anthropic-|deepseek-ai-)")
_WORD_AND_NUMBER = re.compile(r"([a-z])-(?=\d)")  # qwen-2.5 is qwen2.5
_NUMBERS = re.compile(r"(?<=\d)-(?=\d)")  # claude-3-5 is claude-3.5
_BARE = re.compile(r"[a-z]{3,}")
_NO_MODEL = frozenset({"", "unknown", "human", "person", "people", "none", "scripted", "random"})


def plain_name(model: str) -> str:
    """The name without everything that is ignored; equal for two names of one model."""
    name = _PREFIX.sub("", _ADDRESS.sub("", model.strip().casefold()))
    while (shorter := _DATE.sub("", _QUANTISATION.sub("", _FILE.sub("", name)))) != name:
        name = shorter
    name = _VENDOR.sub("", _SEPARATORS.sub("-", name).strip("-"))
    return _NUMBERS.sub(".", _WORD_AND_NUMBER.sub(r"\1", name))


def is_named(model: str) -> bool:
    """Whether a name identifies a model: the names for nobody, for people and for an unknown model do not."""
    return plain_name(model) not in _NO_MODEL


def same_model(one: str, other: str) -> bool:
    """Whether two names may mean one model."""
    first, second = plain_name(one), plain_name(other)
    if one == other or first == second:
        return True
    short, long = sorted((first, second), key=len)
    if short in _NO_MODEL or not _BARE.fullmatch(short):
        return False
    return re.match(rf"{short}(?![a-z])", long) is not None


def spellings(model: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that may mean this model, in their order."""
    return tuple(name for name in dict.fromkeys(names) if same_model(model, name))


def one_name(names: Collection[str]) -> Mapping[str, str]:
    """For each name, the one that represents its model: the alphabetically first spelling. A bare family joins its only
    model here; where there are several, it stays on its own.
    """
    groups: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        groups.setdefault(plain_name(name), []).append(name)
    found = {}
    for own in groups.values():
        models = {plain_name(other) for other in spellings(own[0], names)} - {plain_name(own[0])}
        bare = _BARE.fullmatch(plain_name(own[0])) is not None
        first = groups[models.pop()][0] if bare and len(models) == 1 else own[0]
        found.update(dict.fromkeys(own, first))
    return found


def taken_as_one(names: Collection[str]) -> list[str]:
    """Lines for readers: one for each model that occurs in several spellings, and for each bare family that may be one
    of several.
    """
    by_model: dict[str, list[str]] = {}
    for name, first in one_name(names).items():
        by_model.setdefault(first, []).append(name)
    found = [f"{', '.join(own)} are taken as names of one model" for own in by_model.values() if len(own) > 1]
    for first, own in by_model.items():
        others = {one_name(names)[other] for other in spellings(first, names)} - {first}
        if _BARE.fullmatch(plain_name(first)) and others:
            found.append(f"{', '.join(own)} may be any of {', '.join(sorted(others))}, and is kept apart")
    return found


PEOPLE = "people"
"""The name under which all people stand as one player, wherever players are named by their models."""


def consent_hash(paragraphs: Sequence[str]) -> str:
    """The fingerprint of a consent text: 16 hexadecimal digits."""
    return sha256("\n".join(paragraphs).encode()).hexdigest()[:16]
