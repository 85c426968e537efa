"""The facts of a corpus about its claims: what was found, and how close `label_claim` is to `label_role`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from liescope.labeling.agreement import from_counts
from liescope.labeling.ledger import BY_MODEL, PROMISED


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """origins: how many claims each found; classes, kinds: how many have each; promises: how many were kept, were
    broken and stayed open (these three without the claims that models found, of which no label is made); lying:
    statements of a deceiving role that have label_claim, and those of them in which it is true; others: the same for
    the other statements; raw, kappa: how far label_claim and label_role agree where a statement has both, None if that
    is not defined.
    """

    origins: Mapping[str, int]
    classes: Mapping[str, int]
    kinds: Mapping[str, int]
    promises: Mapping[str, int]
    lying: tuple[int, int]
    others: tuple[int, int]
    raw: float | None
    kappa: float | None


def count_claims(claims: pl.LazyFrame, statements: pl.LazyFrame) -> ClaimFacts:
    """Count the facts of the tables `claims` and `statements`."""
    both = statements.drop_nulls(["label_role", "label_claim"]).group_by("label_role", "label_claim").len()
    counts = {(role, claim): count for role, claim, count in both.collect(engine="streaming").iter_rows()}
    agreed = from_counts(counts)
    fate = pl.when("kept").then(pl.lit("kept")).when(~pl.col("kept")).then(pl.lit("broken")).otherwise(pl.lit("open"))
    own = claims.filter(~pl.col("origin").str.starts_with(BY_MODEL))
    promises = own.filter(pl.col("kind").is_in(sorted(PROMISED))).select(fate=fate)
    return ClaimFacts(
        origins=counted(claims, "origin"),
        classes=counted(own, "claim_class"),
        kinds=counted(own, "kind"),
        promises=counted(promises, "fate"),
        lying=_labelled(counts, role=True),
        others=_labelled(counts, role=False),
        raw=agreed.raw,
        kappa=agreed.kappa,
    )


def _labelled(counts: Mapping[tuple[bool, bool], int], role: bool) -> tuple[int, int]:
    true = counts.get((role, True), 0)
    return true + counts.get((role, False), 0), true


def counted(frame: pl.LazyFrame, column: str) -> dict[str, int]:
    """How often each value of a text column occurs, most frequent first."""
    table = frame.group_by(column).len().sort("len", column, descending=[True, False]).collect(engine="streaming")
    return dict(table.iter_rows())
