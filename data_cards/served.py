"""What a card says of people who played: only what the plans of the runs declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from liescope.common.people import consent_hash

_PERSON = "human:"


def served_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """How people came to play, from the plans in corpus.json.

    consents: each text that people agreed to, with its hash and the runs that it was for; patience: each set of seconds
    that tables waited; pacing: each pacing of programs, and unpaced: tables without one; mixed: tables that people
    shared with programs, of how many; unsaid: whether people played in runs whose plans do not say how they came to.
    """
    served = {run["name"]: run["plan"] for run in facts["runs"] if run["plan"].get("served")}
    texts: dict[tuple[str, ...], list[str]] = {}
    waits: dict[tuple[float, ...], None] = {}
    for name, plan in served.items():
        said = plan["served"]
        texts.setdefault(tuple(said["consent"]), []).append(name)
        waits[said["words"], said["choices"], said["away"]] = None
    mixed = sum(any(not spec.startswith(_PERSON) for spec in plan["held"].values()) for plan in served.values())
    paced = [plan["served"]["pacing"] for plan in served.values() if plan["served"].get("pacing")]
    people = "human" in facts["seat_sources"]
    return {
        "people": people,
        "consents": [{"hash": consent_hash(text), "text": text, "runs": runs} for text, runs in texts.items()],
        "patience": list(waits),
        "pacing": [dict(pace) for pace in dict.fromkeys(tuple(pace.items()) for pace in paced)],
        "unpaced": len(served) - len(paced),
        "mixed": mixed,
        "tables_served": len(served),
        "unsaid": _names(facts["runs"], served) if people else [],
    }


def _names(runs: Sequence[Mapping[str, Any]], served: Mapping[str, Any]) -> list[str]:
    return [run["name"] for run in runs if run["name"] not in served]
