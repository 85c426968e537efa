"""What was said, each statement with what its speaker had been shown: the prompt and completion of training data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from liescope.data_cards.tables import GameRow, StatementRow
from liescope.generate.exports.shown import Asked, Message, Shown, spoken
from liescope.generate.exports.source import GamesSource, SourceGame
from liescope.generate.runs.rebuild import SENT, played_here
from liescope.labeling.audiences import known_before

FROM_TRANSCRIPT = "made from the transcript"


@dataclass(frozen=True, slots=True)
class Speech:
    """One statement. at: its place among those of the game; asked: the ask that it answers, None where no prompt can be
    had: in corpora and imported games.
    """

    game: SourceGame
    at: int
    asked: Asked | None

    @property
    def said(self) -> StatementRow:
        return self.game.statements[self.at]


@dataclass(frozen=True, slots=True)
class Turn:
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
        asked: dict[str, Asked] = {}
        if self._journal is not None and game.statements:
            for one, event in spoken(self._journal, game.record):
                asked[f"{game.row.game_id}:{event.index}"] = one
        for at, said in enumerate(game.statements):
            yield Speech(game, at, asked.get(said.statement_id))

    def turn(self, speech: Speech) -> Turn:
        """What the speaker was shown and replied. A reply that was sent for is in full, as it came, with whatever it
        holds besides the words that the others heard.
        """
        if speech.asked is None or self.shown is None:
            return Turn(_from_transcript(speech), speech.said.text, FROM_TRANSCRIPT)
        prompt, origin = self.shown.messages(speech.asked, self.shown.requests(speech.asked.ask))
        reply = speech.asked.reply
        raw = reply.raw if reply is not None and origin == SENT else ""
        return Turn(prompt, raw or speech.said.text, origin)


def introduction(game: GameRow, name: str) -> str:
    """What a seat knows of itself and the table, where no prompt was kept."""
    role = next((seat.role for seat in game.seats if seat.name == name), "")
    others = ", ".join(seat.name for seat in game.seats if seat.name != name)
    return f"You are {name}{f', the {role},' if role else ''} in a game of {game.game} with {others}."


def line(said: StatementRow) -> str:
    """A statement as one line of a transcript."""
    return f"{said.speaker}: {' '.join(said.text.split())}"


def question(said: StatementRow) -> str:
    """What a speaker is asked for, where no prompt was kept."""
    to = ", ".join(name for name in said.audience if name != said.speaker)
    return f"What do you say to {to}?" if to else "What do you say?"


def _from_transcript(speech: Speech) -> list[Message]:
    said = speech.said
    before = [(frozenset(one.audience), line(one)) for one in speech.game.statements[: speech.at]]
    heard = "\n".join(known_before(before, frozenset(said.audience)))
    so_far = f"What was said so far:\n{heard}" if heard else "Nobody has spoken yet."
    return [
        {"role": "system", "content": introduction(speech.game.row, said.speaker)},
        {"role": "user", "content": f"{so_far}\n\n{question(said)}"},
    ]
