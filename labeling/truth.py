"""Whether a claim is true, and whether its speaker could know: both follow from the event log up to the statement.

A claim is a lie only if it is false and its speaker could know that. What a speaker could know is computed as the
roles that each player may still have from the speaker's point of view. It follows from the speaker's role, its
partners, the results of its investigations, the public composition of the game, the roles of the dead if they are
announced, and three rules: killers are not killed at night; exiling a jester would have ended the game; and if the
only doctor's protection prevented a death, the protected player is the one the killers chose. A mafioso or werewolf
therefore knows all partners; a detective knows who it investigated, and so does a mafioso who is warned of it; a
villager's wrong accusation is false but not a lie.

An investigation or protection claim is about the speaker's own act, so the speaker knows whether it took place;
anything an investigation leaves open about a player, its speaker does not know. Promises are another matter, for
`liescope.labeling.ledger`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from liescope.games.core import Event, EventKind
from liescope.games.game_registry import find_game
from liescope.games.playable import PlayableGame
from liescope.games.record import GameRecord
from liescope.games.vocabulary import NOT, FoundClaim

TRUE, FALSE, UNVERIFIABLE = "true", "false", "unverifiable"


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim checked against the log: the verdict, the indices of the events that prove it, whether the speaker could
    know it, None where a source does not say.
    """

    verdict: str
    evidence: tuple[int, ...]
    known: bool | None


UNDECIDED = Checked(UNVERIFIABLE, (), known=False)


class Truth:
    """Checks the claims of one game, whose rules must be known."""

    def __init__(self, record: GameRecord) -> None:
        self.teams = teams_in_play(record)
        self._record = record
        self._seats = {seat.name: seat for seat in record.seats}
        self._dealt = {event.actor: event.index for event in record.events if event.kind is EventKind.ROLE}
        self._possible = cache(lambda observer, until: possible_roles(observer, until, record))

    def check(self, claim: FoundClaim, statement: Event) -> Checked:
        """The claim as made by `statement.actor` at that moment of the game; any kind but a promise."""
        speaker = statement.actor or ""
        role = self._seats[claim.subject].role if claim.subject in self._seats else ""
        if not role or speaker not in self._seats:
            return UNDECIDED
        if claim.kind == "protection":
            acts = self._acts(EventKind.PROTECTION, statement)
            there = [event for event in acts if event.target == claim.subject]
            return self._own_act(bool(there), there or acts, speaker)
        truth = holds(claim.value, role, self.teams)
        if claim.kind == "investigation":
            acts = self._acts(EventKind.INVESTIGATION, statement)
            shown = [event for event in acts if event.target == claim.subject]
            results = [event.data.get("role", role) for event in shown]
            candidates = [name for name in self.teams if all(holds(result, name, self.teams) for result in results)]
            if not shown or not any(holds(claim.value, name, self.teams) for name in candidates):
                return self._own_act(False, shown or acts, speaker)
            evidence = (*(event.index for event in shown), *self._role_of(claim.subject))
            return self._checked(truth, evidence, self._agreed(claim, candidates, truth))
        if claim.subject == speaker:
            return self._checked(truth, self._role_of(speaker), known=True)
        known = self._agreed(claim, self._possible(speaker, statement.index)[claim.subject], truth)
        return self._checked(truth, self._role_of(claim.subject), known)

    def _acts(self, kind: EventKind, statement: Event) -> list[Event]:
        """The speaker's earlier acts of this kind."""
        before = self._record.events[: statement.index]
        return [event for event in before if event.kind is kind and event.actor == statement.actor]

    def _own_act(self, truth: bool, acts: Iterable[Event], speaker: str) -> Checked:
        """A claim about the speaker's own act: decided by its acts of this kind or, if there are none, by its role."""
        return self._checked(truth, tuple(event.index for event in acts) or self._role_of(speaker), known=True)

    def _role_of(self, name: str) -> tuple[int, ...]:
        return (self._dealt[name],) if name in self._dealt else ()

    def _agreed(self, claim: FoundClaim, candidates: Iterable[str], truth: bool) -> bool:
        """Whether the claim has this truth for every role that the speaker considers possible."""
        return all(holds(claim.value, candidate, self.teams) == truth for candidate in candidates)

    def _checked(self, truth: bool, evidence: tuple[int, ...], known: bool) -> Checked:
        return Checked(TRUE if truth else FALSE, evidence, known)


def holds(value: str, role: str, teams: dict[str, str]) -> bool:
    """Whether a value ("detective", "town", "not detective", "" for anything) is true of a player with this role."""
    if value.startswith(NOT):
        return not holds(value.removeprefix(NOT), role, teams)
    return not value or value in (role, teams.get(role))


def possible_roles(observer: str, until: int, record: GameRecord) -> dict[str, frozenset[str]]:
    """For each player, the roles it may have, given what `observer` saw in the events before index `until`."""
    seen = [event for event in record.events[:until] if event.seen_by(observer)]
    roles = {seat.name: seat.role for seat in record.seats}
    return _left(observer, roles, teams_in_play(record), find_game(record.game), seen)


def roles_left(observer: str, game: str, view: Sequence[Event]) -> dict[str, frozenset[str]]:
    """For each player, the roles it may have by the observer's own view, which records no other role."""
    rules, setup = find_game(game), next((event for event in view if event.kind is EventKind.SETUP), None)
    if setup is None:
        return {}
    cards = {role for role, count in setup.data.get("composition", {}).items() if count}
    teams = {role: team for role, team in rules.teams.items() if role in cards}
    own = next((event.data["role"] for event in view if event.kind is EventKind.ROLE and event.actor == observer), "")
    return _left(observer, {**dict.fromkeys(setup.data["names"], ""), observer: own}, teams, rules, view)


def _left(
    observer: str, roles: Mapping[str, str], teams: dict[str, str], game: PlayableGame, seen: Sequence[Event]
) -> dict[str, frozenset[str]]:
    """roles: by player, "" where it is not on record; seen: by the observer."""
    own = roles[observer]
    composition: dict[str, int] = {}
    possible = {name: frozenset(teams) for name in roles}
    exiled: list[str] = []
    protected = ""
    for event in seen:
        if event.kind is EventKind.SETUP:
            composition = dict(event.data.get("composition", {}))
        elif event.kind is EventKind.PARTNERS:
            partners = event.data.get("names", ())
            possible = {name: held & {own} if name in partners else held - {own} for name, held in possible.items()}
            if card := event.data.get("seen"):
                composition[card] = composition.get(card, 1) - 1
        elif event.kind is EventKind.INVESTIGATION and event.target:
            result = event.data.get("role", roles[event.target])
            possible[event.target] &= {role for role in teams if holds(result, role, teams)}
        elif event.kind is EventKind.PROTECTION and event.target:
            protected = event.target
        elif event.kind is EventKind.QUIET and protected and composition.get(game.protector) == 1:
            possible[protected] -= game.killers
        elif event.kind is EventKind.DISCOVERY and event.actor and observer == event.target:
            possible[event.actor] &= {roles[event.actor]} if roles[event.actor] else game.investigators
        elif event.kind in (EventKind.DEATH, EventKind.EXILE) and event.target:
            exiled += [event.target] if event.kind is EventKind.EXILE else []
            if revealed := event.data.get("role"):
                possible[event.target] = frozenset(role for role in teams if holds(revealed, role, teams))
            elif event.kind is EventKind.DEATH:
                possible[event.target] -= game.killers
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
