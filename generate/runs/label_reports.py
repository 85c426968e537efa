"""What `liescope label` prints of a run: how far a model's claims agree with those of the rules, and what speakers
believe of their own.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from liescope.data_cards.tables import ClaimRow
from liescope.games.core import EventKind
from liescope.generate.runs.journal import Journal
from liescope.labeling.label import label_game
from liescope.labeling.ledger import BY_MODEL, RULES, claim_rows, statement_id
from liescope.labeling.model_claims import ClaimAgreement, claim_agreement, model_claims

if TYPE_CHECKING:
    from liescope.common.report.contents import Report


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

    @property
    def report(self) -> Report:
        """How far the model and the rules agree, as it is printed."""
        from liescope.common.report.contents import Column, Report, Section, Table

        shares = (Column(name, format=".3f") for name in ("precision", "recall", "kappa"))
        columns = (Column("kind", "against the rules"), Column("rules"), Column("model"), Column("both"), *shares)
        rows = [
            (row.kind or "all", row.first, row.second, row.both, row.precision, row.recall, row.kappa)
            for row in self.agreement
        ]
        read = f"Claims found by {self.model} in {self.statements} statements ({self.unread} replies unreadable)."
        lost = [f"Left out: {count} ({reason})." for reason, count in self.dropped.items()]
        table = Table(columns, rows)
        section = Section("claims", "Claims of the model against those of the rules", table=table, printed=True)
        return Report(findings=(read,), notes=tuple(lost), sections=(section,))


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


_BELIEVES = {True: "believes false", False: "believes true", None: "cannot know"}
_UNREAD, _BOTH, _ALIKE = "unread", "with label_claim", "and alike"


@dataclass(frozen=True, slots=True)
class BeliefsReport:
    """models: for each, how many of its statements it was asked about (asked), what it believes of their claims, how
    many replies could not be read, how many have a `label_claim` too, and in how many of these both labels are alike.
    """

    models: Mapping[str, Mapping[str, int]]

    @property
    def report(self) -> Report:
        """What the speakers believe, beside the log, as it is printed."""
        from liescope.common.report.contents import Column, Report, Section, Table

        if not self.models:
            return Report(findings=("Nobody was asked: no statement has a claim that could be read.",), sections=())
        names = ("asked", *_BELIEVES.values(), _UNREAD, _BOTH, _ALIKE)
        rows = [(model, *(counts.get(name, 0) for name in names)) for model, counts in self.models.items()]
        both, alike = (sum(counts.get(name, 0) for counts in self.models.values()) for name in (_BOTH, _ALIKE))
        said = f"Of {both:,} statements with both labels, label_belief and label_claim are the same in {alike:,}."
        table = Table([Column(name) for name in ("model", *names)], rows)
        section = Section("beliefs", "What speakers believe of their own claims", table=table, printed=True)
        return Report(findings=(said,), sections=(section,))


def beliefs_report(run: str | os.PathLike[str]) -> BeliefsReport:
    """How far what speakers believe agrees with the log, in a run of `liescope label RUN --beliefs`."""
    found: dict[str, Counter[str]] = {}
    with Journal.open(Path(run)) as journal:
        for game in journal.records():
            asked = {statement_id(game.game_id, e.about or 0): e for e in game.events if e.kind is EventKind.BELIEFS}
            for row in label_game(game).statements if asked else ():
                if (event := asked.get(row.statement_id)) is None:
                    continue
                counts = found.setdefault(row.speaker_model, Counter())
                counts.update(("asked", _UNREAD if event.fallback else _BELIEVES[row.label_belief]))
                if row.label_belief is not None and row.label_claim is not None:
                    counts.update((_BOTH, *([_ALIKE] if row.label_belief == row.label_claim else [])))
    return BeliefsReport(dict(sorted(found.items())))
