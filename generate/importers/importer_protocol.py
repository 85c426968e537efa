"""The definition of an importer: a class that reads games in one published format."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from liescope.common.errors import UsageError
from liescope.common.reading import check_folder, open_regular
from liescope.common.registry import describe
from liescope.common.settings import OptionsModel
from liescope.data_cards.licences import Terms
from liescope.games.record import GameRecord

Labels = Counter[tuple[str, bool | None]]
"""How often each value of a label stands in a source, and whether it means deceptive."""


def fingerprint(source: Path) -> str:
    """The SHA-256 of a file, or that of the names and hashes of the files in a folder.

    Raises OSError if something cannot be opened, BadData for a device or a pipe, which can be read only once.
    """
    if source.is_dir():
        check_folder(source, None)
        files = sorted(path for path in source.rglob("*") if path.is_file())
        listed = "".join(f"{path.relative_to(source).as_posix()}\0{fingerprint(path)}\n" for path in files)
        return hashlib.sha256(listed.encode()).hexdigest()
    with open_regular(source) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Imported:
    """A game and its position. line: in its source, from 1; rows: how many of a table it was made of; labels: of these,
    as the source has them.
    """

    line: int
    game: GameRecord
    rows: int = 1
    labels: Labels | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """Something that could not be read. line: as in `Imported`, 0 for the whole source; rows: how many went with it."""

    file: str
    line: int
    game_id: str
    reason: str
    rows: int = 1


class Importer(ABC):
    """Reads games in one format. A subclass becomes available once it is listed in `importing.IMPORTERS`.

    format: its name on the command line; reads: the kind of file, for the help; origin: who published such games and
    where; licence: what the publishers say about using the text, as a sentence; licence_id: the Hub's id of that
    licence, if it has one; redistributable: it lets anyone pass the text on; means: what the publishers' own label of a
    statement (`label_gold`) says and who decided, "" if they have none; languages: language codes of the words;
    version: increased by a change that reads the same files differently, so that the results are not mixed with an
    older run folder; Options: what it takes besides the sources. Files among the options are identified by their
    content. The words of our own formats stand in formats.toml.

    The games need not be games that Liescope can play: `GameRecord.game` is any name, and events are of the existing
    kinds, in the order in which they happened.
    """

    format: ClassVar[str]
    reads: ClassVar[str]
    origin: ClassVar[str]
    licence: ClassVar[str]
    licence_id: ClassVar[str] = ""
    redistributable: ClassVar[bool] = False
    means: ClassVar[str] = ""
    languages: ClassVar[tuple[str, ...]] = ()
    version: ClassVar[int] = 1
    Options: ClassVar[type[OptionsModel]] = OptionsModel

    def __init_subclass__(cls) -> None:
        describe(cls, Path(__file__).with_name("formats.toml"))

    def __init__(self, options: OptionsModel) -> None:
        self.options = options

    def identity(self, source: Path) -> Mapping[str, str]:
        """What a run keeps of a source, so that it resumes only with the same one: name and hash.

        Raises OSError if the source cannot be opened.
        """
        return {"name": source.name, "sha256": fingerprint(source)}

    def terms(self) -> Terms:
        """Whose words these are, and what may be done with them."""
        return Terms(self.origin, self.licence, self.licence_id, self.redistributable, self.means, self.languages)

    def game_texts(self) -> Mapping[str, str]:
        """What a dataset card says about the games that Liescope cannot play: a sentence or two for each name."""
        return {}

    @abstractmethod
    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        """Every game of a source in order; whatever cannot be read comes as a rejection in its place.

        Nothing in the source's content may raise an error. Raises OSError if the source cannot be opened.
        """


def attempt(
    file: str, line: int, game_id: str, make: Callable[[], GameRecord], rows: int = 1, labels: Labels | None = None
) -> Imported | Rejected:
    """The game that `make` returns, or a rejection with the reason it failed. rows, labels: as in `Imported`."""
    try:
        return Imported(line, make(), rows, labels)
    except UsageError as error:
        return Rejected(file, line, game_id, str(error), rows)
    except RecursionError:
        return Rejected(file, line, game_id, "nested too deeply", rows)
