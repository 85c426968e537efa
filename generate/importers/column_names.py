"""Which column of a table holds what: by its usual name, the one that the user names, or what is in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import Field

from liescope.common.errors import BadData
from liescope.common.settings import OptionsModel
from liescope.generate.importers.statement_rows import present

SHOWN = 12  # columns in a message
TEXTS = frozenset(
    ("text", "statement", "sentence", "message", "content", "utterance", "response", "answer", "claim", "reply", "body")
)
GROUPS = frozenset(
    (
        *("group", "group_id", "game_id", "game", "conversation", "conversation_id", "dialogue_id", "dialog_id"),
        *("thread", "thread_id", "session", "session_id", "document_id", "debate_id", "interview_id"),
    )
)
NAMES = {
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
    "turn": ("turn", "turn_id", "turn_index", "turn_idx", "turn_number", "message_index"),
    "id": ("id", "conversation_id", "sample_id", "uuid"),
    "reasoning": ("reasoning", "reasoning_content", "thinking", "thoughts", "chain_of_thought", "cot", "scratchpad"),
    "messages": ("messages", "conversation", "conversations", "transcript", "dialogue", "prompt_messages"),
}


class PairColumns(OptionsModel):
    """The columns of rows that hold true texts and false ones."""

    honest_column: list[str] = Field(
        default=[], description="A column of honest texts, where a row has such and deceptive ones; may be repeated."
    )
    deceptive_column: list[str] = Field(
        default=[], description="A column of deceptive texts beside honest ones; may be repeated."
    )


class TextColumn(OptionsModel):
    """The column of a text."""

    text: str = Field(default="", description="The column with the text, where its name does not tell.")


class ChatColumns(OptionsModel):
    """The columns of a chat of one turn, or of one turn of a chat."""

    prompt: str = Field(default="", description="The column with what the user asked, where a row is one exchange.")
    response: str = Field(default="", description="The column with the assistant's answer to it.")
    conversation: str = Field(
        default="",
        description="The column that says of which conversation a row is one turn.",
    )
    role: str = Field(default="", description="The column with the role of such a turn.")
    content: str = Field(default="", description="The column with the words of such a turn.")


def listing(columns: Sequence[str]) -> str:
    """The names of columns, or of the first ones."""
    return ", ".join(map(str, columns[:SHOWN])) + " …" * (len(columns) > SHOWN)


def named(columns: Sequence[str], given: str, usual: Collection[str], what: str, needed: bool = True) -> str:
    """The column that the user names, or the one with a usual name. Raises BadData if several match, or none does and
    one is needed.
    """
    if given:
        if given not in columns:
            raise BadData(f"--{what} {given}: there is no such column; it has {listing(columns)}")
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
        if what == "text" and any(str(name).casefold() in NAMES["messages"] for name in columns):
            hint = ": for conversations, use import chat"
        raise BadData(f"it has no column that is called like the {what}, but {listing(columns)}{hint}")
    return found[0] if found else ""


def text_column(columns: Sequence[str], given: str, rows: Sequence[Mapping[str, Any]], others: Collection[str]) -> str:
    """The column with the text: by name, or the only one with sentences in it. Raises BadData."""
    if given or any(str(name).casefold() in TEXTS for name in columns):
        return named(columns, given, TEXTS, "text")
    words = {name: [str(row.get(name)).split() for row in rows if isinstance(row.get(name), str)] for name in columns}
    wordy = [name for name, cells in words.items() if 2 * sum(len(cell) >= 3 for cell in cells) > len(rows)]
    wordy = [name for name in wordy if name not in others]
    return wordy[0] if len(wordy) == 1 else named(columns, "", TEXTS, "text")


def canary_of(row: Mapping[str, Any]) -> str:
    """The no-training mark of a row, "" if it has none."""
    found = (value for name, value in row.items() if str(name).casefold() in NAMES["canary"] and present(value))
    return next((str(value) for value in found if not isinstance(value, list | dict)), "")
