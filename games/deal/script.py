"""Scripted players of a deal. The larger d, the more often they claim something; a share of chance(m) of it is lies."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.deal.rules import BELIEVE, BUYER, DOUBT, KEEP, NO_OFFER, PRICES, SELLER
from liescope.games.deal.sheet import FACTS, Sheet
from liescope.games.script.persona import Persona, chance, draws, templates
from liescope.games.script.tone import assess, doubt, toned
from liescope.games.shared_rules import lied

_SAYS = templates(
    """
battery/works: the battery works | it has a working battery | the battery is fine
battery/dead: the battery is dead | the battery is weak | its battery is gone | there is trouble with the battery
scratches/none: it has no scratches | there is not a scratch on it | it is spotless | it was never dented
scratches/some: it has a few scratches | it is scratched | there are some dents
age: it is {} years old | I bought it {} years ago | it is a {}-year-old {item}
offer: I have an offer of {} | the others offered {} | I was offered {}
seller: I cannot go below {} | my lowest price is {} | I can take no less than {}
buyer: a perfect {item} is worth {} to me | I cannot pay more than {} | my limit is {}
talk: let us agree on a price | what do you all say? | I would like to make a deal | a fair price suits everybody
"""
)


def answer(who: Persona, ask: Ask, view: Sequence[Event]) -> Reply:
    """The reply of this player, the same for the same place in the game."""
    place = ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, ask.about, ask.options
    random, mine = draws(who.name, *place), _sheet(view, ask.seat)
    said = [event for event in view if event.kind is EventKind.STATEMENT and event.actor == mine.seller != ask.seat]
    doubted = doubt(said[-1].text, who.skills) if said else 0.5
    match ask.kind:
        case AskKind.SPEAK:
            return _speak(who, mine, ask.seat, random)
        case AskKind.CHOOSE if BELIEVE in ask.options:
            return Reply(choice=DOUBT if random.random() < doubted else BELIEVE)
        case AskKind.CHOOSE if NO_OFFER in ask.options:
            price = int(mine.values[ask.seat] * (0.7 - 0.3 * doubted) * random.uniform(0.6, 1.0)) // 10 * 10
            return Reply(choice=str(price) if price in PRICES else NO_OFFER)
        case AskKind.CHOOSE:
            price, best = max((int(option.rpartition(" ")[2]), option) for option in ask.options[1:])
            return Reply(choice=best if price > mine.values[ask.seat] + random.choice((0, 10, 20)) else KEEP)
        case AskKind.NAME_ROLES:
            return Reply(form={name: (SELLER if name == mine.seller else BUYER,) for name in ask.options})
        case AskKind.SELF_ASSESSMENT | AskKind.PEER_ASSESSMENT:
            return assess(ask, view, lambda event: lied(mine.claims(event.text, ask.seat)), who.skills, random)
    return Reply(problem=f"a scripted player of a deal has no answer to {ask.kind.value}")


def _speak(who: Persona, mine: Sheet, seat: str, random: Random) -> Reply:
    if random.random() > chance(1.5 + who.skills.d):
        return toned(random.choice(_SAYS["talk"]), False, who.skills, random, "talk")
    lies, known, value = random.random() < chance(who.skills.m), {price for _, price in mine.offers}, mine.values[seat]
    topics: dict[str, Any] = {"buyer": value - 10 * random.randint(1, 3) * lies}
    if seat == mine.seller and lies:
        better = {fact: values[: values.index(mine.condition[fact])] for fact, values in FACTS.items()}
        topics = {fact: random.choice(values) for fact, values in better.items() if values}
        topics |= {"seller": value + 10 * random.randint(1, 3), "offer": random.choice([*set(PRICES) - known])}
    elif seat == mine.seller:
        topics = {**mine.condition, "seller": value} | ({"offer": max(known)} if known else {})
    topic = random.choices(list(topics), [3 if topic in FACTS else 1 for topic in topics])[0]
    words = _SAYS.get(f"{topic}/{topics[topic]}") or _SAYS[topic]
    return toned(random.choice(words).format(topics[topic], item=mine.item), lies, who.skills, random, topic)


def _sheet(view: Sequence[Event], seat: str) -> Sheet:
    """What the seat knows."""
    acts: list[dict[str, Any]] = [dict(event.data) for event in view if event.kind is EventKind.ACT]
    held = next(data for data in acts if "value" in data)
    seller = next(str(event.actor) for event in view if event.kind is EventKind.ACT and event.actor)
    offers = [(who, price) for data in acts for who, price in data.get("offers", ())]
    return Sheet(held["item"], held.get("condition", {}), seller, {seat: held["value"]}, offers)
