"""How the game is told to a model: everything that its seat has seen, as one memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from liescope.games.core import AskKind, Event, EventKind
from liescope.games.narration import ASSESSED, CHOICE, RULES, SPEECH, Narration, PromptFamily, listing, remember


def _facts(setup: Event, seat: str) -> dict[str, Any]:
    return {"name": seat, "others": listing(name for name in setup.data["names"] if name != seat)}


def _line(event: Event, seat: str) -> str | None:
    match event.kind:
        case EventKind.ROLE | EventKind.DAY:
            return None
        case EventKind.ACT:
            return f"{event.actor} {event.text}" if event.actor else event.text
        case _:
            return remember(event, seat)


def _narrate(view: Sequence[Event], seat: str) -> Narration:
    return Narration(tuple(line for event in view if (line := _line(event, seat)) is not None))


PROMPTS = PromptFamily(
    Path(__file__).parent / "prompts",
    ("full",),
    {RULES: frozenset({"name", "others"}), AskKind.SPEAK: SPEECH, AskKind.VOTE: CHOICE, **ASSESSED},
    frozenset({AskKind.NAME_ROLES}),
    _facts,
    _narrate,
)
