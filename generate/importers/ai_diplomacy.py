"""AI_Diplomacy: games of Diplomacy between language models, with their messages and, beside them, their orders.

A promise is a message's sentence about the sender's own future that names an order in the game's notation, such as "I
will play F LON - NTH". The orders that the sender then gives for the same phase keep or break it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from liescope.common.errors import BadData
from liescope.games.core import EventKind, Outcome, Phase
from liescope.games.facts import ClaimData
from liescope.games.record import Seat, Source
from liescope.generate.importers.game_reader import (
    NO_WINNER,
    GameFormat,
    GameWriter,
    Logged,
    LoggedGames,
    Words,
    at,
    by_key,
    game_files,
    list_of,
    read_as,
    shape,
)

ORDER = "order"
_PHASE = shape(
    name=str,
    messages=(list_of(shape(sender=str, recipient=str, message=Words)), []),
    orders=(by_key(list[str] | None), {}),
    units=at("state.units", by_key(list[str]), {}),
    centres=at("state.centers", by_key(list[str]), {}),
    config=(dict[str, Any], {}),
    agents=at("state_agents", dict[str, Any], {}),
)
_GAME = shape(id=str, phases=list_of(_PHASE))
_NAME = re.compile(r"([SFW])(\d{4})([MRA])")
_ALL, _COAST = "GLOBAL", re.compile(r"/[NSEW]C")
_TO_WIN = 18  # supply centres
_SEASONS = {"S": 1, "F": 2, "W": 3}
_PLACE = r"[A-Z]{3}(?:/[NSEW]C)?"
_ORDER = re.compile(
    rf"(?<!\w)(?P<unit>[AF] {_PLACE})(?: ?(?:->?|→|to) ?(?P<to>{_PLACE})| (?P<act>[SC]) (?P<other>[AF] {_PLACE})"
    rf"(?: ?(?:->?|→|to) ?(?P<there>{_PLACE}))?| (?P<hold>H|holds?))(?![\w/])"
)
_MINE = re.compile(
    r"\b(?:I|we)(?:'ll| will| shall| plan to| intend to| am| are|'m|'re| can confirm)\b|\bmy orders?\b", re.I
)
_OPEN = re.compile(
    r"\b(?:not|never|if|unless|could|might|may|would|should|considering|or|suggest|propose)\b|n't|\?", re.I
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]?")


class _Game(GameWriter):
    """The game's first year is day 1, and its seasons are rounds. Only the two powers hear a message, unless it is for
    all. Orders are acts that everybody sees once all have given theirs.
    """

    def write(self, logged: Logged) -> None:
        (game,) = logged.entries
        powers = sorted({power for phase in game.phases for power in {*phase.units, *phase.centres}})
        models = {power: name for phase in game.phases for power, name in _models(phase).items()}
        for power in powers:
            self.seats[power] = Seat(power, "", "", None, models.get(power, "unknown"), Source.IMPORTED)
        if len(powers) < 2:
            raise BadData("no two powers have units or centres in it")
        first = next((int(name[2]) for phase in game.phases if (name := _NAME.fullmatch(phase.name))), 1901)
        for phase in game.phases:
            if name := _NAME.fullmatch(phase.name):
                self.day, self.round = int(name[2]) - first + 1, _SEASONS[name[1]]
                self._phase(phase)
        won = next((power for power, held in game.phases[-1].centres.items() if len(held) >= _TO_WIN), "")
        reason = "it holds most supply centres" if won else NO_WINNER
        self.outcome = Outcome(won, (won,) if won else (), reason, self.day)

    def _phase(self, phase: Any) -> None:
        given = {power: [_normal(order) for order in orders or ()] for power, orders in phase.orders.items()}
        said = [message for message in phase.messages if message.sender in self.seats]
        acts = len(self.events) + len(said)
        evidence = {power: acts + place for place, power in enumerate(given)}
        self.phase = Phase.DISCUSSION
        for message in said:
            sender, recipient = message.sender, message.recipient
            heard = None if recipient == _ALL else [key for key in self.seats if key in (sender, recipient)]
            claims = []
            if sender in given:
                own = {_COAST.sub("", unit) for unit in phase.units.get(sender, ())}
                claims = [
                    ClaimData(
                        kind=ORDER,
                        subject=sender,
                        object=order,
                        start=start,
                        end=end,
                        verdict="true" if order in given[sender] else "false",
                        kept=order in given[sender],
                        evidence=[evidence[sender]],
                    )
                    for order, start, end in promised(message.message, own)
                ]
            self.say(sender, message.message, heard, {"claims": claims} if claims else {})
        self.phase = Phase.VOTING
        for power in given:
            self.log(EventKind.ACT, power, text=f"orders {', '.join(phase.orders[power] or ['nothing'])}")


def promised(text: str, units: set[str]) -> list[tuple[str, int, int]]:
    """The orders that a message promises, in the game's notation, and where they stand. units: the sender's own,
    without coasts.
    """
    found = []
    for sentence in _SENTENCE.finditer(text):
        if _MINE.search(sentence[0]) and not _OPEN.search(sentence[0]):
            orders = _ORDER.finditer(text, sentence.start(), sentence.end())
            found += [
                (_normal(one[0]), one.start(), one.end()) for one in orders if _COAST.sub("", one["unit"]) in units
            ]
    return found


def _normal(order: str) -> str:
    """An order in one notation, without coasts, such as "A VIE - TRI", "F LON S A WAL - LVP" or "A PAR H"."""
    one = _ORDER.match(order := _COAST.sub("", order))
    if not one:
        return order
    if one["hold"]:
        return f"{one['unit']} H"
    goal = one["to"] or one["there"]
    return one["unit"] + (f" {one['act']} {one['other']}" if one["act"] else "") + (f" - {goal}" if goal else "")


def _models(phase: Any) -> dict[str, str]:
    """The model of each power, by its saved state, or else by the run's configuration."""
    told = [name.strip() for name in str(phase.config.get("models") or "").split(",") if name.strip()]
    powers = sorted(phase.centres)
    models = dict(zip(powers, told * len(powers) if len(told) == 1 else told, strict=False))
    states = {power: state.get("model_id") for power, state in phase.agents.items() if isinstance(state, dict)}
    return models | {power: name for power, name in states.items() if isinstance(name, str)}


class AiDiplomacyImporter(GameFormat):
    """A game a file, `lmvsgame.json`, alone or in the folders of its experiments."""

    format: ClassVar[str] = "ai-diplomacy"
    Writer: ClassVar[type[GameWriter]] = _Game

    def logged(self, source: Path) -> LoggedGames:
        return game_files(source, "*.json" if source.suffix == ".json" else "lmvsgame*.json", _read)


def _read(content: Any) -> tuple[str, list[Any]]:
    game = read_as(_GAME, content)
    return f"ai-diplomacy-{game.id}", [game]
