"""The claims of a statement as `show` prints them: marked in its words, and named below with what proves them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.text import Text

from liescope.common.text import plain
from liescope.games.core import Event, EventKind
from liescope.labeling.ledger import LIE, MISTAKE, TRUTHFUL, UNDECIDABLE, UNSUPPORTED
from liescope.labeling.rows import ClaimRow

STYLES = {LIE: "red", MISTAKE: "yellow", UNSUPPORTED: "cyan", TRUTHFUL: "green", UNDECIDABLE: "blue"}
_ACTS = {
    EventKind.ROLE: "{actor} is {role}",
    EventKind.INVESTIGATION: "{actor} investigated {target}",
    EventKind.PROTECTION: "{actor} protected {target}",
    EventKind.VOTE: "{actor} voted for {target}",
    EventKind.STATEMENT: "{actor} had said so",
    EventKind.KILL: "{actor} killed {target}",
    EventKind.ACT: "{actor} {text}",
}
_MOST = 4  # events named as proof; beyond that they are counted


def marked(words: str, claims: Sequence[ClaimRow], brackets: bool) -> Text:
    """The words of a statement, the claims in them underlined in the colour of their class. brackets: number them and
    put them in brackets as well, for where no style is shown.
    """
    spans = [
        (number, claim, claim.start, claim.end)
        for number, claim in enumerate(claims, 1)
        if claim.start is not None and claim.end is not None
    ]
    edges = sorted({0, len(words), *(edge for *_, start, end in spans for edge in (start, end))})
    shown = Text()
    for start, end in pairwise(edges):
        over = [span for span in spans if span[2] <= start and end <= span[3]]
        if brackets:
            shown.append("".join(f"[{number}: " for number, _, first, _ in over if first == start))
        shown.append(plain(words[start:end]), f"underline {STYLES[over[-1][1].claim_class]}" if over else "")
        if brackets:
            shown.append("]" * sum(last == end for *_, last in over))
    return shown


def claim_lines(claims: Sequence[ClaimRow], events: Sequence[Event]) -> Iterator[tuple[str, str]]:
    """One line for each claim, in its normal form, with its verdict and the events that prove it; and its style."""
    for number, claim in enumerate(claims, 1):
        events_named = [proof_words(events[index]) for index in claim.evidence if 0 <= index < len(events)]
        more = [f"and {len(events_named) - _MOST} more"] if len(events_named) > _MOST else []
        proof = "; ".join([*events_named[:_MOST], *more])
        origin = "" if claim.origin == "rules" else f" ({claim.origin})"
        yield (
            f"{number} {claim.normal}{origin}: {verdict_words(claim)}{f' - {proof}' if proof else ''}",
            STYLES[claim.claim_class],
        )


def verdict_words(claim: ClaimRow) -> str:
    if claim.kept is not None:
        return "kept" if claim.kept else "BROKEN"
    words = {
        LIE: "LIE, false and known",
        MISTAKE: "mistake, false and believed",
        TRUTHFUL: "true",
        UNSUPPORTED: f"{claim.verdict}, which the speaker could not know",
        UNDECIDABLE: "undecidable",
    }
    return words[claim.claim_class]


def proof_words(event: Event) -> str:
    words = _ACTS.get(event.kind, event.kind.value)
    shown = words.format(actor=event.actor, target=event.target, role=event.data.get("role"), text=event.text)
    return f"event {event.index}: {shown}"
