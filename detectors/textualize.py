"""How a statement becomes the text that a detector reads: context, speaker tag, names and role words masked.

A detector that sees names learns who was dealt which role, and one that sees role words learns the game. Both can
be masked; the choice is a small config saved with the model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field

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


class TextConfig(BaseModel):
    """What a detector reads of a statement.

    context: how many earlier statements of the game, heard by the same players, stand before it. mask_names: the
    speaker becomes `speaker`, everyone else `player1`, `player2`… in the order of appearance in this text, so that
    neither the name nor its place in the roster gives anything away. mask_role_words: roles and teams become `role`.
    speaker_tag: the statement is preceded by who says it (it always is when there is context).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    context: int = Field(default=0, ge=0)
    mask_names: bool = True
    mask_role_words: bool = False
    speaker_tag: bool = False


def textualize(example: Example, config: TextConfig) -> str:
    """The text of one example: earlier statements, oldest first, one per line, then the statement itself."""
    turns = [*example.context[-config.context :], (example.speaker, example.text)]
    if not config.context:
        turns = turns[-1:]
    tagged = config.speaker_tag or config.context > 0
    text = "\n".join(f"{who}: {clean(said)}" if tagged else clean(said) for who, said in turns)
    if config.mask_names:
        text = _mask_names(text, example.speaker, example.names)
    return hide_roles(text) if config.mask_role_words else text


def hide_roles(text: str) -> str:
    """A text with one token for all words for roles and teams."""
    return _ROLES.sub(ROLE_TOKEN, text)


def clean(text: str) -> str:
    """The text on one line, in composed Unicode, without control characters and invisible marks (direction marks,
    joiners).
    """
    composed = unicodedata.normalize("NFC", text)
    if composed.isascii() and composed.isprintable():
        return composed
    return "".join(
        " " if char.isspace() else char for char in composed if char.isspace() or unicodedata.category(char)[0] != "C"
    )


def _mask_names(text: str, speaker: str, names: tuple[str, ...]) -> str:
    tokens = {speaker.casefold(): SPEAKER_TOKEN}
    return replace_names(text, (*names, speaker), lambda name: tokens.setdefault(name, f"{PLAYER_TOKEN}{len(tokens)}"))


def replace_names(text: str, names: Iterable[str], token: Callable[[str], str]) -> str:
    """A text with each player's name replaced. token: from a name, as it is among `names` but case-folded, to what
    stands for it.
    """
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
    emphasis. And the names themselves, case-folded, by their composed form, in which texts are read; and the nicknames.
    """
    spelled = {short: name.casefold() for short, name in nicknames(names).items()}
    spelled |= {unicodedata.normalize("NFC", name): name.casefold() for name in names}
    longest = sorted(spelled, key=len, reverse=True)
    ends = r"(?![^\W_]|(?<=red) flag)"
    pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest))}){ends}", re.IGNORECASE)
    called = frozenset(short.casefold() for short in nicknames(names))
    return pattern, {name.casefold(): own for name, own in spelled.items()}, called
