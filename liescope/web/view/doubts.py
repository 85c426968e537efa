"""The queue of doubtful labels: the statements whose labels and detectors disagree most, with what was said before."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from liescope.common.errors import UnknownName
from liescope.data_cards.tables import TARGETS, StatementRow
from liescope.labeling.label import known_before
from liescope.web.view.facts import OPINIONS
from liescope.web.view.game_sources import ShownDetector, ViewedGame
from liescope.web.view.store import IndexFile, doubt

BEFORE = 5  # lines of context
DETECTOR = "detector:"
"""Before the name of a detector, where it stands beside labels."""
_QUESTIONS = {
    "role": "Does the speaker's role aim to deceive the others?",
    "claim": "Is a checkable claim in it false, and could the speaker know?",
    "promise": "Does it hold a promise that the act which followed broke?",
    "self": "Does the speaker itself mean it to deceive?",
    "peer": "Would most of the others take it for deceptive?",
}


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A statement in the queue. place: from 1, the most doubtful first."""

    place: int
    statement_id: str
    doubt: float

    @property
    def game_id(self) -> str:
        return self.statement_id.rpartition(":")[0]


@dataclass(frozen=True, slots=True)
class LabelAsked:
    """One label of a statement, to be marked. key: as `Mark.label`; value: what it says, or the detector's score; says:
    deceptive, for a detector by its threshold; words: what it says, in words; question: what it answers.
    """

    key: str
    value: bool | float
    says: bool
    words: str
    question: str


@dataclass(frozen=True, slots=True)
class InContext:
    """A statement with what those who heard it had heard before. hidden: more that they had heard."""

    row: StatementRow
    before: tuple[StatementRow, ...]
    hidden: int
    labels: tuple[LabelAsked, ...]


def queue_length(store: IndexFile, opinions: Sequence[str]) -> int:
    """How many statements these opinions leave in doubt."""
    with store.reading() as base:
        (count,) = base.execute(f"SELECT count(*) FROM statements WHERE {_ranked(opinions)} > 0").fetchone()
    return int(count)


def most_doubtful(store: IndexFile, opinions: Sequence[str], first: int, count: int) -> tuple[Doubtful, ...]:
    """Statements of the queue from one place on. opinions: some of OPINIONS."""
    by = _ranked(opinions)
    with store.reading() as base:
        found = base.execute(
            f"SELECT game_id, event, {by} AS doubt FROM statements JOIN games USING (number) WHERE {by} > 0 "
            f"ORDER BY {by} DESC, number, event LIMIT ? OFFSET ?",
            (count, first - 1),
        ).fetchall()
    return tuple(
        Doubtful(place, f"{row['game_id']}:{row['event']}", row["doubt"]) for place, row in enumerate(found, first)
    )


def next_unmarked(store: IndexFile, opinions: Sequence[str], first: int, marked: Collection[str]) -> int | None:
    """The first place from one on whose statement is not marked; None at the end."""
    while some := most_doubtful(store, opinions, first, 100):
        for one in some:
            if one.statement_id not in marked:
                return one.place
        first = some[-1].place + 1
    return None


def in_context(game: ViewedGame, statement_id: str, detectors: Sequence[ShownDetector]) -> InContext:
    """A statement of a game, with the last lines before it. Raises UnknownName."""
    rows = game.labels.statements
    place = next((place for place, row in enumerate(rows) if row.statement_id == statement_id), None)
    if place is None:
        raise UnknownName("statement", statement_id, (row.statement_id for row in rows[:5]), max(0, len(rows) - 5))
    row = rows[place]
    before = known_before([(frozenset(r.audience), r) for r in rows[:place]], frozenset(row.audience))
    return InContext(row, before[-BEFORE:], max(0, len(before) - BEFORE), tuple(_labels(game, row, detectors)))


def _labels(game: ViewedGame, row: StatementRow, detectors: Sequence[ShownDetector]) -> list[LabelAsked]:
    found = []
    for label in TARGETS:
        value = getattr(row, f"label_{label}")
        if value is not None:
            words = "deceptive" if value else "honest"
            if label == "peer" and row.peer_rate is not None:
                words += f", flagged by {row.peer_rate:.0%} of {row.peer_ratings}"
            found.append(LabelAsked(label, value, value, words, _QUESTIONS.get(label, "")))
    scores = game.scores.get(row.statement_id, {})
    for one in detectors:
        if one.name in scores:
            score = scores[one.name]
            says = score > one.threshold
            words = f"{'deceptive' if says else 'honest'}, score {score:.2f} (threshold {one.threshold:.2f})"
            found.append(LabelAsked(f"{DETECTOR}{one.name}", score, says, words, _QUESTIONS.get(one.target, "")))
    return found


def _ranked(opinions: Sequence[str]) -> str:
    """The doubt that these opinions leave, as SQL; the whole set has an index."""
    chosen = [one for one in OPINIONS if one in opinions]
    return "doubt" if len(chosen) in (0, len(OPINIONS)) else doubt(chosen)
