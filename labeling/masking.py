"""A statement with its names masked, which remembers where every character of it stands in the text as it was said; and
what a player is called besides the name: in "Player 2: lime", both "lime" and "Player 2".
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

from liescope.games.vocabulary import NAME

_NUMBERED = re.compile(r"(?P<number>[A-Za-z]+ ?#?\d+)(?:\s*[:–-]\s*|\s*\(\s*)(?P<own>[^\W\d_][\w '-]{0,30}?)\s*\)?")


def nicknames(names: Sequence[str]) -> Mapping[str, str]:
    """Unambiguous nicknames, each with its player's name; the names themselves left out."""
    found = [
        (part, name) for name in dict.fromkeys(names) if (match := _NUMBERED.fullmatch(name)) for part in match.groups()
    ]
    often = Counter(part.casefold() for part in (*dict.fromkeys(names), *(part for part, _ in found)))
    return {part: name for part, name in found if often[part.casefold()] == 1}


_FIRST = 0xF0000
_MOST_NAMES = 0xFFFD
_ODD = {0x2018: "'", 0x2019: "'", 0x02BC: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"', 0x2026: "...", 0x00A0: " "}
_ODD |= {0x00AB: '"', 0x00BB: '"', 0x201F: '"', 0x300C: '"', 0x300D: '"', 0xFF1A: ":"}
_ODD |= {code: " " for code in range(32) if code != 10}
_UNSEEN = (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF, 0x61C)
_PLAIN = {chr(code): plain for code, plain in (_ODD | dict.fromkeys(_UNSEEN, "")).items()}
_ODD_CHARACTER = re.compile(f"[{re.escape(''.join(_PLAIN))}]")
_PRIVATE = re.compile(NAME)
_BLANKS = re.compile(r"[ *_~`]{2,}|[*_~`]")
_FENCE = re.compile(r"(?:```|~~~)(?:\w{1,20}(?=\n))?")
_ANY = f"{NAME[1:-1]}\\w"
_QUOTED = re.compile(
    rf"""\"[^"]{{0,400}}"|(?:(?<=[\s(,:-])|^)'(?:[^'\n]|(?<=[{_ANY}])'(?=\w)){{1,200}}'(?!\w)|"""
    rf"""^[ ]?>[ >]{{0,9}}(?=[{_ANY}"'])[^\n]{{1,1000}}""",
    re.MULTILINE,
)
_WORD = re.compile(rf"[{_ANY}]")

# A label says whose words follow it: "Bob:", "[12:30] <Bob>", "2. Bob (day 1):", "Bob said:", "Bob's words were:".
# "Listen, Bob:", "To Bob:", "@Bob:" and "Bob and Erin:" are none: they say to whom the speaker speaks.
_ASIDE = rf"(?:[(\[][^()\[\]\n]{{0,40}}[)\]]|\d\d?:[\d:]{{2,5}}|(?:[=-]>|→|to) {NAME})"
_LABEL = re.compile(
    rf"(?:(?:^|(?<=[.!?\"'] ))(?:[^{_ANY}\n@]|\d|(?:day|night|round|turn|player|speaker)(?!\w)){{0,24}}"
    rf"(?P<name>{NAME})(?:(?<=[\[<({{].)[\])}}>](?: ?:)?| ?[>|](?!:)| ?(?:[\])}}>] ?)?(?:{_ASIDE} ?)?:(?! ?[()]))"
    rf"|(?P<saying>{NAME}|(?<!\w)(?:he|she|they|you)(?!\w))(?: (?:just|then|also|only|has|already|was|is)){{0,2}}"
    rf" (?:said|says|told|wrote|writes|repl(?:ied|ies)|answered|shouted|whispered|stated|states|announced|claimed|"
    rf"confess(?:ed|es)|admit(?:ted|s)|sw(?:ore|ears)|insist(?:ed|s)|declare[ds]|add(?:ed|s)|typed|posted|goes|like)"
    rf"(?: (?:\w+|{NAME})){{0,2}}:"
    rf"|(?P<whose>{NAME})'s (?:\w+ )?(?:words?|message|statement|line)(?: (?:was|were|is))?:)\s*",
    re.MULTILINE | re.IGNORECASE,
)
_LABELLED = re.compile(rf'(?:{_LABEL.pattern})(?:""|[^\n]*)', re.MULTILINE | re.IGNORECASE)

# Names that are also English words: only the exact spelling counts as the name.
_ORDINARY = frozenset(
    re.findall(
        r"\w+",
        "a an the i he she they you who me it will may mark hope faith grace frank bill rose art ivy jack drew chase "
        "pat rob sue dawn joy summer april june august red blue green town mafia detective villager",
    )
)

_Edit = tuple[int, int, int, int]  # start and end of what was replaced; start and end of what took its place


class MaskedText:
    """What the speaker says, cleaned, with each name as one private character. Left out, because they are someone
    else's, are words in quotation marks, block quotes and code fences, unless nothing else is said, and words behind
    another player's name, to the end of their line or quotation. What stands behind the speaker's own name is the
    speaker's. text: the result; `said` gives positions in the original.
    """

    def __init__(self, text: str, names: tuple[str, ...], speaker: str = "") -> None:
        self.text = text
        self._steps: list[list[_Edit]] = []
        if not (text.isascii() and text.isprintable()):
            self._replace(_ODD_CHARACTER, lambda found: _PLAIN[found[0]])
            self.text = _PRIVATE.sub(" ", self.text)
        self._replace(_FENCE, lambda _: '"')
        self._replace(_BLANKS, lambda _: " ")
        pattern, marks = _name_pattern(names)
        if pattern:
            self._replace(pattern, lambda found: marks[found[0]])
        me = mark_of(speaker, names)

        def is_own(label: re.Match[str]) -> bool:
            return (label["name"] or label["saying"] or label["whose"]) == me

        marked = any(mark in self.text for mark in ":])}>|")
        own = {label.end() for label in _LABEL.finditer(self.text) if is_own(label)} if marked else set()
        quotes = any(mark in self.text for mark in "\"'>")
        if quotes:
            alone = not _WORD.search(_QUOTED.sub("", self.text))
            self._replace(_QUOTED, lambda quote: _bare(quote[0]) if alone or quote.start() in own else '""')
        if own:
            self._replace(_LABEL, lambda label: "\n" if is_own(label) else label[0])
        if marked:
            self._replace(_LABELLED, lambda _: "\n")

    def said(self, start: int, end: int) -> tuple[int, int]:
        """Where the words from `start` to `end` stand in the original text."""
        for edits in reversed(self._steps):
            start, end = _before(edits, start, end=False), _before(edits, end, end=True)
        return start, end

    def _replace(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> None:
        edits: list[_Edit] = []
        shift = 0

        def replaced(found: re.Match[str]) -> str:
            nonlocal shift
            words, (start, end) = new(found), found.span()
            if len(words) != end - start:
                edits.append((start, end, start + shift, start + shift + len(words)))
                shift += len(words) - (end - start)
            return words

        self.text = pattern.sub(replaced, self.text)
        if edits:
            self._steps.append(edits)


def _bare(quoted: str) -> str:
    """The words without their marks, of the same length."""
    return f" {quoted[1:-1]} " if quoted[0] in "\"'" else quoted


def _before(edits: list[_Edit], position: int, end: bool) -> int:
    """Where a first character stood before the edits, or, if `end`, where a text ended; for one within a replacement,
    where what it replaced began or ended.
    """
    at = (bisect_left if end else bisect_right)(edits, position, key=itemgetter(2))
    if not at:
        return position
    old_start, old_end, _, new_end = edits[at - 1]
    if position < new_end or (end and position == new_end):
        return old_end if end else old_start
    return position + old_end - new_end


@lru_cache(maxsize=256)
def _name_pattern(names: tuple[str, ...]) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    """A pattern that matches any name or nickname as a word, and the private character of each spelling."""
    marks: dict[str, str] = {}
    kept = names[:_MOST_NAMES]
    called = list(enumerate(kept))
    for short, name in nicknames(kept).items():
        called += [(kept.index(name), short), (kept.index(name), short.capitalize())]
    for number, name in called:
        spelled = _BLANKS.sub(" ", _ODD_CHARACTER.sub(lambda found: _PLAIN[found[0]], name)).strip()
        spellings = {spelled} if spelled.lower() in _ORDINARY else {spelled, spelled.lower(), spelled.upper()}
        for spelling in spellings:
            if spelling:  # a name of punctuation alone cannot be masked
                marks.setdefault(spelling, chr(_FIRST + number))
    if not marks:
        return None, marks
    longest_first = sorted(marks, key=lambda spelling: (-len(spelling), spelling))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w|(?<=red) flag)"), marks


def mark_of(name: str, names: Sequence[str]) -> str:
    """The private character of a player, "" for a speaker who is not a player."""
    return chr(_FIRST + names.index(name)) if name in names else ""


def name_of(mark: str, names: Sequence[str]) -> str:
    """The player with a private character, as the game spells the name."""
    return names[ord(mark) - _FIRST]
