"""A vote's public reason that stands without double quotation marks.

The question asks for the name on the first line and the reason to everybody on the next. So what stands in that place
is the reason although its quotation marks are missing: the words on the name's own line behind a separator
("Bob - he dodged"), or the first paragraph below it. Kept private are

- words that do not stand behind the name (a sentence that names somebody on the way is thinking, or may be),
- all paragraphs after the first, and a paragraph in brackets or behind a word like "Reasoning:" or "Private:",
- words that give away what a seat hides: its role as werewolf, mafioso or jester, its partners, its cover, its plan.

A private reason read aloud would lose the game for its author; a public reason kept back is a silence that is flagged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

KEPT_BACK = "words without quotation marks were kept private"
UNQUOTED = "reason without quotation marks"

_LABEL_WORDS = (
    r"reasons?|explanation|justification|rationale|public (?:reason|statement|message)|statement|message|because|why"
    r"|begründung|grund|raison|motif|justificación|razón|motivo|justificativa|razão|motivazione|причина|обоснование"
    r"|理由|原因|이유"
)
_LABEL = re.compile(
    rf"^[ \t*_#>`\"-]{{0,9}}(?:\d\. ?)?(?:my |the |meine |mein |ma |mon |mi |minha |meu )?(?:{_LABEL_WORDS})"
    r"(?: (?:to|for) (?:every(?:body|one)|all))?[ \t*_`]{0,9}[:：–—=-]{1,2}[ \t*_`]{0,9}",
    re.IGNORECASE | re.MULTILINE,
)
_PRIVATE_LABEL = re.compile(
    r"\W{0,9}(?:\w+ ){0,2}(?:reasoning|thoughts?|thinking|analysis|strategy|private(?:ly)?|internal|notes?|aside|plan"
    r"|secret|hidden|not public|self)\b[^:\n]{0,40}[:：]",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\W{0,9}(?:let me know|i hope (?:this|that)|i(?:'m| am) sorry|sorry|i apologi[sz]e|as an ai\b|please note"
    r"|note that|is there anything|would you like|feel free)",
    re.IGNORECASE,
)
_HIDDEN = r"(?:were)?wol(?:f|ves)|mafios[oi]|mafia(?! (?:member )?(?:is|are|was)\b)|jester"
_SECRET = re.compile(
    rf"\b(?:i(?:'m| am|'ve been| was)(?: (?!not\b|no\b|never\b)\w+){{0,3}} (?:a |an |the )?(?:{_HIDDEN})\b"
    rf"|(?<!acts )(?<!acting )\bas (?:a|the|one of the|your) (?:{_HIDDEN})\b(?:,| i\b| my\b| we\b)"
    rf"|(?:since|because|being|as) i(?:'m| am)(?: \w+){{0,2}} (?:a |an |the )?(?:{_HIDDEN})\b"
    r"|(?:my|our) (?:(?:\w+ )?(?:role|identity|cover|goal|aim|plan|pack(?:mate)?s?|partners?|teammates?|ally|allies)"
    r"|fellow|win condition|survival|disguise)\b|being (?:a|the) (?:fellow )?(?:were)?wolf myself"
    rf"|fellow (?:{_HIDDEN})|(?:we|us|other) (?:were)?wolves|(?:the )?other (?:were)?wolf\b|(?:my|our) (?:{_HIDDEN})\b"
    r"|private(?:ly)?|secret(?:ly)?|nobody (?:else )?(?:knows|sees)|no one (?:else )?(?:knows|sees)|between us"
    r"|blend(?:ing)? in"
    r"|(?:suspicion|attention|heat|focus|eyes) (?:\w+ ){0,3}(?:off|away from)(?: of)? (?:me|myself|us|my)\b"
    r"|(?:get|being|be|getting|want to be) (?:myself )?exiled|onto (?:me|us)\b|fram(?:e|ing) (?!by)|scapegoat"
    r"|(?:me|us) (?:to )?(?:look|seem|appear|win)|to (?:appear|look|seem) (?:like|as|innocent|helpful|town)"
    r"|(?:easy|good) (?:target|mislynch)|without (?:raising|drawing) suspicion)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[ \t]*(?:[-*•>]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_MARKS = " \t\n*_`'‘’>~"
_BEHIND_NAME = re.compile(r"[*_`\"'“”]{0,6}\s{0,3}(?:[:：,;–—]|[.] |- | - |\()\s{0,3}")
_NAME_WORDS = 4  # a first line of more words is no attempt at a name
_VOTE_WORDS = frozenset(
    {"", "vote", "my", "final", "answer", "name", "stimme", "voto", "投票", "1.", "i", "for", "first"}
)
_VOTING_WORDS = 8  # "I vote for Bob." is; a longer line is a sentence with thoughts of its own


@dataclass(frozen=True, slots=True)
class Unquoted:
    """reason: "" where none was given, None where the words were kept back; rest: what stays private."""

    reason: str | None
    rest: str = ""


def read_unquoted(text: str, option: str | None) -> Unquoted:
    """The reason in a cleaned text without quoted words. option: the name that was read, None where none could be."""
    if label := _LABEL.search(text):
        return _paragraph(text[label.end() :])
    line, _, below = text.partition("\n")
    same = _behind_name(line, option)
    if same is None:
        return Unquoted(None, text.strip())
    if same:
        return _paragraph(same + ("\n" + below if below.strip() and not below.startswith("\n") else "\n\n" + below))
    return _paragraph(below)


def _behind_name(line: str, option: str | None) -> str | None:
    """What follows the name on its own line, "" where it stands alone, None where the line is something else."""
    words = line.split()
    bare = line.strip(_MARKS + '"“”.:!,#-')
    if option is None:
        return "" if 0 < len(words) <= _NAME_WORDS else None
    if bare.casefold() == option.casefold():
        return ""
    place = line.casefold().find(option.casefold())
    before, after = line[:place].split(), line[place + len(option) :]
    if not after.strip(_MARKS + '"“”.:!)]'):
        return "" if len(words) <= _VOTING_WORDS else None
    announced = len(before) <= 2 and all(word.strip(_MARKS + "#-:：").casefold() in _VOTE_WORDS for word in before)
    behind = _BEHIND_NAME.match(after)
    return after[behind.end() :].rstrip(")") if announced and behind else None


def _paragraph(text: str) -> Unquoted:
    """The first paragraph as the reason, unless it is one to keep back."""
    first, _, rest = text.strip().partition("\n\n")
    reason = " ".join(_BULLET.sub("", first).split()).strip(_MARKS)
    if not reason:
        return Unquoted("", rest.strip())
    bracketed = first.strip(_MARKS)[0] in "([（"
    if bracketed or _PRIVATE_LABEL.match(first) or _ASIDE.match(first) or _SECRET.search(first.replace("’", "'")):
        return Unquoted(None, text.strip())
    return Unquoted(reason, rest.strip())
