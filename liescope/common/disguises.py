"""Secrets in a text, also in disguise.

Seen through: the escapes of JSON, URLs and HTML, also nested three deep; invisible characters, which cleaning would
remove, and accents; and for secrets of LONG characters and more also another case, white space between the characters,
compatible characters (full width), base64 and hex. Not seen through: any other code, such as a secret that is spelled
in words, reversed, or told in parts. A model that was given a secret can always find one of those.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from unicodedata import normalize
from urllib.parse import unquote

LONG = 16  # characters from which a secret is found where no short word should be, such as across white space
_DEPTH = 3
_ESCAPE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([/\\\"])|[nrtbf])")
# Controls, format characters, characters that are not shown by default, accents, and halves of surrogate pairs.
_SIGNS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u0300-\u036f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ud800-\udfff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(f"[{_SIGNS}]+")
# What may stand between two characters of a secret, written as it is or as an escape of anything but a plain character.
_BETWEEN = (
    rf"[{_SIGNS}%s]|\\{{1,8}}(?:u(?!00[2-7])[0-9a-fA-F]{{4}}|x(?![2-7])[0-9a-fA-F]{{2}}%s)"
    r"|%%(?:25){0,3}(?![2-7])[0-9a-fA-F]{2}|&\#(?:[xX]0*(?![2-7][0-9a-fA-F];)[0-9a-fA-F]{1,6}"
    r"|0*(?!(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6]);)\d{1,7});|&(?:zwn?j|shy|lrm|rlm|ZeroWidthSpace|NoBreak|nbsp);"
)


def _decodings(text: str) -> Iterator[str]:
    """The text, then each decoding of its escapes, while there are some left to decode."""
    yield text
    for _ in range(_DEPTH):
        if not any(sign in text for sign in "\\%&"):
            return
        undone = unescape(unquote(_ESCAPE.sub(_undone, text)))
        if undone == text:
            return
        text = undone
        yield text


@dataclass(frozen=True, slots=True)
class Decoding:
    """One decoding of a text. seen: without invisible characters and accents; joined: also without white space; folded:
    also in one case.
    """

    text: str
    seen: str
    joined: str
    folded: str


def looks(text: str) -> list[Decoding]:
    """The text and its decodings, as secrets are looked for in them."""
    found = []
    for form in _decodings(text):
        shown = form if form.isascii() and form.isprintable() else _UNSEEN.sub("", normalize("NFKD", form))
        joined = "".join(shown.split())
        found.append(Decoding(form, shown, joined, joined.casefold()))
    return found


@cache
def disguised(secret: str) -> Disguised:
    """The finder of a secret, made once."""
    return Disguised(secret)


class Disguised:
    """Finds one secret (printable ASCII) in texts."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._folded = secret.casefold()
        self._long = len(secret) >= LONG
        self._hex = secret.encode().hex()
        self._codes = tuple(_base64(secret))

    def __repr__(self) -> str:
        return "Disguised()"

    def within(self, text: Iterable[Decoding]) -> bool:
        """Whether a text holds the secret in a form that is seen through."""
        return any(self._in(look) for look in text)

    def replaced(self, text: str, by: str) -> str:
        """The text with something else in the place of the secret; all of the text is replaced if the place of a form
        that is seen through cannot be told.
        """
        if not self.within(looks(text)):
            return text
        text = _pattern(self._secret, self._long).sub(by, text)
        if self._long:
            text = re.sub(self._hex, by, text, flags=re.IGNORECASE)
            for code in self._codes:
                text = text.replace(code, by)
        return by if self.within(looks(text)) else text

    def _in(self, look: Decoding) -> bool:
        if self._secret in look.text or self._secret in look.seen:
            return True
        return self._long and (
            self._folded in look.folded or self._hex in look.folded or any(code in look.joined for code in self._codes)
        )


@cache
def _pattern(secret: str, long: bool) -> re.Pattern[str]:
    parts = [_letter(secret[0])]
    for letter in secret[1:]:
        ends = "".join(sign for sign in "nrtbf" if sign != letter.casefold()) if long else ""
        between = _BETWEEN % (r"\s" if long else "", f"|[{ends}]" if ends else "")
        parts += [f"(?:{between}){{0,64}}?", _letter(letter)]
    return re.compile("".join(parts), re.IGNORECASE if long else re.NOFLAG)


def _letter(letter: str) -> str:
    """The ways to write one ASCII character; nested JSON doubles the backslashes of its escapes."""
    code = f"{ord(letter):02x}"
    digits = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in code)
    return (
        rf"(?:\\{{0,8}}(?:u00{digits}|x{digits}|{re.escape(letter)})|%(?:25){{0,3}}{digits}"
        rf"|&\#(?:0*{ord(letter)}|[xX]0*{digits});)"
    )


def _base64(secret: str) -> Iterator[str]:
    """What base64 makes of a secret at each of the three places where it can begin, without the characters that depend
    on what is around it.
    """
    data = secret.encode()
    for before in range(3):
        whole = b64encode(bytes(before) + data).decode()[-(-8 * before // 6) : 8 * (before + len(data)) // 6]
        yield from {whole, whole.translate(str.maketrans("+/", "-_"))}


def _undone(found: re.Match[str]) -> str:
    number = found[1] or found[2]
    return chr(int(number, 16)) if number else found[3] or " "
