"""The player that an answer names (Mini-Mafia paper, Appendix A.1).

Strict: the first line is exactly an option. Then, each with a note: other case, markdown or punctuation; a name in a
sentence, as a whole word and not in a negated mention ("not Alice", "instead of Alice", "nicht Alice"), when it is the
only one or the only one after a verb of choosing. Two equally likely names are unusable: the reader does not decide for
the player.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from liescope.games.core import Reply
from liescope.generate.players.parsing.clean import Answer, unfence

_EDGES = " \t\n*_`~#>\"'“”„‘’‚‹›«»「」『』【】（）()[]{}.,:;!?。，、：；！？-–—✅➡️→•"
_MARKDOWN = re.compile(r"[*`~#]+|(?<!\w)_{1,3}|_{1,3}(?!\w)")
_CLAUSE = re.compile(
    r"[.;:!?\n,()。；：！？，、（）]|\b(?:but|so|because|since|I|sondern|aber|mais|sino|pero|mas|ma|но|а)\b|而是|但|[–—]",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|never|neither|nor|no|cannot|without|except|excluding|besides|than|over|avoid|trust)\b"
    r"|n[’']t\b|\binstead\s+of\b|\bbelieve\s*$"
    r"|\b(?:nicht|kein\w{0,2}|nie|niemals|statt|anstatt|ohne|außer|pas|jamais|sauf|sans|aucun\w?|nunca|jamás|excepto|sin|não"
    r"|nem|sem|non|mai|senza|tranne|не|ни|нет|кроме|вместо)\b|[不别別勿非没未]|以外",
    re.IGNORECASE,
)
_CLEARED = re.compile(
    r"\s*(?:(?:is|was|seems|looks)(?:\s+\w+)?\s+(?:not|no|innocent|honest|truthful|town|safe|clear|trustworthy)\b"
    r"|(?:is|was|does|did|would|should|could)n[’']t\b|(?:should|would|could|must)\s+not\b"
    r"|(?:ist|war)\s+(?:\w+\s+)?(?:nicht|kein|unschuldig)|n[’']est\s+pas\b|est\s+innocent|no\s+es\b|es\s+inocente"
    r"|não\s+é\b|non\s+è\b|не\b)"
    r"|[^。、\n]{0,9}(?:不是|是好人|ではな|じゃな|しない|ません|않)",
    re.IGNORECASE,
)
_CHOOSING = re.compile(
    r"\b(?:vot(?:e|ing)|choos(?:e|ing)|choice|pick(?:ing)?|select(?:ing)?|arrest(?:ing)?"
    r"|investigat(?:e|ing)|kill(?:ing)?|eliminat(?:e|ing)|target(?:ing)?|exil(?:e|ing)|answer|decision"
    r"|stimm[et]|wähl[et]|voter?|choisi[rst]|voto|votar|elijo|escolho|scelgo|голосую|выбираю|投票|投给|选择|票)\b"
    r"(?:\s+(?:is|to|for|on|against|out|goes|going|arrest|investigate|kill|eliminate|vote|be|the|player|must|will"
    r"|für|gegen|pour|contre|por|a|per|contro|за|против))*"
    r"[\s:：\"“„«「'‘=]*$",
    re.IGNORECASE,
)
# Chinese, Japanese and Korean use no spaces between a name and the words around it.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_NEAR = 120  # characters before a name that are searched for a negation or a verb of choosing
_MENTIONS = 200  # a text that mentions names more often than this is not an answer


def read_choice(text: str, options: Sequence[str]) -> Answer:
    """The option that a cleaned text names, and what followed it."""
    line, _, rest = text.partition("\n")
    if line.strip() in options:
        return Answer(Reply(choice=line.strip()), rest.strip())
    inside = unfence(text)
    notes: tuple[str, ...] = ()
    if inside is not None:
        line, _, rest = inside.partition("\n")
        notes = ("code fence",)
    bare = line.strip(_EDGES).casefold()
    for option in options:
        if bare == option.casefold():
            return Answer(Reply(choice=option, notes=(*notes, "name in other case or punctuation")), rest.strip())
    for part, where in ((line, "name in a sentence"), (text, "name further down")):
        found, ambiguous = _in_sentence(part, options)
        if found:
            return Answer(Reply(choice=found, notes=(*notes, where)), text.strip())
        if ambiguous:
            return Answer(Reply(notes=notes, problem="several names and no single choice"))
    return Answer(Reply(notes=notes, problem="no option is named"))


def _in_sentence(text: str, options: Sequence[str]) -> tuple[str | None, bool]:
    """The one option that the text chooses; or None, and whether that is because it names several."""
    text = _MARKDOWN.sub("", text)
    for flags in (0, re.IGNORECASE):
        named: set[str] = set()
        chosen: set[str] = set()
        for number, found in enumerate(_pattern(tuple(options), flags).finditer(text)):
            if number == _MENTIONS:
                return None, True
            before = text[max(0, found.start() - _NEAR) : found.start()]
            clause = _CLAUSE.split(before)[-1]
            if _NEGATED.search(clause) or _CLEARED.match(text, found.end()):
                continue
            option = _same(found.group(), options)
            named.add(option)
            if _CHOOSING.search(before):
                chosen.add(option)
        if flags:  # "will" and "may" are words too: in another case, a name counts only after a verb of choosing
            named = chosen
        for names in (chosen, named):
            if len(names) == 1:
                return names.pop(), False
        if named:
            return None, True
    return None, False


@lru_cache(maxsize=4096)
def _pattern(options: tuple[str, ...], flags: int) -> re.Pattern[str]:
    """Any option as a whole word, the longest first; a possessive ("Alice's claim") does not count."""
    names = "|".join(re.escape(option) for option in sorted(options, key=len, reverse=True))
    letter = rf"(?:[^\W{_UNSPACED}]|-)"
    return re.compile(rf"(?<!{letter})(?:{names})(?!{letter}|[’']s\b)", flags)


def _same(name: str, options: Sequence[str]) -> str:
    return name if name in options else next(o for o in options if o.casefold() == name.casefold())


_ALONE = re.compile(r"[\s*_`\"'#>]*(-?\d{1,9})(?:\.0+)?(?:\s*/\s*10|\s*out of 10)?[\s*_`\"'.]*")
_NAMED = re.compile(
    r"\b(?:bid|urgency|score)\b[\s*_\"']*(?:is|of|:|=)?[\s*_\"'=:]*(-?\d{1,9})(?!\d|\.\d|e\d|\s*(?:or|to|-|–)\s*\d)",
    re.IGNORECASE,
)
_ANY = re.compile(r"(?<![\w.])-?\d{1,9}(?![\w.]*\d)")
_SCALE = re.compile(r"/\s*10\b|\bout of 10\b|\b(?:from )?0\s*(?:to|-|–)\s*10\b", re.IGNORECASE)


def read_bid(text: str) -> Answer:
    """The bid in a cleaned text, as a choice; a number outside 0 to 10 counts as the nearest bid, with a note."""
    line, _, rest = (unfence(text) or text).partition("\n")
    if found := _ALONE.fullmatch(line):
        return _bid(int(found.group(1)), rest.strip())
    if (number := _in_json(text)) is not None:
        return _bid(number, "", "bid in JSON")
    for pattern in (_NAMED, _ANY):
        numbers = {int(found) for found in pattern.findall(_SCALE.sub(" ", text))}
        if len(numbers) == 1:
            return _bid(numbers.pop(), text, "bid in a sentence")
        if numbers:
            return Answer(Reply(problem="several numbers and no single bid"))
    return Answer(Reply(problem="no number in the reply"))


def _bid(number: int, rest: str, *notes: str) -> Answer:
    bid = min(max(number, 0), 10)
    outside = ("bid outside 0 to 10",) if bid != number else ()
    return Answer(Reply(choice=str(bid), notes=(*notes, *outside)), rest)


def _in_json(text: str) -> int | None:
    try:
        data = json.loads(unfence(text) or text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, Mapping):
        return None
    numbers = [value for value in data.values() if isinstance(value, int | float) and not isinstance(value, bool)]
    named = {"bid", "urgency", "score"} & {str(key).casefold() for key in data}
    return int(numbers[0]) if named and len(numbers) == 1 and numbers[0] == numbers[0] // 1 else None
