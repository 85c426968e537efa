"""Words, characters and forms that alone tell deceptive from honest statements, whatever put them there.

Of everything that statements have or have not, what is named has passed an exact test: Fisher's, on one deceptive and
one honest statement of each game, drawn by chance, so that what the statements of a game share counts once; corrected
over everything that was looked at (Tarone 1990: Bonferroni over those that could have passed).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, hstack

from liescope.common.statistics import Floats
from liescope.detectors.audit import audit_findings as f
from liescope.detectors.audit.audit_findings import AuditRow, Figure, Finding, graded
from liescope.detectors.audit.bench import Audited, Bench, Bools

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


def tokens_of(texts: Sequence[str]) -> tuple[Any, list[Token]]:
    """(presence, tokens): a sparse matrix (statements, tokens) of 0 and 1, and what its columns are, simplest first.
    Words are looked for without format characters and in compatible composed form, so that nothing hides in them.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    parts, tokens = [], list[Token]()
    families = {"form": MARKS, "word": WORDS, "words": WORDS, "spelling": WORDS}
    script = _usual_script(texts)
    for kind, (found_in, words) in _KINDS.items():
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


_KINDS: dict[str, tuple[Callable[[str], Iterable[str]], Callable[[str], str]]] = {
    "character": (_characters, lambda char: f"the character {_character(char)}"),
    "form": (_forms, lambda form: form),
    "word": (_words, lambda word: f'the word "{word}"'),
    "words": (_sequences, lambda said: f'the words "{said}"'),
    "spelling": (_spellings, lambda word: f'the spelling "{word}"'),
    "characters": (_strings, _said),
}
"""By kind, what of it a text has, and what it is called in a sentence; the simplest first."""


ERROR = 0.001
"""The probability that anything at all is named where nothing tells."""
GIVEN_AWAY = 0.35
"""A word with an AUROC that is certainly this far above chance gives the label away."""
_SENTENCES, _MOST = 5, 6  # of one family, in the table
_SAME = 0.5  # the share of their statements from which two tokens tell the same
_SPLITS = ("train", "test")


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A token that passed the test. there: (n,) the labelled statements that have it; reached: the AUROC of having it,
    or of lacking it if honest statements have it more often.
    """

    token: Token
    there: Bools
    reached: Figure

    @property
    def severity(self) -> str:
        beyond = self.reached.certain - f.CHANCE
        if self.token.family != MARKS:
            return graded(beyond, f.LARGE, GIVEN_AWAY)
        found = graded(beyond, f.MARGIN, f.LARGE)
        return f.NOTABLE if found == f.PLAIN and self.token.unusual else found


def telling(data: Audited, bench: Bench) -> tuple[list[AuditRow], list[Finding]]:
    """Rows with the counts of what alone tells most, and sentences: the most telling word, the most telling mark, and
    whatever else is an alarm.
    """
    table, y = data.table, bench.data.y
    presence, tokens = tokens_of(table["text"].to_list())
    if not tokens:
        return [], []
    passed = passing(presence, y, table["siblings"].to_numpy().astype(np.str_), bench.seed)
    named = _chosen(presence, tokens, passed, bench)
    split = table["split"].to_numpy().astype(np.str_)
    rows = [row for told in named for row in _rows(told, table["game_id"].to_numpy(), split, y)]
    first = {told.token.family: told for told in reversed(named)}
    worst = [told for told in named if told.severity == f.SERIOUS or told.token.unusual][:_SENTENCES]
    said = dict.fromkeys([*worst, *(first[family] for family in (WORDS, MARKS) if family in first)])
    return rows, [
        Finding("telling", told.token.words, told.severity, _sentence(told, split, y, len(tokens))) for told in said
    ]


def passing(presence: Any, y: Bools, groups: NDArray[np.str_], seed: int) -> NDArray[np.int64]:
    """The columns of a sparse matrix (statements, tokens) that pass `exact` on one statement of each class and group,
    drawn by chance.
    """
    drawn = _one_of_each(y, groups, seed)
    rows = presence.tocsr()
    lies, others = (np.asarray(rows[drawn[y[drawn] == side]].sum(axis=0)).ravel() for side in (True, False))
    return np.flatnonzero(exact(lies, int(y[drawn].sum()), others, int((~y[drawn]).sum())))


def _one_of_each(y: Bools, groups: NDArray[np.str_], seed: int) -> NDArray[np.int64]:
    """One statement of each class of each group, drawn by chance."""
    order = np.random.default_rng(seed).permutation(len(y))
    _, first = np.unique(np.char.add(groups[order], np.where(y[order], "+", "-")), return_index=True)
    return np.sort(order[first])


def exact(lies: NDArray[np.int64], all_lies: int, others: NDArray[np.int64], all_others: int) -> Bools:
    """(tokens,): which counts of statements pass Fisher's exact test, two-sided (twice the smaller tail), with all
    tokens together wrong with a probability of at most `ERROR`. A token that could not pass, however it were spread, is
    not counted among them (Tarone 1990).
    """
    from scipy.stats import hypergeom

    every, having = all_lies + all_others, lies + others
    low, high = np.maximum(0, having - all_others), np.minimum(having, all_lies)
    spread = hypergeom(every, all_lies, having)
    least = np.minimum(1.0, 2 * np.minimum(spread.pmf(low), spread.pmf(high)))
    sorted_least = np.sort(least)
    counted = np.arange(1, len(least) + 1)
    able = np.searchsorted(sorted_least, ERROR / counted, side="right")  # how many could pass at each correction
    correction = int(counted[able <= counted][0]) if (able <= counted).any() else len(least)
    p = np.minimum(1.0, 2 * np.minimum(spread.cdf(lies), spread.sf(lies - 1)))
    return np.asarray(p <= ERROR / correction)


def _chosen(presence: Any, tokens: list[Token], passed: NDArray[np.int64], bench: Bench) -> list[Told]:
    """The most telling first, none that tells the same as one before it; of each family, no more than are shown."""
    y = bench.data.y
    lies, others = (np.asarray(presence[rows].sum(axis=0)).ravel() for rows in (y, ~y))
    lean = lies / y.sum() - others / (~y).sum()
    parts = np.array([token.family == LETTERS for token in tokens])[passed]
    order = passed[np.lexsort((passed, parts, -np.abs(lean[passed]).round(6)))]
    found: list[Told] = []
    kept: dict[str, list[Bools]] = {WORDS: [], MARKS: [], LETTERS: []}
    for at in order:
        token = tokens[at]
        mine = kept[token.family]
        if len(mine) == _MOST or (token.family == LETTERS and abs(lean[at]) / 2 <= GIVEN_AWAY):
            continue
        there = np.zeros(len(y), dtype=bool)
        there[presence.indices[presence.indptr[at] : presence.indptr[at + 1]]] = True
        if any(_alike(there, known) or _alike(~there, known) for every in kept.values() for known in every):
            continue
        score: Floats = there.astype(np.float64) if lean[at] > 0 else 1.0 - there
        mine.append(there)
        found.append(Told(token, there, bench.auroc(score)))
    return found


def _alike(one: Bools, other: Bools) -> bool:
    return bool((one & other).sum() > _SAME * (one | other).sum())


def _rows(told: Told, game: NDArray[Any], split: NDArray[np.str_], y: Bools) -> list[AuditRow]:
    """The AUROC, and the shares of deceptive and honest statements that have it, in train and in test."""
    rows = [told.reached.row("telling", told.token.words, "", "auroc")]
    for part in _SPLITS:
        for side, words in ((y, "deceptive"), (~y, "honest")):
            here = side & (split == part)
            if here.any():
                name, share = f"{told.token.words}: {part}, {words}", float(told.there[here].mean())
                counted = int(here.sum()), len(np.unique(game[here]))
                rows.append(AuditRow("telling", name, "", "share", share, None, None, *counted))
    return rows


def _sentence(told: Told, split: NDArray[np.str_], y: Bools, looked_at: int) -> str:
    counted = []
    for name in _SPLITS:
        have, every = ([int((there & (split == name)).sum()) for there in pair] for pair in _pairs(told.there, y))
        if sum(every):
            lies, others = (f"{one:,} of {all_:,}" for one, all_ in zip(have, every, strict=True))
            counted.append(f"{lies} deceptive and {others} honest ones in {name}")
    what = f"{told.token.words[0].upper()}{told.token.words[1:]}"
    words = f"{what} alone {told.token.verb} AUROC {told.reached:.3f}: in {' and '.join(counted)}"
    if told.token.unusual:
        return f"{words}. Nobody types such a character: what wrote or changed these statements put it there."
    if told.severity == f.SERIOUS:
        return f"{words}. Whether the speakers or the making of the corpus put it there is for a reader to find out."
    kind = {WORDS: "word or sequence of words", MARKS: "mark"}[told.token.family]
    return f"{words}. Of {looked_at:,} candidates, no other {kind} that passes an exact test tells more."


def _pairs(there: Bools, y: Bools) -> tuple[tuple[Bools, Bools], tuple[Bools, Bools]]:
    return (there & y, there & ~y), (y, ~y)
