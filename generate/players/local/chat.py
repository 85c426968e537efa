"""From a prompt to tokens: as a message of the model's chat template, or as plain text if it has none."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import PlayerFailed
from liescope.generate.players.local.loading import Loaded
from liescope.generate.players.local.spec import LocalOptions
from liescope.generate.players.parsing.reasoning import split_reasoning

_THINKING = ("<think>", "enable_thinking", "<|channel|>", "reasoning_effort")  # in templates of models that reason


def prompt_ids(loaded: Loaded, messages: Sequence[Mapping[str, str]], options: LocalOptions) -> NDArray[np.int64]:
    """The tokens of a prompt. Raises PlayerFailed if the template does not take these messages."""
    tokenizer = loaded.tokenizer
    if not tokenizer.chat_template:
        text = "\n\n".join(message["content"] for message in messages)
        return np.array(tokenizer(text)["input_ids"], dtype=np.int64)
    try:
        text = tokenizer.apply_chat_template(
            list(map(dict, messages)), tokenize=False, add_generation_prompt=True, **_switches(options)
        )
    except Exception as error:
        raise PlayerFailed(f"the model's chat template fails: {' '.join(str(error).split())[:200]}") from error
    return np.array(tokenizer(text, add_special_tokens=False)["input_ids"], dtype=np.int64)


def thinks(loaded: Loaded, options: LocalOptions) -> bool:
    """Whether replies may begin with reasoning."""
    if options.think is not None:
        return options.think
    return any(sign in str(loaded.tokenizer.chat_template or "") for sign in _THINKING)


def reply_text(loaded: Loaded, ids: NDArray[np.int64]) -> str:
    """The text of a reply, with the signs that set reasoning apart."""
    found: str = loaded.tokenizer.decode(ids.tolist(), skip_special_tokens=False)
    return found


def answer_at(loaded: Loaded, ids: NDArray[np.int64]) -> int:
    """The place of the first token after the reasoning that a reply begins with, `len(ids)` if nothing follows it."""
    text = reply_text(loaded, ids)
    split = split_reasoning(text)
    start = text.rfind(split.answer) if split.answer else len(text) * bool(split.reasoning)
    return (
        bisect_right(range(len(ids)), start, key=lambda end: len(reply_text(loaded, ids[: end + 1])))
        if start > 0
        else 0
    )


def _switches(options: LocalOptions) -> dict[str, Any]:
    """What is said to the template, under the names that makers of models use."""
    think = {} if options.think is None else {"enable_thinking": options.think, "thinking": options.think}
    return think | ({"reasoning_effort": options.reasoning_effort} if options.reasoning_effort else {})
