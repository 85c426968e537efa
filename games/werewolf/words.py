"""The words of Werewolf, with or without a jester, and how the game is told to a model: the public log in the third
person, the same for every seat; separately, what only this seat knows.

Since the log contains nothing private, the prompts of all seats about one statement begin alike, and an endpoint that
caches prefixes reads the log once for all of them. Only a jester's lessons come before the log: they are long, and stay
the same throughout the game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from liescope.games.core import AskKind, Event, EventKind, LessonKind, Phase
from liescope.games.narration import (
    ASSESSED,
    CHOICE,
    RULES,
    SPEECH,
    STRATEGY,
    TYPES,
    Narration,
    PromptFamily,
    counted,
    drawn,
    listing,
    quoted,
    shares,
    with_article,
)
from liescope.games.vocabulary import CLEARED, END, GUILTY, NAME, NOT_ONESELF, Vocabulary
from liescope.games.werewolf.rules import SEER

# Words after which a role is a comparison: "a wolf tactic", "jester bait", "wolf-like".
_ONLY_LIKE = (
    rf"(?! (?:{NOT_ONESELF}|vote|voting|candidate|suspect|lean|read|vibe|energy|mode|bait|act|game|win|pattern|style|"
    r"type|territory|logic|talk|idiot|here or)|-(?!al|sid))"
)
_TEAM = "(?:side|team|pack|faction)"
_WOLF = "(?:were)?wol(?:f|ves)"

WORDS = Vocabulary(
    groups=("werewolf", "werewolf2", "jester", "doctor", "seer", "villager", "villager2", "villagers", "villagers2"),
    roles=rf"(?P<werewolf>{_WOLF}|killers?|murderers?|culprits?|impost[eo]r|bad guy|{GUILTY}){END}{_ONLY_LIKE}"
    rf"|(?P<jester>jesters?){END}{_ONLY_LIKE}"
    rf"|(?P<doctor>doctors?|doc|medic|healer){END}{_ONLY_LIKE}"
    rf"|(?P<seer>seers?){END}{_ONLY_LIKE}"
    r"|(?P<villagers>(?:villagers?|village|town)[- ]?(?:sided?|aligned|team|member|player)|village|"
    rf"innocents?(?! until)|good guy|town(?:ie|sperson|sfolk|speople)?|{CLEARED}){END}{_ONLY_LIKE}"
    rf"|(?P<villager>villagers?|civilians?){END}{_ONLY_LIKE}",
    sides=r"(?:one of (?:the |our )?(?:(?:other|simple|innocent|plain) )?(?P<villager2>villagers)(?!\w|'| side| team)|"
    r"(?:part of|an? (?:active )?(?:member|part) of|in|with|working (?:with|for)|on|one of|in league with|"
    r"aligned with) (?:the |our )?"
    rf"(?:(?P<werewolf2>(?:were)?wolves|(?:were)?wolf(?= {_TEAM})|wolf ?pack|pack)|"
    rf"(?P<villagers2>villagers?|village|town|innocents|good guys))(?:'?s? {_TEAM})?(?!\w|'))",
    inverted=r"(?<!\w)(?:(?:the|our) (?:real |only |actual |other |second |last |remaining )?"
    rf"(?:(?P<werewolf>{_WOLF}|killer|culprit|murderer)|(?P<jester>jester)|(?P<doctor>doctor)|(?P<seer>seer))|"
    r"one of the (?P<werewolf2>(?:were)?wolves)) (?:is|are|has to be)",
    inverted_subject=rf"{NAME}(?:(?:, {NAME})?,? (?:and|&) {NAME})?",
    nouns="killer|murderer|doctor|seer|jester|villager|civilian|culprit|town|werewol|wol",
    speakers="the doctor|the seer|the jester",
    trigger="wol[fv]|jester|doc|medic|healer|seer|villag|town|innocent|investigat|vot|kill|murder|guilt|finding|firmed|verified|clea[nr]|"
    "culprit|evil|impost|checked|one behind|responsible|bad guy|good guy|pack|protect|guard|shield|save|heal",
    mentions="wol[fv]|jester|doc|medic|healer|seer|villag|town|innocent|killer|murder|guilty|clea[nr]|culprit|evil|impost|"
    "one behind|one who|responsible|bad guy|good guy|pack|civilian",
    evil="werewolf",
    guilt=frozenset({"werewolf", "not villagers"}),
    innocence=frozenset({"villagers", "villager", "not werewolf"}),
    protects=True,
    seer=SEER,
)


_HEADS = {
    Phase.DISCUSSION: "debate",
    Phase.VOTING: "first vote, with reasons",
    Phase.DEFENCE: "defence",
    Phase.REVOTE: "final vote",
}
_LISTS = {
    LessonKind.TO_DO.value: "To do",
    LessonKind.TO_AVOID.value: "To avoid",
    LessonKind.WINNING_TACTIC.value: "Tactics that won",
}


def _lessons(view: Sequence[Event]) -> Iterator[str]:
    for event in view:
        if event.kind is not EventKind.LESSONS:
            continue
        yield from ("", "# What you learned as the jester in earlier games")
        for kind, words in _LISTS.items():
            texts = [text for of, text in event.data["lessons"] if of == kind]
            if texts:
                yield f"{words}:"
                yield from (f"- {' '.join(text.split())}" for text in texts)


def _public(view: Sequence[Event]) -> Iterator[str]:
    place: tuple[int, Phase] | None = None
    for event in view:
        if event.audience is not None or (line := _line(event)) is None:
            continue
        if event.phase in _HEADS and (event.day, event.phase) != place:
            place = event.day, event.phase
            yield f"## Day {event.day}, {_HEADS[event.phase]}"
        yield line


def _line(event: Event) -> str | None:
    """A public event in one line."""
    who, target = event.actor, event.target
    match event.kind:
        case EventKind.NIGHT:
            return f"## Night {event.day}"
        case EventKind.DEATH:
            return f"{target} was found dead in the morning."
        case EventKind.QUIET:
            return "Nobody died in the night."
        case EventKind.STATEMENT:
            return f'{who}: "{quoted(event.text)}"'
        case EventKind.SILENCE:
            return f"{who} remained silent."
        case EventKind.VOTE:
            return f"{who} voted for {target}{drawn(event, 'vote')}."
        case EventKind.EXILE:
            return f"{target} was exiled: {event.data['votes']} votes, {event.data['needed']} were needed."
        case EventKind.NO_EXILE:
            return f"Nobody was exiled: nobody had the {event.data['needed']} votes that were needed."
        case EventKind.END:
            return f"The game is over. Winner: {event.data['winner']}."
        case _:
            return None


def _private(view: Sequence[Event], seat: str) -> Iterator[str]:
    """The knowledge of this seat alone, an item per line; of its suspicions, only those shown now, before a vote."""
    yield "# What only you know"
    for event in view:
        if event.audience is None:
            continue
        who = "you" if event.actor == seat else event.actor
        match event.kind:
            case EventKind.ROLE:
                yield f"You are {seat}, the {event.data['role']}."
            case EventKind.PARTNERS:
                others = [name for name in event.data["names"] if name != seat]
                yield f"The other werewol{'ves are' if len(others) > 1 else 'f is'} {listing(others)}."
            case EventKind.PROPOSAL:
                yield f"Night {event.day}: {who} proposed to kill {event.target}{drawn(event, 'choice')}."
            case EventKind.KILL:
                yield f"Night {event.day}: the werewolves attacked {event.target}."
            case EventKind.PROTECTION:
                whom = "yourself" if event.target == seat else event.target
                yield f"Night {event.day}: you protected {whom}{drawn(event, 'choice')}."
            case EventKind.INVESTIGATION:
                found = with_article(event.data["role"])
                yield f"Night {event.day}: you investigated {event.target}{drawn(event, 'choice')}, who is {found}."
            case EventKind.SUSPICION if event is view[-1]:
                yield f"How suspicious you found the others so far, from 0 to 1: {shares(event.data['suspicion'])}."


def _facts(setup: Event, _seat: str) -> dict[str, Any]:
    """Werewolf's rules are the same for all seats."""
    counts = setup.data["composition"]
    return {
        "names": listing(setup.data["names"]),
        "composition": counted(counts.items()),
        "roles": tuple(role for role, count in counts.items() if count),
        "werewolves": counts.get("werewolf", 0),
        "debate_turns": setup.data["debate_turns"],
        "defence_turns": setup.data["defence_turns"],
        "days": setup.data["days"],
        "types": TYPES,
    }


PROMPTS = PromptFamily(
    Path(__file__).parent / "prompts",
    ("full",),
    {
        RULES: frozenset(
            {"names", "composition", "roles", "werewolves", "debate_turns", "defence_turns", "days", "types"}
        ),
        STRATEGY: frozenset({"name", "role", "roles", "werewolves"}),
        AskKind.KILL: CHOICE | {"round"},
        AskKind.PROTECT: CHOICE,
        AskKind.INVESTIGATE: CHOICE,
        AskKind.BID: frozenset({"name", "day", "phase", "round", "rounds"}),
        AskKind.SPEAK: SPEECH | {"phase"},
        AskKind.EXPLAINED_VOTE: CHOICE | {"limit"},
        AskKind.VOTE: CHOICE,
        **ASSESSED,
        AskKind.REFLECTION: frozenset({"name"}),
        AskKind.TAG_LESSON: frozenset({"statement", "categories", "orders"}),
    },
    frozenset({AskKind.NAME_ROLES, AskKind.TAG_LESSON}),
    _facts,
    lambda view, seat: Narration(
        (*_lessons(view), "", "# What has happened", *_public(view)), (*_private(view, seat), "")
    ),
    frozenset({STRATEGY}),
    temperature=1.0,
)
