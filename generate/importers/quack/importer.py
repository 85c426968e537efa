"""The published QUACK games: an archive or a folder, with a folder for each game."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from liescope.common.errors import BadData
from liescope.games.record import GameRecord
from liescope.generate.importers.json_lines import objects_of
from liescope.generate.importers.protocol import Imported, Importer, Rejected, attempt
from liescope.generate.importers.quack.claims import DUCK
from liescope.generate.importers.quack.entries import Claim, Entry, read_claim, read_event
from liescope.generate.importers.quack.files import CLAIMS, LOG, GameFiles, games_in
from liescope.generate.importers.quack.log import GAME, record_of

GOOSE = "goose"
_MIXED = re.compile(rf"geese_(?P<{GOOSE}>.+)_duck_(?P<{DUCK}>.+)")
_SEED = re.compile(r"seed(\d{1,9})$")


class QuackImporter(Importer):
    """A folder per game, in the folder of its model: `MODEL/GAME/game.jsonl` with `tier3_claims.jsonl` beside it."""

    format: ClassVar[str] = "quack"
    reads: ClassVar[str] = "an archive (.tar.gz) or a folder"
    origin: ClassVar[str] = "QUACK's authors, https://github.com/AAAAA-Academia-Attractions/QUACK"
    licence: ClassVar[str] = "MIT: Copyright (c) 2026 AAAAA-Academia-Attractions."
    licence_id: ClassVar[str] = "mit"
    redistributable: ClassVar[bool] = True

    def game_texts(self) -> Mapping[str, str]:
        return {
            GAME: "A game like Among Us between language models that see maps: five geese do tasks, one duck kills, "
            "and all talk to those in their room, or to everyone in a meeting, which exiles by vote. Free roaming is "
            "kept as the night. A model read the claims and the authors' program checked them. It calls 26% of what "
            "geese say they saw false, mostly wrongly; so no false claim about oneself counts as a lie here, only the "
            "duck's accusations do."
        }

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        try:
            games = games_in(source)
        except BadData as error:
            yield Rejected(source.name, 0, "", str(error))
            return
        if not games:
            yield Rejected(source.name, 0, "", f"there is no {LOG} in it")
        for place, files in enumerate(games, 1):
            yield from _read_game(place, files)


def _read_game(place: int, files: GameFiles) -> Iterator[Imported | Rejected]:
    model, name = files.path.parent.name or "unknown", files.path.name
    game_id = f"{model}/{name}"
    claims: list[Claim] = []
    for line, entry in objects_of(files.lines(CLAIMS), f"{game_id}/{CLAIMS}"):
        try:
            claims.append(read_claim(_sound(entry)))
        except BadData as error:
            yield Rejected(f"{game_id}/{CLAIMS}", line, game_id, str(error))
    yield attempt(f"{game_id}/{LOG}", place, game_id, partial(_record, game_id, model, files, claims))


def _record(game_id: str, model: str, files: GameFiles, claims: list[Claim]) -> GameRecord:
    mixed, seed = _MIXED.fullmatch(model), _SEED.search(game_id)
    models = mixed.groupdict() if mixed else dict.fromkeys((GOOSE, DUCK), model)
    return record_of(game_id, model, models, _events(files), claims, int(seed[1]) if seed else None)


def _events(files: GameFiles) -> Iterator[tuple[Entry, Any]]:
    for line, entry in objects_of(files.lines(LOG), LOG):
        try:
            yield read_event(_sound(entry))
        except BadData as error:
            raise BadData(f"line {line}: {error}") from error


def _sound(entry: dict[str, Any] | Rejected) -> dict[str, Any]:
    """The object on a line. Raises BadData if there is none."""
    if isinstance(entry, Rejected):
        raise BadData(entry.reason)
    return entry
