"""Whether a claim is true, and whether its speaker could know: the event log up to the statement decides both.

A claim is a lie only if it is false and its speaker could know that. What a speaker could know is computed as the
roles that each player may still have from the speaker's point of view. It follows from the speaker's role, its
partners, the results of its investigations, the public composition of the table, the roles of the dead if they are
announced, and three rules: killers are not killed at night; exiling a jester would have ended the game; and if the
only doctor's protection prevented a death, the protected player is the one the killers chose. A mafioso or werewolf
therefore knows all partners; a detective knows who it investigated, and so does a mafioso who is warned of it; a
villager's wrong accusation is false but not a lie.

An investigation or protection claim is about the speaker's own act, so the speaker knows whether it took place;
anything an investigation leaves open about a player, its speaker does not know. A vote promise is compared with the
vote that the speaker then cast, and a vote named in the reason for a vote with that vote; the verdict is recorded. But
a promise states an intention, people change their minds during a discussion, and the log shows acts, not intentions.
So `known` is False for it, and a broken promise alone is never a lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from liescope.games.core import Event, EventKind, Phase
from liescope.games.record import GameRecord
from liescope.games.registry import find_game
from liescope.labeling.claims import FoundClaim
from liescope.labeling.rows import Claim
from liescope.labeling.vocabulary import NOT

TRUE, FALSE, UNVERIFIABLE = "true", "false", "unverifiable"


def check(claim: FoundClaim, statement: Event, record: GameRecord) -> Claim:
    """The claim with its verdict, as made by `statement.actor` at that moment of the game."""
    speaker = statement.actor or ""
    if claim.kind == "vote":
        return _row(claim, _vote(claim, statement, record.events), known=False)
    seats = {seat.name: seat for seat in record.seats}
    if claim.subject not in seats or speaker not in seats:
        return _row(claim, UNVERIFIABLE, known=False)
    teams = teams_in_play(record)
    role = seats[claim.subject].role
    if claim.kind == "protection":
        protected = _acted(EventKind.PROTECTION, claim, statement, record)
        return _row(claim, TRUE if protected else FALSE, known=True)
    truth = holds(claim.value, role, teams)
    if claim.kind == "investigation":
        shown = [event.data.get("role", role) for event in _acted(EventKind.INVESTIGATION, claim, statement, record)]
        candidates = frozenset(name for name in teams if all(holds(result, name, teams) for result in shown))
        if not shown or not any(holds(claim.value, name, teams) for name in candidates):
            return _row(claim, FALSE, known=True)
        return _row(claim, TRUE if truth else FALSE, _agreed(claim, candidates, teams, truth))
    if claim.subject == speaker:
        return _row(claim, TRUE if truth else FALSE, known=True)
    candidates = possible_roles(speaker, statement.index, record)[claim.subject]
    return _row(claim, TRUE if truth else FALSE, _agreed(claim, candidates, teams, truth))


def _acted(kind: EventKind, claim: FoundClaim, statement: Event, record: GameRecord) -> list[Event]:
    """What the speaker did of this kind to the claim's subject before the statement."""
    return [
        event
        for event in record.events[: statement.index]
        if event.kind is kind and event.actor == statement.actor and event.target == claim.subject
    ]


def _agreed(claim: FoundClaim, candidates: Iterable[str], teams: dict[str, str], truth: bool) -> bool:
    """Whether the claim has this truth for every role that the speaker considers possible."""
    return all(holds(claim.value, candidate, teams) == truth for candidate in candidates)


def holds(value: str, role: str, teams: dict[str, str]) -> bool:
    """Whether a value ("detective", "town", "not detective", "" for anything) is true of a player with this role."""
    if value.startswith(NOT):
        return not holds(value.removeprefix(NOT), role, teams)
    return not value or value in (role, teams.get(role))


def possible_roles(observer: str, until: int, record: GameRecord) -> dict[str, frozenset[str]]:
    """For each player, the roles it may have, given what `observer` saw in the events before index `until`."""
    teams = teams_in_play(record)
    own = record.seat(observer).role
    game = find_game(record.game)
    composition: dict[str, int] = {}
    possible = {seat.name: frozenset(teams) for seat in record.seats}
    exiled: list[str] = []
    protected = ""
    for event in record.events[:until]:
        if not event.seen_by(observer):
            continue
        if event.kind is EventKind.SETUP:
            composition = dict(event.data.get("composition", {}))
        elif event.kind is EventKind.PARTNERS:
            partners = event.data.get("names", ())
            possible = {name: roles & {own} if name in partners else roles - {own} for name, roles in possible.items()}
            if seen := event.data.get("seen"):
                composition[seen] = composition.get(seen, 1) - 1
        elif event.kind is EventKind.INVESTIGATION and event.target:
            result = event.data.get("role", record.seat(event.target).role)
            possible[event.target] &= {role for role in teams if holds(result, role, teams)}
        elif event.kind is EventKind.PROTECTION and event.target:
            protected = event.target
        elif event.kind is EventKind.QUIET and protected and composition.get(game.protector) == 1:
            possible[protected] -= game.killers
        elif event.kind is EventKind.DISCOVERY and event.actor and observer == event.target:
            possible[event.actor] &= {record.seat(event.actor).role}
        elif event.kind is EventKind.DEATH and event.target:
            revealed = event.data.get("role")
            possible[event.target] = frozenset({revealed}) if revealed else possible[event.target] - game.killers
        elif event.kind is EventKind.EXILE and event.target:
            exiled.append(event.target)
        elif event.kind is EventKind.NIGHT:  # the game went on
            protected = ""
            for name in exiled:
                possible[name] -= game.end_when_exiled
    possible[observer] = frozenset({own})
    return _narrow(possible, composition)


def teams_in_play(record: GameRecord) -> dict[str, str]:
    """The team of each role that has a card, whether it was dealt to a player or stayed in the centre."""
    teams = {seat.role: seat.team for seat in record.seats}
    for event in record.events:
        if event.kind is EventKind.SETUP:
            cards = {role for role, count in event.data.get("composition", {}).items() if count}
            return {**{role: team for role, team in find_game(record.game).teams.items() if role in cards}, **teams}
    return teams


def _narrow(possible: dict[str, frozenset[str]], composition: dict[str, int]) -> dict[str, frozenset[str]]:
    """Remove a role from the other players once all players who have it are known."""
    changed = bool(composition)
    while changed:
        changed = False
        for role, count in composition.items():
            certain = [name for name, roles in possible.items() if roles == {role}]
            if len(certain) < count:
                continue
            for name, roles in possible.items():
                if role in roles and name not in certain:
                    possible[name] = roles - {role}
                    changed = True
    return possible


def _vote(claim: FoundClaim, statement: Event, events: Sequence[Event]) -> str:
    """Checked against the vote that the statement gives the reason for, else the speaker's next vote that day."""
    explained = statement.phase is Phase.VOTING
    for event in events if explained else events[statement.index :]:
        if event.kind is EventKind.VOTE and event.day == statement.day and event.actor == statement.actor:
            if event.fallback:
                return UNVERIFIABLE
            return TRUE if event.target == claim.value else FALSE
    return UNVERIFIABLE


def _row(claim: FoundClaim, verdict: str, known: bool) -> Claim:
    return Claim(claim.kind, claim.subject, claim.value, claim.quote, verdict, known, lie=known and verdict == FALSE)
