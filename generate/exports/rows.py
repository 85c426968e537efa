"""Exports of one row for each example: JSONL, a file for each split, as `datasets.load_dataset` opens it."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, ClassVar, Literal

from pydantic import Field

from liescope.common.model_options import OptionsModel
from liescope.data_cards.tables import SPLITS
from liescope.generate.exports.protocol import Exporter, Tally, json_line
from liescope.generate.exports.source import GamesSource, SourceGame
from liescope.generate.exports.speech import Speech, Speeches, Turn, line

Row = tuple[str, dict[str, Any]]
"""A row and the split that it belongs to."""


class Preference(OptionsModel):
    """Which statements training should favour."""

    prefer: Literal["honest", "deceptive"] = Field(
        default="honest", description="Statements to favour: honest, or deceptive."
    )


class RowExporter(Exporter):
    """An exporter of rows. All rows of an export have the same keys, and no value is null."""

    def write(self, source: GamesSource, games: Iterator[SourceGame], folder: Path, tally: Tally) -> None:
        with ExitStack() as files:
            opened: dict[str, IO[bytes]] = {}
            for split, row in self.rows(Speeches(source), games, tally):
                if split not in opened:
                    opened[split] = files.enter_context((folder / f"{split}.jsonl").open("wb"))
                opened[split].write(json_line(row) + b"\n")
                tally.rows[split] += 1
        tally.rows = Counter({split: tally.rows[split] for split in SPLITS if split in opened})

    @abstractmethod
    def rows(self, speeches: Speeches, games: Iterator[SourceGame], tally: Tally) -> Iterator[Row]:
        """The rows of all games; what is left out is counted in the tally."""


class ClaimExporter(RowExporter):
    """Exports of statements whose claims were checked: a false claim that its speaker could know to be false is
    deceptive, a statement with checkable claims and none of these is honest.
    """

    limits: ClassVar[str] = (
        "Only `label_claim` decides: `honest` means that no checkable claim in a statement is false and known to be so "
        "by its speaker, not that the statement is fair. Statements without a checkable claim, where most misleading "
        "by omission or insinuation happens, are left out. Rules read the claims and can misread one. Whoever trains "
        "on `--prefer deceptive` trains a model to lie. Prompts marked `made from the transcript` or `rendered again` "
        "are not what the speaker was sent; completions of sent prompts are replies in full."
    )
    Options: ClassVar[type[OptionsModel]] = Preference

    def checked(self, speeches: Speeches, games: Iterator[SourceGame], tally: Tally) -> Iterator[tuple[Speech, bool]]:
        """Every statement with a checked claim, and whether it is of the kind to favour. Continuations of one game have
        their beginning in common, which is told once.
        """
        assert isinstance(self.options, Preference)
        deceptive = self.options.prefer == "deceptive"
        known: set[bytes] = set()
        for game in games:
            told = sha256((game.row.siblings or "").encode("utf-8", "replace"))
            for speech in speeches.of(game):
                label = speech.said.label_claim
                told.update(f"\n{line(speech.said)}".encode("utf-8", "replace"))
                if game.row.siblings and told.digest() in known:
                    tally.left_out["said in another continuation of the same game, after the same words"] += 1
                    continue
                if game.row.siblings:
                    known.add(told.digest())
                if label is None:
                    tally.left_out[f"no label_claim: {speech.said.label_claim_null}"] += 1
                else:
                    yield speech, label == deceptive


def facts_of(speech: Speech, turn: Turn) -> dict[str, Any]:
    """What every row says of the statement that it is made of."""
    said, game = speech.said, speech.game.row
    return {
        "statement_id": said.statement_id,
        "game_id": said.game_id,
        "game": said.game,
        "speaker": said.speaker,
        "speaker_role": said.speaker_role,
        "speaker_model": said.speaker_model,
        "source": said.source,
        "origin": game.origin,
        "statement": said.text,
        "prompt_origin": turn.origin,
    }
