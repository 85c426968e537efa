"""Rules that games share: talk in rounds or by bidding, assessments of what was said, choices, ballots and majorities.

Bidding: who speaks next is decided by bids of 0 to 10 that all living players but the last speaker make simultaneously
(Triadic Werewolf paper, section 3.1, after Werewolf Arena and WOLF). The highest bid gets the floor; among equal bids,
players named in the last turn go first, then chance decides. An unreadable bid counts as 0. If nobody bids more than 0,
the discussion ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from random import Random
from typing import Any, cast

from liescope.games.core import Ask, AskKind, Asks, Assessment, Event, EventKind, Game, Phase, Replies, Reply
from liescope.games.facts import ClaimData
from liescope.games.game_options import BallotSpec
from liescope.games.record import GameRecord

START, WEIGHT = 0.5, 0.7  # smoothing of suspicions (Triadic Werewolf paper, section 3, after the WOLF engine)
_FIELDS = tuple(field.name for field in fields(Assessment))


def assess(game: Game, event: Event) -> Generator[Asks, Replies, None]:
    """Ask the speaker for a self-report and all other living players for a rating, and log each so that only its author
    sees it. Silences are not assessed, nor are statements outside the configured share.

    An unusable reply is logged with `fallback` set and no assessment; it never counts as "honest".
    """
    if not game.options.assess or event.kind is not EventKind.STATEMENT:
        return
    if not sampled(game.game_id, event.index, game.options.assess_share):
        return
    asks = assessment_asks(game, event, game.others(event.actor or ""))
    replies = yield game.batch(asks)
    for ask, reply in zip(asks, replies, strict=True):
        game.log(**assessment(ask, reply, event))


def sampled(game_id: str, index: int, share: float) -> bool:
    """Whether a statement belongs to the share that is assessed. It is drawn from the statement's position, not
    from the game's random generator, so assessing changes nothing else in the game.
    """
    return share >= 1 or Random(f"{game_id}:{index}").random() < share


def assessment_asks(game: Game, statement: Event, peers: Sequence[str]) -> list[Ask]:
    """The asks about one statement: its speaker's first, then its peers'."""
    place: dict[str, Any] = {"phase": statement.phase, "round": statement.round, "about": statement.index}
    asks = [game.ask(statement.actor or "", AskKind.SELF_ASSESSMENT, **place)]
    return asks + [game.ask(peer, AskKind.PEER_ASSESSMENT, **place) for peer in peers]


def assessment(ask: Ask, reply: Reply, statement: Event) -> dict[str, Any]:
    """The fields of the event for a reply, for `Game.log`."""
    kind = EventKind.SELF_REPORT if ask.kind is AskKind.SELF_ASSESSMENT else EventKind.RATING
    said = reply.assessment and {name: getattr(reply.assessment, name) for name in _FIELDS}
    return {**own_answer(kind, ask, reply, "assessment", said, "no assessment in the reply"), "target": statement.actor}


def own_answer(kind: EventKind, ask: Ask, reply: Reply, name: str, said: Any, lacking: str) -> dict[str, Any]:
    """The fields of the event for what a seat tells nobody else. name: of the fact; said: it, None where the reply has
    none, for the reason `lacking`.
    """
    usable = said is not None and not reply.problem
    return {
        "kind": kind,
        "phase": ask.phase,
        "round": ask.round,
        "actor": ask.seat,
        "about": ask.about,
        "audience": (ask.seat,),
        "fallback": "" if usable else reply.problem or lacking,
        "data": {**({name: said} if usable else {}), **notes(reply)},
    }


def before_votes(game: Game, phase: Phase) -> Generator[Asks, Replies, None]:
    """If the options say so, ask every living player whom each other one suspects most, each to its own eyes alone, and
    show it its running suspicion of each other living player.
    """
    options = game.options
    if isinstance(options, BallotSpec) and options.second_order:
        asks = [game.ask(name, AskKind.SECOND_ORDER, phase, options=game.others(name)) for name in game.alive]
        replies = yield game.batch(asks)
        for ask, reply in zip(asks, replies, strict=True):
            form = reply.form or {}
            said = {name: form[name][0] for name in ask.options if form.get(name)}
            found = {name: whom for name, whom in said.items() if whom in game.alive and whom != name}
            why = "" if found else reply.problem or "no suspicion in the reply"
            data: dict[str, Any] = {**({"suspects": found} if found else {}), **notes(reply)}
            game.log(EventKind.SECOND_ORDER, phase, actor=ask.seat, audience=(ask.seat,), fallback=why, data=data)
    if not (isinstance(options, BallotSpec) and options.show_suspicion):
        return
    running = running_suspicion(game.events)
    for name in game.alive:
        shown = {other: round(running.get((name, other), START), 2) for other in game.others(name)}
        game.log(EventKind.SUSPICION, phase, actor=name, audience=(name,), data={"suspicion": shown})


def running_suspicion(events: Sequence[Event]) -> dict[tuple[str, str], float]:
    """The smoothed suspicion of each (observer, speaker) after these events; pairs without a rating are left out."""
    running: dict[tuple[str, str], float] = {}
    for event in events:
        rating = event.data.get("assessment", {}).get("suspicion") if event.kind is EventKind.RATING else None
        if rating is not None:
            pair = event.actor or "", event.target or ""
            running[pair] = smooth(running.get(pair, START), rating)
    return running


def smooth(old: float, rating: float) -> float:
    """An observer's suspicion of a speaker after one more rating, by exponential smoothing. Inputs and result are in
    [0, 1]; raises ValueError otherwise.
    """
    if not (0.0 <= old <= 1.0 and 0.0 <= rating <= 1.0):
        raise ValueError(f"suspicion and ratings lie between 0 and 1; got {old!r} and {rating!r}")
    return WEIGHT * rating + (1 - WEIGHT) * old


def notes(reply: Reply) -> dict[str, Any]:
    """The leniencies needed to read the reply, as event data."""
    return {"notes": list(reply.notes)} if reply.notes else {}


BIDS = tuple(str(bid) for bid in range(11))


Claims = Callable[[str, str], Sequence[ClaimData]]
"""From a text and its speaker to what it claims, with verdicts, in games that state claims."""


def discuss(game: Game, rounds: int, claims: Claims | None = None) -> Generator[Asks, Replies, None]:
    """Rounds of discussion: in each, all living players speak once, in a fresh random order."""
    for number in range(1, rounds + 1):
        # A sample, not a shuffle, which would reorder `alive`.
        for speaker in game.random.sample(game.alive, len(game.alive)):
            yield from turn(game, speaker, Phase.DISCUSSION, number, rounds, claims)


def speech(ask: Ask, reply: Reply) -> dict[str, Any]:
    """The event for the reply to a turn, as arguments for `Game.log`: a statement or a silence.

    A text longer than the ask's limit is cut and ends in "…"; `data["cut"]` holds its full length in
    characters. An unusable reply is a silence with `fallback` set; an empty text is a deliberate silence.
    """
    facts: dict[str, Any] = {"phase": ask.phase, "round": ask.round, "actor": ask.seat}
    text = (reply.text or "").strip()
    if reply.problem or reply.text is None:
        why = reply.problem or "no text in the reply"
        return {**facts, "kind": EventKind.SILENCE, "fallback": why, "data": notes(reply)}
    if not text:
        return {**facts, "kind": EventKind.SILENCE, "data": notes(reply)}
    data = notes(reply)
    if ask.limit is not None and len(text) > ask.limit:
        data["cut"] = len(text)
        text = text[: max(ask.limit - 1, 0)].rstrip() + "…"
    if reply.private:
        data["private"] = dict(reply.private)
    return {**facts, "kind": EventKind.STATEMENT, "text": text, "data": data}


def talk(game: Game, phase: Phase, turns: int, first: Sequence[str] = ()) -> Generator[Asks, Replies, None]:
    """Talk for at most `turns` turns. first: players who get a turn each before bidding starts, while turns last."""
    last: Event | None = None
    for number in range(1, turns + 1):
        if number <= len(first):
            speaker: str | None = first[number - 1]
        else:
            speaker = yield from _floor(game, phase, number, turns, last)
        if speaker is None:
            return
        last = yield from turn(game, speaker, phase, number, turns)


def mentioned(text: str, names: Sequence[str]) -> set[str]:
    """The names that occur in a text as whole words, as the game spells them or in capitals: "to be frank" does not
    name Frank.
    """
    spelled = {spelling: name for name in names for spelling in (name, name.upper())}
    return {spelled[found] for found in _pattern(tuple(spelled)).findall(text)}


def turn(
    game: Game, speaker: str, phase: Phase, number: int, turns: int, claims: Claims | None = None
) -> Generator[Asks, Replies, Event]:
    """One turn of a talk: a statement or a silence, with the claims that the rules find in it, and its assessments."""
    ask = game.ask(speaker, AskKind.SPEAK, phase, number, rounds=turns, limit=game.options.message_limit)
    (reply,) = yield game.batch([ask])
    said = speech(ask, reply)
    if claims and said["kind"] is EventKind.STATEMENT:
        said["data"]["claims"] = list(claims(said["text"], speaker))
    event = game.log(**said)
    yield from assess(game, event)
    return event


def _floor(game: Game, phase: Phase, turn: int, turns: int, last: Event | None) -> Generator[Asks, Replies, str | None]:
    """Take bids; returns who may speak, None if nobody wants to."""
    bidders = game.others(last.actor or "") if last else tuple(game.alive)
    asks = [game.ask(name, AskKind.BID, phase, turn, rounds=turns, options=BIDS) for name in bidders]
    replies = yield game.batch(asks)
    bids: dict[str, int] = {}
    for ask, reply in zip(asks, replies, strict=True):
        readable = not reply.problem and reply.choice in BIDS
        bids[ask.seat] = int(reply.choice or 0) if readable else 0
        game.log(
            EventKind.BID,
            phase,
            turn,
            actor=ask.seat,
            audience=(ask.seat,),
            fallback="" if readable else reply.problem or f"{reply.choice!r} is no bid from 0 to 10",
            data={"bid": bids[ask.seat], **notes(reply)},
        )
    highest = max(bids.values(), default=0)
    if highest == 0:
        return None
    top = [name for name, bid in bids.items() if bid == highest]
    named = mentioned(last.text, top) if last else set()
    top = [name for name in top if name in named] or top
    return top[0] if len(top) == 1 else game.random.choice(top)


@lru_cache(maxsize=4096)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def legal_choice(ask: Ask, reply: Reply, random: Random) -> tuple[str, str]:
    """The chosen option and, if the reply held no legal one, the reason why a random option replaces it."""
    if not reply.problem and reply.choice in ask.options:
        return str(reply.choice), ""
    if reply.problem:
        why = reply.problem
    elif reply.choice is None:
        why = "no choice in the reply"
    else:
        why = f"{reply.choice!r} is not one of the options"
    return random.choice(ask.options), why


def choose(
    game: Game,
    moves: Mapping[str, Sequence[str]],
    phase: Phase,
    round: int = 0,
    words: str = "chooses {}",
    about: Event | None = None,
    doubt: str = "",
    secret: bool = False,
) -> Generator[Asks, Replies, dict[str, str]]:
    """Ask seats at once for a legal move, log each as a CHOICE, and return them by seat.

    moves: the legal ones, by seat; words: how the log tells a move, `{}` for it; about: the statement that the moves
    judge, and doubt: the one that treats it as false; secret: each seat sees its own alone.
    """
    asks = [game.ask(seat, AskKind.CHOOSE, phase, round, options=tuple(legal)) for seat, legal in moves.items()]
    replies = yield game.batch(asks)
    made: dict[str, str] = {}
    for ask, reply in zip(asks, replies, strict=True):
        move, why = legal_choice(ask, reply, game.random)
        made[ask.seat] = move
        facts: dict[str, Any] = {"actor": ask.seat, "text": words.format(move), "fallback": why}
        data: dict[str, Any] = {"choice": move, **notes(reply)}
        if about is not None:
            facts["about"], data["doubts"] = about.index, move == doubt
        game.log(EventKind.CHOICE, phase, round, audience=(ask.seat,) if secret else None, data=data, **facts)
    return made


def ballot(game: Game, phase: Phase) -> Generator[Asks, Replies, list[str]]:
    """All living players vote simultaneously, each for another player; returns the votes in seating order."""
    yield from before_votes(game, phase)
    asks = [game.ask(name, AskKind.VOTE, phase, options=game.others(name)) for name in game.alive]
    replies = yield game.batch(asks)
    votes = []
    for ask, reply in zip(asks, replies, strict=True):
        target, why = legal_choice(ask, reply, game.random)
        votes.append(target)
        game.log(EventKind.VOTE, phase, actor=ask.seat, target=target, fallback=why)
    return votes


def plurality(votes: Sequence[str], random: Random) -> tuple[str, tuple[str, ...]]:
    """The player with the most votes (ties are broken at random), and all who tied, in the order first voted for."""
    top = most_voted(votes)
    return (top[0] if len(top) == 1 else random.choice(top)), top


def investigate(game: Game, who: str, whom: str, why: str, **facts: Any) -> None:
    """Log that a seat learns a player's role, or what the facts say. why: the rules chose the player."""
    data = {"role": game.roles[whom], **facts}
    game.log(EventKind.INVESTIGATION, Phase.NIGHT, actor=who, target=whom, audience=(who,), fallback=why, data=data)


@dataclass(frozen=True, slots=True)
class Contest:
    """One attempt of a seat to deceive another, both by name, and whether it succeeded. together: this deceiver's
    judges decided as one, so that all of these contests ended alike.
    """

    deceiver: str
    judge: str
    fooled: bool
    together: bool = False


def claim_of(
    kind: str, subject: str, object: str, true: bool | None, span: tuple[int, int], known: bool = True, **more: Any
) -> ClaimData:
    """A claim that the rules check. true: None if they leave that open; more: what else is known of it."""
    verdict = "unverifiable" if true is None else "true" if true else "false"
    made: Any = {"kind": kind, "subject": subject, "object": object, "polarity": "affirmed", "verdict": verdict}
    return cast(ClaimData, {**made, "start": span[0], "end": span[1], **more, "known": known})


def lied(claims: Iterable[ClaimData]) -> bool:
    """Whether one of the claims is false, as its speaker knew."""
    return any(claim.get("verdict") == "false" and claim.get("known") for claim in claims)


def doubted(record: GameRecord) -> Iterator[Contest]:
    """Each statement with a claim that is false, as its speaker knew, against each seat that judged it by a choice or a
    vote of its own: fooled if it did not treat it as false.
    """
    lies = {event.index: event.actor or "" for event in record.events if lied(event.data.get("claims", ()))}
    for event in record.events:
        if event.about in lies and event.actor and "doubts" in event.data and not event.fallback:
            yield Contest(lies[event.about], event.actor, not event.data["doubts"])


Tally = Callable[[Sequence[str]], Mapping[str, float]]
"""From the votes of a ballot to how likely each player is to be voted out; ties that the rules break at random give
shares.
"""


def one_of_most(votes: Sequence[str]) -> dict[str, float]:
    """The tally of `plurality`."""
    top = most_voted(votes)
    return dict.fromkeys(top, 1 / len(top)) if top else {}


def more_than_half(votes: Sequence[str]) -> dict[str, float]:
    """The tally in which it takes more than half of the votes."""
    return {name: 1.0 for name, count in Counter(votes).items() if 2 * count > len(votes)}


def all_with_most(votes: Sequence[str], needed: int) -> dict[str, float]:
    """The tally in which all players with the most votes go, if these reach the number needed."""
    return dict.fromkeys((name for name in most_voted(votes) if votes.count(name) >= needed), 1.0)


def most_voted(votes: Sequence[str]) -> tuple[str, ...]:
    """All who got the most votes, in the order first voted for."""
    counts = Counter(votes)
    return tuple(name for name, count in counts.items() if count == max(counts.values()))
