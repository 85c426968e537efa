"""The message of a discussion turn: quoted at the start of the answer (Mini-Mafia paper, Appendix A.1).

Strict: the first line begins with a straight double quote, and the message runs to the next one. A text without a
quoted message is unusable, and the rules turn it into a silence. Every leniency leaves a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from liescope.generate.players.parsing.clean import unfence
from liescope.generate.players.parsing.forms import first_text, whole_object

NO_MESSAGE = "no quoted message"

_CURLY = str.maketrans(dict.fromkeys("“”„‟«»＂「」『』〝〞〟", '"'))
_DECORATION = re.compile(r"[\s*_>#`~\\-]*(?=\")")
_LABEL_WORDS = (
    "here|is|here's|my|the|your|this|public|final|discussion|message|response|reply|answer|statement|speech|output"
    "|round|to|everyone|everybody|all|you|me|i|say|says|as|sure|certainly|okay|ok|of|course|hier|ist|meine|nachricht"
    "|an|alle|voici|mon|pour|tous|mi|mensaje|a|todos|minha|mensagem|messaggio|сообщение|发言|消息|发言内容|メッセージ"
)
_STAGE = re.compile(r"[\s>#-]*(?:\*[^*\"\n]{1,160}\*|\([^()\"\n]{1,160}\)|_[^_\"\n]{1,160}_)\s*(?=\")")
_SINGLE = re.compile(r"'(?!\s)([^\n]{1,4000}?)(?<!\s)'[ \t]*(?:\n|$)")
_MESSAGES = ("message", "speech", "statement", "public_message", "text", "say", "content")
_THOUGHTS = ("reasoning", "reason", "thoughts", "thought", "thinking", "analysis")
_SPACE = re.compile(r"\s+")
_QUOTE = re.compile('"')


@dataclass(frozen=True, slots=True)
class Message:
    """text: None if there is no message, "" for a chosen silence; rest: what followed it, the speaker's reasons."""

    text: str | None
    rest: str = ""
    notes: tuple[str, ...] = ()


def read_message(text: str, seat: str) -> Message:
    """The message in a cleaned text by the player with this name."""
    notes: list[str] = []
    if not text.startswith('"'):
        if data := whole_object(text):
            return _in_json(data)
        inside = unfence(text)
        if inside is not None:
            text = inside
            notes.append("code fence")
        straight = text.translate(_CURLY)
        begin = _quote_at(straight, seat, notes)
        if begin is None and (single := _SINGLE.match(text)):
            return Message(_one_line(single.group(1)), text[single.end() :].strip(), (*notes, "single quotes"))
        if begin is None:
            return Message(None, notes=tuple(notes))
        if text[begin] != '"':
            notes.append("curly quotes")
        text = straight[begin:]
    return _quoted(text, notes)


@lru_cache(maxsize=1024)
def _label(seat: str) -> re.Pattern[str]:
    """A label before the quote: a few words that announce a message, or the speaker's own name ("Message: …",
    "**Alice:** …"). Another player's name does not count: that would be someone else's line.
    """
    words = rf"(?:(?:{_LABEL_WORDS}|{re.escape(seat)})\b[!,.\]]?\s*){{1,10}}"
    return re.compile(rf"[\s*_>#`~\[-]*{words}(?:\([^()\n]{{1,40}}\))?[*_]*[:：][\s*_>`]*(?=\")", re.I)


def _quote_at(text: str, seat: str, notes: list[str]) -> int | None:
    """The position of the opening quote, after any markdown and label."""
    if text.startswith('"'):
        return 0
    if found := _DECORATION.match(text):
        notes.append("markdown before the quote")
        return found.end()
    if found := _STAGE.match(text):
        notes.append("stage direction before the quote")
        return found.end()
    if found := _label(seat).match(text):
        notes.append("label before the quote")
        return found.end()
    return None


def _in_json(data: Mapping[str, Any]) -> Message:
    """The message in a JSON object, a text with or without its own quotation marks."""
    said = first_text(data, _MESSAGES)
    if said is None:
        return Message(None)
    straight = said.translate(_CURLY).strip()
    if len(straight) > 1 and straight[0] == straight[-1] == '"':
        straight = straight[1:-1]
    return Message(_one_line(straight), first_text(data, _THOUGHTS) or "", ("message in JSON",))


def _quoted(text: str, notes: list[str]) -> Message:
    """Split a text that begins with a straight quote into the message and what follows it."""
    line = text.partition("\n")[0]
    end = _closing(line, notes)
    if end is None:
        end = _closing(text.partition("\n\n")[0], notes)
        if end is None or text[end + 1 : end + 2] not in ("", "\n"):
            notes.append("unclosed quote")
            message = _one_line(line[1:])
            return Message(message + "…" if message else None, text[len(line) :].strip(), tuple(notes))
        notes.append("message over several lines")
    return Message(
        _one_line(text[1:end].replace('\\"', '"').removesuffix("\\")), text[end + 1 :].strip(" \n\t*_`"), tuple(notes)
    )


def _closing(text: str, notes: list[str]) -> int | None:
    """Index of the quote that ends the message. A quote escaped by a backslash does not end it, nor does one that opens
    a quotation inside it (a space before, a letter after), nor its partner. If these do not pair up, the first one ends
    it; if every quote is escaped, one at the very end does.
    """
    depth, first, escaped, nested = 0, None, 0, False
    for found in _QUOTE.finditer(text, 1):
        index = found.start()
        if text[index - 1] == "\\":
            escaped = index
            continue
        first = index if first is None else first
        if text[index - 1] in " (" and text[index + 1 : index + 2].isalnum():
            depth, nested = depth + 1, True
        elif depth:
            depth -= 1
        else:
            notes.extend(["escaped quotes"] * bool(escaped) + ["quotes inside the message"] * nested)
            return index
    if first is None and escaped and not text[escaped + 1 :].strip():
        notes.append("escaped quotes")
        return escaped
    return first


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
