"""The lesson book of one model in one cell: append-only, one JSON object per line, without near duplicates.

A lesson is left out if it repeats one of the same kind in the book: the cosine similarity of their sentence embeddings
is at least NEAR, with names masked, and neither denies the other. The book also notes how many
lessons each game began with, so that a game that is resumed or retried begins with the same ones.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liescope.common.errors import BadData
from liescope.common.reading import read_bytes
from liescope.common.sentence_encoder import load_encoder
from liescope.games.core import Lesson, LessonKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NEGATION = re.compile(
    r"\b(?:not|never|no|nobody|nothing|neither|nor|none|avoid(?:s|ed|ing)?|without|stop(?:s|ped|ping)?|refrain\w*|cannot"
    r"|instead of|rather than|less|refus\w+|hardly)\b|n't\b"
)
_NOT_ONLY = re.compile(r"\bnot (?:only|just)\b|\bno matter\b|\bno longer than\b|\bwhether or not\b")
_OPPOSITES = (
    ("early|earlier|soon|immediately|first|begin\\w*|start\\w*", "late|later|last|end|finally"),
    ("high|higher|loud\\w*|more|often|always|strong\\w*", "low|lower|quiet\\w*|fewer|rarely|seldom|weak\\w*"),
    ("before", "after"),
    ("accus\\w+|attack\\w*|oppose\\w*|against", "defend\\w*|protect\\w*|support\\w*"),
    ("trust(?:ed|s)?", "distrust\\w*|suspect\\w*"),
    ("win\\w*|won", "lose\\w*|lost"),
)
_AXES = tuple(tuple(re.compile(rf"\b(?:{side})\b") for side in sides) for sides in _OPPOSITES)
_ROLES = re.compile(r"\b(?:were)?(wolf|wolv|villager|village|town|doctor|seer|detective|mafios|mafia|jester)")
_SAME_ROLE = {"wolv": "wolf", "village": "villager", "town": "villager", "mafia": "mafios"}
_WORDS_TOO = frozenset({"will", "may", "mark", "bill", "rob", "sue", "grant", "drew", "chase", "pat"})
_SEVERAL = re.compile(r"\banother player((?:, another player)*),? (?:and|or) another player\b")


def opposed(one: str, other: str) -> bool:
    """Whether two lessons of one kind cannot mean the same, however similar their words: one denies what the other
    advises, they are about different roles, or one contains the opposite of a word in the other ("early", "late").
    """
    (denied, roles, sides), (too, theirs, others) = _marks(one), _marks(other)
    if denied != too or (roles and theirs and roles != theirs):
        return True
    return any(abs(side - its) == 2 for side, its in zip(sides, others, strict=True))


@lru_cache(maxsize=4096)
def _marks(text: str) -> tuple[bool, set[str], list[int]]:
    """Whether its negations are odd in number, the roles it names, and -1 or 1 for each pair of opposites, else 0."""
    words = " ".join(text.lower().replace("’", "'").split())
    denied = len(_NEGATION.findall(_NOT_ONLY.sub(" ", words))) % 2 == 1
    roles = {_SAME_ROLE.get(role, role) for role in _ROLES.findall(words)}
    return denied, roles, [bool(other.search(words)) - bool(one.search(words)) for one, other in _AXES]


def without_names(text: str, names: Iterable[str], own: str | None = None) -> str:
    """The text with the author's own name as "me" and every other player's as "another player". A name that is also a
    word ("Will") stays at the beginning of a sentence.
    """
    for name in sorted(names, key=len, reverse=True):
        said = "me" if name == own else "another player"
        found = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        text = found.sub(partial(_unnamed, name=name, said=said), text)
    return _SEVERAL.sub("other players", text)


def _unnamed(match: re.Match[str], name: str, said: str) -> str:
    before = match.string[: match.start()].rstrip(" \"'“‘(*")
    begins = not before or before[-1] in ".!?\n"
    if begins and name.lower() in _WORDS_TOO:
        return match.group()
    return said[:1].upper() + said[1:] if begins else said


NEAR = 0.8
Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]  # (n,) texts to (n, width) vectors of length 1


@dataclass(frozen=True, slots=True)
class Proposal:
    """A lesson that a game proposed. kept: it is in the book; nearest: the highest similarity to a lesson of its kind
    already in the book, None for the first.
    """

    lesson: Lesson
    kept: bool
    nearest: float | None


class LessonBook:
    """A book in a file, which is created with its first line. Only one process, and one game at a time, writes to it.
    names: the players' names, which are masked when lessons are compared.

    Raises BadData if the file holds something else. A truncated last line is removed.
    """

    def __init__(self, path: Path, embed: Embed, names: Sequence[str] = ()) -> None:
        self._path = path
        self._embed = embed
        self._names = tuple(names)
        self._kept: list[tuple[str, Lesson]] = []  # with the game that proposed it
        self._begun: dict[str, int] = {}
        if path.exists():
            self._read()

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """All lessons, the oldest first."""
        return tuple(lesson for _, lesson in self._kept)

    def begin(self, game_id: str) -> tuple[Lesson, ...]:
        """The lessons that a game begins with; the same ones on every call."""
        if game_id not in self._begun:
            self._begun[game_id] = len(self._kept)
            self._append([{"game": game_id, "begins_with": len(self._kept)}])
        return self.lessons[: self._begun[game_id]]

    def add(self, game_id: str, turn: int, proposed: Sequence[Lesson]) -> list[Proposal]:
        """Keep what is new in a game's proposals; adding the same ones again changes nothing."""
        place = next((n for n, (game, _) in enumerate(self._kept) if game == game_id), len(self._kept))
        judged = self._judge(self.lessons[:place], proposed)
        written = [lesson for game, lesson in self._kept if game == game_id]
        new = [proposal.lesson for proposal in judged if proposal.kept and proposal.lesson not in written]
        self._kept += [(game_id, lesson) for lesson in new]
        self._append(
            [{"game": game_id, "turn": turn, "kind": lesson.kind.value, "text": lesson.text} for lesson in new]
        )
        return judged

    def _judge(self, known: Sequence[Lesson], proposed: Sequence[Lesson]) -> list[Proposal]:
        if not proposed:
            return []
        texts = [without_names(lesson.text, self._names) for lesson in (*known, *proposed)]
        vectors = self._embed(texts)
        book = [(lesson.kind, text, vector) for lesson, text, vector in zip(known, texts, vectors, strict=False)]
        judged = []
        for lesson, text, vector in zip(proposed, texts[len(known) :], vectors[len(known) :], strict=True):
            near = [(float(kept @ vector), said) for kind, said, kept in book if kind is lesson.kind]
            repeats = any(similarity >= NEAR and not opposed(text, said) for similarity, said in near)
            if not repeats:
                book.append((lesson.kind, text, vector))
            nearest = max((similarity for similarity, _ in near), default=None)
            judged.append(Proposal(lesson, not repeats, None if nearest is None else round(nearest, 4)))
        return judged

    def _append(self, lines: Sequence[dict[str, Any]]) -> None:
        if not lines:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as out:
            out.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
            out.flush()
            os.fsync(out.fileno())

    def _read(self) -> None:
        text = read_bytes(self._path)
        whole, _, torn = text.rpartition(b"\n")
        if torn:  # a process was killed while it wrote; the game that it was about adds its lessons again
            with self._path.open("r+b") as file:
                file.truncate(len(whole) + 1 if whole else 0)
        try:
            for line in map(json.loads, whole.splitlines()):
                if "begins_with" in line:
                    self._begun[line["game"]] = line["begins_with"]
                else:
                    self._kept.append((line["game"], Lesson(LessonKind(line["kind"]), line["text"])))
        except (ValueError, KeyError, TypeError) as error:
            raise BadData(f"{self._path} is not a book of lessons ({error}); restore it from a copy") from error


@lru_cache(maxsize=1)
def open_similarity() -> Embed:
    """Embeddings by the bundled sentence encoder. Raises MissingExtra if it is not installed."""
    import numpy as np

    model = load_encoder()

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = model.encode(
            list(texts), convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False, precision="float32"
        )
        return np.asarray(vectors, dtype=np.float32)

    return embed
