"""Preferences for training: statements that are wanted or not. JSONL, a file for each split, as `datasets.load_dataset`
opens it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import IO, ClassVar, Literal

from pydantic import Field

from liescope.common.settings import OptionsModel
from liescope.data_cards.tables import SPLITS
from liescope.data_cards.tables.rows import StatementRow
from liescope.generate.exports.exporter_protocol import Exporter, GamesSource, SourceGame, Tally, json_line
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import SENT, AskShown, Message, Shown, played_here, spoken
from liescope.labeling.label import known_before
from liescope.labeling.ledger import statement_id

FROM_TRANSCRIPT = "made from the transcript"


def asked_for(journal: Journal | None, game: SourceGame) -> dict[str, AskShown]:
    """By statement, the ask that it answers; none in corpora and imported games, where no prompt can be had. Raises
    BadData for a game that cannot be replayed.
    """
    if journal is None or not played_here(journal) or not game.statements:
        return {}
    return {statement_id(game.row.game_id, event.index): one for one, event in spoken(journal, game.record)}


def prompt_of(game: SourceGame, at: int, asked: AskShown | None, shown: Shown | None) -> tuple[list[Message], str, str]:
    """The prompt that a statement answers, the reply, and where the prompt comes from: as it was sent, rendered again,
    or FROM_TRANSCRIPT. A reply from an endpoint is given in full, with everything that the others did not hear.

    at: the place of the statement among those of the game; asked: the ask that it answers.
    """
    said = game.statements[at]
    if asked is None or shown is None:
        return _from_transcript(game, at), said.text, FROM_TRANSCRIPT
    prompt, origin = shown.messages(asked, shown.requests(asked.ask))
    raw = asked.reply.raw if asked.reply is not None and origin == SENT else ""
    return prompt, raw or said.text, origin


def line(said: StatementRow) -> str:
    """A statement as one line of a transcript."""
    return f"{said.speaker}: {' '.join(said.text.split())}"


def _from_transcript(game: SourceGame, at: int) -> list[Message]:
    """What a seat knew, what it had heard, and what it is asked for."""
    said, row = game.statements[at], game.row
    role = next((seat.role for seat in row.seats if seat.name == said.speaker), "")
    others = ", ".join(seat.name for seat in row.seats if seat.name != said.speaker)
    who = f"You are {said.speaker}{f', the {role},' if role else ''} in a game of {row.game} with {others}."
    before = [(frozenset(one.audience), line(one)) for one in game.statements[:at]]
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
    options: Preference

    def write(self, source: GamesSource, games: Iterator[SourceGame], folder: Path, tally: Tally) -> None:
        deceptive, journal, known = self.options.prefer == "deceptive", source.journal, set[bytes]()
        shown = None if journal is None else Shown(journal)
        with ExitStack() as files:
            opened: dict[str, IO[bytes]] = {}
            for game in games:
                asked, split = asked_for(journal, game), game.split
                for at in _once(game, known, tally):
                    said = game.statements[at]
                    if said.label_claim is None:
                        tally.left_out[f"no label_claim: {said.label_claim_null}"] += 1
                        continue
                    if split not in opened:
                        opened[split] = files.enter_context((folder / f"{split}.jsonl").open("wb"))
                    prompt, completion, origin = prompt_of(game, at, asked.get(said.statement_id), shown)
                    row = {
                        "prompt": prompt,
                        "completion": [{"role": "assistant", "content": completion}],
                        "label": said.label_claim == deceptive,
                        "statement_id": said.statement_id,
                        "game_id": said.game_id,
                        "game": said.game,
                        "speaker": said.speaker,
                        "speaker_role": said.speaker_role,
                        "speaker_model": said.speaker_model,
                        "source": said.source,
                        "origin": game.row.origin,
                        "statement": said.text,
                        "prompt_origin": origin,
                    }
                    opened[split].write(json_line(row) + b"\n")
                    tally.rows[split] += 1
        tally.rows = Counter({split: tally.rows[split] for split in SPLITS if split in opened})


def _once(game: SourceGame, known: set[bytes], tally: Tally) -> Iterator[int]:
    """The place of every statement; those of the shared beginning of several continuations once."""
    told = sha256((game.row.siblings or "").encode("utf-8", "replace"))
    for at, said in enumerate(game.statements):
        told.update(f"\n{line(said)}".encode("utf-8", "replace"))
        if game.row.siblings and told.digest() in known:
            tally.left_out["said in another continuation of the same game, after the same words"] += 1
            continue
        if game.row.siblings:
            known.add(told.digest())
        yield at
