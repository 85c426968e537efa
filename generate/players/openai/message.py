"""A message of an endpoint: what it says, and the reasoning beside it, wherever the endpoint puts that.

Fields: `reasoning_content` (DeepSeek, SGLang, llama.cpp, LiteLLM, earlier vLLM), `reasoning` (vLLM, OpenRouter, Groq,
Ollama), `thinking` (gateways to Ollama), `reasoning_details` (OpenRouter: texts and summaries; encrypted ones are left
out) and `thinking_blocks` (LiteLLM). Parts of a content list: Mistral's `thinking`, itself a list of texts; `thinking`
as Anthropic has it; `reasoning` with a text or a summary; texts that Gemini marks with `thought`. Tags in the text, as
in Gemini's <thought>, are left to `parsing.reasoning`. Several fields often carry the same words; each is kept once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from liescope.generate.players.parsing.clean import storable

_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks")
_WORDS = ("text", "thinking", "reasoning", "summary", "content")  # where a part of reasoning has its words
_DEEPEST = 4  # lists within lists


def spoken(content: Any) -> str:
    """The text of a message's content: a string, or a list of parts without those that are reasoning."""
    if isinstance(content, str):
        return storable(content)
    if not isinstance(content, list):
        return ""
    return "".join(storable(part["text"]) for part in content if _is_text(part) and not _is_reasoning(part))


def reasoning(message: Mapping[str, Any]) -> str:
    """The reasoning in a message, apart from what it says."""
    content = message.get("content")
    thought = [part for part in content if _is_reasoning(part)] if isinstance(content, list) else []
    found: list[str] = []
    for value in (*(message.get(field) for field in _FIELDS), thought):
        words = "".join(_words(value)).strip()
        if words and not any(words in other for other in found):
            found.append(words)
    return "\n\n".join(found)


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and isinstance(part.get("text"), str)


def _is_reasoning(part: Any) -> bool:
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
        own = next((value[name] for name in _WORDS if value.get(name)), None)
        yield from _words(own, depth + 1)
