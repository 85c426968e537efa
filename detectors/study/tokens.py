"""Words, characters and forms that a text has or has not: what may give a label away, simplest first."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
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


def tokens_of(texts: Sequence[str], kinds: Collection[str] = ()) -> tuple[Any, list[Token]]:
    """(presence, tokens): a sparse matrix (statements, tokens) of 0 and 1, and what its columns are, simplest first.
    kinds: those looked for, of `KINDS`; all where none is named. Words are looked for without format characters and in
    compatible composed form, so that nothing hides in them.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    parts, tokens, scripts = [csc_matrix((len(texts), 0))], list[Token](), Counter[str]()
    for char, number in Counter("".join(texts)).items():
        scripts[_script(char)] += number * char.isalpha()
    script = max(scripts, key=lambda one: scripts[one], default="")
    for kind in kinds or KINDS:
        found_in, words, family = KINDS[kind]
        counted = CountVectorizer(analyzer=found_in, binary=True, min_df=min(_RARE, len(texts)))
        try:
            parts.append(csc_matrix(counted.fit_transform(texts)))
        except ValueError:  # nothing of the kind is frequent enough
            continue
        for text in counted.get_feature_names_out():
            own = (
                LETTERS
                if any(char.isdigit() or (_script(char) == script and char.isalpha()) for char in text)
                else MARKS
            )
            tokens.append(Token(family or own, "" if kind == "form" else text, words(text)))
    return hstack(parts, format="csc"), tokens


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0] if char.isalpha() else ""


def _said(text: str) -> list[str]:
    composed = unicodedata.normalize("NFKC", text)
    return _WORD.findall("".join(char for char in composed if unicodedata.category(char) != "Cf"))


def _sequences(of: Sequence[str] | str) -> set[Any]:
    return {of[at : at + n] for n in range(2, _LONGEST + 1) for at in range(len(of) - n + 1)}


def _forms(text: str) -> list[str]:
    letters = "".join(filter(str.isalpha, text))
    forms = {
        "capitals in place of small letters": letters.isupper(),
        "ending in white space": text[-1:].isspace(),
        "ending without a mark": text[-1:].isalnum(),
        "letters that are not composed": not unicodedata.is_normalized("NFC", text),
        "no capital letter": bool(letters) and not any(map(str.isupper, letters)),
        "starting with a small letter": text[:1].islower(),
        "starting with white space": text[:1].isspace(),
    }
    return [form for form, held in forms.items() if held]


def _character(char: str) -> str:
    code = f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
    if unicodedata.category(char) in _UNUSUAL or unicodedata.combining(char):
        return code
    return f'"{char}"' if char.isascii() else f'"{char}" ({code})'


def _characters(text: str) -> str:
    plain = text.isprintable() and text.isascii() and not text.isspace()
    return f'the characters "{text}"' if plain else f"the characters {', '.join(map(_character, text))}"


KINDS: dict[str, tuple[Callable[[str], Collection[str]], Callable[[str], str], str]] = {
    "character": (set, lambda char: f"the character {_character(char)}", ""),
    "form": (_forms, str, MARKS),
    "word": (lambda text: {word.casefold() for word in _said(text)}, lambda word: f'the word "{word}"', WORDS),
    "words": (
        lambda text: {" ".join(part) for part in _sequences(tuple(map(str.casefold, _said(text))))},
        lambda said: f'the words "{said}"',
        WORDS,
    ),
    "spelling": (
        lambda text: {word for word in _said(text) if word != word.casefold()},
        lambda word: f'the spelling "{word}"',
        WORDS,
    ),
    "characters": (_sequences, _characters, ""),
}
"""By kind, what of it a text has, what it is called in a sentence, and its family, where characters do not tell that;
the simplest first.
"""
CHEAP = ("character", "form", "word")
"""The kinds that are few, however many texts there are."""
