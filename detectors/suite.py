"""A suite: named data sets with their source, licence and hash, how to get and read them, and a control set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import Field, model_validator

from liescope.common.errors import BadData, LiescopeError, UsageError
from liescope.common.reading import Strict, read_toml
from liescope.common.stores import local
from liescope.detectors.examples import target_column
from liescope.games.record import GameRecord
from liescope.generate.corpus.open import GAME_TABLES, as_corpus, in_memory
from liescope.generate.corpus.read import Corpus, CorpusInMemory, check, collected, licences_of, read
from liescope.generate.importers.importer_protocol import Rejected, fingerprint
from liescope.generate.importers.importing import Import

SUITES = ("chat", "games", "all")
"""The suites that come with Liescope; `all` is both others."""
CORPUS = "corpus"
"""The format of what needs no import: a corpus of `build` or a run's folder."""
_HERE = Path(__file__).parent / "suites"
_TABLES = frozenset((".jsonl", ".json", ".csv", ".tsv", ".parquet"))
_LARGEST, _ADVICE = 2**20, "write it as docs/guides/bench.md shows"
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]


class SuiteData(Strict):
    """A data set of a suite.

    format: of `liescope import`, or `corpus`. hub: its id on the Hub, USER/NAME or USER/NAME:CONFIG; file: paths below
    the folder of data; one of the two. sha256: of its first file. options, files: of the importer, such as the columns
    of label, text and group; files are paths below the same folder. target: the label, the usual one if empty. split:
    what `bench` scores, if not everything that no model has seen. learn: `transfer` only tests detectors where it is
    false. games: how many are drawn, the same each time and on each machine, 0 for all.
    """

    name: _Name
    about: str = ""
    format: str = CORPUS
    hub: str = ""
    file: str | list[str] = ""
    url: str = ""
    licence: str = ""
    sha256: str = ""
    options: dict[str, str | int | bool | list[str]] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    target: str = ""
    split: str = ""
    learn: bool = True
    games: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _one_place(self) -> SuiteData:
        if bool(self.hub) == bool(self.file):
            raise ValueError(f"{self.name}: name either hub or file")
        first = self.paths(Path())[0] if self.file else Path()
        if self.format == CORPUS and any(suffix in _TABLES for suffix in first.suffixes):
            raise ValueError(f'{self.name}: say what {first.name} holds, as in format = "chat" or "text"')
        if self.target:
            target_column(self.target)
        return self

    def paths(self, folder: Path) -> list[Path]:
        """Its files below a folder; none of one on the Hub."""
        given = [self.file] if isinstance(self.file, str) else self.file
        return [local(folder / one) for one in given if one]


class ControlSet(SuiteData):
    """Ordinary conversations that nobody was asked to lie in. most: how many of them are used."""

    most: Annotated[int, Field(ge=20)] = 1000


class _SuiteFile(Strict):
    about: str = ""
    data: Annotated[tuple[SuiteData, ...], Field(min_length=1)]
    control: ControlSet | None = None


class Suite(_SuiteFile):
    """name: of the suite; folder: where the paths of its data sets begin."""

    name: str
    folder: Path


def read_suite(name: str, data: Path | None) -> Suite:
    """A suite: one of `SUITES`, or that in a TOML file. data: the folder where paths begin; None for that of the file,
    or the working folder for a suite of Liescope.

    Raises UsageError if there is no such suite, BadData, with the place, for an invalid file.
    """
    if name == "all":
        parts = [read_toml(_HERE / f"{one}.toml", _SuiteFile, _LARGEST, _ADVICE) for one in SUITES[:-1]]
        about, every = " ".join(part.about for part in parts), tuple(one for part in parts for one in part.data)
        return Suite(name=name, about=about, folder=data or Path(), data=every, control=parts[0].control)
    known = name in SUITES
    path = _HERE / f"{name}.toml" if known else local(name)
    if not path.is_file():
        raise UsageError(f"there is no suite {name}; give one of {', '.join(SUITES)}, or a TOML file of your own")
    found = read_toml(path, _SuiteFile, _LARGEST, _ADVICE)
    repeated = {one.name for one in found.data if [each.name for each in found.data].count(one.name) > 1}
    if repeated:
        raise BadData(f"{path}: two data sets are called {min(repeated)!r}; give each a name of its own")
    folder = data or (Path() if known else Path(name).parent)
    return Suite(**dict(found), name=name if known else path.stem, folder=folder)


@dataclass(frozen=True, slots=True)
class SuiteCorpus:
    """A data set at hand. sha256: of its first file, "" on the Hub; notes: on what of it is not used."""

    corpus: Corpus
    sha256: str
    notes: tuple[str, ...] = ()


class NotHad(LiescopeError):
    """A data set that is not available, or on which nothing can be measured."""


def opened(data: SuiteData, folder: Path) -> SuiteCorpus:
    """A data set as a corpus. Raises NotHad if it is not available here, and BadData if the file is not the suite's."""
    digest = _checked_digest(data, folder)
    with _at_hand():
        if data.format == CORPUS:
            corpus = as_corpus(data.hub or data.paths(folder)[0])
            check(corpus)
            kept, notes = _drawn(data, collected(read(corpus, "games"), corpus)["game_id"])
            if notes:
                every = {name: collected(read(corpus, name), corpus) for name in (*GAME_TABLES, "events")}
                tables = {name: table.filter(pl.col("game_id").is_in(kept)) for name, table in every.items()}
                corpus = CorpusInMemory(data.name, tables, licences_of(corpus))
            return SuiteCorpus(corpus, digest, notes)
        source = _import(data, folder)
        found = list(source.games())
        games = [one for one in found if isinstance(one, GameRecord)]
        if not games:
            first = next((f": {one.reason}" for one in found if isinstance(one, Rejected)), "")
            raise BadData(f"it holds nothing that can be read{first}")
        lost = len(found) - len(games)
        kept, notes = _drawn(data, (one.game_id for one in games))
        notes = (f"{lost:,} items could not be read and are left out",) * bool(lost) + notes
        terms = {data.format: source.importer.terms()}
        return SuiteCorpus(in_memory((one for one in games if one.game_id in kept), data.name, terms), digest, notes)


def _drawn(data: SuiteData, games: Iterable[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The ids of the games that are measured, and a note if these are not all."""
    every = list(games)
    if not 0 < data.games < len(every):
        return frozenset(every), ()
    every.sort(key=lambda game: sha256(f"{data.name}/{game}".encode(errors="replace")).digest())
    return frozenset(every[: data.games]), (f"{data.games:,} of its {len(every):,} games are drawn",)


def control_records(control: ControlSet, folder: Path) -> Sequence[GameRecord]:
    """The first conversations of a control set. Raises NotHad."""
    with _at_hand():
        _checked_digest(control, folder)
        found = islice(_import(control, folder).games(), control.most)
        return [one for one in found if isinstance(one, GameRecord)]


@contextmanager
def _at_hand() -> Iterator[None]:
    try:
        yield
    except (LiescopeError, OSError) as error:
        raise NotHad(str(error)) from error


def _checked_digest(data: SuiteData, folder: Path) -> str:
    with _at_hand():
        paths = data.paths(folder)
    missing = [path for path in paths if not path.exists()]
    if missing:
        at = f" from {data.url}" if data.url else ""
        raise NotHad(f"there is no {missing[0]}; get it{at}, and name the folder with --data")
    first = next((path for path in paths if path.is_file()), None)
    if first is None:
        return ""
    digest = fingerprint(first)
    if data.sha256 and digest != data.sha256:
        raise BadData(
            f"{first} is not the file that the suite means (SHA-256 {digest[:12]}…, not {data.sha256[:12]}…); get that "
            "version, or change the suite, whose figures are then no longer the same"
        )
    return digest


def _import(data: SuiteData, folder: Path) -> Import:
    sources = [data.hub] if data.hub else data.paths(folder)
    files = {name: local(folder / path) for name, path in data.files.items()}
    return Import(data.format, *sources, **data.options, **files)
