"""Games of Werewolf played by hand: who does what is written out, and the cases that the rules must get right occur.

Villagers Alice to Frank, the doctor Grace, the werewolves Henry and Ivy, the jester Jack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from liescope.games.core import ASSESSMENTS, Ask, AskKind, Assessment, Event, Lesson, LessonKind, Phase, Reply
from liescope.games.werewolf.rules import Werewolf, WerewolfSpec

Place = tuple[int, Phase]
TEN = WerewolfSpec(roles=("villager",) * 6 + ("doctor", "werewolf", "werewolf", "jester"), message_limit=300)
SEVEN = TEN.replaced(villagers=3, names=("Alice", "Bob", "Charlie", "Grace", "Henry", "Ivy", "Jack"))
SEVEN = SEVEN.replaced(roles=("villager",) * 3 + ("doctor", "werewolf", "werewolf", "jester"))


@dataclass(frozen=True)
class Hand:
    """What the players do. kills: the werewolves' targets by (day, round); protects: the doctor's by day; bids: by
    (day, phase, turn), 0 for who is not named; says: by (day, phase, turn); votes: by (day, phase), "" standing for all
    who are not named.
    """

    make: Callable[[], Werewolf]
    kills: Mapping[tuple[int, int], Mapping[str, str]]
    protects: Mapping[int, str]
    votes: Mapping[Place, Mapping[str, str]]
    bids: Mapping[tuple[int, Phase, int], Mapping[str, int]] = field(default_factory=dict)
    says: Mapping[tuple[int, Phase, int], str] = field(default_factory=dict)
    eager: bool = False

    def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        match ask.kind:
            case AskKind.KILL:
                return Reply(choice=self.kills[ask.day, ask.round][ask.seat])
            case AskKind.PROTECT:
                return Reply(choice=self.protects[ask.day])
            case AskKind.BID:
                bid = self.bids.get((ask.day, ask.phase, ask.round), {}).get(ask.seat, 1 if self.eager else 0)
                return Reply(choice=str(bid))
            case AskKind.SPEAK:
                words = self.says.get((ask.day, ask.phase, ask.round), f"{ask.seat} has something to say.")
                return Reply(text=words, private={"planted_type": "none"})
            case AskKind.VOTE | AskKind.EXPLAINED_VOTE:
                votes = self.votes[ask.day, ask.phase]
                target = votes.get(ask.seat, votes.get("", ""))
                return Reply(choice=target, text=f"I do not trust {target}." if ask.limit else None)
            case AskKind.REFLECTION:
                return Reply(form={"to_do": ("Be odd at once.",), "winning_tactic": ("Contradict oneself.",)})
        assert ask.kind in ASSESSMENTS
        return Reply(assessment=Assessment(False, "none", 0.9, 0.2, "plain"))


DEBATE, VOTING, DEFENCE, REVOTE = Phase.DISCUSSION, Phase.VOTING, Phase.DEFENCE, Phase.REVOTE

LEARNED = (Lesson(LessonKind.TO_AVOID, "Do not plead."),)

# The jester talks first and oddest, gets most votes, makes it worse in its defence, and is exiled on day 1.
JESTER_EXILED = Hand(
    make=lambda: Werewolf(TEN.replaced(learning=True, lessons=LEARNED), 1, "hand"),
    kills={(1, 1): {"Henry": "Alice", "Ivy": "Alice"}},
    protects={1: "Grace"},
    bids={
        (1, DEBATE, 1): {"Jack": 9, "Bob": 4},
        (1, DEBATE, 2): {"Bob": 6, "Charlie": 6, "Henry": 6},
        (1, DEFENCE, 3): {"Ivy": 2},
    },
    says={
        (1, DEBATE, 1): "I slept well. Bob, why are you shaking?",  # Bob is named, and so wins the tie of turn 2
        (1, DEBATE, 2): "I am not shaking, Jack.",
        (1, DEFENCE, 1): "Exile me, then, I dare you.",
    },
    votes={
        (1, VOTING): {"": "Jack", "Jack": "Bob"},
        (1, REVOTE): {"": "Jack", "Jack": "Bob", "Henry": "Bob", "Ivy": "Bob", "Charlie": "Bob"},
    },
)

# The werewolves differ and then agree on the doctor, who protects somebody else; a tied vote exiles nobody; nobody
# protects any more, and with two of two left beside the jester the werewolves have won while the jester lives.
WEREWOLVES_AT_PARITY = Hand(
    make=lambda: Werewolf(SEVEN.replaced(debate_turns=1, defence_turns=1), 2, "hand"),
    kills={
        (1, 1): {"Henry": "Alice", "Ivy": "Grace"},
        (1, 2): {"Henry": "Grace", "Ivy": "Grace"},
        (2, 1): {"Henry": "Alice", "Ivy": "Alice"},
    },
    protects={1: "Alice"},
    votes={
        (1, VOTING): {"": "Henry", "Henry": "Bob", "Ivy": "Bob", "Jack": "Bob"},
        (1, REVOTE): {"": "Henry", "Henry": "Bob", "Ivy": "Bob", "Jack": "Bob"},
    },
)

# Everybody wants to talk, so every cap is reached; the victim is saved in both nights, by self-protection in the
# second; seven players get votes and six may defend themselves; both werewolves are exiled.
VILLAGERS_SAVED = Hand(
    make=lambda: Werewolf(TEN, 3, "hand"),
    eager=True,
    kills={(1, 1): {"Henry": "Alice", "Ivy": "Alice"}, (2, 1): {"Ivy": "Grace"}},
    protects={1: "Alice", 2: "Grace"},
    votes={
        (1, VOTING): {
            **{"Alice": "Bob", "Bob": "Alice", "Charlie": "Diana", "Diana": "Charlie", "Erin": "Jack"},
            **{"Frank": "Ivy", "": "Henry", "Henry": "Ivy"},
        },
        (1, REVOTE): {"": "Henry", "Henry": "Bob", "Ivy": "Bob"},
        (2, VOTING): {"": "Ivy", "Ivy": "Jack"},
        (2, REVOTE): {"": "Ivy", "Ivy": "Jack"},
    },
)

# A vote one short of a strict majority of the living exiles nobody, and the days run out.
DAYS_RUN_OUT = Hand(
    make=lambda: Werewolf(TEN.replaced(days=1, debate_turns=0, defence_turns=0, assess=True), 4, "hand"),
    kills={(1, 1): {"Henry": "Jack", "Ivy": "Jack"}},  # nine are left: five votes are needed
    protects={1: "Grace"},
    votes={
        (1, VOTING): {"": "Henry", "Henry": "Ivy"},
        (1, REVOTE): {
            "": "Ivy",
            "Alice": "Henry",
            "Bob": "Henry",
            "Charlie": "Henry",
            "Diana": "Henry",
            "Ivy": "Alice",
        },
    },
)
