"""Nothing that is published holds a secret, or an address of this machine's endpoints.

Two scans for secrets: for the values of this machine's (variables named like one, and those that the runs' players name
with key_env), and for anything that has the shape of a key. Both see through disguises: the escapes of JSON, URLs and
HTML, also nested three deep; invisible characters, which cleaning would remove, and accents; and for secrets of LONG
characters and more also another case, white space between the characters, compatible characters (full width), base64
and hex. Any other encoding goes unnoticed, such as a secret spelled out in words, reversed or split up; a model that
knows a secret can always find one.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize
from urllib.parse import unquote
from zipfile import ZipFile

from liescope.common.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa


# A secret needs so many characters to be looked for where a short word would match by chance, as across white space.
LONG = 16
HIDDEN = "[key]"
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
    """The text and its decodings, prepared for the search for secrets."""
    found = []
    for form in _decodings(text):
        shown = form if form.isascii() and form.isprintable() else _UNSEEN.sub("", normalize("NFKD", form))
        joined = "".join(shown.split())
        found.append(Decoding(form, shown, joined, joined.casefold()))
    return found


@cache
def disguised(secret: str) -> Disguised:
    """A finder for this secret, made only once."""
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
        """Whether a text holds the secret, plainly or in one of the disguises."""
        return any(self._in(look) for look in text)

    def replaced(self, text: str, by: str) -> str:
        """The text with the secret replaced; the whole text is replaced where a disguised secret cannot be located."""
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
    on its neighbours.
    """
    data = secret.encode()
    for before in range(3):
        whole = b64encode(bytes(before) + data).decode()[-(-8 * before // 6) : 8 * (before + len(data)) // 6]
        yield from {whole, whole.translate(str.maketrans("+/", "-_"))}


def _undone(found: re.Match[str]) -> str:
    number = found[1] or found[2]
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
_KEY_ENV = re.compile(r"[?&]key_env=([A-Za-z_][A-Za-z0-9_]*)")


def secrets_of(environment: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """The variables that hold a secret, by their name (OPENAI_API_KEY, HF_TOKEN …) or listed in `named`, if their value
    is long enough.
    """
    also = frozenset(named)
    found = {name: value.strip() for name, value in environment.items() if name in also or _SECRET.search(name)}
    return {name: value for name, value in found.items() if len(value) >= _SHORTEST}


def key_variables(plan: Any) -> set[str]:
    """The variables that a run's plan names as keys of its players."""
    return set(_KEY_ENV.findall(json.dumps(plan)))


def check_no_secret(paths: Iterable[Path], secrets: Mapping[str, str], advice: str) -> None:
    """Raises UsageError if a file contains a secret's value or anything shaped like a key. The message names the
    variable or the shape, never the value. advice: what to do about it, besides revoking the secret.
    """
    for path in paths:
        for text in texts_of(path):
            check_text(path, text, secrets, advice)


def check_text(where: object, text: str, secrets: Mapping[str, str], advice: str, done: str = "published") -> None:
    """As `check_no_secret`, for one text. done: what was left undone because of it."""
    if what := find_secret(text, secrets):
        raise UsageError(f"{where} holds {what}, so nothing was {done}; revoke that secret, {advice}")


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


def hide_secrets(text: str, secrets: Mapping[str, str]) -> str:
    """The text without these secrets, in any of the disguises, and without anything shaped like a key."""
    for value in secrets.values():
        text = disguised(value).replaced(text, HIDDEN)
    for shape in _SHAPES.values():
        text = shape.sub(HIDDEN, text)
    return text


def texts_of(path: Path) -> Iterator[str]:
    """Every text of a file; texts of a Parquet column are joined. Arrays of numbers hold none."""
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:
            yield from lines
        return
    if path.suffix == ".eval":
        with ZipFile(path) as archive:
            yield from (archive.read(name).decode() for name in archive.namelist() if name.endswith(".json"))
        return
    if path.suffix == ".safetensors":
        with path.open("rb") as stream:
            yield stream.read(int.from_bytes(stream.read(8), "little")).decode()
        return
    if path.suffix == ".npy":
        return
    if path.suffix != ".parquet":
        yield path.read_text(encoding="utf-8")
        return
    import pyarrow.parquet as pq  # a process that only plays needs none

    for batch in pq.ParquetFile(path).iter_batches(batch_size=4096):
        for column in batch.columns:
            for array in _strings(column):
                yield "\n".join(array.unique().to_pylist())


def _strings(array: pa.Array) -> Iterator[pa.Array]:
    """The text arrays within an array, nested ones too."""
    import pyarrow as pa

    if pa.types.is_string(array.type):
        yield array.drop_null()
    elif pa.types.is_list(array.type):
        yield from _strings(array.flatten())
    elif pa.types.is_struct(array.type):
        for field in array.flatten():
            yield from _strings(field)


_OF_PLAYER = re.compile(r"@https?://[^\s|?]*", re.IGNORECASE)
_ANYWHERE = re.compile(r"https?://[^\s\"'<>|,;)\]}]+", re.IGNORECASE)
_KEY_NAME = re.compile(r"(?<=[?&])key_env=[^&\s|]*&?")
_EMPTY_QUERY = re.compile(r"[?&](?=\s|$)")
ADDRESS = "[address]"


@lru_cache(maxsize=4096)
def without_addresses(text: str) -> str:
    """The text without endpoints' addresses and names of key variables: `openai:NAME@http://host/v1?key_env=KEY` is
    `openai:NAME`, and any other address, for example in an error, is "[address]".
    """
    if "://" not in text and "key_env=" not in text:
        return text
    return _ANYWHERE.sub(ADDRESS, _EMPTY_QUERY.sub("", _KEY_NAME.sub("", _OF_PLAYER.sub("", text))))


def all_without_addresses(data: Any) -> Any:
    """Plain JSON data with `without_addresses` applied to every text in it."""
    if isinstance(data, str):
        return without_addresses(data)
    if isinstance(data, dict):
        return {key: all_without_addresses(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [all_without_addresses(value) for value in data]
    return data
