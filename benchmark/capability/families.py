"""The family of a model, read from its name."""

from __future__ import annotations

import re


def family_of(model: str) -> str:
    """What stands before a slash ("openai/gpt-5"), else the letters that a name begins with: "gpt" of "GPT-4.1 Mini",
    "claude" of "Claude Sonnet 4". In lower case; a name that begins otherwise is its own family.
    """
    before, slash, _ = model.partition("/")
    start = re.match(r"[A-Za-z]+", model)
    return (before if slash and before else start.group() if start else model).casefold()
