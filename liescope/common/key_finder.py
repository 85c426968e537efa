"""The finder of keys in all that is said and kept: the values of this machine's secrets (variables named like one, and
those named for it), and anything that has the shape of a key.

Texts are read as they are and with the escapes of JSON, URLs and HTML undone, also nested three deep, with and without
tags and the colours of terminals. A secret is found where PIECE characters of it follow each other, forwards or
backwards, one of them may be missing, when nothing but letters and digits counts: no case, punctuation, space,
invisible character, accent or letter of another alphabet that looks alike; and where as many stand in base64 or hex. A
secret that could be words is found as a whole, and a short one as it is written. Any other encoding goes unnoticed,
such as a secret spelled out in words; a model that knows a secret can always find one.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from unicodedata import normalize
from urllib.parse import unquote

HIDDEN = "[key]"
PIECE = 12
# So many characters need a secret that could be words, so that it is no sentence by chance.
LONG = 16
_DEPTH = 3
_ESCAPE = re.compile(
    r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([/\\\"])|[nrtbf])"
    r"|%[0-7][0-9a-fA-F]|(?:%[89a-fA-F][0-9a-fA-F])+|&(?:\#[xX]?[0-9a-fA-F]{1,7}|[A-Za-z]{2,31});"
)
_MARKUP = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|<[^<>]*>")
_LETTERS = bytes(range(256)).lower()
_OTHERS = bytes(code for code in range(128) if not chr(code).isalnum())
_ALIKE = str.maketrans(
    "аᴀαвсᴄеԁһніιјкκӏмոоοрρԛѕтτυսνѵԝхχуγАΑВΒСЕΕНΗІΙЈКΚМΜΝОΟРΡЅТΤХΧУΥΖ",
    "aaabccedhhiijkklmnooppqsttuuvvwxxyyAABBCEEHHIIJKKMMNOOPPSTTXXYYZ",
)
# Controls, format characters, characters that are not shown by default, accents, and halves of surrogate pairs.
_SIGNS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u0300-\u036f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    "\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u20d0-\u20ff\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ud800-\udfff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_UNSEEN = re.compile(f"[{_SIGNS}]+")


def _decodings(text: str) -> Iterator[str]:
    """The text, then each decoding of its escapes, while there are some left to decode."""
    yield text
    for _ in range(_DEPTH):
        if not any(sign in text for sign in "\\%&") or text == (text := _ESCAPE.sub(_undone, text)):
            return
        yield text


@dataclass(frozen=True, slots=True)
class Decoding:
    """One decoding of a text. seen: without invisible characters and accents; folded: its letters and digits alone, in
    one case, also of the text without markup.
    """

    text: str
    seen: str
    folded: tuple[str, ...]


def looks(text: str) -> list[Decoding]:
    """The text and its decodings, prepared for the search for secrets."""
    found = []
    for form in _decodings(text):
        bare = _MARKUP.sub("", form) if "<" in form or "\x1b" in form else form
        found.append(Decoding(form, _seen(form), tuple(_folded(one) for one in dict.fromkeys((form, bare)))))
    return found


def _seen(text: str) -> str:
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub("", normalize("NFKD", text))


def _folded(text: str) -> str:
    if not text.isascii():
        text = normalize("NFKD", text).translate(_ALIKE)
    return text.encode("ascii", "ignore").translate(_LETTERS, _OTHERS).decode()


class Disguised:
    """Finds one secret (printable ASCII) in texts. long: whether it is also found changed and in pieces."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        folded = _folded(secret)
        words = secret.isalpha() or not (re.search("[0-9]", secret) or secret not in (secret.lower(), secret.upper()))
        size = max(LONG, len(folded)) if words else PIECE
        self.long = len(folded) >= size
        self._pieces: dict[int, set[str]] = {}
        if self.long:
            near = _windows(folded, size)
            if not words:
                near |= {one[:i] + one[i + 1 :] for one in _windows(folded, size + 1) for i in range(1, size)}
            self._pieces[size] = near | {piece[::-1] for piece in near}
            self._pieces[2 * size] = _windows(secret.encode().hex(), 2 * size)
            self._pieces[size * 4 // 3] = set().union(*(_windows(_folded(c), size * 4 // 3) for c in _base64(secret)))
        # Any piece holds one of these where the text is cut into stretches of half of PIECE.
        self._hints = {hint for pieces in self._pieces.values() for piece in pieces for hint in _windows(piece, _HINT)}

    def __repr__(self) -> str:
        return "Disguised()"

    def within(self, text: Iterable[Decoding]) -> bool:
        """Whether a text holds the secret, plainly or in one of the disguises."""
        return any(
            self._secret in look.text or self._secret in look.seen or any(any(self._in(one)) for one in look.folded)
            for look in text
        )

    def replaced(self, text: str, by: str) -> str:
        """The text with the secret replaced."""
        if not self.within(looks(text)):
            return text
        hidden = bytearray(len(text))
        for signs in _placed(text):
            for fold in (str, _seen, _folded):
                places = [(sign, first, last) for each, first, last in signs for sign in fold(each)]
                for start, end in self._in("".join(sign for sign, _, _ in places), plain=fold is not _folded):
                    first, last = places[start][1], places[end - 1][2]
                    hidden[first:last] = b"\1" * (last - first)
        spans = [found.span() for found in re.finditer(b"\1+", hidden)]
        for start, end in reversed(spans):
            text = text[:start] + by + text[end:]
        return text

    def _in(self, text: str, plain: bool = False) -> Iterator[tuple[int, int]]:
        """Where a text, folded or plain, holds the secret or a piece of it."""
        if plain:
            yield from (found.span() for found in re.finditer(re.escape(self._secret), text))
        elif any(text[at : at + _HINT] in self._hints for at in range(0, len(text), _HINT)):
            for size, pieces in self._pieces.items():
                for at in range(len(text) - size + 1):
                    if text[at : at + size] in pieces:
                        yield at, at + size


disguised = cache(Disguised)
"""A finder for a secret, made only once."""
_HINT = PIECE // 2


def _windows(text: str, size: int) -> set[str]:
    return {text[at : at + size] for at in range(len(text) - size + 1)}


_Signs = list[tuple[str, int, int]]  # characters, and from where to where each stands in the original text


def _placed(text: str) -> Iterator[_Signs]:
    """As `_decodings`, each with and without markup."""
    signs: _Signs = [(sign, at, at + 1) for at, sign in enumerate(text)]
    for form in _decodings(text):
        if form is not text:
            signs = _changed(_ESCAPE, signs, _undone)
        yield signs
        if _MARKUP.search(form):
            yield _changed(_MARKUP, signs, lambda _: "")


def _changed(what: re.Pattern[str], signs: _Signs, by: Callable[[re.Match[str]], str]) -> _Signs:
    new: _Signs = []
    last = 0
    for found in what.finditer("".join(sign for sign, _, _ in signs)):
        start, end = found.span()
        new += signs[last:start]
        new += [(sign, signs[start][1], signs[end - 1][2]) for sign in by(found)]
        last = end
    return new + signs[last:]


def _base64(secret: str) -> Iterator[str]:
    """What base64 makes of a secret at each of the three places where it can begin, without the characters that depend
    on its neighbours.
    """
    data = secret.encode()
    for before in range(3):
        yield b64encode(bytes(before) + data).decode()[-(-8 * before // 6) : 8 * (before + len(data)) // 6]


def _undone(found: re.Match[str]) -> str:
    number, whole = found[1] or found[2], found[0]
    if whole[0] != "\\":
        return unescape(whole) if whole[0] == "&" else unquote(whole)
    return chr(int(number, 16)) if number else found[3] or " "


_SECRET = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 8
_SHAPES = {
    "an API key (sk-…)": re.compile(r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}"),
    "a Hugging Face token (hf_…)": re.compile(r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,}"),
    "a Google API key (AIza…)": re.compile(r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}"),
    "a GitHub token (gh…_…)": re.compile(r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50,})"),
    "an AWS access key (AKIA…)": re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    "a Groq or xAI key (gsk_…, xai-…)": re.compile(r"(?<![A-Za-z0-9])(?:gsk_|xai-)[A-Za-z0-9]{32,}"),
    "a private key (PEM)": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
}


def secrets_of(environment: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """The variables that hold a secret, by their name (OPENAI_API_KEY, HF_TOKEN …) or listed in `named`, if their value
    is long enough.
    """
    also = frozenset(named)
    found = {name: value.strip() for name, value in environment.items() if name in also or _SECRET.search(name)}
    return {name: value for name, value in found.items() if len(value) >= _SHORTEST}


def is_word(value: str) -> bool:
    """Whether a value is one short word, such as servers at home take for a key: people say it by chance."""
    return len(value) < LONG and value.isalpha() and value in (value.lower(), value.upper())


def find_secret(text: str, secrets: Mapping[str, str], shapes: bool = True) -> str:
    """A description of the secret in a text, or "" for none. shapes: whether something that only looks like a key
    counts.
    """
    found = looks(text)
    for name, value in secrets.items():
        if disguised(value).within(found):
            return f"the value of {name}"
    for look in found if shapes else ():
        for what, shape in _SHAPES.items():
            if shape.search(look.seen):
                return f"what looks like {what}"
    return ""


def hide_secrets(text: str) -> str:
    """The text without this machine's secrets, in any of the disguises, and without anything shaped like a key."""
    for value in secrets_of(os.environ).values():
        text = disguised(value).replaced(text, HIDDEN)
    for shape in _SHAPES.values():
        text = shape.sub(HIDDEN, text)
    return text
