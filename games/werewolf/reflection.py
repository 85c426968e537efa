"""What a scripted jester writes down after a game, from its own bank of lessons."""

from __future__ import annotations

from random import Random

from liescope.games.core import LessonKind
from liescope.games.script.knowledge import Knowledge
from liescope.games.script.persona import Skills
from liescope.games.werewolf import JESTER

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
    table, won = seen.table, seen.table.winner == JESTER
    talk = [said.actor for said in table.said if said.actor != seen.me]
    loud = max(dict.fromkeys(talk), key=talk.count, default="the loudest")
    facts = {
        "day": max((vote.day for vote in table.votes), default=1),
        "loud": loud,
        "votes": sum(vote.target == seen.me for vote in table.today),
    }
    lessons: dict[str, tuple[str, ...]] = {}
    for kind in LessonKind:
        bank = _BANK[kind, won]
        count = min(len(bank), int(random.random() < 0.7) + int(random.random() < 0.1 * max(skills.j, 0.0)))
        if count:
            lessons[kind.value] = tuple(text.format(**facts) for text in random.sample(bank, count))
    return lessons
