"""Completions as the reply cache keeps them."""

from __future__ import annotations

from pydantic import TypeAdapter, ValidationError

from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.reply_cache import ReplyCache

_COMPLETION: TypeAdapter[Completion] = TypeAdapter(Completion)


def find_completion(cache: ReplyCache, key: str) -> Completion | None:
    """The completion kept under a key. Raises BadData if what is kept is none."""
    text = cache.find(key)
    if text is None:
        return None
    try:
        return _COMPLETION.validate_json(text, strict=True)
    except ValidationError:
        raise cache.damaged() from None


def keep_completion(cache: ReplyCache, key: str, completion: Completion) -> None:
    cache.keep(key, _COMPLETION.dump_json(completion).decode())
