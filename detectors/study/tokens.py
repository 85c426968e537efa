"""Words, characters and forms that a text has or has not: what may give a label away, simplest first."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

_TWICE = re.compile(r"[^\S\n]{2}")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_RARE = 5
"""What stands in fewer statements is not looked at."""
_SPACES = frozenset(" \t\n\r")
_UNUSUAL = frozenset(("Cf", "Cc", "Co", "Cn", "Zs", "Zl", "Zp"))


WORD, LETTER, MARK = "word", "letter", "mark"


@dataclass(frozen=True, slots=True)
class Token:
    """Something that a statement has or has not. text: as it stands there, or the form; words: what it is called; kind:
    WORD, LETTER of the language, or MARK, which a reader overlooks or a program adds.
    """

    text: str
    words: str
    kind: str

    @property
    def unusual(self) -> bool:
        """Whether it has a character that nobody types: a format or control character, or an unusual space."""
        return any(unicodedata.category(char) in _UNUSUAL and char not in _SPACES for char in self.text)


def tokens_of(texts: Sequence[str], marks: bool = False) -> tuple[Any, list[Token]]:
    """(presence, tokens): a sparse matrix (statements, tokens) of 0 and 1, and what its columns are, simplest first.
    marks: marks alone. Words are looked for without format characters and in compatible composed form, so that nothing
    hides in them.
    """
    from scipy.sparse import csc_matrix, hstack
    from sklearn.feature_extraction.text import CountVectorizer

    parts, tokens, scripts = [csc_matrix((len(texts), 0))], list[Token](), Counter[str]()
    for char, number in Counter("".join(texts)).items():
        scripts[_script(char)] += number * char.isalpha()
    script = max(scripts, key=lambda one: scripts[one], default="")
    for found_in, words, kind_of in _KINDS:
        counted = CountVectorizer(analyzer=found_in, binary=True, min_df=min(_RARE, len(texts)))
        try:
            presence = csc_matrix(counted.fit_transform(texts))
        except ValueError:  # nothing of the kind is frequent enough
            continue
        found = [Token(text, words(text), kind_of(text, script)) for text in counted.get_feature_names_out()]
        kept = [at for at, token in enumerate(found) if token.kind == MARK or not marks]
        parts.append(presence[:, kept])
        tokens += [found[at] for at in kept]
    return hstack(parts, format="csc"), tokens


def _kind(char: str, script: str) -> str:
    return LETTER if char.isdigit() or (char.isalpha() and _script(char) == script) else MARK


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0] if char.isalpha() else ""


def _said(text: str) -> set[str]:
    composed = unicodedata.normalize("NFKC", text)
    found = _WORD.findall("".join(char for char in composed if unicodedata.category(char) != "Cf"))
    return {word.casefold() for word in found}


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
        "white space twice in a row": bool(_TWICE.search(text)),
    }
    return [form for form, held in forms.items() if held]


def _character(char: str) -> str:
    code = f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
    if unicodedata.category(char) in _UNUSUAL or unicodedata.combining(char):
        return code
    return f'"{char}"' if char.isascii() else f'"{char}" ({code})'


_Kind = tuple[Callable[[str], Collection[str]], Callable[[str], str], Callable[[str, str], str]]
_KINDS: tuple[_Kind, ...] = (
    (set, lambda char: f"the character {_character(char)}", _kind),
    (_forms, str, lambda *_: MARK),
    (_said, lambda word: f'the word "{word}"', lambda *_: WORD),
)
"""What a text has, what each is called in a sentence, and its kind, given the script of most letters."""
