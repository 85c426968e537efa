"""The words that the rules for lessons look for, as patterns over the plain text that `lesson_tags` makes.

Gaps are counted in words and bounded, so that the time a text takes is in proportion to its length.
"""

from __future__ import annotations

import re

FACTIONS = {
    "wolf": "wolf",
    "wolves": "wolf",
    "villager": "village",
    "villagers": "village",
    "village": "village",
    "town": "village",
    "jester": "jester",
}  # word -> faction

_ONE = r"(wolf|villager|village|town|jester)"
_SOME = r"(wolves|wolf|villagers|villager|village|town|jester)"
_ARTICLE = r"(?:both )?(?:an? |the |another |any )?"
_GAP = r"(?:[ ,]+(?!(?:not|to|for|and|but|by|while|when|before|after)\b)[\w'-]+){0,4}?[ ,]+"
_OTHERS = r"(?:others|players|villagers|wolves|everyone|they|them|people)"

# How the one who acts is seen: what it looks like, what it is taken for, what goes on in the others' minds.
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
_ALIGNED = rf"{_ONE}[- ](?:like|ish|aligned|alignment)\b"
PERCEPTION = re.compile(rf"\b(?:{_SEEMING}|{_TAKEN}|{_MINDS}|{_ALIGNED})")

# How somebody else is made to look, or what somebody else is said to be, says nothing of the one who acts.
_SELF = r"(?:me|myself|i|you|yourself|oneself|it|things|my|your)"
OTHERS_SEEN = re.compile(
    rf"\bmak(?:e|es|ing) (?!{_SELF}\b)(?:the |an? |other )?[\w'-]+ (?:look|seem|appear|sound)\b"
    rf"|\baccus(?:e|es|ing) (?!{_SELF}\b)(?:[\w'-]+ ){{1,4}}?of (?:being |acting like |acting as )?{_ARTICLE}{_SOME}\b"
    rf"|\b(?:claim|say|suggest|argu|insist|hint|impl|assert)\w* (?:that )?(?!{_SELF}\b)(?:[\w'-]+ ){{1,4}}?"
    rf"(?:is|are|was|were|may be|might be|must be) (?:acting |behaving |playing )?(?:like |as )?{_ARTICLE}{_SOME}\b"
)

# What the one who acts is taken for, and who sees it so; every group is a word of FACTIONS. Matches are empty, so that
# they may overlap.
READING = re.compile(
    rf"\b(?={_ALIGNED}"
    rf"|(?:like|as|for|being|than|not|nor|neither|either|both) {_ARTICLE}{_ONE}\b(?!['-])"
    rf"(?:,? (?:and|or|nor|but not|not|rather than|instead of) {_ARTICLE}{_ONE}\b(?!['-]))?"
    rf"|(?:{_SEEMING}|{_TAKEN}){_GAP}{_ONE}\b(?!['-]))"
)
AUDIENCE = re.compile(
    rf"\b(?=(?:to|by|in the eyes of) (?:the |other |any |both |fellow )?(?:\w+ed )?{_SOME}\b"
    rf"(?: and (?:the )?{_SOME}\b)?"
    rf"|(?:make|let|lead)s? (?:the )?{_SOME} (?:to )?(?:think|believe|suspect|see)\b"
    rf"|(?:while|but|and|so|yet) (?:the )?{_SOME} (?:\w+ )?(?:think|believe|suspect|see|read|take|find)s?\b)"
)


def _any(*forms: str) -> re.Pattern[str]:
    """Matches where a word begins with any of the forms."""
    return re.compile(rf"\b(?:{'|'.join(forms)})")


STRATEGIES = {
    "wolf_mimicry": _any(
        r"wolf-?(?:like|ish|y)\b",
        rf"(?:like|as|being|imitat\w+|mimic\w*|pretend\w*(?: to be)?|impersonat\w+|copy\w*|play\w*) {_ARTICLE}"
        r"wol(?:f|ves)\b",
        rf"(?:{_SEEMING}|{_TAKEN}){_GAP}wolf\b",
        r"wol(?:f|f's|ves|ves') (?:behaviou?rs?|patterns?|tactics?|persona|tells?|would)\b",
    ),
    "inconsistency": _any(
        r"inconsisten",
        r"contradict",
        r"erratic",
        r"unpredictab",
        r"flip-?flop",
        r"waver",
        r"(?:chang|switch|revers|shift)\w* (?:my |your |one's |the )?"
        r"(?:story|stories|mind|sides?|stances?|positions?|opinions?|claims?|targets?|votes?)\b",
    ),
    "aggression": _any(
        r"aggress",
        r"attack",
        r"confront",
        r"escalat",
        r"accus(?:e|es|ing)\b",
        r"(?:mak|launch|throw|initiat|hurl|level)\w* (?:\w+ ){0,2}accusations?",
        r"press(?:es|ing|ure|uring)?\b",
        r"hostil",
        r"relentless",
        r"forceful",
        r"push(?:ing)? (?:hard|for the exile|back)\b",
    ),
    "subtle_indirection": _any(
        r"subtl",
        r"indirect",
        r"deflect",
        r"redirect",
        r"divert",
        r"hint(?:s|ing|ed)?\b",
        r"impl(?:y|ies|ying)\b",
        r"insinuat",
        r"vague",
        r"ambig",
        r"low profile",
        r"quietly",
        r"in the background",
        r"without (?:\w+ ){0,2}(?:directly|openly|initiating|naming)\b",
    ),
    "passive_provocation": _any(
        r"silen(?:t|ce)",
        r"(?:stay|remain|keep|be)\w* quiet",
        r"passiv",
        r"evasive|evad(?:e|ing)\b",
        r"hesitat",
        r"withh(?:old|eld)",
        r"(?:not|never|\w+n't|avoid|refus\w+|without|fail\w*|declin\w+)(?: to)? (?:\w+ )?"
        r"(?:defend|answer|explain|respond|justify)",
        r"no (?:clear )?(?:defen[cs]e|explanation|answer|reasons?)\b",
        r"weak(?:ly)? (?:defen|answer|excuse|alibi)",
        r"defend\w* (?:\w+ )?(?:weakly|badly|poorly|half-heartedly)",
        r"bait|provo[kc]",
    ),
    "anti_jester_tells": _any(
        r"(?:over|too |overly )(?:do|act|eager|obvious|blatant|strong|hard|much|keen|theatrical|dramatic)",
        r"obvious(?:ly)?\b(?! suspects?)",
        r"blatant",
        r"(?:reveal|betray|expos|giv)\w* (?:away )?(?:(?:my|your|the|that i am|that you are|being) )?(?:the )?"
        r"(?:jester|true role)",
        r"(?:not|never|\w+n't|avoid\w*|without) (?:\w+ ){0,4}?(?:jester|want\w* to be (?:exiled|voted))",
        r"my true role",
        r"(?:ask|beg|volunteer|invit)\w* (?:\w+ ){0,3}(?:exile|exiled|voted out)\b",
    ),
    "vote_manipulation": _any(
        r"(?:re)?vot(?:e|es|ed|ing)\b(?! (?:me|you) out\b)",
        r"ballot",
        r"bandwagon",
        r"(?:against|non-?)[ -]?(?:the )?(?:consensus|majority)\b",
    ),
    "meta_modeling": _any(
        r"expect(?:s|ed|ation|ations)?\b",
        r"anticipat",
        r"predict(?!ab)",
        r"perce(?:ive|ption)",
        r"how (?:the )?(?:others|players|villagers|wolves|people|they)\b",
        r"what (?:the )?(?:others|players|villagers|wolves|people|they)\b",
        rf"{_OTHERS} (?:\w+ )?(?:think|believe|suspect|assume|conclude|wonder|reason|infer)\b",
        r"exploit\w* (?:[\w']+ ){0,3}(?:suspicion|fear|logic|reasoning|distrust|assumption|belief)",
        r"(?:gauge|read|adapt to|adjust\w* to) (?:\w+ ){0,3}(?:behaviou?rs?|reactions?|strateg\w+|moods?)",
        r"create (?:\w+ )?(?:ambiguity|doubt|confusion|uncertainty)",
    ),
    "questioning": _any(
        r"question",
        r"ask(?:s|ing|ed)?\b",
        r"quer(?:y|ies|ying)\b",
        r"interrogat",
        r"inquir",
        r"prob(?:e|es|ing)\b",
    ),
}
