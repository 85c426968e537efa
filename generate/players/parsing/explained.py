"""A vote with its reason: the name first, then what all players will hear.

The reason is a standalone text in double quotation marks, not a quotation within a sentence; the field of a JSON
object; or, with a note, the text in the reason's place without quotation marks (`unquoted`). If words were written but
must stay private, there is no reason: its text is None, which the rules turn into a silence with a fallback. A readable
reason is kept even if the name cannot be read: then only the vote has no choice, with a note that says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from liescope.generate.players.parsing.choice import Choice, read_choice
from liescope.generate.players.parsing.forms import find_object, first_text
from liescope.generate.players.parsing.speech import read_message

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
_HIDDEN = r"(?:(?:were)?wol(?:f|ves)|mafios[oi]|mafia|jester)"
_A = r"(?:a |an |the |one of the )?"
_NOT_SAID = (
    r"(?<!said that )(?<!says that )(?<!thinks that )(?<!think that )(?<!if )(?<!being )(?<!why would )(?<!claims )"
)
_SECRET = re.compile(
    "|".join(
        [
            # its own hidden role
            rf"{_NOT_SAID}\bi(?:'m| am)(?: (?!not\b|no\b|never\b|sure\b|certain\b|on\b)\w+){{0,2}} {_A}{_HIDDEN}\b",
            rf"(?:^|[.,;:] |since |because )(?:as|being) {_A}{_HIDDEN}\b,?(?: i\b| we\b| my\b| it\b)",
            rf"\band i are (?:both )?(?:the )?{_HIDDEN}\b",
            rf"\b(?:my|our) (?:own )?(?:fellow|pack|{_HIDDEN})\b|\b(?:we|us) {_HIDDEN}\b|\bfellow {_HIDDEN} and i\b",
            r"\bmy (?:true |real |secret |hidden |actual )(?:role|identity|team|side)\b",
            rf"\bmy role as {_A}{_HIDDEN}\b|\bmy win\b",
            # its partners, its knowledge, its cover, its plan
            r"\bmy (?:partner|teammate|packmate|ally|allies)s?(?! in this debate)\b",
            r"\b(?:he|she|they|who|that) (?:is|are) my partner",
            r"\bi (?:already )?know who the (?:other )?\w+ (?:is|are)\b",
            r"\btonight's kill\b|\b(?:kill|die)(?: \w+)? tonight\b",
            r"\bmy (?:cover|disguise|win condition|survival)\b",
            r"\bmy (?:goal|aim|plan|objective|strategy)(?: as \w+ \w+)? (?:is|here)\b",
            r"\bi(?:'m)? (?:\w+ )?(?:secretly|privately)\b",
            r"\bprivately,|(?:but|and) (?:nobody|no one)(?: else)? (?:knows|sees)\b",
            # how it wants to appear, and what it wants to happen to itself
            r"(?:^|[.,;:] |i (?:need|want|have|try|am trying) )to (?:blend in|(?:appear|look|seem) (?!into|at|for))",
            r"\bi (?:need|want|have|hope|like) to (?:hide|conceal|deceive|mislead|deflect)\b",
            r"\bi (?:need|want|have|hope|like) to be (?:\w+(?:ed|en)|voted out)\b",
            r"\bi (?:\w+ )?(?:hope|want)(?: that)? (?:they|the others|everyone|everybody|the village) ",
            r"\b(?:suspicion|attention|heat|focus|eyes) (?:\w+ ){0,2}(?:off|away from|to|on|onto)(?: of)? "
            r"(?:me|myself)\b",
            r"\b(?:make|makes|making) me (?:look|seem|appear)\b",
            r"\b(?:helps?|lets?) (?:me|us) win\b|\bonto me\b|\bsuspects? me\b",
            r"\b(?:protects?|hides?|saves?|covers?) (?:me|myself)\b",
            r"\bkeeps? (?:me|myself|us) (?:hidden|safe|alive|out)\b",
            r"\b(?:get|getting|have) (?:me|myself) (?:exiled|voted out|eliminated)\b|\bto get exiled\b",
            r"\bso (?:that )?(?:nobody|no one|they|the others) (?:\w+ ){0,2}suspects? (?:that )?(?:me|i)\b",
            r"\bi (?:\w+ )?(?:frame|scapegoat)\b|\b(?:target|scapegoat) for (?:a |the )?mislynch\b",
        ]
    ),
    re.IGNORECASE,
)
_INNOCENT = (
    r"(?:innocent|(?:just |only )?a villager|no (?:were)?wolf|not a (?:were)?wolf|the (?:seer|doctor|detective))\b"
)
_BULLET = re.compile(r"^[ \t]*(?:[-*•>]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_MARKS = " \t\n*_`'‘’>~"
_BEHIND_NAME = re.compile(r"[*_`\"'“”]{0,6}\s{0,3}(?:[:：,;–—]|[.] |- | - |\()\s{0,3}")
_NAME_WORDS = 4  # a longer first line (in words) is no attempt at a name
_VOTE_WORDS = frozenset(
    {"", "vote", "my", "final", "answer", "name", "stimme", "voto", "投票", "1.", "i", "for", "first"}
)
_VOTING_WORDS = 8  # "I vote for Bob." is one; a longer line is a sentence with other thoughts


@dataclass(frozen=True, slots=True)
class Unquoted:
    """reason: "" if none was given, None if the words were held back; rest: what stays private."""

    reason: str | None
    rest: str = ""


def read_unquoted(text: str, option: str | None) -> Unquoted:
    """The reason in a cleaned text without quoted words. option: the name that was read, None if there is none.

    The question asks for the name on the first line and the reason, addressed to all, on the next. So the text in that
    place is the reason even if its quotation marks are missing: the words on the name's line after a separator ("Bob -
    he dodged"), or the first paragraph below it. The following is kept private, since a private reason read aloud would
    lose its author the game, and a public reason held back becomes a flagged silence:

    - words that do not follow the name (a sentence that names someone in passing is thinking, or may be),
    - all paragraphs after the first, and a paragraph in brackets or after a word like "Reasoning:" or "Private:",
    - words that give away what a seat hides: its role as werewolf, mafioso or jester, its partners, its cover, its
      plan, or its knowledge that its target is innocent.
    """
    if label := _LABEL.search(text):
        return _paragraph(text[label.end() :], option)
    line, _, below = text.partition("\n")
    same = _behind_name(line, option)
    if same is None:
        return Unquoted(None, text.strip())
    if same:
        same += "\n" + below if below.strip() and not below.startswith("\n") else "\n\n" + below
        return _paragraph(same, option)
    return _paragraph(below, option)


def _behind_name(line: str, option: str | None) -> str | None:
    """What follows the name on its line, "" if it is alone there, None if the line is something else."""
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


def _paragraph(text: str, option: str | None) -> Unquoted:
    """The first paragraph as the reason, unless it must be held back."""
    first, _, rest = text.strip().partition("\n\n")
    reason = " ".join(_BULLET.sub("", first).split()).strip(_MARKS)
    if not reason:
        return Unquoted("", rest.strip())
    bracketed = first.strip(_MARKS)[0] in "([（"
    if bracketed or _PRIVATE_LABEL.match(first) or _ASIDE.match(first) or gives_away(reason, option):
        return Unquoted(None, text.strip())
    return Unquoted(reason, rest.strip())


def gives_away(reason: str, option: str | None) -> bool:
    """Whether a reason for a vote reveals what its author hides: its identity, or that its target is innocent."""
    words = reason.replace("’", "'")
    target = rf"(?<!if ){re.escape(option)} is {_INNOCENT}" if option else "(?!)"
    return bool(_SECRET.search(words) or re.search(target, words, re.IGNORECASE))


_VOTES = ("vote", "name", "choice", "target", "player")
_REASONS = ("reason", "public_reason", "message", "explanation", "statement", "justification", "rationale")
_THOUGHTS = ("reasoning", "thoughts", "thought", "thinking", "analysis", "private_reasoning")
_QUOTE = re.compile(r'(?<!\\)["“„«「『]')
_QUOTES = 20  # the maximum number of opening quotes tried


@dataclass(frozen=True, slots=True)
class ExplainedVote:
    """option: None if no single option could be read; reason: "" if none was given, None if there were words that stay
    private; problem: why nothing could be read.
    """

    option: str | None
    reason: str | None = ""
    rest: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


def read_explained_vote(text: str, options: Sequence[str], seat: str) -> ExplainedVote:
    """The vote and the reason in a cleaned text by the player with this name."""
    if data := find_object(text, []):
        vote = first_text(data, _VOTES)
        choice = read_choice(text if vote is None else vote, options)
        reason = " ".join((first_text(data, _REASONS) or "").split())
        return _vote(choice, reason, first_text(data, _THOUGHTS) or "", ("vote in JSON",))
    choice = read_choice(text, options)
    after = text if choice.option is None else choice.rest
    begin = _opening(after, choice.option or "")
    message = read_message(after[begin:] if begin is not None else "", seat)
    if message.text is not None:
        return _vote(choice, message.text, message.rest, choice.notes + message.notes)
    said = read_unquoted(text, choice.option)
    if said.reason is None:
        return _vote(choice, None, said.rest, (*choice.notes, KEPT_BACK))
    return _vote(choice, said.reason, said.rest, (*choice.notes, UNQUOTED) if said.reason else choice.notes)


def _vote(choice: Choice, reason: str | None, rest: str, notes: tuple[str, ...]) -> ExplainedVote:
    if choice.option is None and not reason:
        return ExplainedVote(None, "", rest, notes, choice.problem)
    missing = (f"vote: {choice.problem}",) if choice.option is None else ()
    return ExplainedVote(choice.option, reason, rest, (*notes, *missing))


def _opening(text: str, option: str) -> int | None:
    """Where a standalone quotation opens: at the start of a line, or after the name, a sentence or a label."""
    for number, found in enumerate(_QUOTE.finditer(text)):
        if number == _QUOTES:
            break
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip(" \t*_`>#~")
        if not before or before[-1] in ".:!?;–—-" or before.casefold() == option.casefold():
            return found.start()
    return None
