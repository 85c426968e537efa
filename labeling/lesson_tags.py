"""What a Jester's lesson is about: nine strategies (several each) and one theory-of-mind order, by rules.

The two axes are those of the Triadic Werewolf paper (sections 3.2 and 5.6, Appendix N); the definitions and the rules
are Liescope's own. The rules are lexical: they read only the words of the lesson, in English.

Gaps between words are counted in words and bounded, so that matching time is proportional to the length of the text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from liescope.common.text import regex

_ONE = r"(wolf|villager|village|town|jester)"
_SOME = r"(wolves|wolf|villagers|villager|village|town|jester)"
_ARTICLE = r"(?:both )?(?:an? |the |another |any )?"
_GAP = r"(?:[ ,]+(?!(?:not|to|for|and|but|by|while|when|before|after)\b)[\w'-]+){0,4}?[ ,]+"
_OTHERS = r"(?:others|players|villagers|wolves|everyone|they|them|people)"

# How the actor is seen: what it looks like, what it is taken for, what goes on in the others' minds.
_SEEMING = (
    r"(?:appear(?:s|ing|ance)?\b(?! (?:in|on|at)\b)|seem(?:s|ing)?\b|sound(?:s|ing)?\b|resembl(?:e|es|ing)\b|"
    r"look(?:s|ing)?\b(?! (?:for|at|into|up|out|back|ahead)\b)|com(?:e|es|ing) (?:across|off)\b|"
    r"pass(?:es|ing)? (?:as|for)\b)"
)
_TAKEN = (
    r"(?:(?:be|been|being|get|getting|is|am|are) (?:\w+ly )?(?:seen|perceived|viewed|read|taken|mistaken|judged|"
    r"labell?ed|recogni[sz]ed|identified|considered|trusted|distrusted|suspected|accused)\b|"
    r"mis(?:take|taken|taking|read)\b|tak(?:e|es|ing) (?:me|you) for\b|read(?:s|ing)? (?:me|you) as\b|"
    r"accus(?:ed|ations?) of\b)"
)
_MINDS = (
    r"(?:perceive|perception|impression|cent(?:er|re) of attention\b|suspicious(?:ly|ness)?\b(?! (?:players?|of)\b)|"
    rf"(?:make|makes|making|let|lets|letting|lead|leads|leading) (?:{_OTHERS}|the \w+|other \w+) (?:to )?"
    r"(?:think|believe|suspect|wonder|doubt|conclude|see)\b|"
    rf"{_OTHERS} (?:will |would |might |may |to |can )?"
    r"(?:think|believe|see|suspect|perceive|read|view|take)s? (?:that )?(?:me|you|i)\b)"
)
# As above, in longer phrases: what others come to think of the actor, what draws their trust or suspicion, what gives
# it away, how a manner is read.
_ANYBODY = (
    r"(?:others?|players?|people|everyone|everybody|anyone|anybody|someone|somebody|nobody|group|table|room|rest|crowd"
    r"|they|them|villagers?|village|town|townies?|wolves|wolf|doctor|seer)"
)
_THINK = (
    r"(?:think|thinks|thought|believe\w*|suspect\w*|doubt\w*|distrust\w*|trust\w*|assum\w*|guess\w*|conclud\w*|reali[sz]\w*"
    r"|notic\w*|remember\w*|wonder\w*|consider\w*|sees?|saw|seen|reads?|takes?|took|counts?|counted|treat\w*|label\w*"
    r"|finds?|found|link\w*|recogni[sz]\w*|recall\w*|decid\w*|convinced|sure|certain|figur\w* out|works? out|know\w*"
    r"|knew|learn\w*|saw through|sees? through|view\w*|regard\w*|mark\w*|settl\w* on)"
)
_ME = r"(?:me|my|i|i'm|i'd|you|your)\b"
_SUSPICION = r"(?:suspicions?|attention|trust|doubts?|eyes|distrust|credibility|scrutiny)\b"
_SIGN = r"(?:guilt\w*|innocen\w*|weakness|loyalty|strength|proof|sign)\b"
_VIEWED = (
    rf"(?:{_ANYBODY} (?:[\w'-]+ ){{0,4}}?{_THINK} (?:[\w'-]+ ){{0,5}}?{_ME})"
    rf"|{_ANYBODY} (?:[\w'-]+ ){{0,4}}?{_THINK} (?:of |that |it is |i am )?(?:the |an? )?['\"]?{_ONE}\b"
    rf"|{_THINK} (?:that )?(?:i am|i'm|i was|me|you are|you're)\b"
    r"|(?:draw|attract|rais|gain|earn|los|invit|arous|win|keep|creat|build|plant|bring)\w* (?:[\w'-]+ ){0,3}?"
    rf"{_SUSPICION}"
    r"(?! (?:on|of|against|toward|towards|in) (?:the |an? |other |another |some|players?))"
    r"|(?:trusted|distrusted|suspected|blamed|believed|doubted|considered|shielded|unmasked|exposed)\b"
    r"|(?:their|everyone's|others'|villagers'|wolves'|village's) (?:\w+ )?"
    r"(?:trust|opinion|view|impression|belief|suspicion)s?\b"
    r"|eyes of\b|trust keeps\b"
    r"|(?:g[ai]ve|giv\w+) (?:[\w'-]+ ){0,3}?away\b|(?:see|saw|seen) through\b|(?:pretend\w*|guessing)\b"
    r"|reads? (?:it |this |that )?as\b|(?:be|been|being|get|gets|got) (?:\w+ )?(?:fooled|deceived|misled)\b"
    r"|clear(?:s|ed|ing)? (?:me|you)\b"
    rf"|(?:seen|taken|reads?|sees?|counts?) (?:[\w'-]+ ){{0,3}}?as (?:an? |the )?{_SIGN}"
    r"|mak\w+ (?:me|you|my|it) (?:[\w'-]+ ){0,2}?(?:suspect|suspicious|guilty|innocent|odd|trustworthy)\b"
    rf"|(?:convinc|persuad|fool|deceiv|mislead|confus)\w* (?:[\w'-]+ ){{0,3}}?{_ANYBODY}\b"
    r"|(?:prime|main|likely) (?:\w+ )?(?:suspect|wolf)\b|explanation left\b"
    rf"|(?:point|hint|lead|steer)\w* (?:[\w'-]+ ){{0,2}}?to {_ONE}\b"
)
PERCEPTION = regex(rf"\b(?:{_SEEMING}|{_TAKEN}|{_MINDS}|{_VIEWED})")

# How someone else is made to look, or what someone else is said to be, says nothing about the actor.
_SELF = r"(?:me|myself|i|you|yourself|oneself|it|things|my|your)"
OTHERS_SEEN = regex(
    rf"\bmak(?:e|es|ing) (?!{_SELF}\b)(?:the |an? |other )?[\w'-]+ (?:look|seem|appear|sound)\b"
    rf"|\baccus(?:e|es|ing) (?!{_SELF}\b)(?:[\w'-]+ ){{1,4}}?of (?:being |acting like |acting as )?{_ARTICLE}{_SOME}\b"
    rf"|\b(?:claim|say|suggest|argu|insist|hint|impl|assert)\w* (?:that )?(?!{_SELF}\b)(?:[\w'-]+ ){{1,4}}?"
    rf"(?:is|are|was|were|may be|might be|must be) (?:acting |behaving |playing )?(?:like |as )?{_ARTICLE}{_SOME}\b"
)

# Two identities, or two audiences, and a word that sets them against each other. In the singular or as an adjective, a
# faction is what someone is taken for, unless an action is aimed at it; in the plural, it is the audience.
_AIMED = (
    r"(?:accus\w+|defend\w*|attack\w*|press\w*|protect\w*|blam\w+|support\w*|target\w*|kill\w*|nam\w+|ask\w*|clear\w*|sav\w+"
    r"|vot\w+ (?:for|against|out)|against|with|for|confirmed|real|known|actual|beside) "
)
IDENTITY = regex(
    rf"(?<![\w-])(?P<aimed>{_AIMED})?(?:an? |the |another |any |'|\")?(?P<faction>wolf|villager|townie|town|jester)\b"
    r"(?!(?:'s)? (?:suspects?|himself|kill|night|talk)\b)(?! (?:has|does|will|who)\b)"
)
_WHO = r"(?P<{}>wolves|villagers|townies|village|town|rest|everyone else|everybody else|all others)\b(?!-)"
_WILL = r"(?:should|must|will|would|want\w*|need\w*|joined|fear\w*|go|kill|may|might)"
ONLOOKERS = regex(
    r"\b(?:to|by|from|of|for|mak\w+|let|get\w*|giv\w+|keep\w*|kept|convinc\w*|fool\w*|while|whereas|only|when|once|until|but"
    rf"|so|leav\w+) (?:the |both |other |real |fellow )?{_WHO.format('after')}"
    rf"|{_WHO.format('before')} (?:[\w'-]+ ){{0,2}}?(?:{_THINK}|{_WILL})\b"
)
_SPELLINGS = {
    "wolf": ("wolf", "wolves"),
    "village": ("villager", "villagers", "townie", "townies", "town", "village"),
    "jester": ("jester",),
    "rest": ("rest", "everyone else", "everybody else", "all others"),
}
LOOKED_AT_AS = {word: faction for faction, words in _SPELLINGS.items() for word in words}
"""Word to faction, or "rest" for everyone not named."""
CONTRAST = regex(
    r"\b(?:but|yet|not|never|instead|rather|while|whereas|though|although|otherwise|only|without|unlike|than|or|nor|avoid\w*"
    r"|hid(?:e|es|ing)|den(?:y|ies|ying)|cannot|nobody|no one|however|even if|because|since|so)\b|n't\b|[;:,.]"
)
DENIAL = regex(r"\b(?:not|never|rather than|instead of|unlike|than|would)\b|n't\b")


_PARTS = {"<article>": _ARTICLE, "<gap>": _GAP, "<others>": _OTHERS, "<seeming>": _SEEMING, "<taken>": _TAKEN}


def _any(forms: Sequence[str]) -> re.Pattern[str]:
    """Matches where a word begins with any of the forms, in which the names of `_PARTS` stand for these."""
    whole = "|".join(forms)
    for name, part in _PARTS.items():
        whole = whole.replace(name, part)
    return regex(rf"\b(?:{whole})")


_TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
STRATEGIES = {name: _any(strategy["forms"]) for name, strategy in _TOLD.items()}
CATEGORIES: Mapping[str, str] = {name: strategy["meaning"] for name, strategy in _TOLD.items()}
"""Name to definition, in the paper's order."""

ORDERS = {
    1: "says what to do, and not how it will be read",
    2: "is about how the others will see or judge the one who acts",
    3: "sets two factions against each other: being taken for one and not for another, or looking one way to these and "
    "another way to those",
}  # order -> definition; the highest that applies


@dataclass(frozen=True, slots=True)
class LessonTags:
    """categories: names of `CATEGORIES` in their order, possibly none; order: 1, 2 or 3."""

    categories: tuple[str, ...]
    order: int


def tag(text: str) -> LessonTags:
    """The tags of one lesson."""
    words = _plain(text)
    own = OTHERS_SEEN.sub(" ", words)
    about = {"wolf_mimicry": own}
    found = tuple(name for name in CATEGORIES if STRATEGIES[name].search(about.get(name, words)))
    return LessonTags(found, _order(own))


def _order(words: str) -> int:
    identities = {LOOKED_AT_AS[found["faction"]] for found in IDENTITY.finditer(words) if not found["aimed"]}
    if len(identities) > 1 and DENIAL.search(words):
        return 3
    if not PERCEPTION.search(words):
        return 1
    onlookers = {LOOKED_AT_AS[found["after"] or found["before"]] for found in ONLOOKERS.finditer(words)}
    return 3 if CONTRAST.search(words) and max(len(identities), len(onlookers)) > 1 else 2


_DASHES = str.maketrans({"‐": "-", "‑": "-", "’": "'", "‘": "'"})


def _plain(text: str) -> str:
    """Lower case on one line, with one kind of hyphen and apostrophe, and "wolf" for "werewolf"."""
    words = " ".join(text.lower().translate(_DASHES).split())
    return re.sub(r"\bwerewol(?=f|ves)", "wol", words)
