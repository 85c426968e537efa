"""Whether a model at an endpoint supports JSON schemas: determined by the preflight, or by the first requests that need
one, stored in the run, and never changed by a single later failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from liescope.generate.players.protocol import EndpointFacts

NO = "none"
_STRIKES = 2  # refusals in a row, each of a request that succeeds without the format
_MOST_NAMES = 8


class FormatSupport:
    """What is known about one model at one endpoint, and how it is found out.

    While nothing is known, requests with a format are sent one at a time (`finding_out`): the first that is answered
    settles it. learn: called with the facts whenever there are more.
    """

    def __init__(self, facts: EndpointFacts, learn: Callable[[EndpointFacts], None]) -> None:
        self._facts = facts
        self._learn = learn
        self._strikes = 0
        self.finding_out = asyncio.Lock()

    @property
    def known(self) -> str | None:
        """The format that is accepted ("schema", "object", or "none"); None while unknown."""
        return self._facts.json

    def accepted(self, form: str) -> None:
        self._strikes = 0
        if self.known is None:
            self._note(replace(self._facts, json=form))

    def refused(self) -> None:
        """A request was refused with its format, and answered without."""
        if self.known is None:
            self._strikes += 1
            if self._strikes >= _STRIKES:
                self._note(replace(self._facts, json=NO))

    @property
    def facts(self) -> EndpointFacts:
        return self._facts

    def found(self, **facts: Any) -> None:
        """Note what the preflight found out, by the names of `EndpointFacts`; what is known already stays."""
        news = {name: value for name, value in facts.items() if getattr(self._facts, name) is None}
        if any(value is not None for value in news.values()):
            self._note(replace(self._facts, **news))

    def served(self, model: str | None) -> None:
        """Note the name that the endpoint gave for the model."""
        names = self._facts.served_models
        if model is not None and model not in names and len(names) < _MOST_NAMES:
            self._note(replace(self._facts, served_models=(*names, model)))

    def _note(self, facts: EndpointFacts) -> None:
        self._facts = facts
        self._learn(facts)
