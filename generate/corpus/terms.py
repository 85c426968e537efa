"""The licence of a corpus: the words of each origin come with the terms of whoever published them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import polars as pl

from liescope.data_cards.licences import NOT_STATED, OURS, Licensed, Terms, own_terms

NOT_SAID = Terms("games whose run does not say whose they are", f"Licence {NOT_STATED}.")


def licences_of(games: pl.LazyFrame, terms: Mapping[str, Mapping[str, Terms]]) -> tuple[Licensed, ...]:
    """The terms of the games of a corpus, by origin. games: the table; terms: by run, and by origin."""
    counts: Counter[tuple[str, Terms]] = Counter()
    kinds = games.group_by("run", "origin", "source").len().sort("origin", "run", "source")
    for run, origin, source, count in kinds.collect(engine="streaming").iter_rows():
        of_origin = own_terms(source) if origin == OURS else terms.get(run, {}).get(origin, NOT_SAID)
        counts[origin, of_origin] += count
    return tuple(Licensed(origin, of_origin, count) for (origin, of_origin), count in counts.items())
