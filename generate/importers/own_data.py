"""Your own data, without a game: texts in a table, and conversations with an assistant."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, ClassVar

from pydantic import Field, ValidationError

from liescope.common.errors import BadData
from liescope.common.settings import OptionsModel
from liescope.common.text import ASSISTANT, CHAT, TEXT
from liescope.games.facts import GameMeta
from liescope.games.record import GameRecord
from liescope.generate.importers.importer_protocol import Imported, Rejected, attempt
from liescope.generate.importers.jsonl_importer import SHOWN, RowReader, SourceOptions, TableImporter
from liescope.generate.importers.statement_rows import SPLIT_NAMES, Row, fault, game_of, present, stated
from liescope.generate.importers.tables import listed
from liescope.generate.players.parsing.choice import split_reasoning
from liescope.generate.players.parsing.message_parts import is_reasoning, reasoning

AUTHOR = "author"

_TEXTS = frozenset(
    ("text", "statement", "sentence", "message", "content", "utterance", "response", "answer", "claim", "reply", "body")
)
_GROUPS = frozenset(
    (
        *("group", "group_id", "game_id", "game", "conversation", "conversation_id", "dialogue_id", "dialog_id"),
        *("thread", "thread_id", "session", "session_id", "document_id", "debate_id", "interview_id"),
    )
)
_PAIR = {
    "prompt": frozenset(("prompt", "question", "instruction")),
    "response": frozenset(("response", "answer", "output")),
}
_CONVERSATIONS = frozenset(("conversation", "chat", "dialogue", "dialog", "thread", "session"))
_CONVERSATIONS |= {f"{name}_id" for name in _CONVERSATIONS}
_TURN = {"conversation": _CONVERSATIONS, "role": frozenset(("role",)), "content": frozenset(("content", "text"))}
_LIES_BY_NAME = frozenset(
    ("deceptive", "is_deceptive", "deception", "lie", "is_lie", "lied", "lying", "is_lying", "dishonest", "label_gold")
)
_TRUTHS_BY_NAME = frozenset(
    ("honest", "is_honest", "honesty", "truthful", "is_truthful", "truth", "is_truth", "true", "is_true")
)
_LABELS = _LIES_BY_NAME | _TRUTHS_BY_NAME | {"label", "labels", "target", "class", "gold", "y"}
_LIES = frozenset(("deceptive", "deception", "lie", "lying", "lied", "dishonest", "deceitful", "untruthful"))
_TRUTHS = frozenset(("honest", "truth", "truthful", "not deceptive", "non-deceptive", "nondeceptive", "sincere"))
_YES, _NO = frozenset(("1", "true", "t", "yes", "y")), frozenset(("0", "false", "f", "no", "n"))
_NAMES = {
    "task": ("task", "task_name", "dataset", "subset"),
    "model": ("model", "model_name", "generator"),
    "speaker": ("speaker", "author", "role"),
    "domain": ("domain", "topic"),
    "canary": ("canary", "canary_guid", "canary_string"),
    "untrained": ("do_not_train", "never_train", "never_train_on_this", "no_train", "not_for_training"),
    "split": ("split",),
    "group": ("group", "group_id"),
    "system": ("system", "system_prompt"),
    "input": ("input",),
    "judges": ("judges", "judge_scores"),
    "id": ("id", "conversation_id", "sample_id", "uuid"),
    "reasoning": ("reasoning", "reasoning_content", "thinking", "thoughts", "chain_of_thought", "cot", "scratchpad"),
    "messages": ("messages", "conversation", "conversations", "transcript", "dialogue", "prompt_messages"),
}
_WITH = ("system", "input")  # what goes with an exchange
_ROLES = {
    "human": "user",
    "gpt": ASSISTANT,
    "bot": ASSISTANT,
    "model": ASSISTANT,
    "ai": ASSISTANT,
    "developer": "system",
    "function": "tool",
}


class OwnOptions(SourceOptions):
    """Where the label stands, and what it means."""

    label: str = Field(default="", description="The column with the label, where its name does not tell.")
    deceptive: list[str] = Field(
        default=[], description="A value of the label that means deceptive, where it does not tell; may be repeated."
    )
    honest: list[str] = Field(
        default=[],
        description="A value of the label that means honest; may be repeated. Of two values, naming one is enough.",
    )
    reasoning: str = Field(
        default="", description="The column with what was thought before, where its name does not tell."
    )


class TextOptions(OwnOptions):
    """Which column holds what."""

    text: str = Field(default="", description="The column with the text, where its name does not tell.")
    group: str = Field(
        default="", description="The column whose rows belong together, such as a conversation or an interview."
    )


class ChatOptions(OwnOptions):
    """Which columns hold a chat of one turn, or one turn of a chat."""

    prompt: str = Field(default="", description="The column with what the user asked, where a row is one exchange.")
    response: str = Field(default="", description="The column with the assistant's answer to it.")
    conversation: str = Field(
        default="",
        description="The column that says whose turn a row is, where each row is one turn of a conversation.",
    )
    role: str = Field(default="", description="The column with the role of such a turn.")
    content: str = Field(default="", description="The column with the words of such a turn.")


class LabelColumn:
    """A column of labels and how its values are read. name: "" where a source has none; deceptive, honest: the values
    that mean so, if the user gave them; values: those there are, of which the other of two is the opposite of the one
    that is named. Raises BadData for a value that is named as both.
    """

    def __init__(
        self, name: str, deceptive: Collection[str] = (), honest: Collection[str] = (), values: Iterable[Any] = ()
    ) -> None:
        self.name = name
        lies, truths = {_word(value) for value in deceptive}, {_word(value) for value in honest}
        if both := lies & truths:
            raise BadData(f"{both.pop()} cannot be both --deceptive and --honest")
        there = {_word(value) for value in values if present(value)}
        other = there - lies - truths
        if len(there) == 2 and len(other) == 1:
            lies, truths = lies or (other if truths else lies), truths or (other if lies else truths)
        self._lies, self._truths, self._read = lies, truths, name.casefold()
        self.assumed = False  # whether the meaning of 0 and 1 had to be

    def of(self, value: Any) -> bool | None:
        """Whether a value means deceptive; None for an empty cell and a value that nothing says the meaning of."""
        if not present(value):
            return None
        word = _word(value)
        if word in self._lies | self._truths:
            return word in self._lies
        if word in _LIES | _TRUTHS:
            return word in _LIES
        plain = self._read in _LIES_BY_NAME | _TRUTHS_BY_NAME
        if word in _YES | _NO and (plain or (word in ("0", "1") and not self._lies | self._truths)):
            self.assumed |= not plain
            return (word in _YES) != (self._read in _TRUTHS_BY_NAME)
        return None

    def note(self, columns: Sequence[str]) -> str:
        """What was assumed about the values, or which columns may hold them."""
        if not self.name:
            return f"no column is known to hold a label: name one with --label ({', '.join(columns[:SHOWN])})"
        return f"{self.name}: 1 counts as deceptive, 0 as honest; if not so, --deceptive 0" if self.assumed else ""


def label_of(row: Mapping[str, Any], name: str) -> bool | None:
    """Whether the column of that name says deceptive; None for an empty cell. Raises BadData if there is no such
    column, and for an ambiguous value.
    """
    found = LabelColumn(_named(list(row), name, _LABELS, "label")).of(row[name])
    if found is None and present(row[name]):
        raise BadData(f"{name} is {_word(row[name])[:40]!r}, which may mean either")
    return found


def plain_label(row: Mapping[str, Any]) -> bool | None:
    """The label that a row states by itself, through a telling column name or in words; None if it states none, or
    two.
    """
    by_name = [name for name in row if str(name).casefold() in _LIES_BY_NAME | _TRUTHS_BY_NAME]
    by_words = [name for name in row if str(name).casefold() in _LABELS and _word(row[name]) in _LIES | _TRUTHS]
    found = set()
    for name in dict.fromkeys([*by_name, *by_words]):
        found.add(LabelColumn(name).of(row[name]))
    found.discard(None)
    return found.pop() if len(found) == 1 else None


def _word(value: Any) -> str:
    number = isinstance(value, float) and value.is_integer()
    return str(int(value) if number else value).strip().casefold()


class _Own(TableImporter):
    """What both importers share. copies: how often each record has come, in all sources."""

    licence: ClassVar[str] = "None is stated: not to be redistributed."
    version: ClassVar[int] = 4
    words: ClassVar[str]

    def __init__(self, options: OwnOptions) -> None:
        super().__init__(options)
        self.given, self.copies = options, Counter[str]()
        self.whole = bool(options.deceptive or options.honest)

    def game_texts(self) -> Mapping[str, str]:
        return {self.format: self.given.about or self.words}


class TextImporter(_Own):
    """A row a text: CSV, TSV, JSON lines, Parquet, or a dataset in a folder or on the Hub."""

    format: ClassVar[str] = TEXT
    reads: ClassVar[str] = (
        "a table with a text and a label in each row: .csv, .tsv, .jsonl, .parquet, a dataset's folder, USER/NAME"
    )
    origin: ClassVar[str] = "a table of texts"
    words: ClassVar[str] = "Texts of a table, without a game: nobody but their source labelled them."
    Options: ClassVar[type[OptionsModel]] = TextOptions

    def reader(self, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> RowReader:
        return _TextReader(self, columns, head)


class ChatImporter(_Own):
    """A row a conversation (`messages` with their roles), an exchange (prompt, response) or a turn; the label is the
    conversation's or the turns'.
    """

    format: ClassVar[str] = CHAT
    reads: ClassVar[str] = (
        "conversations, one in each row (messages, or prompt and response), or a turn in each row: files as for text"
    )
    origin: ClassVar[str] = "conversations of an assistant"
    words: ClassVar[str] = (
        "Conversations of an assistant, without a game. The assistant is the speaker; the instruction and what the "
        "user says are what it was told. The label of a conversation stands at the assistant's last turn."
    )
    Options: ClassVar[type[OptionsModel]] = ChatOptions

    def reader(self, columns: Sequence[str], head: Sequence[Mapping[str, Any]]) -> RowReader:
        return _ChatReader(self, columns, head)


class _OwnReader(RowReader):
    """Makes records of rows, with columns by name. Raises BadData for a missing column."""

    def __init__(self, own: _Own, columns: Sequence[str], label: LabelColumn) -> None:
        self._label, self._copies, self._labels = label, own.copies, own.receipt.labels
        self._notes = [note] if (note := label.note(columns)) else []
        known = {name.casefold(): name for name in reversed(columns)}
        self._columns = {
            what: next((known[name] for name in names if name in known), "") for what, names in _NAMES.items()
        }
        if own.given.reasoning:
            self._columns["reasoning"] = _named(columns, own.given.reasoning, (), "reasoning")

    def _use(self, unused: Collection[str], **columns: str) -> None:
        """Keep which columns are read. unused: those of the usual ones that are not."""
        usual = {what: name for what, name in self._columns.items() if what not in unused}
        self.used = {what: name for what, name in {**usual, **columns}.items() if name}

    def _deceptive(self, value: Any) -> bool | None:
        """Whether a cell of the label means deceptive, counted for the receipt."""
        found = self._label.of(value)
        self._labels[str(value)[:40] if present(value) else "", found] += 1
        return found

    def _of(self, row: Mapping[str, Any], what: str) -> str | None:
        value = row.get(self._columns[what])
        there = present(value) if what == "reasoning" else stated(value)
        return str(value) if there and not isinstance(value, list | dict) else None

    def _canary(self, row: Mapping[str, Any]) -> str | None:
        """The mark by which a row's publishers ask that nobody train on it."""
        asked = self._columns["untrained"]
        return self._of(row, "canary") or (asked if asked and _word(row.get(asked)) in _YES else None)

    def _record(
        self, family: str, kind: str, said: Sequence[Mapping[str, Any]], row: Mapping[str, Any], game_id: str = ""
    ) -> GameRecord:
        """The record of what was said. game_id: the source's; else the id is made from the family and the content in
        any order, so that neither the file's name nor the order of its rows affects it; each copy has its own.
        """
        split, notes = self._of(row, "split"), list(self._notes)
        if split and split.strip().casefold() not in SPLIT_NAMES:
            notes.append(f"the split {split[:40]!r} is not known, so that build chooses one")
            split = None
        try:
            rows = [Row.of({**cells, "game_id": family, "split": split}) for cells in said]
        except ValidationError as error:
            raise BadData(fault(error.errors()[0])) from error
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
        label = _label_column(given, columns, head)
        super().__init__(own, columns, label)
        self._text = _text_column(columns, given.text, head, {label.name, given.group, self._columns["reasoning"]})
        self._group = _named(columns, given.group, _GROUPS - {self._text}, "group", needed=False)
        self._notes += [] if self._group else ["no column groups the rows: each is on its own"]
        self._use(("id", "judges", "messages", "system", "input"), text=self._text, label=label.name, group=self._group)

    def key(self, row: Mapping[str, Any]) -> str | None:
        if not present(row.get(self._text)) or not str(row[self._text]).strip():
            raise BadData(f"it has no text: {self._text} is empty")
        if self._group and not stated(row.get(self._group)):
            raise BadData(f"it belongs to no group: {self._group} is empty")
        return _word(row[self._group]) if self._group else None

    def games(self, file: str, key: str | None, rows: Iterable[tuple[int, Any]]) -> Iterator[Imported | Rejected]:
        lines, told = zip(*rows, strict=True)
        family = _fingerprint(str(told[0][self._text])) if key is None else key
        yield attempt(file, lines[0], family, partial(self._texts, family, told), len(told))

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
        self._parts = _chat_parts(columns, own.given)
        self._messages = "" if self._parts else _named(columns, "", frozenset(_NAMES["messages"]), "messages")
        cells = [cell for row in head for cell in _turn_cells(row.get(self._messages))]
        given = own.given.deceptive, own.given.honest
        label = LabelColumn("deceptive", *given) if cells else _label_column(own.given, columns, head)
        super().__init__(own, columns, label)
        self._of_turn = {name: LabelColumn(name, *given, [value for _, value in cells]) for name, _ in cells}
        unread = {"speaker", "messages"} | ({"id"} if "role" in self._parts else set())
        unread |= set() if "prompt" in self._parts else {"system", "input"}
        self._use(unread, messages=self._messages, label="" if cells else label.name, **self._parts)

    def key(self, row: Mapping[str, Any]) -> str | None:
        if not (name := self._parts.get("conversation")):
            return None
        if not stated(row.get(name)):
            raise BadData(f"it belongs to no conversation: {name} is empty")
        value = row[name]
        return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()

    def games(self, file: str, key: str | None, rows: Iterable[tuple[int, Any]]) -> Iterator[Imported | Rejected]:
        lines, told = zip(*rows, strict=True)
        own = told[0].get(self._columns["id"]) if key is None else key
        game_id = str(own) if present(own) else ""
        yield attempt(file, lines[0], game_id, partial(self._chat, game_id, told), len(told))

    def _turns(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The turns that rows hold: each one, or one row all of them."""
        parts, row = self._parts, rows[0]
        if "role" in parts:
            return turns_of([{"role": one.get(parts["role"]), "content": one.get(parts["content"])} for one in rows])
        if not parts:
            return turns_of(row.get(self._messages))
        return turns_of(_exchange(row, parts, self._of(row, "system"), self._of(row, "input")))

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
        cells = {at: cell for at, turn in enumerate(turns) if (cell := _turn_cell(turn))}
        found = {at: self._of_turn.get(name, LabelColumn(name)).of(value) for at, (name, value) in cells.items()}
        self._labels.update((str(value)[:40], found[at]) for at, (_, value) in cells.items())
        return found


def _chat_parts(columns: Sequence[str], options: OwnOptions) -> dict[str, str]:
    """The columns of an exchange (prompt, response) or of a turn (conversation, role, content); none where a row has
    messages. Raises BadData for a column that is missing or open.
    """
    given = dict(options)
    for parts in (_TURN, _PAIR):
        asked = any(given.get(what) for what in parts)
        if asked or ("prompt" in given and _names_all(columns, parts)):
            return {what: _named(columns, given.get(what, ""), names, what) for what, names in parts.items()}
    return {}


def _names_all(columns: Sequence[str], parts: Mapping[str, Collection[str]]) -> bool:
    """Whether columns have the usual names of all these parts, and none holds messages."""
    known = {str(name).casefold() for name in columns}
    messages = known & {*_NAMES["messages"]} - {*parts.get("conversation", ())}
    return not messages and all(known & {*names} for names in parts.values())


def _exchange(row: Mapping[str, Any], parts: Mapping[str, str], system: Any, more: Any) -> list[dict[str, Any]]:
    """The messages of an exchange in one row. more: what belongs to the prompt. Raises BadData without a prompt."""
    prompt = "\n\n".join(str(one) for one in (row.get(parts["prompt"]), more) if present(one))
    if not prompt.strip():
        raise BadData(f"it has no prompt: {parts['prompt']} is empty")
    before = [{"role": "system", "content": system}] if system else []
    answer = {"role": ASSISTANT, "content": row.get(parts["response"])}
    return [*before, {"role": "user", "content": prompt}, answer]


def is_exchange(columns: Sequence[str]) -> bool:
    """Whether a row with these columns is an exchange, by their names."""
    return _names_all(columns, _PAIR)


def exchange_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a row with the usual columns of an exchange. Raises BadData where two may be the same part, or
    the prompt is empty.
    """
    cells, parts = {str(name).casefold(): value for name, value in row.items()}, dict[str, str]()
    for what, names in _PAIR.items():
        parts[what], *more = (name for name in cells if name in names)
        if more:
            raise BadData(f"{' and '.join([parts[what], *more])} may both hold the {what}; leave one out")
    told = {what: next((cells[name] for name in _NAMES[what] if stated(cells.get(name))), None) for what in _WITH}
    return _exchange(cells, parts, *(told[what] for what in _WITH))


def is_chat(columns: Sequence[str]) -> bool:
    """Whether a table with these columns holds conversations, by their names: where none is called text."""
    named = any(_names_all(columns, parts) for parts in (_TURN, _PAIR))
    return "messages" in columns or (named and "text" not in {str(name).casefold() for name in columns})


def _label_column(options: OwnOptions, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> LabelColumn:
    """The column of labels. Raises BadData where there are several, or its values are unclear."""
    name = _named(columns, options.label, _LABELS, "label", needed=False)
    if not name:
        plain = [one for one in columns if _says_plainly([row.get(one) for row in rows])]
        name = plain[0] if len(plain) == 1 else ""
    values = [row[name] for row in rows if present(row.get(name))] if name else []
    label = LabelColumn(name, options.deceptive, options.honest, values)
    there = dict.fromkeys(map(_word, values))
    for option, given in (("deceptive", options.deceptive), ("honest", options.honest)):
        if there and given and not there.keys() & {_word(value) for value in given}:
            raise BadData(f"no row of {name} has a value that --{option} names; it has {_shown(values)}")
    if there and all(label.of(value) is None for value in values):
        if len(there) > SHOWN and all(map(_is_number, there)):
            low, high = min(there, key=float), max(there, key=float)
            raise BadData(
                f"{name} holds {len(there)} different numbers from {low} to {high}, and a label has classes: make "
                "two of them first, or name another column with --label"
            )
        raise BadData(
            f"{name} is {_word(values[0])[:40]!r}, which may mean either; say which values are lies with --deceptive; "
            f"it has {_shown(values)}"
        )
    return label


def _shown(values: Iterable[Any]) -> str:
    """The most frequent values."""
    counts = Counter(str(value)[:40] for value in values).most_common()
    return ", ".join(value for value, _ in counts[:SHOWN]) + (" …" if len(counts) > SHOWN else "")


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def canary_of(row: Mapping[str, Any]) -> str:
    """The no-training mark of a row, "" if it has none."""
    found = (value for name, value in row.items() if str(name).casefold() in _NAMES["canary"] and present(value))
    return next((str(value) for value in found if not isinstance(value, list | dict)), "")


def turns_of(messages: Any) -> list[dict[str, Any]]:
    """The turns of a conversation: role, text, reasoning, and what else they hold. Raises BadData."""
    if isinstance(messages, str):
        try:
            messages = listed(messages)
        except ValueError as error:
            raise BadData(f"its messages are a text that is not JSON ({str(error)[:80]})") from error
    if not isinstance(messages, list) or not messages:
        raise BadData("it has no list of messages")
    return [_turn(number, message) for number, message in enumerate(messages, 1)]


def last_answer(turns: Sequence[Mapping[str, Any]]) -> int:
    """The index of the assistant's last turn. Raises BadData."""
    last = max((at for at, turn in enumerate(turns) if turn["role"] == ASSISTANT), default=None)
    if last is None:
        raise BadData("no turn of the conversation is the assistant's")
    return last


def _turn(number: int, message: Any) -> dict[str, Any]:
    role = message.get("role", message.get("from")) if isinstance(message, Mapping) else None
    if not isinstance(role, str) or not role.strip():
        raise BadData(f"message {number} has no role")
    content = message.get("content", message.get("value"))
    parts = content if isinstance(content, list) else [content]
    words = [part.get("text") if isinstance(part, Mapping) else part for part in parts if not is_reasoning(part)]
    low = role.strip().casefold()
    text, thought = "\n".join(word for word in words if isinstance(word, str)), reasoning(message)
    if _ROLES.get(low, low) == ASSISTANT and (tagged := split_reasoning(text)).reasoning and tagged.answer:
        text, thought = tagged.answer, "\n\n".join(part for part in (thought, tagged.reasoning) if part)
    called = [_called(call) for call in message.get("tool_calls") or ()]
    return {
        **message,
        "role": _ROLES.get(low, low),
        "text": "\n".join([*([text] if text or not called else []), *called]),
        "reasoning": thought,
    }


def _called(call: Any) -> str:
    """A call of a tool, as words."""
    call = call if isinstance(call, Mapping) else {}
    inner = call.get("function")
    own = inner if isinstance(inner, Mapping) else {**call, "name": inner or call.get("name")}
    name, given = own.get("name"), own.get("arguments")
    return f"[calls {name} with {given if isinstance(given, str) else json.dumps(given, default=str)}]"


def _turn_cell(turn: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The name and value of the label of a turn of the assistant, if it has one."""
    names = (name for name in _LIES_BY_NAME | _TRUTHS_BY_NAME | {"label"} if present(turn.get(name)))
    name = next(names, "") if turn["role"] == ASSISTANT else ""
    return (name, turn[name]) if name else None


def _turn_cells(messages: Any) -> list[tuple[str, Any]]:
    try:
        return [cell for turn in turns_of(messages) if (cell := _turn_cell(turn))]
    except BadData:  # rejected when its turn comes
        return []


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


def _named(columns: Sequence[str], given: str, usual: Collection[str], what: str, needed: bool = True) -> str:
    """The column that the user names, or the one with a usual name. Raises BadData if several match, or none does and
    one is needed.
    """
    shown = f"{', '.join(map(str, columns[:SHOWN]))}{' …' if len(columns) > SHOWN else ''}"
    if given:
        if given not in columns:
            raise BadData(f"--{what} {given}: there is no such column; it has {shown}")
        return given
    found = [name for name in columns if str(name).casefold() in usual]
    if len(found) > 1:
        raise BadData(f"{' and '.join(found)} may both hold the {what}; name one with --{what}")
    if needed and not found:
        hint = (
            ": name --prompt and --response, or --conversation for a turn a row"
            if what == "messages"
            else f": name it with --{what}"
        )
        if what == "text" and any(str(name).casefold() in _NAMES["messages"] for name in columns):
            hint = ": for conversations, use import chat"
        raise BadData(f"it has no column that is called like the {what}, but {shown}{hint}")
    return found[0] if found else ""


def _text_column(columns: Sequence[str], given: str, rows: Sequence[Mapping[str, Any]], others: Collection[str]) -> str:
    """The column with the text: by name, or the only one with sentences in it. Raises BadData."""
    if given or any(str(name).casefold() in _TEXTS for name in columns):
        return _named(columns, given, _TEXTS, "text")
    words = {name: [str(row.get(name)).split() for row in rows if isinstance(row.get(name), str)] for name in columns}
    wordy = [name for name, cells in words.items() if 2 * sum(len(cell) >= 3 for cell in cells) > len(rows)]
    wordy = [name for name in wordy if name not in others]
    return wordy[0] if len(wordy) == 1 else _named(columns, "", _TEXTS, "text")


def _says_plainly(values: Sequence[Any]) -> bool:
    """Whether every non-empty cell says in words whether it is a lie, and both answers occur."""
    words = {_word(value) for value in values if stated(value)}
    return words <= _LIES | _TRUTHS and bool(words & _LIES) and bool(words & _TRUTHS)


def _fingerprint(content: Any) -> str:
    """A hash of plain data for an id."""
    return sha256(json.dumps(content).encode()).hexdigest()[:16]
