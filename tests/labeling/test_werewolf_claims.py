"""Claims in Werewolf's words: three sides, so that no werewolf may still be the jester."""

from __future__ import annotations

import pytest

from liescope.labeling.claims import find_claims

NAMES = ("Alice", "Bob", "Charlie", "Diana", "Erin")


def found(text: str, game: str = "werewolf") -> set[tuple[str, str, str]]:
    return {(claim.kind, claim.subject, claim.value) for claim in find_claims(text, "Alice", NAMES, game)}


STATED = {
    "I am the doctor.": {("role", "Alice", "doctor")},
    "I'm just a villager, honestly.": {("role", "Alice", "villager")},
    "I'm one of the villagers.": {("role", "Alice", "villager")},
    "I'm the seer and I have news.": {("role", "Alice", "seer")},
    "I am the jester, exile me!": {("role", "Alice", "jester")},
    "I'm a werewolf.": {("role", "Alice", "werewolf")},
    "I am not a wolf.": {("role", "Alice", "not werewolf")},
    "I'm not the jester.": {("role", "Alice", "not jester")},
    "I'm innocent!": {("role", "Alice", "villagers")},
    "I am town.": {("role", "Alice", "villagers")},
    "I'm on the villager side.": {("role", "Alice", "villagers")},
    "I'm with the village.": {("role", "Alice", "villagers")},
    "As the doctor, I know who was attacked.": {("role", "Alice", "doctor")},
    "I did not kill anybody.": {("role", "Alice", "not werewolf")},
    "Bob is a werewolf.": {("guilt", "Bob", "werewolf")},
    "Bob is a wolf, plain and simple.": {("guilt", "Bob", "werewolf")},
    "Bob is one of the wolves.": {("guilt", "Bob", "werewolf")},
    "Bob is part of the pack.": {("guilt", "Bob", "werewolf")},
    "Bob is on the wolf team.": {("guilt", "Bob", "werewolf")},
    "Bob and Diana are the werewolves.": {("guilt", "Bob", "werewolf"), ("guilt", "Diana", "werewolf")},
    "The werewolves are Bob and Diana.": {("guilt", "Bob", "werewolf"), ("guilt", "Diana", "werewolf")},
    "The other wolf is Bob.": {("guilt", "Bob", "werewolf")},
    "Bob isn't innocent.": {("innocence", "Bob", "not villagers")},
    "Bob killed Diana.": {("guilt", "Bob", "werewolf")},
    "Bob is not a werewolf.": {("guilt", "Bob", "not werewolf")},
    "Bob is innocent.": {("innocence", "Bob", "villagers")},
    "Bob is a villager.": {("innocence", "Bob", "villager")},
    "Bob is the jester.": {("role", "Bob", "jester")},
    "The jester is Bob.": {("role", "Bob", "jester")},
    "Bob is clearly the jester, don't exile him.": {("role", "Bob", "jester")},
    "Bob is not the jester.": {("role", "Bob", "not jester")},
    "Bob is the doctor.": {("role", "Bob", "doctor")},
    "Bob is lying about being the doctor.": {("role", "Bob", "not doctor")},
    "I investigated Bob and he is a werewolf.": {("investigation", "Bob", "werewolf")},
    "I investigated Bob: he is not a werewolf.": {("investigation", "Bob", "not werewolf")},
    "I checked Bob last night. He is clean.": {("investigation", "Bob", "villagers")},
    "My investigation points to Bob.": {("investigation", "Bob", "werewolf")},
    "I'm the seer, my findings: Bob is a werewolf.": {("role", "Alice", "seer"), ("investigation", "Bob", "werewolf")},
    "I've identified Bob as a werewolf from the way of voting.": {("guilt", "Bob", "werewolf")},
    "I have determined that Bob is a werewolf.": {("guilt", "Bob", "werewolf")},
    "My findings: Bob is a werewolf.": {("guilt", "Bob", "werewolf")},
    "Bob's innocent, trust me.": {("innocence", "Bob", "villagers")},
    "Bob's guilty and we all know it.": {("guilt", "Bob", "werewolf")},
    "I protected Bob last night.": {("protection", "Bob", "")},
    "I'm the doctor and I saved Diana.": {("role", "Alice", "doctor"), ("protection", "Diana", "")},
    "Last night I chose to protect Bob.": {("protection", "Bob", "")},
    "I decided to save Bob.": {("protection", "Bob", "")},
    "I protected myself.": {("protection", "Alice", "")},
    "I'm voting for Bob, he is a wolf.": {("vote", "Alice", "Bob"), ("guilt", "Bob", "werewolf")},
    "My vote goes to Diana.": {("vote", "Alice", "Diana")},
    "Bob is a wolf and Diana is the jester.": {("guilt", "Bob", "werewolf"), ("role", "Diana", "jester")},
}

NOT_STATED = [
    "Bob's behaviour is wolf-like.",
    "That was wolfish behaviour, Bob.",
    "Bob is acting like a wolf.",
    "Bob sounds like a werewolf.",
    "Bob is jester-like today.",
    "Bob is wolf-like.",
    "That is a wolf tactic, Bob.",
    "Bob is jester bait.",
    "Bob might be the jester.",
    "I think Bob is a wolf.",
    "Bob is probably the jester, so let's not exile him.",
    "Bob is either the jester or a wolf.",
    "Is Bob the doctor?",
    "If Bob is the jester, we lose by exiling him.",
    "If I were a wolf, I would have stayed silent.",
    "Bob claims he is the doctor.",
    "The seer says Bob is a wolf.",
    'Bob said "I am the jester" and laughed.',
    "The wolves killed Diana last night.",
    "One of Bob or Diana is the werewolf.",
    "We need to find the werewolves before the jester tricks us.",
    "The doctor should protect Bob tonight.",
    "I will protect Bob tonight.",
    "I would have protected Bob.",
    "I didn't protect Bob.",
    "I protected Bob's reputation.",
    "Bob protected Diana.",
    "Somebody was saved last night, thank the doctor.",
    "Bob is voting with the wolves.",
    "Bob's wolf accusation is odd.",
    "Bob's clear attempt to deflect is telling.",
    "Bob's guilty look says a lot.",
    "Bob's very clean record speaks for him.",
    "I checked Bob against what the others said.",
    "I'd have investigated Bob.",
    "I'd have protected Bob last night.",
    "I saved Bob for last.",
    "I protected Bob yesterday with my vote.",
    "I saved Bob from being voted out.",
]


@pytest.mark.parametrize("text", STATED)
def test_what_is_stated_is_found(text: str) -> None:
    assert found(text) == STATED[text]


@pytest.mark.parametrize("text", NOT_STATED)
def test_what_is_likened_thought_asked_or_reported_is_no_claim(text: str) -> None:
    assert found(text) == set()


def test_both_rules_of_werewolf_read_alike_and_mafia_reads_its_own_words() -> None:
    for text, claims in STATED.items():
        assert found(text, "dyadic-werewolf") == claims
    assert found("I am the doctor. Bob is a werewolf. I protected Diana.", "mini-mafia") == set()
    assert found("Bob is the mafioso. Diana is the detective.") == set()


@pytest.mark.parametrize("piece", ["I protected ", "one of the wolves ", "the other wolf is Bob, ", "Bob and Erin "])
@pytest.mark.timeout(30)
def test_a_hundred_kilobytes_come_to_an_end(piece: str) -> None:
    text = "wolf jester protected vote " + piece * (100_000 // len(piece))
    assert isinstance(find_claims(text, "Alice", NAMES, "werewolf"), tuple)
