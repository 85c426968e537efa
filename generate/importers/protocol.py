"""What an importer is: a class that reads the games of one published format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from liescope.common.errors import UsageError
from liescope.common.model_options import OptionsModel
from liescope.games.record import GameRecord


@dataclass(frozen=True, slots=True)
class Imported:
    """A game and where it stands: line of its source, from 1; in a database, the game's place."""

    line: int
    game: GameRecord


@dataclass(frozen=True, slots=True)
class Rejected:
    """Something that could not be read. line: as in `Imported`, 0 where the whole source is meant."""

    file: str
    line: int
    game_id: str
    reason: str


class Importer(ABC):
    """Reads the games of one format. A subclass is an importer once it stands in `registry.IMPORTERS`.

    format: its name on the command line; reads: what kind of file, for the help; origin: who published such games and
    where; licence: what the publishers say of the use of the words, as a sentence; version: raised by a change that
    reads the same files differently, so that an older run folder is not mixed with it; Options: what it takes beside
    the sources. Files among the options are known by their content.

    The games need not be games that Liescope can play: `GameRecord.game` is any name, and events are of the kinds that
    there are, in the order in which things happened.
    """

    format: ClassVar[str]
    reads: ClassVar[str]
    origin: ClassVar[str]
    licence: ClassVar[str]
    version: ClassVar[int] = 1
    Options: ClassVar[type[OptionsModel]] = OptionsModel

    def __init__(self, options: OptionsModel) -> None:
        self.options = options

    @abstractmethod
    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        """Every game of a source in its order; what cannot be read comes as a rejection in its place.

        Nothing in the source's content may raise. Raises OSError where the source cannot be opened.
        """


def attempt(file: str, line: int, game_id: str, make: Callable[[], GameRecord]) -> Imported | Rejected:
    """The game that `make` makes, or a rejection with the reason why it cannot be made."""
    try:
        return Imported(line, make())
    except UsageError as error:
        return Rejected(file, line, game_id, str(error))
    except RecursionError:
        return Rejected(file, line, game_id, "nested too deeply")
