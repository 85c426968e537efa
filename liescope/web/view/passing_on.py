"""Whose words a file of games would pass on, and whether that is allowed: as for a corpus that is published."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from liescope.common.errors import UsageError
from liescope.data_cards.licences import OURS, Terms, own_terms
from liescope.games.record import GameRecord
from liescope.generate.corpus.facts import NOT_SAID
from liescope.generate.corpus.publish import notices
from liescope.generate.corpus.read import read_facts
from liescope.generate.runs.conditions import plan_terms
from liescope.generate.runs.folder import read_head
from liescope.labeling.conditions import origin_of
from liescope.web.view.sources import Source


def whose_words(source: Source, games: Iterable[GameRecord]) -> tuple[tuple[Terms, int], ...]:
    """The terms of the words of these games, and of how many games each. Where a corpus has games of one origin under
    several terms, all of them count.
    """
    given = _given(source)
    counts: dict[Terms, int] = defaultdict(int)
    for game in games:
        origin = origin_of(game)
        own = (own_terms("+".join(sorted({seat.source.value for seat in game.seats}))),)
        for terms in own if origin == OURS else given.get(origin, (NOT_SAID,)):
            counts[terms] += 1
    return tuple(counts.items())


def _given(source: Source) -> Mapping[str, Sequence[Terms]]:
    """The terms of what was imported, by its format."""
    if source.kind == "run":
        return {name: (terms,) for name, terms in plan_terms(read_head(source.path)["plan"]).items()}
    found: dict[str, list[Terms]] = defaultdict(list)
    for name, terms in _licences(read_facts(source.path)):
        found[name].append(terms)
    return found


def _licences(facts: Mapping[str, Any]) -> Iterator[tuple[str, Terms]]:
    """What is not stated plainly in a corpus counts as not allowed."""
    for one in facts.get("licences", ()):
        stated = one.get("terms", {})
        origin, licence, name = (str(stated.get(key, "")) for key in ("origin", "licence", "licence_id"))
        yield str(one.get("name", "")), Terms(origin, licence, name, stated.get("redistributable") is True)


def check_permitted(words: Sequence[tuple[Terms, int]], name: str, permission: str) -> None:
    """Raises UsageError if words may not be passed on and nobody is said to permit it."""
    bound = [
        f"{terms.origin} ({games:,} games; {terms.licence.rstrip('.')})" for terms, games in words if not allowed(terms)
    ]
    if bound and not permission.strip():
        raise UsageError(
            f"{name} holds words that may not be passed on, and a file is made to be: {'; '.join(bound)}. Ask whoever "
            'published them; if they agree, say so with --permission "WHO, WHEN". To look at them here needs no file: '
            f"liescope view {name}"
        )


def allowed(terms: Terms) -> bool:
    return terms.redistributable


def warnings(games: Iterable[GameRecord], permission: str) -> tuple[str, ...]:
    """What must be known before the file is passed on."""
    sources = sorted({seat.source.value for game in games for seat in game.seats})
    return tuple(notice.replace("this corpus", "this file") for notice in notices(sources, permission))
