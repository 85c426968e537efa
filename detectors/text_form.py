"""How a statement becomes the text that a detector reads: context, speaker tag, names and role words masked.

A detector that sees names learns who was dealt which role, and one that sees role words learns the game. Both can
be masked; the choice is a small config saved with the model.

A text is cut to an encoder's limit: the oldest context is dropped first; of the statement itself, only the middle is
ever cut. Batches waste no work: each text is encoded once, with texts of similar length to keep padding small.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import UnknownName
from liescope.common.reading import Strict
from liescope.detectors.detector_settings import BOTH, REASONING, VIEWS, WORDS
from liescope.detectors.examples import Example
from liescope.labeling.masking import nicknames

# In lower case, these are more likely words than names: "let me be frank", "I will".
_ALSO_WORDS = frozenset(
    (
        *("art", "bill", "chase", "dawn", "drew", "faith", "frank", "grace", "grant", "guy", "hope", "hunter", "iris"),
        *("ivy", "jack", "joy", "june", "mark", "may", "pat", "rob", "rose", "sky", "sue", "violet", "will"),
    )
)
_ROLES = re.compile(
    r"(?<![^\W_])(?:mafios[oi]s?|mafias?|detectives?|villagers?|town(?:s?folk|s?people|ies?|s)?|"
    r"werewol(?:f|ves)|wol(?:f|ves)|villages?|jesters?|seers?|doctors?|ducks?|goose|geese|"
    r"merlin|assassin|percival|mordred|morgana|oberon|minions?|servants?)(?![^\W_])",
    re.IGNORECASE,
)
ROLE_TOKEN = "role"
SPEAKER_TOKEN = "speaker"
PLAYER_TOKEN = "player"
THINKS = "thinks"
"""What stands between a speaker and what it thought, where lines say whose they are."""
Made = TypeVar("Made")
View = Literal["words", "reasoning", "both"]


class TextConfig(Strict):
    """What a detector reads of a statement.

    context: how many earlier statements of the game, heard by the same players, stand before it. mask_names: the
    speaker becomes `speaker`, everyone else `player1`, `player2`… in the order of appearance in this text, so that
    neither the name nor its place in the roster gives anything away. mask_role_words: roles and teams become `role`.
    speaker_tag: the statement is preceded by who says it (it always is when there is context, or reasoning beside it).
    view: the words, the speaker's private reasoning instead, or both in turn.
    """

    context: int = Field(default=0, ge=0)
    mask_names: bool = True
    mask_role_words: bool = False
    speaker_tag: bool = False
    view: View = "words"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The part of some settings that is about the text. Raises UnknownName for an unknown view."""
        if given["view"] not in VIEWS:
            raise UnknownName("view", given["view"], VIEWS)
        return cls(**{name: given[name] for name in cls.model_fields})


def viewed(speaker: str, text: str, reasoning: str, view: str) -> list[tuple[str, str]]:
    """What a view shows of a statement, as (who, what), a line each. Reasoning enters a text only here, and only that
    of the player being judged: others' reasoning holds what their role told them, such as whom they checked or killed,
    which would give the judged player away, so others are always shown by their words.
    """
    shown = [] if view == WORDS else [(f"{speaker} {THINKS}", reasoning)]
    return shown if view == REASONING else [*shown, (speaker, text)]


def textualize(example: Example, config: TextConfig) -> str:
    """Its text: earlier statements, oldest first, then what its speaker thought, said, or both, a line each."""
    turns = list(example.context[-config.context :]) if config.context else []
    turns += viewed(example.speaker, example.text, example.reasoning, config.view)
    tagged = config.speaker_tag or config.context > 0 or config.view == BOTH
    text = "\n".join(f"{who}: {clean(said)}" if tagged else clean(said) for who, said in turns)
    if config.mask_names:
        tokens, names = {example.speaker.casefold(): SPEAKER_TOKEN}, (*example.names, example.speaker)
        text = replace_names(text, names, lambda name: tokens.setdefault(name, f"{PLAYER_TOKEN}{len(tokens)}"))
    return hide_roles(text) if config.mask_role_words else text


def hide_roles(text: str) -> str:
    """The text with every word for a role or team replaced by one token."""
    return _ROLES.sub(ROLE_TOKEN, text)


def clean(text: str) -> str:
    """The text on one line, in composed Unicode, without control characters and marks that nobody sees."""
    composed = unicodedata.normalize("NFC", text)
    if composed.isascii() and composed.isprintable():
        return composed
    return "".join(
        " " if char.isspace() else char for char in composed if char.isspace() or unicodedata.category(char)[0] != "C"
    )


def replace_names(text: str, names: Iterable[str], token: Callable[[str], str]) -> str:
    """The text with each player's name replaced. token: maps a name of `names`, case-folded, to its replacement."""
    known = tuple(sorted({*names} - {""}))
    if not known:
        return text
    pattern, spelled, called = _names_pattern(known)

    def replaced(match: re.Match[str]) -> str:
        found = match.group()
        name = found.casefold()
        is_word = found.islower() and name in _ALSO_WORDS and name not in called
        return found if is_word else token(spelled.get(name, name))

    return pattern.sub(replaced, text)


@lru_cache(maxsize=4096)
def _names_pattern(names: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str], frozenset[str]]:
    """Any of the names or nicknames as a whole word, in any case; longer ones first. An underscore next to a name is
    emphasis. Also returns the names themselves, case-folded, by their composed form, that of texts, and the nicknames.
    """
    spelled = {short: name.casefold() for short, name in nicknames(names).items()}
    spelled |= {unicodedata.normalize("NFC", name): name.casefold() for name in names}
    longest = sorted(spelled, key=len, reverse=True)
    ends = r"(?![^\W_]|(?<=red) flag)"
    pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest))}){ends}", re.IGNORECASE)
    called = frozenset(short.casefold() for short in nicknames(names))
    return pattern, {name.casefold(): own for name, own in spelled.items()}, called


GAP = " … "
_AT_ONCE = 4096  # texts
_CHARS_PER_TOKEN = 16  # more than any language needs; bounds the search in an endless text


@dataclass(frozen=True, slots=True)
class CutTexts:
    """texts: within the limit, each a statement or ending in one; cut: how many lost own words; limit: in tokens."""

    texts: list[str]
    cut: int
    limit: int

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about it for the end of training."""
        if not self.cut:
            return ()
        return (
            f"{self.cut:,} of {len(self.texts):,} statements have more words than the {self.limit} tokens that the "
            "encoder reads; their middle was left out",
        )


def fit_texts(examples: Sequence[Example], config: TextConfig, tokenizer: Any, limit: int) -> CutTexts:
    """Each text in at most `limit` tokens: the latest context that fits; without its middle if too long by itself."""
    texts, cut = [textualize(example, config) for example in examples], 0
    for i, length in enumerate(_lengths(tokenizer, texts)):
        if length > limit:
            texts[i], lost = _shortened(examples[i], config, tokenizer, limit)
            cut += lost
    return CutTexts(texts, cut, limit)


def _shortened(example: Example, config: TextConfig, tokenizer: Any, limit: int) -> tuple[str, bool]:
    """The text within the limit, and whether words of the statement itself were left out."""

    def fits(one: str) -> bool:
        return next(_lengths(tokenizer, [one])) <= limit

    def after(turns: int) -> str:
        return textualize(replace(example, context=example.context[-turns:] if turns else ()), config)

    def without_middle(kept: int) -> str:
        return f"{text[: kept - kept // 2]}{GAP}{text[len(text) - kept // 2 :]}"

    text = longest_fit(after, min(config.context, len(example.context)), fits)
    whole = fits(text)
    return text if whole else longest_fit(without_middle, min(len(text), _CHARS_PER_TOKEN * limit), fits), not whole


def longest_fit(make: Callable[[int], Made], most: int, fits: Callable[[Made], bool]) -> Made:
    """make(k) for the largest k from 0 to `most` that fits; make(0) if none does."""
    return make(bisect_left(range(1, most + 1), True, key=lambda k: not fits(make(k))))


def _lengths(tokenizer: Any, texts: Sequence[str]) -> Iterator[int]:
    for start in range(0, len(texts), _AT_ONCE):
        read = tokenizer(texts[start : start + _AT_ONCE], truncation=False, padding=False, verbose=False)
        yield from map(len, read["input_ids"])


def distinct(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """(each text once, in order of first appearance; (n,) the index of every text among them)."""
    places: dict[str, int] = {}
    place = np.array([places.setdefault(text, len(places)) for text in texts], dtype=np.int64)
    return list(places), place


def by_length(lengths: Sequence[int], budget: int) -> Iterator[NDArray[np.int64]]:
    """The texts of each batch, shortest first. budget: most tokens, padding included, if it has more than one text."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - start) * lengths[order[end]] > budget:
            yield order[start:end]
            start = end
