"""What asking a model for claims came to: what it found, what does not stand, and its agreement with the rules."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from liescope.common.text import plain
from liescope.games.core import EventKind
from liescope.generate.runs.journal import Journal
from liescope.labeling.claim_agreement import ClaimAgreement, claim_agreement
from liescope.labeling.ledger import BY_MODEL, RULES, claim_rows, statement_id
from liescope.labeling.model_claims import model_claims
from liescope.labeling.rows import ClaimRow


@dataclass(frozen=True, slots=True)
class ClaimsReport:
    """One model. statements: asked about, with a readable reply; unread: replies that could not be read; dropped:
    claims left out, by reason; agreement: with the rules, whose claims are the first origin.
    """

    model: str
    statements: int
    unread: int
    dropped: Mapping[str, int]
    agreement: tuple[ClaimAgreement, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        rows = [{**asdict(row), "precision": row.precision, "recall": row.recall} for row in self.agreement]
        return {**asdict(self), "agreement": rows}

    def lines(self) -> Iterator[str]:
        """At most 80 columns each."""
        yield f"Claims found by {plain(self.model)} in {self.statements} statements ({self.unread} replies unreadable)."
        for reason, count in self.dropped.items():
            yield f"Left out: {count} ({reason})."
        yield f"{'against the rules':18}{'rules':>8}{'model':>8}{'both':>8}{'precision':>11}{'recall':>8}{'kappa':>8}"
        for row in self.agreement:
            shares = f"{_share(row.precision):>11}{_share(row.recall):>8}{_share(row.kappa):>8}"
            yield f"{plain(row.kind or 'all')[:17]:18}{row.first:>8}{row.second:>8}{row.both:>8}{shares}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def claims_report(run: str | os.PathLike[str]) -> tuple[ClaimsReport, ...]:
    """The report of each model that found claims in a run (`liescope label RUN --claims-by MODEL`)."""
    read: dict[str, list[str]] = {}
    unread: Counter[str] = Counter()
    dropped: dict[str, Counter[str]] = {}
    claims: list[ClaimRow] = []
    with Journal.open(Path(run)) as journal:
        for game in journal.records():
            for event in game.events:
                if event.kind is EventKind.CLAIMS_FOUND:
                    model = event.data.get("judge", "")
                    unread[model] += bool(event.fallback)
                    found = read.setdefault(model, [])
                    found += [] if event.fallback else [statement_id(game.game_id, event.about or 0)]
            for model, lost in model_claims(game).dropped.items():
                dropped.setdefault(model, Counter()).update(lost)
            claims += claim_rows(game)
    return tuple(
        ClaimsReport(
            model,
            len(statements),
            unread[model],
            dict(dropped[model].most_common()),
            claim_agreement(claims, statements, RULES, f"{BY_MODEL}{model}"),
        )
        for model, statements in read.items()
    )
