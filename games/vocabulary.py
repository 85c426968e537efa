"""The words for roles and teams in a game, as parts of patterns, and the values of claims made with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from liescope.games.core import EventKind

NOT = "not "

# Pattern parts that the games and the rules for claims share. They run on lower-case text in which each name is one
# private character, so no pattern contains a name. Every gap is bounded, so that even a hostile text takes time
# proportional to its length.

NAME = "[\U000f0000-\U000ffffd]"
NO_NAME_WORD = r"(?<![\w'])"
END = r"(?!\w|'s| (?:claim|role|investigation|result|report|status|reveal|story|accusation|card)s?(?!\w))"

FILL = r"(?: (?:have|had|already|also|just|personally|finally|actually|then|secretly|successfully|only|did)){0,3}"
I_DID = rf"{NO_NAME_WORD}i(?:'ve|'d(?! have))?"  # "I'd have looked" does not report an act
I_HAVE = I_DID + FILL
_NOUN = (
    r" (?!(?:\w+ly|and|but|or|of|in|on|for|to|because|since|as|with|from|if|so|then|now|here|there|today|tonight|by|at|"
    r"until|unless|about|this|that|i|i'm|we|you|he|she|they|let's|who|which|than|too|either|anyway|though|right|beyond|"
    r"without|like|enough|after|before|when|while|given|based|not|no|again|everyone|everybody|all|folks|guys|friends|"
    r"is|was|will|must|should|vote)(?!\w))[a-z]"
)
NOUN = re.compile(_NOUN)
CLEARED = (
    rf"(?:clean|clear|cleared)(?!{_NOUN}| (?:about|on|that|in|how|why|to|from|enough|what|of|as|i|you|we|he|she|they|"
    rf"not|and (?:consistent|concise|confident|direct|logical|specific|honest))(?!\w)| {NAME})"
)

# Votes

_OUT = r"(?:for |out |against |on |to (?:arrest|eliminate|lynch|exile|remove|execute|vote(?: out| for)?|imprison) )?"
_EVEN = r"(?: (?:[a-z]{2,14}ly|now|also|still|just|going|ready|be|have|therefore|so)){0,2}"
_I_VOTE = (
    rf"{NO_NAME_WORD}i(?:'?m| am){_EVEN} (?:voting|casting my vote|(?:going|planning|ready|prepared|about) to vote)"
    rf"|i(?:'ll| will| shall| plan to| intend to| have decided to|'ve decided to| must| have to){_EVEN} (?:vote|"
    rf"be voting|voting|cast my vote)|i(?: \w+ly)? vote|i cast my vote"
)
_MY_VOTE = rf"my vote(?: today)?(?:'s|'ll| is| goes| will be| will go| stays| remains| stands){_EVEN}(?: with| to)?"
VOTE = re.compile(
    rf"(?:{_I_VOTE}|{_MY_VOTE}) {_OUT}"
    rf"(?:(?P<target>{NAME}|you|him|her|them|me|myself)(?!\w|'s| or )|(?:whoever|whomever|anyone)(?!\w))"
)
VOTE_WITH = re.compile(
    rf"(?:{_I_VOTE}) (?:along |together |in line )?with (?P<target>{NAME}|you|him|her|them)(?!\w|'s| or )"
)


# Pattern parts that the games share: what follows a role that does not describe a person ("a mafia tactic"), and
# words for being found guilty.
NOT_ONESELF = "tactic|move|play|kill|strateg|behavio|ploy|trap|hit|victim|target|activit|attack|hunt|trick"
MODIFIED = rf"(?! (?:{NOT_ONESELF})|-(?!al))"
GUILTY = (
    rf"guilty(?! of)|evil|one behind|one who (?:killed|murdered)|(?:one )?responsible for {NAME}'s (?:death|murder)|"
    r"one responsible(?! for)"
)


_NORMAL = re.compile(r"(?P<denied>not )?(?P<kind>\w+)\((?P<subject>[^()]*)\)(?:=(?P<object>.*))?")


@dataclass(frozen=True, slots=True, eq=False)
class Promise:
    """A kind of promise: words that commit their speaker to an act. kind: its name; act: the event that keeps or breaks
    it; words: a pattern with the group target, absent if the words leave open whom the act is for; trigger: what all
    such words contain; follows: the promise is to choose whom the target will choose; days: how many days after the
    statement the act may come.
    """

    kind: str
    act: EventKind
    words: re.Pattern[str]
    trigger: str
    follows: bool = False
    days: int = 0


PROMISES = (
    Promise("vote", EventKind.VOTE, VOTE, "vot"),
    Promise("vote_with", EventKind.VOTE, VOTE_WITH, "vot", follows=True),
)


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """One game's words. In the pattern parts, each value has a group with its name, or two ("mafia", "mafia2").

    groups: these names. roles: the words for roles, sides: for being with a team. inverted: "the werewolf is" before a
    subject, inverted_subject: which names may follow. nouns: things that may belong to a player without saying what the
    player is. speakers: who may be quoted without a name. trigger: what every text with a claim contains; mentions:
    what every text contains in which roles, sides or inverted match. evil: the value of those who kill at night.
    denials: what denying a value claims, if not "not VALUE". own: the value recorded when speakers claim a value about
    themselves. guilt, innocence: the values that make a claim about another player one of these kinds; promises: what
    speakers may promise. protects: whether protections are claimed. seer: the role, or else an act of looking, that a
    speaker must claim for its findings to count as an investigation's result; "" if all do. looked: how speakers say
    that they have looked at a player (the group target), if a game has special words for it.
    """

    groups: tuple[str, ...]
    roles: str
    sides: str
    inverted: str
    inverted_subject: str
    nouns: str
    speakers: str
    trigger: str
    mentions: str
    evil: str
    guilt: frozenset[str]
    innocence: frozenset[str]
    denials: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    promises: tuple[Promise, ...] = PROMISES
    protects: bool = False
    seer: str = ""
    looked: str = ""

    def deny(self, value: str) -> str:
        """The value that a denial claims."""
        return self.denials.get(value, f"{NOT}{value}")

    def said(self, match: re.Match[str], negated: bool) -> str:
        """The value claimed by a match of a role pattern, negated or not."""
        groups = match.groupdict()
        value = next(name for name in self.groups if groups.get(name)).rstrip("2")
        if re.search("fake|false", groups.get("adjectives") or ""):
            negated = not negated
        return self.deny(value) if negated else value

    def kind(self, value: str) -> str:
        """The kind of claim that gives another player this value. Denying guilt is a denial, not a claim of innocence,
        where it leaves open what the player is.
        """
        guilt, innocence = value in self.guilt, value in self.innocence
        if value.startswith(NOT):
            guilt, innocence = innocence, guilt
        return "guilt" if guilt else "innocence" if innocence else "role"

    def is_result(self, value: str) -> bool:
        """Whether an investigation can result in this value."""
        return not value.startswith(NOT) or value == self.deny(self.evil)


@dataclass(frozen=True, slots=True)
class FoundClaim:
    """kind: role, investigation, protection, innocence, guilt, or a promise of the game's vocabulary (vote);
    subject: the player it is about (the speaker for a promise); object: a team ("mafia", "town", "villagers"), a role,
    "" for a protection and for an investigation without a result, or whom the promised act is for, "" if left open. A
    claim about oneself gives the role: "mafioso" rather than "mafia". denied: the claim is that this is not so. start,
    end: the characters of the statement that it was read from, None if it was read from none.
    """

    kind: str
    subject: str
    object: str
    denied: bool
    start: int | None = None
    end: int | None = None

    @property
    def value(self) -> str:
        """The object, after "not " in a denial."""
        return f"{NOT}{self.object}" if self.denied else self.object

    @property
    def normal(self) -> str:
        """The claim as one text, such as "role(Alice)=detective", "not guilt(Bob)=werewolf", "investigation(Bob)"."""
        target = f"={self.object}" if self.object else ""
        return f"{'not ' if self.denied else ''}{self.kind}({self.subject}){target}"

    @classmethod
    def of(cls, normal: str) -> FoundClaim:
        """The claim in its normal form, without a place in a text. Raises ValueError for anything else."""
        found = _NORMAL.fullmatch(normal)
        if found is None:
            raise ValueError(f"{normal!r} is no claim")
        return cls(found["kind"], found["subject"], found["object"] or "", bool(found["denied"]))

    def sentence(self, speaker: str) -> str:
        """The claim as a sentence in the third person. speaker: who made it."""
        no = "not " if self.denied else ""
        if self.kind == "protection":
            return f"{speaker} {'did not protect' if self.denied else 'protected'} {self.subject}."
        if self.kind == "investigation":
            found = f" and found: {no}{self.object}" if self.object else ""
            return f"{speaker} investigated {self.subject}{found}."
        if self.kind == "role":
            return f"The role of {self.subject} is {no}{self.object}."
        return (
            f"{self.subject} is {no}one of the {self.object}." if self.object else f"{self.subject} is {no}{self.kind}."
        )
