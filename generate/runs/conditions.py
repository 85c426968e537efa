"""What a run's plan says of its games: the settings that they were played with, and whose words they are.

Settings are limited to those that can change what players do. Two games with equal settings belong to the same
condition. What only measures the game (assessments, judges) is not a setting: whether a statement is rated changes
nothing that is said or voted. Showing voters their own ratings does, so it counts as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from liescope.data_cards.licences import Terms
from liescope.games.record import GameRecord
from liescope.labeling.conditions import IMPORTED, PROMPTS, SETTINGS, setting_words

SPARED = "spared"  # names whom a scripted night kills last
MEASURING = frozenset({"assess", "assess_share"})


def plan_settings(plan: Mapping[str, Any]) -> dict[str, str]:
    """The settings in a run's plan, by name; empty if it has none. Of an imported run, its format."""
    if "import" in plan:
        return {IMPORTED: str(plan["import"])}
    options = plan.get("options")
    if not isinstance(options, Mapping):
        return {}
    found = {str(name): setting_words(value) for name, value in options.items() if name not in MEASURING}
    if spared := options.get(SPARED):  # how many, since who it is changes nothing
        found[SPARED] = setting_words(len(spared))
    for name in ("prompts", PROMPTS, "seating"):
        if name in plan:
            found[name] = setting_words(plan[name])
    return found


def with_settings(record: GameRecord, plan: Mapping[str, Any]) -> GameRecord:
    """The record with the settings of its run, or with its own if it has any (a judged game's are those it was played
    with; an importer may know more than the plan).
    """
    return given_settings(record, plan_settings(plan))


def given_settings(record: GameRecord, settings: Mapping[str, str]) -> GameRecord:
    """`with_settings`, from the settings of the plan."""
    if SETTINGS in record.meta or not settings:
        return record
    if version := record.meta.get("prompt_version"):
        settings = {**settings, PROMPTS: str(version)}
    return replace(record, meta={**record.meta, SETTINGS: settings})


def labels(kinds: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
    """A name for the condition of each kind of game, such as "rounds 8, prompts full": the fewest settings that
    distinguish all kinds with the same rules; "" for all if there is only one of each.

    kinds: (game, settings), each once.
    """
    names = list(dict.fromkeys(name for _, settings in kinds for name in settings))
    parted = len({game for game, _ in kinds})
    telling: list[str] = []
    for name in names:
        groups = len({(game, *(settings.get(key) for key in (*telling, name))) for game, settings in kinds})
        if groups > parted:
            telling.append(name)
            parted = groups
    return [
        ", ".join(f"{name.replace('_', ' ')} {settings[name] or 'none'}" for name in telling if name in settings)
        for _, settings in kinds
    ]


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
