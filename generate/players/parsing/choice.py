"""A raw text made safe to store and freed of its reasoning, and the player that it names.

Each step of the cleaning takes one pass over the text, so even a hostile answer costs only time proportional to its
length.

A choice (Mini-Mafia paper, Appendix A.1) is read strictly first: the first line is exactly an option. Then, each with a
note: different case, markdown or punctuation; a name in a sentence, as a whole word and not in a negated mention ("not
Alice", "instead of Alice", "nicht Alice"), when it is the only one or the only one after a verb of choosing. Two
equally likely names are unusable: the reader does not decide for the player.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from liescope.common.text import regex
from liescope.games.core import Reply

_NAMES = r"(?:(?:seed|mm):)?think|thinking|thoughts?|reasoning|reasoning_scratchpad|reflection|analysis"
_OPEN = regex(
    rf"<(?:{_NAMES})>|\[think\]|◁think▷|<\|think\|>|<\|begin_of_thought\|>|<\|start_thinking\|>"
    r"|<\|channel>\s?thought|<unused94>(?:thought)?",
    re.IGNORECASE,
)
_CLOSE = regex(
    rf"</(?:{_NAMES})>|\[/think\]|◁/think▷|<\|/think\|>|<\|end_of_thought\|>|<\|end_thinking\|>|<channel\|>|<unused95>",
    re.IGNORECASE,
)
_CHANNEL = regex(r"<\|channel\|>\s{0,9}(\w{1,20})[^<>]{0,99}(?:<\|constrain\|>[^<>]{0,99})?<\|message\|>")
_BARE_CHANNELS = regex(r"(?:analysis|commentary)(?=[\sA-Z])")
_BARE_FINAL = regex(r"assistant\s{0,9}(?:commentary\s{0,9})?final")
_HARMONY_END = regex(r"<\|(?:end|return|call)\|>(?:<\|start\|>\w{0,20})?")
_HARMONY_START = regex(r"<\|start\|>\w{0,20}")
_STOPS = regex(
    r"(?:\s{0,9}(?:<\|(?:im_end|eot_id|end_of_text|endoftext|end|return|user|eom_id)\|>|</s>|<end_of_turn>|<eos>"
    r"|<｜end▁of▁sentence｜>)){1,9}\s{0,9}$"
)
_WRAPPERS = tuple(
    (re.compile(rf"\s{{0,99}}{opening}", re.IGNORECASE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        ("<(?:answer|response|output|final_answer|message)>", "</(?:answer|response|output|final_answer|message)>"),
        (r"<\|begin_of_solution\|>", r"<\|end_of_solution\|>"),
        (r"<\|begin_of_box\|>", r"<\|end_of_box\|>"),
        (r"<\|start_response\|>", r"<\|end_response\|>"),
        (r"\\boxed\{", r"\}"),
    )
)

ENDLESS = "the reasoning block never ends"


@dataclass(frozen=True, slots=True)
class Split:
    """answer: the text without its reasoning; reasoning: what was removed; notes: what was done; problem: "", or why
    there is no answer.
    """

    answer: str
    reasoning: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


def split_reasoning(text: str) -> Split:
    """Split a text into its answer and its reasoning, in time proportional to its length.

    Tags in pairs: <think> (DeepSeek, Qwen, GLM), <seed:think>, <mm:think> (MiniMax), [THINK] (Mistral), ◁think▷ (Kimi),
    <|channel>thought … <channel|> and <unused94>thought … <unused95> (Gemma), <|START_THINKING|> (Cohere),
    <|begin_of_thought|> and <REASONING_SCRATCHPAD>. Channels: gpt-oss writes `<|channel|>analysis<|message|>…` and then
    `<|channel|>final<|message|>…`; a server that drops the special tokens leaves `analysis…assistantfinal…`. An opening
    tag is often missing, because the chat template puts it into the prompt.
    """
    text, stops = _STOPS.subn("", text) if text.endswith((">", "|")) else (text, 0)
    if text.startswith('"'):
        found = Split(text)
    elif channel := _CHANNEL.search(text):
        found = _channels(text, channel.start())
    elif (bare := _BARE_CHANNELS.match(text)) and (final := _BARE_FINAL.search(text)):
        found = Split(text[final.end() :].strip(), text[bare.end() : final.start()].strip(), ("reasoning channel",))
    else:
        found = _tags(text)
    answer, wrapped = _unwrapped(found.answer)
    notes = (*found.notes, *["answer in tags"] * wrapped, *["end token removed"] * bool(stops))
    return Split(answer, found.reasoning, notes, found.problem)


def _channels(text: str, begin: int) -> Split:
    """The last final channel is the answer, all other channels are reasoning."""
    answer, reasoning = None, [_HARMONY_START.sub("", text[:begin])]
    heads = list(_CHANNEL.finditer(text))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        body = text[head.end() : after.start() if after else len(text)]
        body = _HARMONY_END.sub("", body).strip()
        if head.group(1) == "final":
            answer = body
        else:
            reasoning.append(body)
    thoughts = "\n\n".join(part.strip() for part in reasoning if part.strip())
    if answer is None:
        return Split("", thoughts, ("reasoning channel",), ENDLESS)
    return Split(answer, thoughts, ("reasoning channel",))


def _tags(text: str) -> Split:
    """A block before the answer, even without its opening tag; or one that begins after the answer."""
    opened = _OPEN.search(text)
    last = max(_CLOSE.finditer(text), key=lambda found: found.end(), default=None)
    before = text[: opened.start()].strip() if opened else ""
    if last is not None:
        if opened is None or opened.start() > last.start() or not before:
            start = opened.end() if opened and opened.start() < last.start() else 0
            rest = _tags_after(text[last.end() :])
            return Split(rest.answer, _joined(text[start : last.start()], rest.reasoning), ("reasoning block first",))
        return Split(
            _joined(before, text[last.end() :]), text[opened.end() : last.start()].strip(), ("reasoning block inside",)
        )
    if opened is None:
        return Split(text)
    if not before:
        return Split("", text[opened.end() :].strip(), (), ENDLESS)
    return Split(before, text[opened.end() :].strip(), ("reasoning block inside",))


def _tags_after(text: str) -> Split:
    """What follows the last closing tag: an answer, possibly with a block that never ends."""
    opened = _OPEN.search(text)
    if opened is None:
        return Split(text.strip())
    return Split(text[: opened.start()].strip(), text[opened.end() :].strip())


def _unwrapped(text: str) -> tuple[str, bool]:
    for opening, closing in _WRAPPERS:
        if opened := opening.match(text):
            closed = closing.search(text, opened.end())
            inside = text[opened.end() : closed.start() if closed else len(text)]
            return _joined(inside, text[closed.end() :] if closed else ""), True
    return text, False


def _joined(first: str, second: str) -> str:
    return "\n".join(part.strip() for part in (first, second) if part.strip())


LONGEST = 100_000

# Invisible characters: controls, zero-width and bidirectional marks, tags, halves of surrogate pairs. The
# zero-width joiners stay: emoji and several scripts need them.
_UNSEEN = regex(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_LINE_ENDS = regex("\r\n?|[\x85\u2028\u2029]")
_FENCE = regex(r"\s*```[^\n`]*\n")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read from a text. reply: its choice, text, assessment or form with the notes, or the problem; rest: the
    text around it, which stays private.
    """

    reply: Reply
    rest: str = ""


def storable(text: str) -> str:
    """The text in a form that UTF-8 can encode: lone surrogates, which JSON can introduce, become "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def visible(raw: str) -> tuple[str, tuple[str, ...]]:
    """The text without invisible characters, cut at LONGEST, with lines ending in "\\n"; and notes of what was done."""
    notes: list[str] = []
    if len(raw) > LONGEST:
        raw = raw[:LONGEST]
        notes.append(f"only the first {LONGEST} characters were read")
    text, removed = _UNSEEN.subn("", _LINE_ENDS.sub("\n", raw))
    if removed:
        notes.append("control characters removed")
    return text.strip(), tuple(notes)


def parsed(text: str) -> Any:
    """What a text holds as JSON; None if it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def clean(raw: str) -> Split:
    """The text without invisible characters, apart from the model's reasoning."""
    text, notes = visible(raw)
    split = split_reasoning(text)
    return replace(split, notes=notes + split.notes)


def unfence(text: str) -> str | None:
    """The contents of a code fence that opens the text, or None if there is no such fence."""
    opened = _FENCE.match(text)
    if not opened:
        return None
    body = text[opened.end() :]
    closed = body.find("```")
    return (body if closed < 0 else body[:closed]).strip()


_EDGES = " \t\n*_`~#>\"'“”„‘’‚‹›«»「」『』【】（）()[]{}.,:;!?。，、：；！？-–—✅➡️→•"
_MARKDOWN = regex(r"[*`~#]+|(?<!\w)_{1,3}|_{1,3}(?!\w)")
_CLAUSE = regex(
    r"[.;:!?\n,()。；：！？，、（）]|\b(?:but|so|because|since|I|sondern|aber|mais|sino|pero|mas|ma|но|а)\b|而是|但|[–—]",
    re.IGNORECASE,
)
_NEGATED = regex(
    r"\b(?:not|never|neither|nor|no|cannot|without|except|excluding|besides|than|over|avoid|trust)\b"
    r"|n[’']t\b|\binstead\s+of\b|\bbelieve\s*$"
    r"|\b(?:nicht|kein\w{0,2}|nie|niemals|statt|anstatt|ohne|außer|pas|jamais|sauf|sans|aucun\w?|nunca|jamás|excepto|sin|não"
    r"|nem|sem|non|mai|senza|tranne|не|ни|нет|кроме|вместо)\b|[不别別勿非没未]|以外",
    re.IGNORECASE,
)
_CLEARED = regex(
    r"\s*(?:(?:is|was|seems|looks)(?:\s+\w+)?\s+(?:not|no|innocent|honest|truthful|town|safe|clear|trustworthy)\b"
    r"|(?:is|was|does|did|would|should|could)n[’']t\b|(?:should|would|could|must)\s+not\b"
    r"|(?:ist|war)\s+(?:\w+\s+)?(?:nicht|kein|unschuldig)|n[’']est\s+pas\b|est\s+innocent|no\s+es\b|es\s+inocente"
    r"|não\s+é\b|non\s+è\b|не\b)"
    r"|[^。、\n]{0,9}(?:不是|是好人|ではな|じゃな|しない|ません|않)",
    re.IGNORECASE,
)
_CHOOSING = regex(
    r"\b(?:vot(?:e|ing)|choos(?:e|ing)|choice|pick(?:ing)?|select(?:ing)?|arrest(?:ing)?"
    r"|investigat(?:e|ing)|kill(?:ing)?|eliminat(?:e|ing)|target(?:ing)?|exil(?:e|ing)|answer|decision"
    r"|stimm[et]|wähl[et]|voter?|choisi[rst]|voto|votar|elijo|escolho|scelgo|голосую|выбираю|投票|投给|选择|票)\b"
    r"(?:\s+(?:is|to|for|on|against|out|goes|going|arrest|investigate|kill|eliminate|vote|be|the|player|must|will"
    r"|für|gegen|pour|contre|por|a|per|contro|за|против))*"
    r"[\s:：\"“„«「'‘=]*$",
    re.IGNORECASE,
)
_OFFERING = regex(r"\b(?:offer(?:ing)?|bid|guess)\b(?: (?:is|of|the))*[\s:$€£\"']*$", re.IGNORECASE)
# Chinese, Japanese and Korean use no spaces between a name and the words around it.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_NEAR = 120  # characters before a name that are searched for a negation or a verb of choosing
_MENTIONS = 200  # a text that mentions names more often than this is not an answer


def read_choice(text: str, options: Sequence[str], moves: bool = False) -> Answer:
    """The option that a cleaned text names, and what followed it. moves: the options are no names, so they count in any
    case, and so does a part that only one of them has.
    """
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
    having = [option for option in options if moves and bare and f" {bare} " in f" {option.casefold()} "]
    if len(having) == 1 and bool(_NEGATED.search(having[0])) == bool(_NEGATED.search(bare)):
        return Answer(Reply(choice=having[0], notes=(*notes, "part of a move")), rest.strip())
    for part, where in ((line, "name in a sentence"), (text, "name further down")):
        found, ambiguous = _in_sentence(part, options, moves)
        if found:
            return Answer(Reply(choice=found, notes=(*notes, where)), text.strip())
        if ambiguous:
            return Answer(Reply(notes=notes, problem="several names and no single choice"))
    return Answer(Reply(notes=notes, problem="no option is named"))


def _in_sentence(text: str, options: Sequence[str], moves: bool) -> tuple[str | None, bool]:
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
            if _CHOOSING.search(before) or (moves and _OFFERING.search(before)):
                chosen.add(option)
        if (
            flags and not moves
        ):  # "will" and "may" are also words: a name in a different case counts only after a verb of choosing
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


_ALONE = regex(r"[\s*_`\"'#>]*(-?\d{1,9})(?:\.0+)?(?:\s*/\s*10|\s*out of 10)?[\s*_`\"'.]*")
_NAMED = regex(
    r"\b(?:bid|urgency|score)\b[\s*_\"']*(?:is|of|:|=)?[\s*_\"'=:]*(-?\d{1,9})(?!\d|\.\d|e\d|\s*(?:or|to|-|–)\s*\d)",
    re.IGNORECASE,
)
_ANY = regex(r"(?<![\w.])-?\d{1,9}(?![\w.]*\d)")
_SCALE = regex(r"/\s*10\b|\bout of 10\b|\b(?:from )?0\s*(?:to|-|–)\s*10\b", re.IGNORECASE)


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
    data = parsed(unfence(text) or text)
    if not isinstance(data, Mapping):
        return None
    numbers = [value for value in data.values() if isinstance(value, int | float) and not isinstance(value, bool)]
    named = {"bid", "urgency", "score"} & {str(key).casefold() for key in data}
    return int(numbers[0]) if named and len(numbers) == 1 and numbers[0] == numbers[0] // 1 else None
