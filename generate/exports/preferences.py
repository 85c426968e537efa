"""Preferences for training: statements that are wanted or not. JSONL, a file for each split, as `datasets.load_dataset`
opens it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, ClassVar, Literal

from pydantic import Field

from liescope.common.settings import OptionsModel
from liescope.data_cards.tables import SPLITS
from liescope.data_cards.tables.rows import StatementRow
from liescope.generate.exports.exporter_protocol import Exporter, GamesSource, SourceGame, Tally, json_line
from liescope.generate.runs.moment import SENT, AskShown, Message, Shown, played_here, spoken
from liescope.labeling.label import known_before

FROM_TRANSCRIPT = "made from the transcript"


@dataclass(frozen=True, slots=True)
class Speech:
    """One statement. at: its place among those of the game; asked: the ask that it answers, None where no prompt can be
    had: in corpora and imported games.
    """

    game: SourceGame
    at: int
    asked: AskShown | None

    @property
    def said(self) -> StatementRow:
        return self.game.statements[self.at]


@dataclass(frozen=True, slots=True)
class ExportedTurn:
    """The prompt that a statement answers, the reply, and where the prompt comes from: as it was sent, rendered again,
    or FROM_TRANSCRIPT.
    """

    prompt: list[Message]
    completion: str
    origin: str


class Speeches:
    """The statements of a source, game by game."""

    def __init__(self, source: GamesSource) -> None:
        self._journal = source.journal if source.journal is not None and played_here(source.journal) else None
        self.shown = None if self._journal is None else Shown(self._journal)

    def of(self, game: SourceGame) -> Iterator[Speech]:
        """The statements of a game in order. Raises BadData for a game that cannot be replayed."""
        asked: dict[str, AskShown] = {}
        if self._journal is not None and game.statements:
            for one, event in spoken(self._journal, game.record):
                asked[f"{game.row.game_id}:{event.index}"] = one
        for at, said in enumerate(game.statements):
            yield Speech(game, at, asked.get(said.statement_id))

    def turn(self, speech: Speech) -> ExportedTurn:
        """What the speaker was shown and replied. A reply from an endpoint is given in full, with everything that the
        others did not hear.
        """
        if speech.asked is None or self.shown is None:
            return ExportedTurn(_from_transcript(speech), speech.said.text, FROM_TRANSCRIPT)
        prompt, origin = self.shown.messages(speech.asked, self.shown.requests(speech.asked.ask))
        reply = speech.asked.reply
        raw = reply.raw if reply is not None and origin == SENT else ""
        return ExportedTurn(prompt, raw or speech.said.text, origin)


def line(said: StatementRow) -> str:
    """A statement as one line of a transcript."""
    return f"{said.speaker}: {' '.join(said.text.split())}"


def _from_transcript(speech: Speech) -> list[Message]:
    """What a seat knew, what it had heard, and what it is asked for."""
    said, game = speech.said, speech.game.row
    role = next((seat.role for seat in game.seats if seat.name == said.speaker), "")
    others = ", ".join(seat.name for seat in game.seats if seat.name != said.speaker)
    who = f"You are {said.speaker}{f', the {role},' if role else ''} in a game of {game.game} with {others}."
    before = [(frozenset(one.audience), line(one)) for one in speech.game.statements[: speech.at]]
    heard = "\n".join(known_before(before, frozenset(said.audience)))
    so_far = f"What was said so far:\n{heard}" if heard else "Nobody has spoken yet."
    to = ", ".join(name for name in said.audience if name != said.speaker)
    asked = f"What do you say to {to}?" if to else "What do you say?"
    return [{"role": "system", "content": who}, {"role": "user", "content": f"{so_far}\n\n{asked}"}]


class Preference(OptionsModel):
    """Which statements training should favour."""

    prefer: Literal["honest", "deceptive"] = Field(
        default="honest", description="Statements to favour: honest, or deceptive."
    )


class KtoExporter(Exporter):
    """One row for each statement whose claims were checked, wanted or not: a false claim that its speaker could know to
    be false is deceptive, one with checkable claims and no such lie is honest. All rows of an export have the same
    keys, and no value is null.
    """

    format: ClassVar[str] = "kto"
    Options: ClassVar[type[OptionsModel]] = Preference

    def write(self, source: GamesSource, games: Iterator[SourceGame], folder: Path, tally: Tally) -> None:
        assert isinstance(self.options, Preference)
        deceptive, speeches = self.options.prefer == "deceptive", Speeches(source)
        with ExitStack() as files:
            opened: dict[str, IO[bytes]] = {}
            for speech in _once(speeches, games, tally):
                label, split = speech.said.label_claim, speech.game.split
                if label is None:
                    tally.left_out[f"no label_claim: {speech.said.label_claim_null}"] += 1
                    continue
                if split not in opened:
                    opened[split] = files.enter_context((folder / f"{split}.jsonl").open("wb"))
                opened[split].write(json_line(_row(speech, speeches.turn(speech), label == deceptive)) + b"\n")
                tally.rows[split] += 1
        tally.rows = Counter({split: tally.rows[split] for split in SPLITS if split in opened})


def _once(speeches: Speeches, games: Iterator[SourceGame], tally: Tally) -> Iterator[Speech]:
    """Every statement; those of the shared beginning of several continuations once."""
    known: set[bytes] = set()
    for game in games:
        told = sha256((game.row.siblings or "").encode("utf-8", "replace"))
        for speech in speeches.of(game):
            told.update(f"\n{line(speech.said)}".encode("utf-8", "replace"))
            if game.row.siblings and told.digest() in known:
                tally.left_out["said in another continuation of the same game, after the same words"] += 1
                continue
            if game.row.siblings:
                known.add(told.digest())
            yield speech


def _row(speech: Speech, turn: ExportedTurn, wanted: bool) -> dict[str, Any]:
    said = speech.said
    return {
        "prompt": turn.prompt,
        "completion": [{"role": "assistant", "content": turn.completion}],
        "label": wanted,
        "statement_id": said.statement_id,
        "game_id": said.game_id,
        "game": said.game,
        "speaker": said.speaker,
        "speaker_role": said.speaker_role,
        "speaker_model": said.speaker_model,
        "source": said.source,
        "origin": speech.game.row.origin,
        "statement": said.text,
        "prompt_origin": turn.origin,
    }
