"""How far two labels of the same statements agree, and two origins of claims: the rules and a model, or two models."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations

from liescope.common.agreement import Agreement, agreement
from liescope.data_cards.tables import TARGETS, ClaimRow, StatementRow

LABELS = tuple(column.name for column in TARGETS.values())


def label_agreement(statements: Iterable[StatementRow]) -> dict[tuple[str, str], Agreement]:
    """Agreement between every two of the labels, in the order of `LABELS`."""
    rows = list(statements)
    columns = {name: [getattr(row, name) for row in rows] for name in LABELS}
    return {(one, two): agreement(columns[one], columns[two]) for one, two in combinations(LABELS, 2)}


@dataclass(frozen=True, slots=True)
class ClaimAgreement:
    """Claims of one kind, "" for all kinds. first, second: how many each origin found; both: found by both, the same
    normal form in the same statement; kappa: Cohen's, on whether a statement holds a claim of this kind; None if not
    defined.
    """

    kind: str
    first: int
    second: int
    both: int
    kappa: float | None

    @property
    def precision(self) -> float | None:
        """The share of the second origin's claims that the first found too."""
        return self.both / self.second if self.second else None

    @property
    def recall(self) -> float | None:
        """The share of the first origin's claims that the second found too."""
        return self.both / self.first if self.first else None


def claim_agreement(
    claims: Iterable[ClaimRow], statements: Collection[str], first: str, second: str
) -> tuple[ClaimAgreement, ...]:
    """Agreement by kind, most frequent first, and over all kinds at the end. statements: the ids of those that both
    origins read; first, second: origins, such as "rules" and "model:NAME".
    """
    read = set(statements)
    rows = [row for row in claims if row.statement_id in read and row.origin in (first, second)]
    kinds = sorted({row.kind for row in rows}, key=lambda kind: (-sum(row.kind == kind for row in rows), kind))
    return tuple(_of_kind(kind, rows, statements, first, second) for kind in (*kinds, ""))


def _of_kind(
    kind: str, rows: Iterable[ClaimRow], statements: Collection[str], first: str, second: str
) -> ClaimAgreement:
    mine = [row for row in rows if row.kind == kind or not kind]
    one, two = ({(row.statement_id, row.normal) for row in mine if row.origin == origin} for origin in (first, second))
    having = [{statement for statement, _ in found} for found in (one, two)]
    kappa = agreement(*([statement in there for statement in statements] for there in having)).kappa
    return ClaimAgreement(kind, len(one), len(two), len(one & two), kappa)
