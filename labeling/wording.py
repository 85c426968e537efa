"""The patterns that claims are found with. They run on lower-case text in which each name is one private character.

So no pattern knows a name, and every gap in them is bounded: a long or hostile text costs time in proportion to its
length. `labeling.claims` says what each pattern's match means.
"""

from __future__ import annotations

import re

NAME = "[\U000f0000-\U000ffffd]"
_NO_NAME_WORD = r"(?<![\w'])"

_ADJECTIVE = (
    "real|only|true|actual|confirmed|proven|verified|known|sole|lone|last|remaining|other|second|simple|mere|fellow|"
    "loyal|honest|regular|normal|ordinary|plain|humble|vanilla|valuable|innocent|dangerous|lying|genuine|legitimate|"
    "good|helpful|trusted|trustworthy|identified|hidden|one true|one and only|cleared|basic|guilty|ruthless|fake|false"
)
_MODIFIED = (
    r"(?! (?:tactic|move|play|kill|strateg|behavio|ploy|trap|hit|victim|target|activit|attack|hunt|trick)|-(?!al))"
)
_END = r"(?!\w|'s| (?:claim|role|investigation|result|report|status|reveal|story|accusation|card)s?(?!\w))"
_ROLES = (
    rf"(?P<mafia>mafios[oi]s?|mafia(?: members?)?|mobsters?|killers?|murderers?|culprits?|impost[eo]r|traitor|"
    rf"bad guy|"
    rf"guilty(?! of)|evil|one behind|one who (?:killed|murdered)|responsible for {NAME}'s (?:death|"
    rf"murder)){_END}{_MODIFIED}"
    rf"|(?P<detective>detectives?|cop){_END}"
    rf"|(?P<villager>villagers?|civilians?){_END}"
    rf"|(?P<town>innocents?(?! until)|town(?:ie|sperson|sfolk|speople|[- ]?aligned| member| player| side)?|"
    rf"(?:clean|clear|cleared)(?! (?:about|on|that|in|how|why|to|from|enough|what|of|as|threat|choice|suspect|"
    rf"target|sign|case)\b)){_END}{_MODIFIED}"
)
_SIDES = (
    r"(?:part of|an? (?:active )?(?:member|part) of|in|with|working (?:with|for)|on|one of|aligned with) "
    r"(?:the )?(?:(?P<mafia2>mafia|mafiosos?)|(?P<town2>town))(?:'s)?(?: side| team)?(?!\w)"
)
_ARTICLE = r"(?:(?:the|a|an|our|your|another|that|this|my) )?"
_ROLE = rf"(?:{_SIDES}|{_ARTICLE}(?P<adjectives>(?:(?:{_ADJECTIVE}),? ){{0,3}})(?:{_ROLES}))"
_ADVERB = (
    r"(?: (?:[a-z]{2,14}ly|just|also|indeed|still|now|here|not|100%|likely|maybe|perhaps|too|even|either|neither|"
    r"already|in fact|for sure|without (?:a )?doubt|beyond doubt|being),?){0,3}"
)
_SHOWN = r"(?: (?:identified|revealed|confirmed|exposed|proven|proved|found|shown)(?: (?:as|to be))?)?"

SUBJECT = rf"{_NO_NAME_WORD}(?:i|he|she|they|you|who)|{NAME}(?:(?:, {NAME})?,? (?:and|&) {NAME})?"
IS = re.compile(
    rf"(?P<subject>{SUBJECT})(?:'?m|'s|'re| (?:am|is|are|was|were|ain't|ain|(?:has|have)"
    rf"(?: already| now| clearly)? been))"
    rf"(?P<negation>n't| not| never| no)?(?P<adverbs>{_ADVERB}){_SHOWN} {_ROLE}"
)
# "Bob's killer" is not "Bob is killer".
POSSESSIVE = re.compile(rf"{NAME}'s (?:\w+ )?(?:killer|murderer|detective|cop|villager|civilian|culprit|town)\w*$")
OWN_DEATH = re.compile(r"'s? (?:\w+ )?(?:death|murder|demise|loss|killer|killing|absence)")
INVERTED = re.compile(
    rf"(?<!\w)the (?:real |only |actual )?(?:(?P<mafia>mafioso|mafia(?: member)?|killer|culprit|murderer)|"
    rf"(?P<detective>detective)) (?:is|has to be)(?P<negation>n't| not)?(?P<adverbs>{_ADVERB})"
    rf" (?P<subject>{NAME}|me|you)(?!\w|'s| or )"
)
APPOSED = re.compile(
    rf"(?P<subject>{NAME}|{_NO_NAME_WORD}(?:me|myself|i)), (?=the|an?|our|your){_ROLE}(?=[,.!;)]| who|$)"
)
NAMED = re.compile(
    rf"(?:{_NO_NAME_WORD}i(?:'?m| am)|this is) {NAME},?(?: and| -)?(?: i(?:'?m| am))? (?=the|an?|your|just){_ROLE}"
)
AS_ROLE = re.compile(
    rf"(?:(?P<own>(?:my (?:role|position|job|duty|status|power|ability)|speaking|trust me|believe me) )|"
    rf"^[ \"'(]*|[,;:—–-] ?|(?<!\w)(?:and|but|so|that|because) )as {_ROLE}"
)
AS_OWN = re.compile(r"(?: (?:in|of|here|for|with)[^,]{0,30})?,? (?:i|my|let me)(?!\w)")
CLAIMING = re.compile(
    rf"{_NO_NAME_WORD}(?:i(?:'?m| am| do| have to| must)? (?:counter-?)?claim(?:ing)?(?: to be)?|my role is|"
    rf"my role:) {_ROLE}"
)
PRETENDING = re.compile(
    rf"(?P<subject>{SUBJECT})(?:'?m|'s|'re| (?:am|is|are|was))(?P<negation>n't| not)?(?P<adverbs>{_ADVERB}) "
    rf"(?:(?:lying|lied) (?:about|that|when)(?: (?:being|he is|she is|they are|he's|she's|they're))|"
    rf"pretending to be|posing as|"
    rf"falsely (?:claiming|pretending)(?: to be)?|faking(?: being)?|impersonating) {_ROLE}"
)
KILLED = re.compile(
    rf"(?P<subject>{_NO_NAME_WORD}(?:i|you|he|she)|{NAME})(?:'ve)?"
    rf"(?P<aux>(?: (?:have|has|had|also|already|definitely|clearly|just|did|didn't|did not|haven't|have not|never|"
    rf"not)){{0,2}})"
    rf" (?P<verb>killed|murdered|kill|murder) (?:{NAME}|him|her|them|anyone|anybody|someone)(?!\w|'s)"
)

# Investigations

_FILL = r"(?: (?:have|had|already|also|just|personally|finally|actually|then|secretly|successfully|only|did)){0,3}"
_FOUND = r"found|discovered|learned|learnt|identified|confirmed|verified|uncovered|determined|exposed|proved|revealed"
_TARGET = rf"(?P<target>{NAME}|you|him|her|them)"
INVESTIGATING = re.compile("investigat|check|inspect|scann|examin")
INVESTIGATED = re.compile(
    rf"(?:(?P<i>{_NO_NAME_WORD}i(?:'ve|'d)?{_FILL} )|(?P<elided>(?:and|, )(?: have| already)? ?)|^[ \"'(]*)"
    rf"(?:investigated|checked(?: out)?|inspected|scanned|examined)(?: and \w+)? {_TARGET}"
    rf"(?!\w|'s (?!role|identity|alignment)|s\b)"
)
ONE_INVESTIGATED = re.compile(
    rf"(?P<target>{NAME}) (?:is|was) the (?:only )?(?:player|person|one) (?:that |who |"
    rf"whom )?i(?:'ve)?{_FILL} investigated"
)
INVESTIGATION_OF = re.compile(
    rf"(?:(?<!\w)my (?:\w+ )?investigations? (?:of|on|into)|(?<!\w)(?:after|by|when|upon) (?:i )?investigat(?:ing|"
    rf"ed)) "
    rf"{_TARGET}(?!\w|'s (?!role|identity|alignment))"
)
MY_INVESTIGATION = re.compile(r"(?<!\w)my (?:\w+ ){0,2}?(?:investigat(?:ion|ive)|findings?)")
POINTS_TO = re.compile(
    rf"(?:point(?:s|ed)?|leads?|led)(?: \w+ly| straight| right)? to {_TARGET}(?!\w|'s (?!guilt|being))"
)
FOUND_TO_BE = re.compile(
    rf"(?:{_FOUND})(?: out)?(?: that)? {_TARGET}(?P<negation> (?:not|isn't))?(?: to be| as| is| being| are|'s)?"
    rf"(?P<negation2> not)? {_ROLE}"
)
RESULT = re.compile(
    rf"(?:result|came back|comes back|came up|turned (?:out|up)|turns out|got|shows?|showed|returned|says|said|saw|"
    rf"it's|role|"
    rf"[:=—–-]|,)(?: (?:is|was|as|to be|it's|that|they|he's|she's))*:? ?(?P<negation>not )?{_ROLE}"
)

# What governs a clause

OWN_FINDING = re.compile(rf"{_NO_NAME_WORD}i(?:'ve|'d)?{_FILL} (?:investigated|checked|inspected|{_FOUND})(?!\w)")
ENDS_FINDING = re.compile(rf"(?:{_FOUND})(?: out)?(?:,? (?:without (?:a )?doubt|last night))?(?: that)? $")
_SAYS = (
    "claim|say|said|stat(?:e|ing)|accus|suggest|think|thought|believ|argu|insist|assert|tell|told|declar|mention|call|"
    "impl[yi]|pretend|suspect|investigat|found|find|discover|reveal|confirm|expos|identif|announc|report|alleg|label|"
    "fram|paint|convinc|show|learn|assum|want"
)
_WHO = (
    rf"(?:{_NO_NAME_WORD}(?:he|she|they|you|who|someone|somebody|everyone|"
    rf"people|both|others|some|anyone|the detective)|{NAME})"
)
_ASIDE = (
    r"(?: (?:both|all|also|has|have|had|just|already|only|even|keeps?|clearly|never|did|does|do|didn't|may|might|"
    r"could|would|"
    r"truly|really|now|still|quickly|immediately|suddenly|\(\w+\))){0,3}"
)
OTHERS_SAY = re.compile(
    rf"{_WHO}(?:(?:'ve|'d)?{_ASIDE} (?:{_SAYS})\w*|(?:'s|'re| is| are| was| were| has been| have been| keeps){_ASIDE}"
    rf" (?:{_SAYS}|try|push|attempt)\w*ing(?!\w))"
    rf"|(?:{NAME}'s?|(?<!\w)(?:your|his|her|their))(?: \w+){{0,2}} (?:investigation|claim|accusation|finding|result|"
    rf"statement|"
    rf"allegation|suspicion|word|assertion|theory)s? (?:that|about|of|shows?|showed|reveal|says?|said|claim|prov|"
    rf"confirm|found|point|"
    rf"suggest|indicat|is that|truly|really)"
)
OPINION = re.compile(
    r"(?<!\w)(?<!i )(?:said|says)(?!\w)|(?<!\w)(?:think\w*|thought|believ\w+|suspect\w*|feel|feels|felt|guess\w*|"
    r"assum\w+|suppos\w+|bet|doubt\w*|"
    r"imagin\w+|reckon|"
    r"presum\w+|wonder\w*|hop(?:e|ing)|fear|afraid|worr\w+|concerned|seems?|seemed|seeming|appears?|looks? like|"
    r"sounds? like|"
    r"suggest\w*|indicat\w+|impl(?:y|ies)|hint\w*|possib\w+|probab\w+|potential\w*|likely|maybe|perhaps|chance|"
    r"leaning|inclined|"
    r"opinion|gut|theory|hunch|(?:could|might|may|would) (?:be|mean|indicate)|was (?:so |pretty )?(?:sure|certain|"
    r"convinced)|"
    r"whether|accus\w+ that|claims? that|idea|notion|evidence points|until|pretend\w*|(?:no|any|what|without|need|"
    r"lack of) (?:\w+ )?"
    r"(?:evidence|proof|reason|indication)|not (?:\w+ )?(?:sure|certain|convinced|saying|claiming|confirm\w*|mean|"
    r"know)|"
    r"not that)(?!\w)|n't (?:\w+ )?(?:sure|certain|convinced|say|saying|know|mean|prove|confirm|accuse|make)(?!\w)"
)
HEDGE = re.compile(
    r"likely|probab|possib|potential|presumab|suppos|alleged|apparent|maybe|perhaps|seeming|necessari|either|neither"
)
TRAILING_OPINION = re.compile(
    r",? (?:i (?:think|guess|believe|suspect|suppose)|in my opinion|probably|perhaps|maybe)\W*$|\W+right\W*$"
)
SUPPOSED = re.compile(
    r"(?<!\w)(?:if|unless|suppose|supposing|assuming|what if|in case|imagine|whether|even if|were i)(?!\w)"
)
CLAUSE = re.compile(
    rf";|—|–| - |--|(?<!\w)(?:but|because|since|however|though|although|while|whereas|now that|given that)(?!\w)|"
    rf"(?<!\w)as (?=i |he |she |they |{NAME})|, (?:and|so) (?=i\W)"
)
BREAK = re.compile(r";|—|–| - |--")
QUESTION = re.compile(
    r"(?:^|[,;:—–]|-) ?(?:so |and |but |then )?(?:why|how|what|who|when|where|which|do|does|did|can|could|would|"
    r"should|are|is|will|have|has|"
    r"don't|isn't|aren't)(?!\w)"
)

BEFORE = re.compile(
    r"(?<!\w)(?:would|could|should|might|may|am|is|are|was|did|do|does|can|will|or|nor|neither|either|one of|how|"
    r"who|when|why|"
    r"where|whom|before|until|like|either \w+ and) $"
)
LAST_SUBJECT = re.compile(
    rf"({_NO_NAME_WORD}(?:i|he|she|they|you|who)|{NAME})(?:'?m|'s|'re|'ve|'d| (?:am|is|are|was|were|have|has|had|"
    rf"investigated|checked)(?!\w))"
)

# Votes

_OUT = r"(?:for |out |against |on |to (?:arrest|eliminate|lynch|exile|remove|execute|vote(?: out| for)?|imprison) )?"
_VOTED = rf"{_OUT}(?P<target>{NAME}|you|him|her|them|me|myself)(?!\w|'s| or )"
_EVEN = r"(?: (?:[a-z]{2,14}ly|now|also|still|just|going|ready|be|have|therefore|so)){0,2}"
VOTE = re.compile(
    rf"{_NO_NAME_WORD}(?:i(?:'?m| am){_EVEN} (?:voting|casting my vote|(?:going|planning|ready|prepared|"
    rf"about) to vote)"
    rf"|i(?:'ll| will| shall| plan to| intend to| have decided to|'ve decided to| must| have to){_EVEN} (?:vote|"
    rf"be voting|voting|"
    rf"cast my vote)|i(?: \w+ly)? vote|i cast my vote|my vote(?: today)?(?:'s|'ll| is| goes| will be| will go|"
    rf" stays| remains| stands)"
    rf"{_EVEN}(?: with| to)?) {_VOTED}"
)

TRIGGER = re.compile(
    r"mafi|detective|villager|town|innocent|investigat|vot|kill|murder|guilty|clea[nr]|culprit|mobster|evil|traitor|"
    r"impost|checked|one behind|responsible|bad guy"
)
