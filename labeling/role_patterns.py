"""Patterns with words for roles and teams, built once per game from its vocabulary."""

from __future__ import annotations

import re
from functools import lru_cache

from liescope.games.game_registry import WORDS
from liescope.games.vocabulary import END, NAME, NO_NAME_WORD, Vocabulary
from liescope.labeling.sentence_reading import ADVERB, ASIDE, FOUND, LOOKED, SAYS, SHOWN, SUBJECT, TARGET

_ADJECTIVE = (
    "real|only|true|actual|confirmed|proven|verified|known|sole|lone|last|remaining|other|second|simple|mere|fellow|"
    "loyal|honest|regular|normal|ordinary|plain|humble|vanilla|valuable|innocent|dangerous|lying|genuine|legitimate|"
    "good|helpful|trusted|trustworthy|identified|hidden|one true|one and only|cleared|basic|guilty|ruthless|fake|false|"
    "concerned|grieving|dedicated|confused|worried|scared|curious|cautious|clueless|harmless|hapless|shocked|helpless"
)
# Things that a player with a role has: "my detective findings"
_BELONGS = r"(?:findings?|results?|investigations?|role|abilit(?:y|ies)|powers?|claim|skills?|duty|status)(?!\w)"
_BEING = "(?:being|he is|she is|they are|he's|she's|they're)"
_TRUTHFUL = "(?:telling (?:us )?the truth|right|correct|honest|truthful)"
_ARTICLE = r"(?:(?:the|a|an|our|your|another|that|this|my) )?"


class RolePatterns:
    """The patterns that find one game's claims, and the vocabulary they were built from.

    addressed: "Bob, as the detective, you…". with_role: "my detective findings". about_others: "Bob is right about
    Diana being the mafioso". confessed: reports, which the speaker's findings may confirm. possessive: "Bob's
    killer", which is not "Bob is killer". others_say: what reports the words of others. trigger: matches every text
    that may contain a claim; mentions: every text with a word for a role or a side.
    """

    def __init__(self, words: Vocabulary) -> None:
        self.words = words
        role = rf"(?:{words.sides}|{_ARTICLE}(?P<adjectives>(?:(?:{_ADJECTIVE}),? ){{0,3}})(?:{words.roles}))"
        who = (
            rf"(?:{NO_NAME_WORD}(?:he|she|they|you|who|someone|somebody|everyone|"
            rf"people|both|others|some|anyone|{words.speakers})|{NAME})"
        )
        self.is_role = re.compile(
            rf"(?P<subject>{SUBJECT})(?:'?m|'s|'re| (?:am|is|are|was|were|ain't|ain|(?:has|have)"
            rf"(?: already| now| clearly)? been))"
            rf"(?P<negation>n't| not| never| no)?(?P<adverbs>{ADVERB}){SHOWN} {role}"
        )
        self.inverted = re.compile(
            rf"{words.inverted}(?P<negation>n't| not)?(?P<adverbs>{ADVERB})"
            rf" (?P<subject>{words.inverted_subject}|me|you)(?!\w|'s| or )"
        )
        self.apposed = re.compile(
            rf"(?P<subject>{NAME}|{NO_NAME_WORD}(?:me|myself|i)), (?=the|an?|our|your){role}(?=[,.!;)]| who|$)"
        )
        self.addressed = re.compile(rf"(?P<subject>{NAME}), as (?=the|an?|our|your){role}, (?:you|your)(?!\w)")
        self.named = re.compile(
            rf"(?:{NO_NAME_WORD}i(?:'?m| am)|this is) {NAME},?(?: and| -)?(?: i(?:'?m| am))? "
            rf"(?=the|an?|your|just){role}"
        )
        self.as_role = re.compile(
            rf"(?:(?P<own>(?:my (?:role|position|job|duty|status|power|ability|identity|claim|investigations?|"
            rf"findings?|results?|word)|speaking|trust me|believe me) )|"
            rf"(?P<act>(?:{LOOKED}|my \w+|i (?:can )?(?:confirm|speak|say this)) )|"
            rf"^[ \"'(]*|[,;:—–-] ?|(?<!\w)(?:and|but|so|that|because) )(?:as|being) {role}"
        )
        self.claiming = re.compile(
            rf"{NO_NAME_WORD}(?:i(?:'?m| am| do| have to| must)? (?:counter-?)?claim(?:ing)?(?: to be)?|my role is|"
            rf"my role:) {role}"
        )
        self.with_role = re.compile(rf"(?<!\w)my (?:{words.roles.replace(END, '')}) {_BELONGS}")
        self.that_is_me = re.compile(
            rf"(?<!\w)(?:there(?:'s| is) )?(?:(?:only|just) )?(?:(?:one|1|a single) )?{role}"
            rf"(?: exists| (?:in|among|here)[\w ]{{0,20}})?"
            rf"(?:(?:,| ?[-—–:]|,? and)? ?(?:that|it|which)(?:'s| is)| ?[-—–:]) ?me(?=[,.;!—]|$| and)"
        )
        self.pretending = re.compile(
            rf"(?P<subject>{SUBJECT})(?:(?:'?m|'s|'re| (?:am|is|are|was))(?P<negation>n't| not)?(?P<adverbs>{ADVERB}) "
            rf"(?:lying (?:about|that|when) {_BEING}|pretending to be|posing as|"
            rf"falsely (?:claiming|pretending)(?: to be)?|faking(?: being)?|impersonating)|"
            rf"(?: has| have)?(?: also| clearly| just)? (?:lied (?:about|that|when) {_BEING}|pretended to be|"
            rf"falsely (?:claimed|pretended)(?: to be)?|faked being|impersonated)) {role}"
        )
        self.truthful = re.compile(
            rf"(?P<subject>{SUBJECT})(?:'?m|'s|'re| (?:am|is|are|was))(?P<negation>n't| not)?(?P<adverbs>{ADVERB}) "
            rf"{_TRUTHFUL} about being {role}"
        )
        self.about_others = re.compile(
            rf"(?:{SUBJECT})(?:'s|'re| (?:is|are|was|were))(?P<adverbs>{ADVERB}) (?:(?P<negation>lying|wrong|mistaken)|"
            rf"{_TRUTHFUL}) about (?P<subject>{NAME}|me|you) being {role}"
        )
        self.confessed = re.compile(
            rf"(?P<subject>{NAME}|{NO_NAME_WORD}(?:he|she|they|you))(?:'s|'ve| has| have)?(?: just| already| now)?"
            rf"(?P<adverbs>{ADVERB}) (?:confessed|admitted)(?: to)? being {role}"
        )
        self.found_to_be = re.compile(
            rf"(?:{FOUND})(?: out)?(?: that)? {TARGET}(?P<negation> (?:not|isn't))?(?: to be| as| is| being| are|'s)?"
            rf"(?P<negation2> not)? {role}"
        )
        self.result = re.compile(
            rf"(?:result|came back|comes back|came up|turned (?:out|up)|turns out|got|shows?|showed|returned|says|said|"
            rf"saw|it's|role|identity|who is|who's|who was|point(?:s|ed|ing) to (?:{NAME}|you|him|her|them)|[:=—–-]|,)"
            rf"(?: (?:is|was|as|to be|it's|that|they|he's|she's))*:? ?"
            rf"(?P<negation>not |no (?:signs?|evidence) of (?:being )?)?{role}"
        )
        self.possessive = re.compile(rf"{NAME}'s (?:\w+ )?(?:{words.nouns})\w*$")
        self.others_say = re.compile(
            rf"{who}(?:(?:'ve|'d)?{ASIDE} (?:(?:{SAYS})\w*|(?:admit|confess)\w*(?: that)? $)"
            rf"|(?:'s|'re| is| are| was| were| has been| have been| keeps)"
            rf"{ASIDE} (?:{SAYS}|try|push|attempt)\w*ing(?!\w)"
            rf"|(?: has| have| had|'ve)(?: \w+){{0,2}} (?:evidence|proof) )"
            rf"|(?:{NAME}'s?|(?<!\w)(?:your|his|her|their))(?: \w+){{0,2}} (?:investigation|claim|accusation|finding|"
            rf"result|statement|allegation|suspicion|word|assertion|theory)s? (?:that|about|of|shows?|showed|reveal|"
            rf"says?|said|claim|prov|confirm|found|point|suggest|indicat|is that|truly|really)"
        )
        self.looked = re.compile(words.looked) if words.looked else None
        self.trigger = re.compile(words.trigger)
        self.mentions = re.compile(words.mentions)


@lru_cache(maxsize=16)
def role_patterns(game: str) -> RolePatterns:
    """The patterns for a game by the name of its rules. Raises UndeclaredGame if it has no vocabulary."""
    return RolePatterns(WORDS[game])
