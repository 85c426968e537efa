"""The keys in use, and how they are removed from everything that an endpoint sends back."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
        self._patterns: dict[str, re.Pattern[str]] = {}

    def __repr__(self) -> str:
        return f"Secrets({len(self._patterns)})"

    def add(self, secret: str) -> None:
        if len(secret) >= _SHORTEST and secret not in self._patterns:
            self._patterns[secret] = re.compile("".join(map(_disguises, secret)))

    def hide(self, text: str) -> str:
        """The text without the keys, including keys written with JSON, URL or HTML escapes."""
        for pattern in self._patterns.values():
            text = pattern.sub(HIDDEN, text)
        return text


def _disguises(letter: str) -> str:
    """The ways to write one ASCII character; nested JSON doubles the backslashes of its escapes."""
    code = f"{ord(letter):02x}"
    digits = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in code)
    return rf"(?:\\{{0,8}}(?:u00{digits}|{re.escape(letter)})|%{digits}|&\#(?:0*{ord(letter)}|[xX]0*{digits});)"
