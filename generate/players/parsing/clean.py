"""Cleaning of a raw text before it is read: it is made safe to store, and its reasoning is removed.

Each step takes one pass over the text, so a hostile answer costs time in proportion to its length only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from liescope.games.core import Reply

_NAMES = r"(?:(?:seed|mm):)?think|thinking|thoughts?|reasoning|reasoning_scratchpad|reflection|analysis"
_OPEN = re.compile(
    rf"<(?:{_NAMES})>|\[think\]|◁think▷|<\|think\|>|<\|begin_of_thought\|>|<\|start_thinking\|>"
    r"|<\|channel>\s?thought|<unused94>(?:thought)?",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    rf"</(?:{_NAMES})>|\[/think\]|◁/think▷|<\|/think\|>|<\|end_of_thought\|>|<\|end_thinking\|>|<channel\|>|<unused95>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}(\w{1,20})[^<>]{0,99}(?:<\|constrain\|>[^<>]{0,99})?<\|message\|>")
_BARE_CHANNELS = re.compile(r"(?:analysis|commentary)(?=[\sA-Z])")
_BARE_FINAL = re.compile(r"assistant\s{0,9}(?:commentary\s{0,9})?final")
_HARMONY_END = re.compile(r"<\|(?:end|return|call)\|>(?:<\|start\|>\w{0,20})?")
_HARMONY_START = re.compile(r"<\|start\|>\w{0,20}")
_STOPS = re.compile(
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
    """What follows the last closing tag: an answer, and possibly a block that never ends."""
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
# zero-width joiners stay, which emoji and several scripts need.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_LINE_ENDS = re.compile("\r\n?|[\x85\u2028\u2029]")
_FENCE = re.compile(r"\s*```[^\n`]*\n")


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read of a text. reply: its choice, text, assessment or form with the notes, or the problem; rest: the
    text around it, which stays private.
    """

    reply: Reply
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """text: what to read; reasoning: what was removed; notes: what was done; problem: "", or why there is no text."""

    text: str
    reasoning: str = ""
    notes: tuple[str, ...] = ()
    problem: str = ""


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


def clean(raw: str) -> Cleaned:
    """Remove invisible characters and the model's reasoning (`reasoning.split_reasoning`)."""
    text, notes = visible(raw)
    split = split_reasoning(text)
    return Cleaned(split.answer, split.reasoning, notes + split.notes, split.problem)


def unfence(text: str) -> str | None:
    """The contents of a code fence that opens the text, or None if there is no such fence."""
    opened = _FENCE.match(text)
    if not opened:
        return None
    body = text[opened.end() :]
    closed = body.find("```")
    return (body if closed < 0 else body[:closed]).strip()
