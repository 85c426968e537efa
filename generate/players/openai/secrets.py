"""The keys in use, and how they are removed from everything that an endpoint sends back and from what it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from liescope.common.disguises import LONG, Disguised, looks
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
