"""Your own data, without a game: texts in a table, and conversations with an assistant."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from typing import Any, ClassVar

from pydantic import Field, ValidationError

from liescope.common.errors import BadData
from liescope.common.reading import fault
from liescope.common.settings import OptionsModel
from liescope.common.text import ASSISTANT, CHAT, TEXT
from liescope.games.facts import GameMeta
from liescope.games.record import GameRecord
from liescope.generate.importers.column_names import (
    GROUPS,
    NAMES,
    ChatColumns,
    PairColumns,
    TextColumn,
    canary_of,
    named,
    text_column,
)
from liescope.generate.importers.conversations import (
    chat_parts,
    exchange,
    in_turn,
    last_answer,
    turn_cell,
    turn_cells,
    turns_of,
)
from liescope.generate.importers.importer_protocol import Imported, Labels, Rejected, attempt
from liescope.generate.importers.label_column import YES, LabelColumn, OwnOptions, label_column, word_of
from liescope.generate.importers.receipt import as_value
from liescope.generate.importers.statement_rows import Row, as_text, game_of, present, stated
from liescope.generate.importers.table_importer import RowReader, TableImporter
from liescope.generate.importers.tables import SPLIT_NAMES, listed
from liescope.generate.importers.text_files import Rows

AUTHOR = "author"


class TextOptions(OwnOptions, PairColumns, TextColumn):
    """Which column holds what."""

    group: str = Field(
        default="", description="The column whose rows belong together, such as a conversation or an interview."
    )


class ChatOptions(OwnOptions, PairColumns, ChatColumns):
    """Which columns hold a chat of one turn, or one turn of a chat."""


class _Own(TableImporter):
    """What both importers share. copies: how often each record has come, in all sources."""

    licence: ClassVar[str] = "None is stated: not to be redistributed."
    version: ClassVar[int] = 5
    words: ClassVar[str]
    holds: ClassVar[str] = "response"

    def __init__(self, options: OwnOptions) -> None:
        super().__init__(options)
        self.given: OwnOptions = options
        self.copies = Counter[str]()
        self._sides: tuple[str, ...] = ()
        if isinstance(options, PairColumns):
            lies, truths = options.deceptive_column, options.honest_column
            self._sides = (*truths, *lies)
            pair = {"label": "column", "deceptive": lies, "honest": truths}
            self.given = options.model_copy(update=pair) if self._sides else options

    def apart(self, name: str, rows: Rows) -> Rows:
        """A row for each text of a row of true and false ones, with the column that it stood in as its label."""
        sides, text = self._sides, getattr(self.given, self.holds, "") or self.holds
        for line, row in rows:
            if isinstance(row, Rejected) or not sides:
                yield line, row
                continue
            told = [(side, one) for side in sides for one in _several(side, row.get(side)) if str(one or "").strip()]
            rest = {column: cell for column, cell in row.items() if column not in sides}
            if not GROUPS & {column.casefold() for column in rest}:
                rest["group"] = _fingerprint(str([rest, told]))
            self.receipt.made += max(0, len(told) - 1)
            if not told:
                yield line, Rejected(name, line, "", f"it has no text in {' or '.join(sides)}")
            yield from ((line, {**rest, text: one, "column": side}) for side, one in told)

    def game_texts(self) -> Mapping[str, str]:
        return {self.format: self.given.about or self.words}


class TextImporter(_Own):
    """A row a text: CSV, TSV, JSON lines, Parquet, or a dataset in a folder or on the Hub."""

    format: ClassVar[str] = TEXT
    holds: ClassVar[str] = "text"
    Options: ClassVar[type[OptionsModel]] = TextOptions

    def reader(self, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> RowReader:
        return _TextReader(self, columns, head)


class ChatImporter(_Own):
    """A row a conversation (`messages` with their roles), an exchange (prompt, response) or a turn; the label is the
    conversation's or the turns'.
    """

    format: ClassVar[str] = CHAT
    Options: ClassVar[type[OptionsModel]] = ChatOptions

    def reader(self, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> RowReader:
        return _ChatReader(self, columns, head)


class _OwnReader(RowReader):
    """Makes records of rows, with columns by name. Raises BadData for a missing column."""

    def __init__(self, own: _Own, columns: Sequence[str], label: LabelColumn) -> None:
        self._label, self._copies, self._labels = label, own.copies, Labels()
        self._notes, self._all = list[str](), columns
        known = {name.casefold(): name for name in reversed(columns)}
        self._columns = {
            what: next((known[name] for name in names if name in known), "") for what, names in NAMES.items()
        }
        if own.given.reasoning:
            self._columns["reasoning"] = named(columns, own.given.reasoning, (), "reasoning")

    def _use(self, unused: Collection[str], **columns: str) -> None:
        """Keep which columns are read. unused: those of the usual ones that are not."""
        usual = {what: name for what, name in self._columns.items() if what not in unused}
        self.used = {what: name for what, name in {**usual, **columns}.items() if name}

    def _see(self, row: Mapping[str, Any]) -> None:
        """Take note of the label of a row."""
        self._label.sees(row.get(self._label.name))

    def _deceptive(self, value: Any) -> bool | None:
        """Whether a cell of the label means deceptive, counted for the receipt."""
        found = self._label.of(value)
        self._labels[as_value(value), found] += 1
        return found

    def _of(self, row: Mapping[str, Any], what: str) -> str | None:
        value = row.get(self._columns[what])
        there = present(value) if what == "reasoning" else stated(value)
        return str(value) if there and not isinstance(value, list | dict) else None

    def _canary(self, row: Mapping[str, Any]) -> str | None:
        """The mark by which a row's publishers ask that nobody train on it."""
        asked = self._columns["untrained"]
        return self._of(row, "canary") or (asked if asked and word_of(row.get(asked)) in YES else None)

    def _record(
        self, family: str, kind: str, said: Sequence[Mapping[str, Any]], row: Mapping[str, Any], game_id: str = ""
    ) -> GameRecord:
        """The record of what was said. game_id: the source's; else the id is made from the family and the content in
        any order, so that neither the file's name nor the order of its rows affects it; each copy has its own.
        """
        split, notes = self._of(row, "split"), [*filter(None, [self._label.note(self._all)]), *self._notes]
        if split and split.strip().casefold() not in SPLIT_NAMES:
            notes.append(f"the split {split[:40]!r} is not known, so that build chooses one")
            split = None
        try:
            rows = [Row.of({**cells, "game_id": family, "split": split}) for cells in said]
        except ValidationError as error:
            raise BadData(fault(error)) from error
        record = game_of(family, kind, rows, (), notes, Counter())
        meta: GameMeta = {**record.meta, "family": family}
        if domain := self._of(row, "domain"):
            meta["domain"] = domain
        if canary := canary_of(row):
            meta["canary"] = canary
        cell = self._of(row, "task") or ""
        if not game_id:
            words = sorted(json.dumps([event.actor, event.text, event.data]) for event in record.events)
            models = sorted((seat.name, seat.model) for seat in record.seats)
            told = _fingerprint([family, cell, meta.get("split"), models, words])
            self._copies[told] += 1
            game_id = f"{family}-{_fingerprint([told, self._copies[told]])[:8]}"
        return replace(record, game_id=game_id, cell=cell, meta=meta)


class _TextReader(_OwnReader):
    def __init__(self, own: _Own, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> None:
        given = own.given
        assert isinstance(given, TextOptions)
        label = label_column(given, columns, head, own.seen)
        super().__init__(own, columns, label)
        self._text = text_column(columns, given.text, head, {label.name, given.group, self._columns["reasoning"]})
        self._group = named(columns, given.group, GROUPS - {self._text}, "group", needed=False)
        self._notes += [] if self._group else ["no column groups the rows (--group names one): each is alone"]
        self._use(
            ("id", "judges", "messages", "system", "input", "turn"),
            text=self._text,
            label=label.name,
            group=self._group,
        )

    def key(self, row: Mapping[str, Any]) -> str | None:
        if not present(row.get(self._text)) or not str(row[self._text]).strip():
            raise BadData(f"it has no text: {self._text} is empty")
        if isinstance(row[self._text], list | dict):
            raise BadData(f"{self._text} holds a list or an object, no text; for conversations, use import chat")
        if self._group and not stated(row.get(self._group)):
            raise BadData(f"it belongs to no group: {self._group} is empty")
        self._see(row)
        return word_of(row[self._group]) if self._group else None

    def games(self, file: str, key: str | None, rows: Iterable[tuple[int, Any]]) -> Iterator[Imported | Rejected]:
        lines, told = zip(*rows, strict=True)
        family = _fingerprint(str(told[0][self._text])) if key is None else key
        self._labels = Labels()
        yield attempt(file, lines[0], family, partial(self._texts, family, told), len(told), self._labels)

    def _texts(self, family: str, rows: Sequence[Mapping[str, Any]]) -> GameRecord:
        said = [
            {
                "speaker": self._of(row, "speaker") or AUTHOR,
                "text": row[self._text],
                "reasoning": self._of(row, "reasoning") or "",
                "label_gold": self._deceptive(row.get(self._label.name)),
                "model": self._of(row, "model"),
                "canary": self._canary(row),
            }
            for row in rows
        ]
        return self._record(family, TEXT, said, rows[0])


class _ChatReader(_OwnReader):
    """Makes conversations of rows. _of: by what they hold, the columns of an exchange or a turn; none for messages."""

    def __init__(self, own: _Own, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> None:
        self._parts = chat_parts(columns, dict(own.given))
        self._messages = "" if self._parts else named(columns, "", frozenset(NAMES["messages"]), "messages")
        cells = [cell for row in head for cell in turn_cells(row.get(self._messages))]
        given = own.given.deceptive, own.given.honest
        label = LabelColumn("deceptive", *given) if cells else label_column(own.given, columns, head, own.seen)
        super().__init__(own, columns, label)
        self._of_turn = cache(lambda name: LabelColumn(name, *given, own.seen[name]))
        unread = {"speaker", "messages"} | {"id" if "role" in self._parts else "turn"}
        unread |= set() if "prompt" in self._parts else {"system", "input"}
        self._use(unread, messages=self._messages, label="" if cells else label.name, **self._parts)

    def key(self, row: Mapping[str, Any]) -> str | None:
        name = self._parts.get("conversation")
        if name and not stated(row.get(name)):
            raise BadData(f"it belongs to no conversation: {name} is empty")
        self._see(row)
        for turn, value in turn_cells(row[self._messages]) if row.get(self._messages) else ():
            self._of_turn(turn).sees(value)
        return str(as_text(row[name])) if name else None

    def games(self, file: str, key: str | None, rows: Iterable[tuple[int, Any]]) -> Iterator[Imported | Rejected]:
        lines, told = zip(*rows, strict=True)
        if key is not None:
            told = tuple(in_turn(told, self._columns["turn"]))
        own = told[0].get(self._columns["id"]) if key is None else key
        game_id = str(own) if present(own) else ""
        self._labels = Labels()
        yield attempt(file, lines[0], game_id, partial(self._chat, game_id, told), len(told), self._labels)

    def _turns(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The turns that rows hold: each one, or one row all of them."""
        parts, row = self._parts, rows[0]
        if "role" in parts:
            return turns_of([{"role": one.get(parts["role"]), "content": one.get(parts["content"])} for one in rows])
        if not parts:
            return turns_of(row.get(self._messages))
        return turns_of(exchange(row, parts))

    def _chat(self, game_id: str, rows: Sequence[Mapping[str, Any]]) -> GameRecord:
        turns = self._turns(rows)
        told = rows if "role" in self._parts else [rows[0]] * len(turns)
        last = last_answer(turns)
        if not turns[last]["text"].strip():
            raise BadData("the assistant's last turn has no text")
        own = self._turn_labels(turns, rows)
        whole = None if own or "role" in self._parts else self._deceptive(rows[0].get(self._label.name))
        said = [
            {
                "speaker": turn["role"],
                "role": turn["role"],
                "text": turn["text"],
                "reasoning": turn["reasoning"] or ((at == last or told is rows) and self._of(row, "reasoning")) or "",
                "canary": self._canary(row),
                "model": self._of(row, "model") if turn["role"] == ASSISTANT else None,
                "label_gold": own.get(at) if own else whole if at == last else None,
                "ratings": _rated(row.get(self._columns["judges"])) if at == last else (),
            }
            for at, (turn, row) in enumerate(zip(turns, told, strict=True))
        ]
        family = self._of(rows[0], "group") or _fingerprint([(turn["role"], turn["text"]) for turn in turns])
        return self._record(family, CHAT, said, rows[0], game_id)

    def _turn_labels(
        self, turns: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
    ) -> dict[int, bool | None]:
        """The assistant's turns' own labels, by index. Raises BadData where a row of another turn alone has one."""
        if "role" in self._parts:
            values = [row.get(self._label.name) for row in rows]
            spoken = [at for at, turn in enumerate(turns) if turn["role"] == ASSISTANT]
            if any(map(stated, values)) and not any(stated(values[at]) for at in spoken):
                raise BadData("its label stands at no turn of the assistant: move it to the turn that it is about")
            return {at: self._deceptive(values[at]) for at in spoken}
        cells = {at: cell for at, turn in enumerate(turns) if (cell := turn_cell(turn))}
        found = {at: self._of_turn(name).of(value) for at, (name, value) in cells.items()}
        self._labels.update((as_value(value), found[at]) for at, (_, value) in cells.items())
        return found


def _rated(scores: Any) -> list[dict[str, Any]]:
    """Raters' scores of how surely the assistant lied, from 0 to 1 or 1 to 100, as ratings."""
    given = {str(name): value for name, value in scores.items()} if isinstance(scores, Mapping) else {}
    known = {name: float(value) for name, value in given.items() if isinstance(value, int | float)}
    most = 100 if any(value > 1 for value in known.values()) else 1
    return [
        {"observer": name, "suspicion": value / most, "flag": 2 * value > most}
        for name, value in known.items()
        if 0 <= value <= most
    ]


def _several(column: str, cell: Any) -> list[Any]:
    """The texts in a cell: the items of a list, and of a column called answers, as TruthfulQA's, those between
    semicolons.
    """
    if isinstance(cell, str) and cell.startswith("["):
        with suppress(ValueError):
            cell = listed(cell)
    if isinstance(cell, str) and column.casefold().endswith("answers"):
        cell = [one.strip() for one in cell.split(";")]
    return cell if isinstance(cell, list) else [cell]


def _fingerprint(content: Any) -> str:
    """A hash of plain data for an id."""
    return sha256(json.dumps(content).encode()).hexdigest()[:16]
