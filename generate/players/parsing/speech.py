"""What all players will hear: the message of a discussion turn, and the reason of a vote.

A message is quoted at the start of the answer (Mini-Mafia paper, Appendix A.1).

Strict: the first line begins with a straight double quote, and the message runs to the next one. A text without a
quoted message is unusable, and the rules turn it into a silence. Every leniency leaves a note.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from liescope.common.text import regex
from liescope.games.core import Reply
from liescope.generate.players.parsing.choice import Answer, read_choice, unfence
from liescope.generate.players.parsing.reply_forms import find_object, first_text, whole_object

NO_MESSAGE = "no quoted message"

_CURLY = str.maketrans(dict.fromkeys("“”„‟«»＂「」『』〝〞〟", '"'))
_DECORATION = regex(r"[\s*_>#`~\\-]*(?=\")")
_LABEL_WORDS = (
    "here|is|here's|my|the|your|this|public|final|discussion|message|response|reply|answer|statement|speech|output"
    "|round|to|everyone|everybody|all|you|me|i|say|says|as|sure|certainly|okay|ok|of|course|hier|ist|meine|nachricht"
    "|an|alle|voici|mon|pour|tous|mi|mensaje|a|todos|minha|mensagem|messaggio|сообщение|发言|消息|发言内容|メッセージ"
)
_STAGE = regex(r"[\s>#-]*(?:\*[^*\"\n]{1,160}\*|\([^()\"\n]{1,160}\)|_[^_\"\n]{1,160}_)\s*(?=\")")
_SINGLE = regex(r"'(?!\s)([^\n]{1,4000}?)(?<!\s)'[ \t]*(?:\n|$)")
_MESSAGES = ("message", "speech", "statement", "public_message", "text", "say", "content")
_THOUGHTS = ("reasoning", "reason", "thoughts", "thought", "thinking", "analysis")
_SPACE = regex(r"\s+")
_QUOTE = regex('"')


def read_message(text: str, seat: str) -> Answer:
    """The message in a cleaned text by the player with this name ("" for a chosen silence), and what followed it."""
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
            return _message(_one_line(single.group(1)), text[single.end() :].strip(), *notes, "single quotes")
        if begin is None:
            return _message(None, "", *notes)
        if text[begin] != '"':
            notes.append("curly quotes")
        text = straight[begin:]
    return _quoted(text, notes)


def _message(text: str | None, rest: str, *notes: str) -> Answer:
    return Answer(Reply(text=text, notes=notes, problem=NO_MESSAGE if text is None else ""), rest)


@lru_cache(maxsize=1024)
def _label(seat: str) -> re.Pattern[str]:
    """A label before the quote ("Message: …"), or the speaker's own name; another's would be someone else's line."""
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


def _in_json(data: Mapping[str, Any]) -> Answer:
    """The message in a JSON object, a text with or without its own quotation marks."""
    said = first_text(data, _MESSAGES)
    if said is None:
        return _message(None, "")
    straight = said.translate(_CURLY).strip()
    if len(straight) > 1 and straight[0] == straight[-1] == '"':
        straight = straight[1:-1]
    return _message(_one_line(straight), first_text(data, _THOUGHTS) or "", "message in JSON")


def _quoted(text: str, notes: list[str]) -> Answer:
    """Split a text that begins with a straight quote into the message and what follows it."""
    line = text.partition("\n")[0]
    end = _closing(line, notes)
    if end is None:
        end = _closing(text.partition("\n\n")[0], notes)
        if end is None or text[end + 1 : end + 2] not in ("", "\n"):
            notes.append("unclosed quote")
            message = _one_line(line[1:])
            return _message(message + "…" if message else None, text[len(line) :].strip(), *notes)
        notes.append("message over several lines")
    message = _one_line(text[1:end].replace('\\"', '"').removesuffix("\\"))
    return _message(message, text[end + 1 :].strip(" \n\t*_`"), *notes)


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


KEPT_BACK = "words without quotation marks were kept private"
UNQUOTED = "reason without quotation marks"

_REASON_WORDS = (
    r"reasons?|explanation|justification|rationale|public (?:reason|statement|message)|statement|message|because|why"
    r"|begründung|grund|raison|motif|justificación|razón|motivo|justificativa|razão|motivazione|причина|обоснование"
    r"|理由|原因|이유"
)
_REASON_LABEL = regex(
    rf"^[ \t*_#>`\"-]{{0,9}}(?:\d\. ?)?(?:my |the |meine |mein |ma |mon |mi |minha |meu )?(?:{_REASON_WORDS})"
    r"(?: (?:to|for) (?:every(?:body|one)|all))?[ \t*_`]{0,9}[:：–—=-]{1,2}[ \t*_`]{0,9}",
    re.IGNORECASE | re.MULTILINE,
)
_PRIVATE_LABEL = regex(
    r"\W{0,9}(?:\w+ ){0,2}(?:reasoning|thoughts?|thinking|analysis|strategy|private(?:ly)?|internal|notes?|aside|plan"
    r"|secret|hidden|not public|self)\b[^:\n]{0,40}[:：]",
    re.IGNORECASE,
)
_ASIDE = regex(
    r"\W{0,9}(?:let me know|i hope (?:this|that)|i(?:'m| am) sorry|sorry|i apologi[sz]e|as an ai\b|please note"
    r"|note that|is there anything|would you like|feel free)",
    re.IGNORECASE,
)
_SECRETS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_SECRET = regex(
    re.sub(r"<(\w+)>", lambda part: str(_SECRETS["parts"][part[1]]), "|".join(_SECRETS["secret"]["patterns"])),
    re.IGNORECASE,
)
_INNOCENT = (
    r"(?:innocent|(?:just |only )?a villager|no (?:were)?wolf|not a (?:were)?wolf|the (?:seer|doctor|detective))\b"
)
_BULLET = regex(r"^[ \t]*(?:[-*•>]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_MARKS = " \t\n*_`'‘’>~"
_BEHIND_NAME = regex(r"[*_`\"'“”]{0,6}\s{0,3}(?:[:：,;–—]|[.] |- | - |\()\s{0,3}")
_NAME_WORDS = 4  # a longer first line (in words) is no attempt at a name
_VOTE_WORDS = frozenset(
    {"", "vote", "my", "final", "answer", "name", "stimme", "voto", "投票", "1.", "i", "for", "first"}
)
_VOTING_WORDS = 8  # "I vote for Bob." is one; a longer line is a sentence with other thoughts


def read_unquoted(text: str, option: str | None) -> tuple[str | None, str]:
    """The reason in a cleaned text without quoted words ("" if none was given, None if the words were held back), and
    what stays private. option: the name that was read, None if there is none.

    The question asks for the name on the first line and the reason, addressed to all, on the next. So the text in that
    place is the reason even if its quotation marks are missing: the words on the name's line after a separator ("Bob -
    he dodged"), or the first paragraph below it. The following is kept private, since a private reason read aloud would
    lose its author the game, and a public reason held back becomes a flagged silence:

    - words that do not follow the name (a sentence that names someone in passing is thinking, or may be),
    - all paragraphs after the first, and a paragraph in brackets or after a word like "Reasoning:" or "Private:",
    - words that give away what a seat hides: its role as werewolf, mafioso or jester, its partners, its cover, its
      plan, or its knowledge that its target is innocent.
    """
    if label := _REASON_LABEL.search(text):
        return _paragraph(text[label.end() :], option)
    line, _, below = text.partition("\n")
    same = _behind_name(line, option)
    if same is None:
        return None, text.strip()
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


def _paragraph(text: str, option: str | None) -> tuple[str | None, str]:
    """The first paragraph as the reason, unless it must be held back."""
    first, _, rest = text.strip().partition("\n\n")
    reason = " ".join(_BULLET.sub("", first).split()).strip(_MARKS)
    if not reason:
        return "", rest.strip()
    bracketed = first.strip(_MARKS)[0] in "([（"
    if bracketed or _PRIVATE_LABEL.match(first) or _ASIDE.match(first) or gives_away(reason, option):
        return None, text.strip()
    return reason, rest.strip()


def gives_away(reason: str, option: str | None) -> bool:
    """Whether a reason for a vote reveals what its author hides: its identity, or that its target is innocent."""
    words = reason.replace("’", "'")
    target = rf"(?<!if ){re.escape(option)} is {_INNOCENT}" if option else "(?!)"
    return bool(_SECRET.search(words) or re.search(target, words, re.IGNORECASE))


_VOTES = ("vote", "name", "choice", "target", "player")
_REASONS = ("reason", "public_reason", "message", "explanation", "statement", "justification", "rationale")
_VOTE_THOUGHTS = ("reasoning", "thoughts", "thought", "thinking", "analysis", "private_reasoning")
_OPENING_QUOTE = regex(r'(?<!\\)["“„«「『]')
_QUOTES = 20  # the maximum number of opening quotes tried


def read_explained_vote(text: str, options: Sequence[str], seat: str) -> Answer:
    """The vote in a cleaned text by the player with this name, first, and then its reason, which all players will hear.

    The reason is a standalone text in double quotation marks, not a quotation within a sentence; the field of a JSON
    object; or, with a note, the text in the reason's place without quotation marks (`read_unquoted`). If words were
    written but must stay private, there is no reason: its text is None, which the rules turn into a silence with a
    fallback. A readable reason is kept even if the name cannot be read: then only the vote has no choice, with a note
    that says why.
    """
    if data := find_object(text, []):
        vote = first_text(data, _VOTES)
        choice = read_choice(text if vote is None else vote, options).reply
        reason = " ".join((first_text(data, _REASONS) or "").split())
        return _vote(choice, reason, first_text(data, _VOTE_THOUGHTS) or "", ("vote in JSON",))
    named = read_choice(text, options)
    choice, after = named.reply, text if named.reply.choice is None else named.rest
    begin = _opening(after, choice.choice or "")
    message = read_message(after[begin:] if begin is not None else "", seat)
    if message.reply.text is not None:
        return _vote(choice, message.reply.text, message.rest, choice.notes + message.reply.notes)
    bare, rest = read_unquoted(text, choice.choice)
    note = [KEPT_BACK] if bare is None else [UNQUOTED] if bare else []
    return _vote(choice, bare, rest, (*choice.notes, *note))


def _vote(choice: Reply, reason: str | None, rest: str, notes: tuple[str, ...]) -> Answer:
    if choice.choice is None and not reason:
        return Answer(Reply(text="", notes=notes, problem=choice.problem), rest)
    missing = (f"vote: {choice.problem}",) if choice.choice is None else ()
    return Answer(Reply(choice=choice.choice, text=reason, notes=(*notes, *missing)), rest)


def _opening(text: str, option: str) -> int | None:
    """Where a standalone quotation opens: at the start of a line, or after the name, a sentence or a label."""
    for number, found in enumerate(_OPENING_QUOTE.finditer(text)):
        if number == _QUOTES:
            break
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip(" \t*_`>#~")
        if not before or before[-1] in ".:!?;–—-" or before.casefold() == option.casefold():
            return found.start()
    return None
