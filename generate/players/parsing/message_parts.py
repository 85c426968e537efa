"""The words and the reasoning in a message of the chat protocol, in each provider's shape; none of it is trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from liescope.generate.players.parsing.choice import storable

_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks")
_WORDS = ("text", "thinking", "reasoning", "summary", "content")  # the fields that hold a reasoning part's words
_DEEPEST = 4  # the deepest nesting of lists


def spoken(content: Any) -> str:
    """The text of a message's content: a string, a part, or a list of parts without those that are reasoning."""
    if isinstance(content, str):
        return storable(content)
    content = [content] if isinstance(content, Mapping) else content
    if not isinstance(content, list):
        return ""
    parts = (part for part in content if isinstance(part, Mapping) and not is_reasoning(part))
    return "".join(storable(text) for part in parts if isinstance(text := part.get("text"), str))


def reasoning(message: Mapping[str, Any]) -> str:
    """The reasoning in a message, apart from what it says, wherever an endpoint puts it.

    Fields: `reasoning_content` (DeepSeek, SGLang, llama.cpp, LiteLLM, earlier vLLM), `reasoning` (vLLM, OpenRouter,
    Groq, Ollama), `thinking` (gateways to Ollama), `reasoning_details` (OpenRouter: texts and summaries; encrypted ones
    are left out) and `thinking_blocks` (LiteLLM). Parts of a content list: Mistral's `thinking`, itself a list of
    texts; `thinking` as Anthropic has it; `reasoning` with a text or a summary, which is all that is read of one marked
    as redacted; texts that Gemini marks with `thought`.
    Several fields often carry the same words; each is kept once. Tags in the text are left to `split_reasoning`.
    """
    content = message.get("content")
    thought = [part for part in content if is_reasoning(part)] if isinstance(content, list) else []
    found: list[str] = []
    for value in (*(message.get(name) for name in _FIELDS), thought):
        words = "".join(_words(value)).strip()
        if words and not any(words in other for other in found):
            found.append(words)
    return "\n\n".join(found)


def is_reasoning(part: Any) -> bool:
    """Whether a part of a content list is reasoning, by its type or its mark."""
    if not isinstance(part, Mapping):
        return False
    kind = part.get("type")
    return part.get("thought") is True or (isinstance(kind, str) and ("think" in kind or "reason" in kind))


def _words(value: Any, depth: int = 0) -> Iterator[str]:
    """The words in a string, a part, or a list of parts, in order."""
    if isinstance(value, str):
        yield storable(value)
    elif isinstance(value, list) and depth < _DEEPEST:
        for part in value:
            yield from _words(part, depth + 1)
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        names = ("summary",) if value.get("redacted") is True else _WORDS
        own = next((value[name] for name in names if value.get(name)), None)
        yield from _words(own, depth + 1)
