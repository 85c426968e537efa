"""Turns statements as callers have them (strings, mappings, frames) into the examples that a detector reads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.common.text import ASSISTANT
from liescope.detectors.detector_settings import REASONING, WORDS
from liescope.detectors.examples import Example, is_lost
from liescope.detectors.text_form import PLAYER_TOKEN, SPEAKER_TOKEN, clean
from liescope.detectors.view.transcript import SAID, GameMoment, Transcript, TranscriptTurn
from liescope.generate.importers.column_names import NAMES
from liescope.generate.importers.conversations import exchange, is_turn, last_answer, row_parts, turns_of
from liescope.generate.importers.statement_rows import as_list, present, stated
from liescope.generate.importers.tables import cell, in_memory
from liescope.labeling.label import LOST_TEXT, Heard, known_before

NO_TEXT, NO_REASONING, OF_ANOTHER = "no text", "no reasoning", "not the assistant's turn"
COLUMNS = (
    *("statement_id", "text", "speaker", "speaker_model", "game_id", "names", "alive", "audience", "context"),
    *("game", "deceivers", "read_notes", "messages", "reasoning", "reasoning_content", "day", "phase", "round"),
)
"""What is read of a row; its other columns are not even loaded from a file."""
Said = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement to score. example: what a detector reads; None if there is nothing to read, and `null` says why."""

    key: str | None
    text: str
    example: Example | None
    null: str | None


@dataclass(slots=True)
class _Game:
    """A game as far as it was read. players: who spoke or was listed as alive; listed: whether that misses none."""

    key: str = ""
    rules: str = ""
    deceivers: int | None = None
    turns: list[TranscriptTurn] = field(default_factory=list)
    said: list[Heard[Said]] = field(default_factory=list)
    players: set[str] = field(default_factory=set)
    listed: bool = False
    made: dict[tuple[tuple[str, ...], int | None], Transcript] = field(default_factory=dict)

    def moment(self, names: tuple[str, ...], deceivers: int | None, upto: int) -> GameMoment:
        """The game after some turns, with one transcript for all. names, deceivers: the players, how many deceive."""
        if (key := (names, deceivers)) not in self.made:
            self.made[key] = Transcript(self.key, names, tuple(self.turns), self.rules, deceivers)
        return GameMoment(self.made[key], upto)


@dataclass(slots=True)
class StatementReader:
    """Turns statements into examples, in order, and remembers the game they come from.

    context: how many earlier statements the detector reads; names: used as players' names if a statement comes
    without any; target: what is asked about each; view: what the detector reads of a statement; one without reasoning
    cannot be scored by a view of reasoning; columns: as for `row_parts`.

    A row with a `game_id` and no `context` has as its context the earlier rows of that game that all in its `audience`
    (empty or absent: everyone) had heard, and is shown to detectors of whole games with all rows before it; the names
    of a game are its `names`, or `alive` and everyone who has spoken in it so far. Without `names` and `alive`, players
    who have not spoken yet are unknown, so `deceivers` is ignored. A row that is a turn of a conversation has the rows
    of that conversation before it as its context.
    """

    context: int
    names: Collection[str] = ()
    target: str = "role"
    view: str = WORDS
    columns: Mapping[str, Any] = field(default_factory=dict)
    _game: _Game = field(default_factory=_Game)
    _layouts: dict[tuple[str, ...], dict[str, str]] = field(default_factory=dict)
    _talks: dict[str, tuple[set[str], deque[Said]]] = field(default_factory=dict)

    def read_all(self, given: Iterable[tuple[int, object]]) -> list[Statement]:
        """Numbered statements, from 0; those of a game share its transcript. Raises UsageError for anything else."""
        read = [self._read(number, one) for number, one in given]
        return [
            replace(one, example=replace(one.example, seen=seen())) if one.example and seen else one
            for one, seen in read
        ]

    def _read(self, number: int, given: object) -> tuple[Statement, Callable[[], GameMoment] | None]:
        """A statement and, if it belongs to a game, a function that makes its moment once all rows are read."""
        if isinstance(given, str) or given is None:
            given = {"text": given}
        if isinstance(given, Mapping) or is_conversation(given):
            try:
                given = self._laid_out(given)
            except BadData as error:
                raise UsageError(f"statement {number + 1}: {error}") from None
        if isinstance(given, Statement):
            return given, None
        if not isinstance(given, Mapping):
            raise UsageError(
                f"statement {number + 1} is of type {type(given).__name__}; give a string, or a mapping with 'text' "
                "and, if you have them, 'speaker', 'names' and 'context'"
            )
        if "text" not in given and self.view == REASONING:
            given = {"text": "", **given}
        if "text" not in given:
            shown = ", ".join(map(str, given))[:200]
            raise UsageError(f"statement {number + 1} has no 'text'; it has: {shown}; name the column with --text")
        statement, game, told = self._statement(given, number), self._game, _words(given.get("names"))
        if not game.key or present(given.get("context")):
            return statement, None
        names = told or sorted(game.players)
        if statement.example and statement.example.speaker not in names:
            names.append(statement.example.speaker)
        deceivers = game.deceivers if told or game.listed else None
        return statement, partial(game.moment, tuple(names), deceivers, len(game.turns))

    def _laid_out(self, row: Any) -> Mapping[str, Any] | Statement:
        """A row, or messages, with `text` and what was said before; others' turns without a score. Raises BadData."""
        if not isinstance(row, Mapping):
            return _last_answer({}, row)
        there = tuple(map(str, row))
        if (parts := self._layouts.get(there)) is None:
            parts = self._layouts[there] = row_parts(there, self.columns)
        if "text" in parts:
            return {**row, "text": row[parts["text"]]}
        if "role" in parts:
            return self._turn(row, *(row[parts[what]] for what in ("conversation", "role", "content")))
        if parts:
            return _last_answer(row, exchange(row, parts))
        messages = next((cell(row[name]) for name in NAMES["messages"] if row.get(name) is not None), None)
        return _last_answer(row, messages) if "messages" in row or isinstance(messages, list | Mapping) else row

    def _turn(self, row: Mapping[str, Any], talk: Any, role: Any, content: Any) -> Mapping[str, Any] | Statement:
        if not stated(talk):
            raise BadData("it belongs to no conversation")
        (turn,) = turns_of([{"role": role, "content": content}])
        roles, before = self._talks.setdefault(str(talk), (set(), deque(maxlen=self.context)))
        roles.add(turn["role"])
        heard = [*before]
        before.append((turn["role"], turn["text"]))
        if turn["role"] != ASSISTANT:
            return Statement(_word(row.get("statement_id")) or None, turn["text"], None, OF_ANOTHER)
        return _answer(row, turn, roles, heard)

    def _statement(self, row: Mapping[str, Any], number: int) -> Statement:
        text = _text(row["text"], number)
        speaker = _word(row.get("speaker")) or SPEAKER_TOKEN
        said = self._context(row, number)
        names = self._names_of(row, speaker, said)
        game = self._game
        key = _word(row.get("statement_id")) or None
        if is_lost(text, _words(row.get("read_notes"))):
            return Statement(key, text, None, LOST_TEXT)
        thought = _word(row.get("reasoning")) or _word(row.get("reasoning_content"))
        if game.key:
            heard = frozenset(_words(row.get("audience")))
            day, round = (_whole(row.get(name), least) for name, least in (("day", 1), ("round", 0)))
            when = day, thought, _word(row.get("phase")), round
            turn = TranscriptTurn(SAID, speaker, text, "", heard, key or "", *when)
            game.turns.append(turn)
            game.said.append((turn.audience, (speaker, text)))
            game.made.clear()
            alive = _words(row.get("alive"))
            game.players.update((speaker, *alive))
            game.listed |= bool(alive)
        if not clean(text).strip() and not (self.view == REASONING and thought.strip()):
            return Statement(key, text, None, NO_TEXT)
        before = tuple(said[-self.context :]) if self.context else ()
        model = _word(row.get("speaker_model"))
        example = Example(key or "", game.key, speaker, model, text, names, before, self.target, reasoning=thought)
        if not example.can_be_read(self.view):
            return Statement(key, text, None, NO_REASONING)
        return Statement(key, text, example, None)

    def _context(self, row: Mapping[str, Any], number: int) -> list[Said]:
        game = _word(row.get("game_id"))
        if game != self._game.key:
            self._game = _Game(game, _word(row.get("game")), _count(row.get("deceivers"), number))
        given = row.get("context")
        if not present(given):
            return list(known_before(self._game.said, frozenset(_words(row.get("audience"))), self.context))
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise UsageError(f"statement {number + 1}: 'context' must be a list of earlier statements, oldest first")
        return [_turn(turn, number) for turn in given]

    def _names_of(self, row: Mapping[str, Any], speaker: str, said: Sequence[Said]) -> tuple[str, ...]:
        if own := _words(row.get("names")):
            return tuple(own)
        known = {speaker, *(who for who, _ in said), *self._game.players, *_words(row.get("alive")), *self.names}
        return tuple(sorted(known - {SPEAKER_TOKEN, PLAYER_TOKEN, ""}))


def each_statement(statements: Any) -> Iterator[object]:
    """The statements of anything that holds them: a string, a mapping, a list of these, or a frame of polars, pandas,
    pyarrow or `datasets`, whose rows are mappings. Raises UsageError for anything else.
    """
    if isinstance(statements, str | Mapping) or is_conversation(statements):
        yield statements
    else:
        yield from in_memory(statements)


def is_conversation(given: object) -> bool:
    """Whether something is a list of messages, each with its role, and not rows with a turn each."""
    if not isinstance(given, list) or not given:
        return False
    if not all(isinstance(one, Mapping) and "role" in one for one in given):
        return False
    return "text" not in given[0] and not is_turn(list(given[0]))


def _last_answer(row: Mapping[str, Any], messages: Any) -> Mapping[str, Any]:
    """The assistant's last turn of a conversation as a statement, with the turns before as its context."""
    turns = turns_of(messages)
    last = last_answer(turns)
    before = [(turn["role"], turn["text"]) for turn in turns[:last]]
    return _answer(row, turns[last], {turn["role"] for turn in turns}, before)


def _answer(
    row: Mapping[str, Any], turn: Mapping[str, Any], roles: Collection[str], before: list[Said]
) -> Mapping[str, Any]:
    kept = {name: value for name, value in row.items() if name in COLUMNS}
    told = {"text": turn["text"], "reasoning": turn["reasoning"] or kept.get("reasoning")}
    return {**kept, **told, "speaker": ASSISTANT, "names": sorted(roles), "context": before}


def _text(value: object, number: int) -> str:
    if not present(value):
        return ""
    if not isinstance(value, str):
        raise UsageError(f"statement {number + 1}: 'text' is of type {type(value).__name__}; give a string")
    return value


def _turn(turn: object, number: int) -> Said:
    """An earlier statement: a string, a pair (speaker, text), or a mapping with `text` and, optionally, `speaker`."""
    if isinstance(turn, str):
        return PLAYER_TOKEN, turn
    if isinstance(turn, Mapping) and isinstance(turn.get("text"), str):
        return _word(turn.get("speaker")) or PLAYER_TOKEN, turn["text"]
    if isinstance(turn, Sequence) and len(turn) == 2 and all(isinstance(part, str) for part in turn):
        return turn[0] or PLAYER_TOKEN, turn[1]
    raise UsageError(
        f"statement {number + 1}: each entry of 'context' must be a string, a pair (speaker, text), or a mapping with "
        "'speaker' and 'text'"
    )


def _count(value: object, number: int) -> int | None:
    """How many deceive; a text, as CSV has it, is read as a number."""
    if not present(value):
        return None
    if (found := _whole(value, -1)) < 0:
        raise UsageError(f"statement {number + 1}: 'deceivers' is {str(value)[:40]!r}; give how many players deceive")
    return found


def _whole(value: Any, otherwise: int) -> int:
    """A whole number, also one in a text or as a float."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""


def _words(values: Any) -> list[str]:
    """The strings of a list, an array or a text, as CSV has it; of nothing none."""
    with suppress(ValueError):  # a text that begins like a list and is none
        values = as_list(values)
    if not present(values) or isinstance(values, str) or not isinstance(values, Iterable):
        return []
    return [value for value in values if isinstance(value, str) and value]
