"""Words, characters and forms that a text has or has not: what may give a label away, simplest first."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scipy.sparse import csc_matrix, hstack

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LONGEST = 3
"""How many words, or characters, a sequence has at most."""
_RARE = 5
"""What stands in fewer statements is not looked at."""
_SPACES = frozenset(" \t\n\r")
_UNUSUAL = frozenset(("Cf", "Cc", "Co", "Cn", "Zs", "Zl", "Zp"))
WORDS, MARKS, LETTERS = "words", "marks", "letters"
"""The families: language; what is no letter of it, which a reader overlooks or a program adds; and parts of words."""


@dataclass(frozen=True, slots=True)
class Token:
    """Something that a statement has or has not. text: as it stands there, "" for a form; words: its name."""

    family: str
    text: str
    words: str

    @property
    def unusual(self) -> bool:
        """Whether it has a character that nobody types: a format or control character, or an unusual space."""
        return any(unicodedata.category(char) in _UNUSUAL and char not in _SPACES for char in self.text)

    @property
    def verb(self) -> str:
        return "reach" if self.words.startswith(("the words", "the characters", "capitals", "letters")) else "reaches"


def tokens_of(texts: Sequence[str], kinds: Collection[str] = ()) -> tuple[Any, list[Token]]:
    """(presence, tokens): a sparse matrix (statements, tokens) of 0 and 1, and what its columns are, simplest first.
    kinds: those looked for, of `KINDS`; all where none is named. Words are looked for without format characters and in
    compatible composed form, so that nothing hides in them.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    parts, tokens = [], list[Token]()
    families = {"form": MARKS, "word": WORDS, "words": WORDS, "spelling": WORDS}
    script = _usual_script(texts)
    for kind, (found_in, words) in KINDS.items():
        if kinds and kind not in kinds:
            continue
        counted = CountVectorizer(analyzer=found_in, binary=True, min_df=min(_RARE, len(texts)))
        try:
            presence = counted.fit_transform(texts)
        except ValueError:  # nothing of the kind is frequent enough
            continue
        parts.append(csc_matrix(presence))
        for text in counted.get_feature_names_out():
            family = families.get(kind) or _family(text, script)
            tokens.append(Token(family, "" if kind == "form" else text, words(text)))
    return (hstack(parts, format="csc") if parts else csc_matrix((len(texts), 0))), tokens


def _family(text: str, script: str) -> str:
    own = any(char.isdigit() or (char.isalpha() and _script(char) == script) for char in text)
    return LETTERS if own else MARKS


def _usual_script(texts: Sequence[str]) -> str:
    counted = Counter[str]()
    for char, count in Counter("".join(texts)).items():
        if char.isalpha():
            counted[_script(char)] += count
    return max(counted, key=lambda script: counted[script], default="")


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _normal(text: str) -> str:
    composed = unicodedata.normalize("NFKC", text)
    return "".join(char for char in composed if unicodedata.category(char) != "Cf")


def _words(text: str) -> Iterable[str]:
    return set(_WORD.findall(_normal(text).casefold()))


def _sequences(text: str) -> Iterable[str]:
    said = _WORD.findall(_normal(text).casefold())
    return {" ".join(said[at : at + n]) for n in range(2, _LONGEST + 1) for at in range(len(said) - n + 1)}


def _spellings(text: str) -> Iterable[str]:
    return {word for word in _WORD.findall(_normal(text)) if word != word.casefold()}


def _characters(text: str) -> Iterable[str]:
    return set(text)


def _strings(text: str) -> Iterable[str]:
    return {text[at : at + n] for n in range(2, _LONGEST + 1) for at in range(len(text) - n + 1)}


def _forms(text: str) -> Iterable[str]:
    letters = [char for char in text if char.isalpha()]
    forms = {
        "capitals in place of small letters": letters and all(map(str.isupper, letters)),
        "ending in white space": text[-1:].isspace(),
        "ending without a mark": text[-1:].isalnum(),
        "letters that are not composed": not unicodedata.is_normalized("NFC", text),
        "no capital letter": letters and not any(map(str.isupper, letters)),
        "starting with a small letter": text[:1].islower(),
        "starting with white space": text[:1].isspace(),
    }
    return {form for form, held in forms.items() if held}


def _character(char: str) -> str:
    code = f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
    if unicodedata.category(char) in _UNUSUAL or unicodedata.combining(char):
        return code
    return f'"{char}"' if char.isascii() else f'"{char}" ({code})'


def _said(text: str) -> str:
    if text.isprintable() and text.isascii() and not text.isspace():
        return f'the characters "{text}"'
    return f"the characters {', '.join(map(_character, text))}"


KINDS: dict[str, tuple[Callable[[str], Iterable[str]], Callable[[str], str]]] = {
    "character": (_characters, lambda char: f"the character {_character(char)}"),
    "form": (_forms, lambda form: form),
    "word": (_words, lambda word: f'the word "{word}"'),
    "words": (_sequences, lambda said: f'the words "{said}"'),
    "spelling": (_spellings, lambda word: f'the spelling "{word}"'),
    "characters": (_strings, _said),
}
"""By kind, what of it a text has, and what it is called in a sentence; the simplest first."""
CHEAP = ("character", "form", "word")
"""The kinds that are few, however many texts there are."""
