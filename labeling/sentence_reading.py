"""A masked statement as sentences, with what its pronouns mean; and the words that mark claims."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from liescope.common.text import regex
from liescope.games.vocabulary import FILL, I_DID, NAME, NO_NAME_WORD

ADVERB = (
    r"(?: (?:[a-z]{2,14}ly|just|also|indeed|still|now|here|not|100%|likely|maybe|perhaps|too|even|either|neither|"
    r"already|in fact|for sure|without (?:a )?(?:doubt|question)|beyond doubt|being),?){0,3}"
)
SHOWN = r"(?: (?:identified|revealed|confirmed|exposed|proven|proved|found|discovered|shown)(?: (?:as|to be))?)?"

SUBJECT = rf"{NO_NAME_WORD}(?:i|he|she|they|you|who)|{NAME}(?:(?:, {NAME})?,? (?:and|&) {NAME})?"
OWN_DEATH = regex(
    r"'s? (?:\w+ )?(?:death|murder|demise|loss|killer|killing|absence)"
    r"|(?: was| is| got| has been)(?: found| already)? (?:dead|killed|murdered)(?!\w)| (?:dead|died)(?!\w)"
)
DEAD_SO = regex(
    rf"({NAME}) (?:was|is|got|has been) (?:found )?(?:dead|killed|murdered)(?: by the \w+)?"
    rf"(?: last night| (?:on|during|in) (?:the )?(?:first )?night(?: 1| one)?)?,? "
    r"(?:so|meaning|which means)(?: that)? $"
)
VICTIM = regex(r"(?:kill|murder)(?:s|ed|ing)? $")
BECAUSE = regex(r"(?:because|since|as|confirming|proving|showing|revealing|meaning|which means)(?: that)? $")
ACTING = regex(
    r"(?: \w+ly| just| also| already| now| still)? (?:is|was|has|had|could|can|may|might|will|would|"
    r"\w{3,}(?:s|ed))(?!\w)"
)
ACCUSED = regex(r"(?:vot(?:e|ing)(?: for| out| against)?|arrest(?:ing)?|eliminat(?:e|ing)|exil(?:e|ing)) $")
AS_OWN = regex(r"(?: (?:in|of|here|for|with|who)[^,]{0,30})?,? (?:i|my|let me|it(?:'s| is) (?:\w+ ){0,3}my)(?!\w)")
GUILT_OF = regex(
    rf"(?P<subject>{NAME}(?='s)|{NO_NAME_WORD}(?:his|her))(?:'s)? guilt (?:is|was|has been)(?: now| already| \w+ly)?"
    rf" (?:confirmed|proven|proved|certain|established|undeniable)(?!\w)"
)
KILLED = regex(
    rf"(?P<subject>{NO_NAME_WORD}(?:i|you|he|she)|{NAME})(?:'ve)?"
    rf"(?P<aux>(?: (?:have|has|had|also|already|definitely|clearly|just|did|didn't|did not|haven't|have not|never|"
    rf"not)){{0,2}})"
    rf" (?P<verb>killed|murdered|kill|murder) (?:{NAME}|him|her|them|anyone|anybody|someone)(?!\w|'s)"
)

# Investigations

FOUND = r"found|discovered|learned|learnt|identified|confirmed|verified|uncovered|determined|exposed|proved|revealed"
TARGET = rf"(?P<target>{NAME}|you|him|her|them)"
INVESTIGATING = regex("investigat|check|inspect|scann|examin")
_TO_LOOK = (
    rf"{I_DID}{FILL} (?:chose|decided|opted|used my [\w ]{{4,30}})(?: last night)? to (?:investigate|check|inspect)"
)
_NOT_AN_IDEA = (  # "Investigating him makes no sense" reports no act
    rf"(?!investigating (?:{NAME}|you|him|her|them)(?: \w+)? "
    r"(?:would|could|should|will|might|may|makes?|is|isn't|doesn't)(?!\w))"
)
_PLANNED = r"(?<!start )(?<!begin )(?<!starting )(?<!beginning )"
INVESTIGATED = regex(
    rf"(?:{_TO_LOOK} |(?:(?P<i>{I_DID}{FILL} )|(?P<elided>(?:and|, )(?: have| already)? ?)|^[ \"'(]*{_NOT_AN_IDEA})"
    rf"(?:(?:been )?investigat(?:ed|ing)|did(?: indeed| in fact)? investigate|checked(?: out)?|"
    rf"inspected|scanned|examined)(?: and \w+)? ){TARGET}"
    rf"(?!\w|'s (?!role|identity|alignment)|s\b| against(?!\w))"
)
LOOKED = (
    rf"{I_DID}{FILL} (?:investigated|checked|inspected|examined) (?:{NAME}|you|him|her|them)"
    rf"(?: last night| (?:on|during|in) (?:the )?(?:first )?night(?: 1| one)?)?"
)
ONE_INVESTIGATED = regex(
    rf"(?P<target>{NAME}) (?:is|was) the (?:only )?(?:player|person|one) (?:that |who |"
    rf"whom )?i(?:'ve)?{FILL} investigated"
)
INVESTIGATION_OF = regex(
    rf"(?:(?<!\w)my (?:\w+ )?investigations? (?:of|on|into)"
    rf"|{_PLANNED}(?<!\w)(?:after|by|when|upon) (?:i )?investigat(?:ing|ed)) "
    rf"{TARGET}(?!\w|'s (?!role|identity|alignment))"
)
MY_INVESTIGATION = regex(
    rf"(?<!\w)my (?:\w+ ){{0,2}}?(?:investigat(?:ion|ive)|findings?)"
    rf"|(?<!\w)the investigation (?:that )?{I_DID}{FILL} (?:conducted|did|made|performed|carried out)"
    rf"|{I_DID}{FILL} investigated(?= last night| and |[.,;!])"
    rf"|(?<!\w)what {I_DID}{FILL} (?:found|discovered|learned|learnt|uncovered)(?! out about)(?!\w)"
    rf"|(?:{I_DID}{FILL}|(?<!\w)and(?: have)?) (?:{FOUND}) (?:it|this|that) (?:last night|(?:during|in|through|with|by|"
    rf"via|after|from) (?:(?:my|the|an|last) )?(?:\w+ )?(?:night|investigat))"
)
LOOKING = regex(f"investigat|finding|{FOUND}")  # every match of MY_INVESTIGATION contains one of these
OWN_LOOK = regex(
    rf"(?<!\w)my (?:\w+ ){{0,2}}?investigat|{I_DID}{FILL} (?:investigated|inspected|scanned|examined)(?!\w)"
)
POINTS_TO = regex(rf"(?:point(?:s|ed)?|leads?|led)(?: \w+ly| straight| right)? to {TARGET}(?!\w|'s (?!guilt|being))")

# Protections

_PROTECTED = "protect|guard|shield|sav|heal"
PROTECTING = regex(_PROTECTED)
PROTECTED = regex(
    rf"(?:{I_DID}{FILL} (?:(?:{_PROTECTED})ed|"
    rf"(?:chose|decided|opted|used my turn) to (?:{_PROTECTED})e?)"
    rf"|{I_DID}{FILL} (?:used|put|spent) my (?:protection|shield|save|heal) on"
    rf"|(?<!\w)my (?:protection|shield|save) (?:was|went) (?:on|to)) (?P<target>{NAME}|you|him|her|them|myself)"
    rf"(?!\w|'s)(?! from (?:the |being )?(?:vot|exile|suspicion|accus|blame|critic)| for (?:last|later|tomorrow)(?!\w)|"
    r"(?: yesterday| earlier| today)? (?:with my (?:vote|words)|by (?:voting|arguing|speaking)|in the (?:debate|vote|"
    r"discussion)))"
)

PRETENDING = regex("lying|lied|pretend|fals|posing|faking|imperson")

# What a player has: "Bob's guilty look" does not say what Bob is

TRAIT_OF = regex(rf"{NAME}'s (?:\w+ly |very |so |too )?(?:guilty|evil|innocent|clear|clean)$")

# What qualifies a clause

OWN_FINDING = regex(rf"{I_DID}{FILL} (?:investigated|checked|inspected|{FOUND})(?!\w)")
ENDS_FINDING = regex(rf"(?:{FOUND})(?<!revealed)(?: out)?(?:,? (?:without (?:a )?doubt|last night))?(?: that|:)? $")
SAYS = (
    "claim|say|said|stat(?:e|ing)|accus|suggest|think|thought|believ|argu|insist|assert|tell|told|declar|mention|call|"
    "impl[yi]|pretend|suspect|investigat(?!ion)|found|find|discover|reveal|confirm|expos|identif|announc|report|alleg|label|"
    "fram|paint|convinc|show|learn|assum|want"
)
ASIDE = (
    r"(?: (?:both|all|also|has|have|had|just|already|only|even|keeps?|clearly|never|did|does|do|didn't|may|might|"
    r"could|would|"
    r"truly|really|now|then|still|quickly|immediately|suddenly|\(\w+\))){0,3}"
)
OPINION = regex(
    r"(?<!\w)(?<!i )(?:said|says)(?!\w)|(?<!\w)(?:think\w*|thought|believ\w+|suspect\w*|suspicions? that|feel|"
    r"feels|felt|guess\w*|"
    r"assum\w+|suppos\w+|bet|doubt\w*|"
    r"imagin\w+|reckon|"
    r"presum\w+|wonder\w*|hop(?:e|ing)|fear|afraid|worr\w+|concerned|seems?|seemed|seeming|appears?|looks? like|"
    r"sounds? like|"
    r"suggest\w*|indicat\w+|impl(?:y|ies)|hint\w*|possib\w+|(?:im)?probab\w+|potential\w*|(?:un)?likely|maybe|perhaps|chance|"
    r"leaning|inclined|"
    r"opinion|gut|theory|hunch|(?:could|might|may|would) (?:be|mean|indicate|say)|i'd say|"
    r"was (?:so |pretty )?(?:sure|certain|convinced)|"
    r"whether|accus\w+ that|claims? that|idea|notion|evidence points|until|pretend\w*|(?:no|any|what|without|need|"
    r"lack of) (?:\w+ )?"
    r"(?:evidence|proof|reason|indication)|not (?:\w+ )?(?:sure|certain|convinced|saying|claiming|confirm\w*|mean|"
    r"know)|"
    r"not that|enough (?:evidence|proof)|(?:explain\w*|questions?) how|how \S+ knows?)(?!\w)|"
    r"n't have (?:\w+ ){0,2}(?:evidence|proof)(?!\w)|"
    rf"according to {NAME}|"
    r"n't (?:\w+ )?(?:sure|certain|convinced|say|saying|know|mean|prove|confirm|accuse|make)(?!\w)"
)
REASON = regex(r"(?:because|since|as) $")
OWN_THEORY = regex(
    rf"{NO_NAME_WORD}i(?: still| just| really| also| strongly| now)? (?:think|believe|suspect|feel|guess|assume)"
    rf"(?: that)? (?:{NAME}|he|she|they|you)(?!\w)"
)
HEDGE = regex(
    r"likely|probab|possib|potential|presumab|suppos|alleged|apparent|maybe|perhaps|seeming|necessari|either|neither"
)
TRAILING_OPINION = regex(
    r",? (?:i (?:think|guess|believe|suspect|suppose)|in my opinion|probably|perhaps|maybe)\W*$|\W+right\W*$"
    rf"|, (?:(?:says|said|claims|claimed|according to) {NAME}|{NAME} (?:says|said|claims|claimed))\W*$"
)
SUPPOSED = regex(
    r"(?<!\w)(?:if|unless|suppose|supposing|assuming|what if|in case|imagine|whether|even if|were i)(?!\w)"
)
CLAUSE = regex(
    rf";|—|–| - |--|(?<!\w)(?:but|because|since|however|though|although|while|whereas|now that|given that)(?!\w)|"
    rf"(?<!\w)as (?=i |he |she |they |{NAME})|, (?:and|so) (?=i\W)"
)
BREAK = regex(r";|—|–| - |--")
QUESTION = regex(
    r"(?:^|[,;:—–]|-) ?(?:so |and |but |then )?(?:why|how|what|who|when|where|which|do|does|did|can|could|would|"
    r"should|are|is|will|have|has|"
    r"don't|isn't|aren't)(?!\w)"
)

BEFORE = regex(
    r"(?<!\w)(?:would|could|should|might|may|am|is|are|was|did|do|does|can|will|or|nor|neither|either|one of|how|"
    r"who|when|why|"
    r"where|whom|before|until|like|either \w+ and) $"
)
LAST_SUBJECT = regex(
    rf"({NO_NAME_WORD}(?:i|he|she|they|you|who)|{NAME})(?:'?m|'s|'re|'ve|'d| (?:am|is|are|was|were|have|has|had|"
    rf"did|took|chose|\w+ed)(?!\w))"
)

# What others would know about the speaker is true: "if he had looked, he'd know I'm innocent"
WOULD_KNOW = regex(
    r"(?:(?:would|'d|should)(?: already| also)? (?:have )?|investigated me(?: last night)? and )known?(?: that)? $"
)
OWN_CONDITION = regex(r"(?<!\w)(?:if|unless|suppose|whether) i(?!\w)")


_SENTENCE = regex(r"[^.!?\n]+[.!?\n]*")
_CAPITAL = regex("[A-Z]+")

_VOCATIVE = regex(
    rf"\W*(?:(?:hey|hi|hello|ok|okay|so|and|but|no|yes|well|look|listen|wait|sorry),? )?({NAME})(?:,| ?[:-] )"
)
_SECOND_VOCATIVE = regex(rf" (?:and )?{NAME},")
_LAST_VOCATIVE = regex(rf", ({NAME})\W*$")
_NAMES = regex(NAME)
_REACH, _LINK = 200, 20


def lower(text: str) -> str:
    """Lower case without changing the length, so that positions stay valid."""
    low = text.lower()
    return low if len(low) == len(text) else _CAPITAL.sub(lambda found: found[0].lower(), text)


@dataclass(slots=True)
class Sentence:
    """One sentence: its words in lower case, where it starts in the masked text, and who its pronouns may refer to. me:
    the speaker's character; you: the player spoken to; focus: who the sentences before it were about ("" if no one).
    """

    low: str
    start: int
    me: str
    you: str
    focus: str
    number: int

    @property
    def asks(self) -> bool:
        return "?" in self.low[-4:]

    def named(self, start: int, end: int) -> list[str]:
        """The other players named between two positions, in order, except those whose death is mentioned: those to vote
        out, if there are any.
        """
        found = [one for one in _NAMES.finditer(self.low, start, end) if one[0] != self.me]
        found = [one for one in found if not self._victim(self.low, one)]
        accused = [one[0] for one in found if ACCUSED.search(self.low, max(0, one.start() - _LINK), one.start())]
        return accused or [one[0] for one in found]

    def resolve(self, word: str, position: int) -> str:
        """The character of the player that a subject or object refers to, "" if unclear."""
        word = word.strip()
        if _NAMES.match(word):
            return word[0]
        if word in ("i", "me", "myself"):
            return self.me
        if word == "you":
            return self.you
        if word == "who":
            before = self.low[max(0, position - 3) : position].rstrip(" ,")
            return before[-1] if before and _NAMES.match(before[-1]) else ""
        before = self.low[max(0, position - _REACH) : position]
        if dead := DEAD_SO.search(before):
            return dead[1]
        named = [found for found in _NAMES.finditer(before) if found[0] != self.you and not self._victim(before, found)]
        if BECAUSE.search(before, max(0, len(before) - _LINK)) and (
            subjects := [found for found in named if ACTING.match(before, found.end())]
        ):
            return subjects[0][0]
        apart = max((found.end() for found in BREAK.finditer(before)), default=0)
        named = [found for found in named if found.start() >= apart] or named
        plain = [found[0] for found in named if not before.startswith("'s", found.end())]
        if plain or named:
            return plain[-1] if plain else named[-1][0]
        return self.focus or (self.you if self.you in before else "")

    def _victim(self, words: str, name: re.Match[str]) -> bool:
        """Whether a player is named as one who died."""
        return bool(
            OWN_DEATH.match(words, name.end()) or VICTIM.search(words, max(0, name.start() - _LINK), name.start())
        )


def sentences(masked: str, me: str) -> Iterator[Sentence]:
    """The sentences in order. The caller sets `focus` on the current sentence, and the next one starts with it."""
    you, focus = "", ""
    for number, found in enumerate(_SENTENCE.finditer(masked)):
        low = lower(found[0])
        if low.isascii():  # it names nobody
            sentence = Sentence(low, found.start(), me, you, focus, number)
            yield sentence
            focus = sentence.focus or you
            continue
        first = _VOCATIVE.match(low)
        if first and first[1] != me and not low.startswith((" the ", " a ", " an ", " our ", " who "), first.end()):
            you = "" if _SECOND_VOCATIVE.match(low, first.end()) else first[1]
        elif (last := _LAST_VOCATIVE.search(low, max(0, len(low) - 12))) and last[1] != me:
            you = last[1]
        sentence = Sentence(low, found.start(), me, you, focus, number)
        yield sentence
        named = sentence.named(first.end() if first else 0, len(low))
        focus = sentence.focus if sentence.focus != focus else named[0] if named else focus or you
