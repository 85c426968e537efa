"""Whether a claim is true, and whether its speaker could know: the event log up to the statement decides both.

A claim is a lie only if it is false and its speaker could know that. What a speaker could know is computed as the
roles that each player may still have in the speaker's eyes: its own role, its partners, its investigations, the
public composition of the table, and that whoever dies at night is no mafioso. A mafioso therefore knows everybody's
team; a detective knows whom it investigated; a villager's wrong accusation is false and no lie.

An investigation claim is about the speaker's own act, so the speaker always knows. A vote promise is compared with
the vote that the speaker then cast, and the verdict is recorded; but a promise speaks of an intention, people change
their minds in the course of a discussion, and the log shows acts and no intentions. So `known` is False for it, and
a broken promise alone never makes a lie.
"""

from __future__ import annotations

from collections.abc import Sequence

from games.core import Event, EventKind
from games.mafia import MAFIA
from games.record import GameRecord
from labeling.claims import FoundClaim
from labeling.rows import Claim

TRUE, FALSE, UNVERIFIABLE = "true", "false", "unverifiable"
NOT = "not "


def check(claim: FoundClaim, statement: Event, record: GameRecord) -> Claim:
    """The claim with its verdict, as made by `statement.actor` at that moment of the game."""
    speaker = statement.actor or ""
    if claim.kind == "vote":
        return _row(claim, _vote(claim, statement, record.events), known=False)
    seats = {seat.name: seat for seat in record.seats}
    if claim.subject not in seats or speaker not in seats:
        return _row(claim, UNVERIFIABLE, known=False)
    teams = {seat.role: seat.team for seat in record.seats}
    role = seats[claim.subject].role
    if claim.kind == "investigation":
        learned = any(
            event.kind is EventKind.INVESTIGATION and event.actor == speaker and event.target == claim.subject
            for event in record.events[: statement.index]
        )
        return _row(claim, TRUE if learned and holds(claim.value, role, teams) else FALSE, known=True)
    truth = holds(claim.value, role, teams)
    if claim.subject == speaker:
        return _row(claim, TRUE if truth else FALSE, known=True)
    candidates = possible_roles(speaker, statement.index, record)[claim.subject]
    known = all(holds(claim.value, candidate, teams) == truth for candidate in candidates)
    return _row(claim, TRUE if truth else FALSE, known)


def holds(value: str, role: str, teams: dict[str, str]) -> bool:
    """Whether a value ("detective", "town", "not detective", "" for anything) is true of a player with this role."""
    if value.startswith(NOT):
        return not holds(value.removeprefix(NOT), role, teams)
    return not value or value in (role, teams.get(role))


def possible_roles(observer: str, until: int, record: GameRecord) -> dict[str, frozenset[str]]:
    """For each player, the roles it may have for all that `observer` saw in the events before index `until`."""
    teams = {seat.role: seat.team for seat in record.seats}
    evil = frozenset(role for role, team in teams.items() if team == MAFIA)
    composition: dict[str, int] = {}
    possible = {seat.name: frozenset(teams) for seat in record.seats}
    for event in record.events[:until]:
        if not event.seen_by(observer):
            continue
        if event.kind is EventKind.SETUP:
            composition = dict(event.data.get("composition", {}))
        elif event.kind is EventKind.ROLE and event.actor == observer:
            possible[observer] = frozenset({record.seat(observer).role})
        elif event.kind is EventKind.PARTNERS:
            for name in event.data.get("names", ()):
                possible[name] &= evil
        elif event.kind is EventKind.INVESTIGATION and event.target:
            possible[event.target] = frozenset({record.seat(event.target).role})
        elif event.kind is EventKind.DEATH and event.target:
            possible[event.target] -= evil
    possible[observer] = frozenset({record.seat(observer).role})
    return _narrow(possible, composition)


def _narrow(possible: dict[str, frozenset[str]], composition: dict[str, int]) -> dict[str, frozenset[str]]:
    """Remove a role from the others once as many players as have it are found out."""
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
    for event in events[statement.index :]:
        if event.kind is EventKind.VOTE and event.day == statement.day and event.actor == statement.actor:
            if event.fallback:
                return UNVERIFIABLE
            return TRUE if event.target == claim.value else FALSE
    return UNVERIFIABLE


def _row(claim: FoundClaim, verdict: str, known: bool) -> Claim:
    return Claim(claim.kind, claim.subject, claim.value, claim.quote, verdict, known, lie=known and verdict == FALSE)
