"""A scripted player's answers in one-night werewolf, from nothing but the seat's view and the planted skills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from liescope.games.core import Ask, AskKind, Assessment, Event, Reply
from liescope.games.one_night import SEER, VILLAGER, WEREWOLF
from liescope.games.one_night.beliefs import Heard, Knowledge, believe, look, public_suspicion
from liescope.games.one_night.phrases import WORDS
from liescope.games.script.assessments import NEAR, OTHERS, Dealing, report_self, suspected_kind
from liescope.games.script.draws import SURE, chance, draws, favourite, lean
from liescope.games.script.grammar import SPREAD, Intent, compose
from liescope.games.script.persona import Persona
from liescope.games.taxonomy import DeceptionType as Kind

# What a move is when a werewolf makes it, which always knows better than it says.
_LIES: dict[str, Kind] = {
    "report/guilty": Kind.FABRICATION,
    "report/clean": Kind.FABRICATION,
    "claim_villager": Kind.STRATEGIC_DECEPTION,
    "deny": Kind.STRATEGIC_DECEPTION,
    "accuse": Kind.MISDIRECTION,
    "doubt": Kind.MISDIRECTION,
    "centre": Kind.DISTORTION,
    "small_talk": Kind.OMISSION,
}
_NOTHING = Reply(problem="what the ask is about is not in the view")


def answer(who: Persona, ask: Ask, view: Sequence[Event]) -> Reply:
    """The reply of this player."""
    return _Player(who, ask).answer(look(ask.seat, view, who.find_claims), view)


class _Player:
    """A player for the length of one answer: its name, skills and draws."""

    def __init__(self, who: Persona, ask: Ask) -> None:
        self.who = who
        self.model = who.name
        self.skills = who.skills
        self.ask = ask

    def answer(self, seen: Knowledge, view: Sequence[Event]) -> Reply:
        ask = self.ask
        random = self._random(ask)
        match ask.kind:
            case AskKind.SPEAK:
                intent, text = self._speak(seen, ask)
                return Reply(text=text, private=intent.private)
            case AskKind.VOTE:
                return Reply(choice=self._vote(seen))
            case AskKind.INVESTIGATE:
                return Reply(choice=random.choice(ask.options))
            case AskKind.NAME_ROLES:
                return Reply(form=self._roles(seen, random))
            case AskKind.SELF_ASSESSMENT | AskKind.PEER_ASSESSMENT:
                said = next((said for said in seen.said if said.about == ask.about), None)
                if said is None:
                    return _NOTHING
                own = ask.kind is AskKind.SELF_ASSESSMENT
                return Reply(assessment=self._report(said, view, random) if own else self._rate(seen, said, random))
        return Reply(problem=f"a scripted player of one-night werewolf has no answer to {ask.kind.value}")

    def _speak(self, seen: Knowledge, ask: Ask) -> tuple[Intent, str]:
        random = self._random(ask)
        intent = self._intend(seen, ask, random)
        return intent, compose(intent.moves, intent.names, intent.strength, random, WORDS).text(ask.limit)

    def _intend(self, seen: Knowledge, ask: Ask, random: Random) -> Intent:
        """One move, and now and then a second; the larger d, the sooner the seer reports."""
        last = ask.round >= ask.rounds
        suspect = self._suspect(seen)
        options = {
            "claim_villager": 1.5,
            "accuse": 1.5 if seen.said else 0.3,
            "doubt": 1.0 if seen.said else 0.2,
            "defend": 0.5 if seen.said else 0.0,
            "deny": 3.0 if seen.accusers() else 0.0,
            "question": 0.7 if last else 1.8,
            "vote_promise": 2.0 if last else 0.4,
            "centre": 0.4,
            "small_talk": 0.2 if last else 1.2,
        }
        if seen.evil:
            options |= {"report/guilty": 0.8, "report/clean": 0.2, "question": 0.8}
        elif seen.role == SEER and seen.found:
            name, role = next(iter(seen.found.items()))
            options |= {"claim_villager": 0.0, "centre": 0.0}
            if random.random() < chance((1.5 if last else 0.5) + self.skills.d):
                suspect, options = name, {"report/guilty" if role == WEREWOLF else "report/clean": 1.0}
        first = random.choices(list(options), list(options.values()))[0]
        moves = (first, "vote_promise") if last and first == "accuse" else (first,)
        accusers = seen.accusers()
        trusted = min(seen.others(), key=lambda name: believe(seen)[name])
        about = {"deny": accusers[-1] if accusers else suspect, "defend": trusted}
        names = tuple({"x": about.get(move, suspect), "y": trusted, "dead": "the village"} for move in moves)
        planted = _LIES.get(first, Kind.NONE) if seen.evil else Kind.NONE
        if seen.role == SEER and not first.startswith("report") and not last:
            planted = Kind.OMISSION
        skill = self.skills.m if seen.evil else self.skills.d
        return Intent(moves, names, planted, random.gauss(skill, SPREAD))

    def _suspect(self, seen: Knowledge) -> str:
        """The player this seat speaks and votes against: werewolves join the others, against anyone but a partner."""
        leaning = lean(seen.names, self.model, self.ask.game, self.ask.seat)
        options = [name for name in seen.others() if name not in seen.partners] or seen.others()
        beliefs = public_suspicion(seen) if seen.evil else believe(seen)
        known = [name for name in options if beliefs[name] >= SURE]
        return known[0] if known else favourite(beliefs, options, self.skills.v, leaning)

    def _vote(self, seen: Knowledge) -> str:
        choice = self._suspect(seen)
        return choice if choice in self.ask.options else self.ask.options[0]

    def _report(self, said: Heard, view: Sequence[Event], random: Random) -> Assessment:
        """Derive the statement's intent again: the view from before the statement gives the same one."""
        before = look(self.ask.seat, [event for event in view if event.index < said.about], self.who.find_claims)
        spoke = replace(self.ask, kind=AskKind.SPEAK, about=None, rounds=before.rounds)
        intent, _ = self._speak(before, spoke)
        return report_self(intent.planted, self.skills, random)

    def _rate(self, seen: Knowledge, said: Heard, random: Random) -> Assessment:
        """What a peer believes about the speaker; skills.b is added to the log-odds of the flag."""
        belief = max(-3.0, min(3.0, believe(seen)[said.actor]))
        contradicted = any(
            name in seen.found and guilty != (seen.found[name] == WEREWOLF) for name, guilty in said.reports()
        )
        odds = -0.9 + max(self.skills.v, 0.0) * belief + 2.0 * contradicted + self.skills.b
        probability = chance(odds)
        flag = random.random() < probability
        kind = suspected_kind(said.reading) if flag else Kind.NONE
        if flag and random.random() < 0.3:
            kind = random.choice([near for near in NEAR[kind] if near is not Kind.NONE])
        confidence = round(min(0.99, max(0.3, random.gauss(0.45 + 0.5 * abs(2 * probability - 1), 0.07))), 2)
        suspicion = round(min(1.0, max(0.0, random.gauss(chance(belief), 0.05))), 2)
        return Assessment(flag, kind.value, confidence, suspicion, random.choice(OTHERS[flag]).format(x=said.actor))

    def _roles(self, seen: Knowledge, random: Random) -> dict[str, tuple[str, ...]]:
        """What it saw, then anyone who claims to be the seer, and the most suspect as werewolves."""
        options = self.ask.options
        deal = Dealing(seen.counts, seen.role, options)
        for name, role in (*dict.fromkeys(seen.partners, WEREWOLF).items(), *seen.found.items()):
            deal.give(role, [name])
        beliefs = believe(seen)
        deal.give(SEER, [said.actor for said in seen.said if said.claims_seer and beliefs.get(said.actor, 0.0) < 1.0])
        if not seen.evil:
            suspects = [name for name in options if seen.found.get(name, WEREWOLF) == WEREWOLF]
            deal.give(WEREWOLF, sorted(suspects, key=lambda name: -(beliefs[name] + random.gauss(0.0, 0.5))))
        return deal.form(VILLAGER)

    def _random(self, ask: Ask) -> Random:
        place = ask.day, ask.phase.value, ask.round, ask.kind.value, ask.about
        return draws(self.model, ask.game, ask.seat, *place)
