"""What a card says of people who played: only what the plans of the runs declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liescope.common.people import consent_hash

_PERSON = "human:"


def served_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """How people came to play, from the plans in corpus.json.

    consents: each text that people agreed to, with its hash and the runs that it was for; patience: each set of seconds
    that tables waited; pacing: each pacing of programs, and unpaced: tables without one; mixed: tables that people
    shared with programs, of how many; people_judging: how many judged games afterwards; unsaid: runs that may hold
    people's games or answers and do not say how they came to.
    """
    served = {run["name"]: run["plan"] for run in facts["runs"] if run["plan"].get("served")}
    texts: dict[tuple[str, ...], list[str]] = {}
    waits: dict[tuple[float, ...], None] = {}
    for name, plan in served.items():
        said = plan["served"]
        texts.setdefault(tuple(said["consent"]), []).append(name)
        waits[said["words"], said["choices"], said["away"]] = None
    judged = {run["name"]: run["plan"] for run in facts["runs"] if _judged_by_a_person(run["plan"])}
    for name, plan in judged.items():
        if plan.get("consent"):
            texts.setdefault(tuple(plan["consent"]), []).append(name)
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
        "people_judging": len({plan["judge"] for plan in judged.values()}),
        "unsaid": [run["name"] for run in facts["runs"] if _unsaid(run["plan"], people)],
    }


def _judged_by_a_person(plan: Mapping[str, Any]) -> bool:
    return str(plan.get("judge", "")).startswith(_PERSON)


def _unsaid(plan: Mapping[str, Any], people: bool) -> bool:
    """Whether a plan says nothing of people whom its games may hold: forks, judged and replayed games of theirs do.
    people: whether anybody of whom that could be said holds a seat.
    """
    if _judged_by_a_person(plan) and not plan.get("consent"):
        return True
    if not people or plan.get("served") or "import" in plan:
        return False
    players = plan.get("players")
    return bool(plan.get("people")) or players is None or any(spec.startswith((_PERSON, "replay:")) for spec in players)
