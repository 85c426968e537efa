"""Whose words a run holds: what its plan says of the games that it imported, or that were imported before it judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from liescope.data_cards.licences import Terms

TERMS, TEXTS = "terms", "game_texts"


def plan_terms(plan: Mapping[str, Any]) -> dict[str, Terms]:
    """The terms of each format that a run's games were imported from; none for games that were played here."""
    given = {str(plan["import"]): plan} if "import" in plan else plan.get(TERMS)
    return {str(name): _terms(facts) for name, facts in given.items()} if isinstance(given, Mapping) else {}


def _terms(facts: Any) -> Terms:
    """What is not stated plainly counts as not allowed."""
    facts = facts if isinstance(facts, Mapping) else {}
    origin, licence, name = (str(facts.get(key) or "") for key in ("origin", "licence", "licence_id"))
    return Terms(origin or "not stated", licence or "None is stated.", name, facts.get("redistributable") is True)


def plan_texts(plan: Mapping[str, Any]) -> dict[str, str]:
    """What the card says about the games of a run that Liescope cannot play, by their names."""
    texts = plan.get(TEXTS)
    return {str(name): str(text) for name, text in texts.items()} if isinstance(texts, Mapping) else {}


def handed_on(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What the plan of a run that is made of this one keeps, so that no words lose their terms on the way."""
    terms = {name: asdict(given) for name, given in plan_terms(plan).items()}
    return {name: value for name, value in ((TERMS, terms), (TEXTS, plan_texts(plan))) if value}
