"""What asking a judge came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """What asking a judge came to. how: "log-probability" of its answer, or "stated confidence"; statements: asked
    about; failed: those without a score, by reason; found: replies in the cache; requests, tokens, cost: of this time,
    cost None without a price.
    """

    name: str
    how: str
    served_models: tuple[str, ...]
    statements: int
    failed: Mapping[str, int]
    found: int
    requests: int
    tokens: int
    cost: float | None
    currency: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def sentences(self) -> list[str]:
        """What to tell the user about it."""
        cost = "" if self.cost is None else f", {self.cost:.4f} {self.currency}"
        said = [
            f"{self.name}: {self.how}; {self.statements:,} statements, {self.found:,} replies kept from before, "
            f"{self.requests:,} requests, {self.tokens:,} tokens{cost}"
        ]
        return said + [f"{self.name}: {count:,} statements have no score ({why})" for why, count in self.failed.items()]
