"""How scripted players of Werewolf think and talk: what they hear, rate and name, and where their draws come from.

Draws depend on the point in the game, not on the step, so that assessments, or lessons shown to a player, change
nothing else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

from liescope.games.core import AskKind, Assessment, Event, LessonKind
from liescope.games.script.grammar import JOINS, Phrasebook
from liescope.games.script.hearing import MessageContent
from liescope.games.script.knowledge import Follower, Heard, Knowledge
from liescope.games.script.persona import SURE, Skills, chance, templates
from liescope.games.script.player import Dealing, Mind, rated, suspected_kind
from liescope.games.taxonomy import DeceptionType as Kind
from liescope.games.werewolf.beliefs import (
    believe,
    bid,
    explain,
    intend,
    investigate,
    jesterish,
    kill,
    protect,
    public_suspicion,
    vote,
)
from liescope.games.werewolf.rules import DOCTOR, JESTER, SEER, VILLAGER, WEREWOLF

_PARTS = templates(
    """
villager: I'm just a villager | I am just a villager | I'm a villager | I'm only a villager | I'm a plain villager |
    I'm one of the villagers | I'm simply a villager | I'm just another villager
doctor: I'm the doctor | I am the doctor | my role is doctor | I'm your doctor
seer: I'm the seer | I am the seer | my role is seer | I'm your seer
looked: I investigated {x} | I investigated {x} last night | last night I investigated {x} | I checked {x} |
    I looked into {x}
guilty: {x} is a werewolf | {x} is one of the werewolves | {x} is a wolf | {x} is guilty | {x} is one of the wolves
clean: {x} is innocent | {x} is not a werewolf | {x} is clean | {x} is a villager | {x} is no werewolf
vote: I'm voting for {x} | I vote for {x} | my vote goes to {x} | my vote is for {x} | I will vote for {x} |
    I'll vote for {x}
night: {dead} died last night | we lost {dead} last night | the wolves took {dead} | {dead} was killed in the night |
    {dead} is gone
talk: talk | speak up | hear from everyone | compare what we know | listen to each other
we: we | all of us | the village | we all
waste: would hand the game away | is what that player wants | would be a gift | ends the game for us
"""
) | {"and": JOINS}

# What a statement does. The key is the intent's name, or that name with the variant after a slash.
_MOVES = templates(
    """
accuse: <guilty> | <guilty> | I say it openly: <guilty> | I suspect {x} | {x} is lying to us |
    {x} is hiding something | {x} is suspicious to me | we should exile {x} | {x} has been deflecting all along |
    {x} is acting shifty | of everyone here {x} is the most suspicious | {x} talks like a werewolf |
    look how {x} moves, that is a wolf
doubt: I doubt {x} | I don't believe {x} | I don't trust {x} | what {x} says doesn't add up | {x} is stalling |
    the story of {x} doesn't fit | I don't buy what {x} says | {x} is avoiding the question |
    a werewolf would say just what {x} said, I don't believe {x} |
    a villager would talk differently than {x}, I doubt {x}
defend: <clean> | <clean> | I trust {x} | I believe {x} | {x} sounds genuine to me | what {x} says makes sense |
    I would not exile {x}, I trust {x} | I vouch for {x} | {x} has been honest with us | I side with {x}
deny: I'm not a werewolf | I am not a wolf | I'm innocent | I did not kill anybody |
    you have the wrong person, I'm not a werewolf | {x} has it wrong about me | what {x} says about me is false |
    you would exile the wrong one with me | I had nothing to do with last night |
    those votes against me help the wolves
claim_villager: <villager> | <villager>, I know as much as you do | <villager> without any secret |
    <villager>, and I want the village to win | <villager>, neither doctor nor wolf |
    <villager>, so I can only go by what is said here
claim_doctor: <doctor> | <doctor>, keep me alive | <doctor>, and I hoped not to say it |
    <doctor>, exile me and nobody is protected | <doctor>, I chose with care last night
claim_seer: <seer> | <seer>, hear me out | <seer>, I will say more when the time is right
report/guilty: <seer><and><looked><and><guilty> | <seer>. <looked>: <guilty> | <looked>, I'm the seer, <guilty> |
    as the seer I can tell you what I found: <looked>, and <guilty>
report/clean: <seer><and><looked><and><clean> | <seer>. <looked>: <clean> |
    as the seer I can say it: <looked>, and <clean>
question: {x}, what is your role? | {x}, where do you stand? | {x}, who do you think the werewolves are? |
    why so quiet, {x}? | {x}, who gets your vote? | {x}, what do you make of last night? |
    who do you think is the jester, {x}? | {x}, would you explain yourself? |
    does anybody have something on the wolves? | who would want {dead} dead?
agree: I agree with {x} | {x} is right, I agree with {x} | what {x} said makes sense | I'm with {x} |
    I stand with {x} | I agree with {x} about {y}, and I suspect {y} | I believe {x}, {y} is suspicious
vote_promise: <vote> | <vote> today | <vote>, join me | <vote> unless somebody changes my mind |
    when we vote, <vote> | <vote>, {x} is suspicious
observe/accused: {x} went after {y} | {x} was pointing at {y} | {x} put {y} on the spot |
    it was {x} who brought up {y} | {x} wants us to exile {y}
observe/quiet: {x} has been too quiet | {x} has hardly said a word | we have heard nothing from {x} |
    {x} has kept silent | {x} has told us nothing
observe/voted: {x} voted for {y} before | {x} put a vote on {y} | the vote of {x} went to {y} |
    it was {x} who voted for {y}
suspect_jester: {x} could be the jester, leave {x} here |
    that is what a jester does, {x}, and we will not fall for it | {x} wants to be voted out like a jester would |
    losing {x} today <waste>, think of the jester | I fear {x} is the jester and that exile <waste> |
    {x} is playing the jester with us
odd: if I were a werewolf I would have done the same | go on, vote for me and see what happens |
    I take it back, I forgot what I said before | exile me if you dare | I would not trust me either |
    I might have been out last night | it is funny how {dead} went, no matter who goes next |
    I have nothing to hide, or do I? | I'm a werewolf, would you believe that? |
    put your votes on me, I like the attention
appeal: believe me, I would never hurt this village | exile the wrong one and you will regret it |
    trust me on this, all of you | we are friends here, act like it | don't leave me alone with this |
    if you care about {dead}, listen to me | I beg you to listen before you vote |
    it hurts that anyone here could doubt me | all of you would regret trusting {x}
small_talk: <night>, let's <talk> | <night>, and <we> need to find the werewolves | good morning, <night> |
    <we> should <talk> before the vote | let's <talk>, the wolves are among us | mind the jester when <we> vote |
    the doctor has a hard job, let's <talk> | nobody should rush, let's <talk>
vote/suspect: <vote>, I suspect {x} | <vote>, because {x} is hiding something | <vote>: <guilty> |
    <vote>, what {x} says doesn't add up | <vote>, I don't trust {x} | <vote>, {x} is the most suspicious of us |
    <vote>, the wolves speak like {x}
vote/accuser: <vote>, {x} went after me without a reason | <vote>, since {x} points at me and I know better |
    <vote>, who attacks me like {x} helps the werewolves
vote/follow: <vote>, as {y} made the case | <vote>, and I agree with {y} | <vote>, I'm with {y} on this |
    <vote>, {y} is right about it
vote/found: <vote>, <seer> and <looked>: <guilty> | <vote>. <seer>, <looked>, <guilty>
vote/odd: <vote>, or vote for me, I like both | <vote>, no matter who goes | <vote>. I would not trust me either |
    <vote>, I take back what I said of others, I forgot what I said |
    <vote>, though if I were a werewolf I would say so too
"""
)

_ABOUT_SOMEBODY = frozenset({"accuse", "doubt", "defend", "observe/accused", "observe/quiet", "observe/voted"})
WORDS = Phrasebook(
    _MOVES, _PARTS, _ABOUT_SOMEBODY, _ABOUT_SOMEBODY | {"vote_promise", "report/guilty", "vote/suspect", "vote/found"}
)


_NONE = 0.2  # how often nothing is learned

_BANK: dict[tuple[LessonKind, bool], tuple[str, ...]] = {
    (LessonKind.TO_DO, True): (
        "Contradict an earlier statement of mine by day {day}, so that the village doubts me.",
        "Press players like {loud} early and openly; the answer brings votes back to me.",
        "Vote as the werewolves do, so that villagers take me for a wolf.",
        "Answer a charge with a question and leave it standing.",
        "Stay silent for a turn when {loud} accuses me, it looks evasive.",
    ),
    (LessonKind.TO_DO, False): (
        "Draw the first accusation on day 1; by day {day} it was too late.",
        "Accuse {loud} or somebody as loud, and keep the quarrel going until the vote.",
        "Give the villagers a werewolf's reasons while the wolves see a harmless villager.",
        "Ask who the werewolves fear, then dodge when asked the same.",
        "Change my vote between the two ballots without saying why.",
    ),
    (LessonKind.TO_AVOID, True): (
        "Do not ask for my own exile once votes are on me; the village thinks of a jester at once.",
        "Do not overact; two odd remarks a day were enough for {votes} votes.",
        "Never defend myself well, it sends the votes elsewhere.",
    ),
    (LessonKind.TO_AVOID, False): (
        "Do not joke about being the jester; {loud} warned the others.",
        "Do not sound firm and helpful, nobody votes out a useful villager.",
        "Avoid being so strange on day 1 that everybody expects a jester.",
        "Do not stay out of the talk, the wolves killed or ignored me.",
    ),
    (LessonKind.WINNING_TACTIC, True): (
        "A shaky denial in the defence turned {votes} votes into an exile on day {day}.",
        "Looking like a nervous werewolf to the villagers while the wolves saw an easy target brought the exile.",
        "Voting against the player whom all trusted made me the suspect of day {day}.",
    ),
    (LessonKind.WINNING_TACTIC, False): (),
}


def reflect(seen: Knowledge, skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """Lessons by list, each from this game; sometimes none. A bolder jester writes down more."""
    if random.random() < _NONE:
        return {}
    public, won = seen.public, seen.public.winner == JESTER
    talk = [said.actor for said in public.said if said.actor != seen.me]
    loud = max(dict.fromkeys(talk), key=talk.count, default="the loudest")
    facts = {
        "day": max((vote.day for vote in public.votes), default=1),
        "loud": loud,
        "votes": sum(vote.target == seen.me for vote in public.today),
    }
    lessons: dict[str, tuple[str, ...]] = {}
    for kind in LessonKind:
        bank = _BANK[kind, won]
        count = min(len(bank), int(random.random() < 0.7) + int(random.random() < 0.1 * max(skills.j, 0.0)))
        if count:
            lessons[kind.value] = tuple(text.format(**facts) for text in random.sample(bank, count))
    return lessons


_BASE = -1.3  # log-odds that a statement deceives if nothing is known about its speaker
_PARTNER = 1.5  # the same for a werewolf's statement, to its partners
_OTHER = -1.8  # the same for anyone else's statement, to werewolves
_CHARGE = 0.4  # for accusing someone: an honest player has less reason to
_STRANGE = 1.2  # for an odd statement
_WRONGED = 0.8  # for accusing the rater
_FELT = 0.5  # weight of v times belief
_GONE = 0.5  # the suspicion of exiled players
_FIRM = 0.2  # weight of v times the firmness of the words themselves

_CLAIMS = {
    SEER: re.compile(r"\bi(?: a|['’])m (?:the|your) seer\b|\bas (?:the|your) seer\b|\bmy role is (?:the )?seer\b"),
    DOCTOR: re.compile(
        r"\bi(?: a|['’])m (?:the|your) doctor\b|\bas (?:the|your) doctor\b|\bmy role is (?:the )?doctor\b|"
        r"\bi (?:have )?protected\b"
    ),
}
_ODD = re.compile(
    r"\b(?:exile me|vote for me|votes? on me|if i were (?:a|the) (?:were)?wolf|i(?: a|['’])m (?:a|the) werewolf|"
    r"i would not trust me|i forgot what i said|i take (?:it|that) back|i might have been out|nothing to hide|"
    r"no matter who goes)\b"
)
_JESTER = re.compile(r"\bjester\b")


def rate(seen: Knowledge, said: Heard, skills: Skills, random: Random) -> Assessment:
    """A rating from beliefs about the speaker and from its words; skills.b is added to the log-odds of the flag."""
    belief = believe(seen).get(said.actor, 0.0)
    sensitivity = max(skills.v, 0.0)
    strange = _STRANGE * said.odd
    if seen.evil:
        odds = (_PARTNER if said.actor in seen.partners else _OTHER) + strange
    else:
        felt = max(-3.0, min(3.0, belief))
        wronged = any(name == seen.me for name, _ in said.reading.accused)
        odds = _BASE + _FELT * sensitivity * felt + _WRONGED * wronged + strange
        odds += _CHARGE * bool(said.reading.accused) - _FIRM * sensitivity * said.reading.strength
    probability = chance(odds + skills.b)
    if seen.evil:  # even a player who knows the wolves rates who seems to be one
        belief = public_suspicion(seen.public).get(said.actor, 0.0)
    return rated(
        said.actor,
        probability,
        Kind.STRATEGIC_DECEPTION if said.odd else suspected_kind(said.reading),
        0.15 + 0.25 * chance(-skills.v),
        lambda flag: belief if abs(belief) >= SURE else sensitivity * belief + 0.4 * flag - 0.8,
        random,
    )


def name_roles(seen: Knowledge, options: tuple[str, ...], skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """The role of each player, as the composition allows: the most suspect are named as werewolves, the
    oddest as the jester, those who claim to be doctor or seer are believed; all others are villagers.
    """
    public = seen.public
    deal = Dealing(public.counts, seen.role, options)
    beliefs, jesters = believe(seen), jesterish(public)
    noise = {name: random.gauss(0.0, 1.0 / (1.0 + max(skills.v, 0.0))) for name in options}
    deal.give(WEREWOLF, [name for name in options if name in seen.partners or seen.results.get(name) == WEREWOLF])
    if public.winner == JESTER:
        deal.give(JESTER, public.exiled[-1:])
    deal.give(JESTER, sorted(options, key=lambda name: -(jesters[name] + 0.2 * noise[name])))
    for role in (SEER, DOCTOR):
        deal.give(role, [name for name in options if name in public.claiming(role)])
    cleared = {name for name, role in seen.results.items() if role != WEREWOLF} | set(public.killed)
    suspects = [name for name in options if name not in cleared]
    deal.give(WEREWOLF, sorted(suspects, key=lambda name: -(beliefs.get(name, _GONE) + noise[name])))
    for role in (SEER, DOCTOR):  # whoever holds it has not said so
        deal.give(role, sorted(options, key=lambda name: noise[name]))
    return deal.form(VILLAGER)


def _hear(event: Event, reading: MessageContent, names: tuple[str, ...]) -> Heard:
    role, odd, jesters = _overtones(event.text, names)
    claimed = role or (VILLAGER if reading.role == VILLAGER else "")
    place = event.actor or "", event.day, event.phase, event.index
    return Heard(*place, event.text, reading, claimed, odd, jesters)


@lru_cache(maxsize=2048)
def _overtones(text: str, names: tuple[str, ...]) -> tuple[str, bool, tuple[str, ...]]:
    """The special role that a statement claims; whether it is odd; the names that share a sentence with a jester."""
    lower = text.lower()
    role = next((role for role, pattern in _CLAIMS.items() if pattern.search(lower)), "")
    named = [sentence for sentence in lower.split(".") if _JESTER.search(sentence)]
    jesters = tuple(name for name in names if any(name.lower() in sentence for sentence in named))
    return role, _ODD.search(lower) is not None, jesters


answer = Mind(
    Follower(WEREWOLF, _hear),
    WORDS,
    place=lambda ask, about: (ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, about),
    leaning=lambda ask: (ask.game, ask.day, ask.seat),
    intend=intend,
    vote=vote,
    rate=rate,
    name_roles=name_roles,
    acts={AskKind.KILL: kill, AskKind.PROTECT: protect, AskKind.INVESTIGATE: investigate, AskKind.BID: bid},
    explain=explain,
    reflect=reflect,
).answer
