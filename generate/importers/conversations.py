"""Conversations with an assistant as plain data: messages with their roles, an exchange, or a turn a row."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from liescope.common.errors import BadData
from liescope.common.text import ASSISTANT
from liescope.generate.importers.column_names import NAMES, TEXTS, named
from liescope.generate.importers.label_column import LIES_BY_NAME, TRUTHS_BY_NAME
from liescope.generate.importers.statement_rows import present, stated
from liescope.generate.importers.tables import listed
from liescope.generate.players.parsing.choice import split_reasoning
from liescope.generate.players.parsing.message_parts import is_reasoning, reasoning

_PAIR = {
    "prompt": frozenset(("prompt", "question", "instruction")),
    "response": frozenset(("response", "answer", "output")),
}
_CONVERSATIONS = frozenset(("conversation", "chat", "dialogue", "dialog", "thread", "session"))
_CONVERSATIONS |= {f"{name}_id" for name in _CONVERSATIONS}
_TURN = {"conversation": _CONVERSATIONS, "role": frozenset(("role",)), "content": frozenset(("content", "text"))}
PARTS = ("text", *_TURN, *_PAIR)
"""What a column may hold that the user names."""
EXCHANGE = frozenset().union(*_PAIR.values(), NAMES["system"], NAMES["input"])
"""Usual names of the columns of an exchange."""
_TURN_LABELS = LIES_BY_NAME | TRUTHS_BY_NAME | {"label"}
_ROLES = {
    "human": "user",
    "gpt": ASSISTANT,
    "bot": ASSISTANT,
    "model": ASSISTANT,
    "ai": ASSISTANT,
    "developer": "system",
    "function": "tool",
}


def is_chat(columns: Sequence[str]) -> bool:
    """Whether a table with these columns holds conversations, by their names: where none is called text."""
    parts = any(_names_all(columns, parts) for parts in (_TURN, _PAIR))
    return "messages" in columns or (parts and "text" not in {str(name).casefold() for name in columns})


def is_turn(columns: Sequence[str]) -> bool:
    """Whether a row with these columns is one turn of a conversation, by their names: where none is called text."""
    return _names_all(columns, _TURN) and "text" not in columns


def in_turn(rows: Sequence[Mapping[str, Any]], name: str) -> Sequence[Mapping[str, Any]]:
    """The turns of a conversation by the numbers in that column; where it has not all of them, as they come."""
    try:
        return sorted(rows, key=lambda row: float(row[name]))
    except (KeyError, TypeError, ValueError):
        return rows


def chat_parts(columns: Sequence[str], given: Mapping[str, Any]) -> dict[str, str]:
    """The columns of an exchange (prompt, response) or of a turn (conversation, role, content); none where a row has
    messages. Raises BadData for a column that is missing or open.
    """
    for parts in (_TURN, _PAIR):
        asked = any(given.get(what) for what in parts)
        if asked or ("prompt" in given and _names_all(columns, parts)):
            return {what: named(columns, given.get(what, ""), names, what) for what, names in parts.items()}
    return {}


def row_parts(columns: Sequence[str], given: Mapping[str, Any]) -> dict[str, str]:
    """The column of a text, or those of an exchange or a turn; none for messages. given: those that the user names, by
    what they hold; the others go by their usual names. Raises BadData for a column that is missing or open.
    """
    if given.get("text"):
        return {"text": named(columns, given["text"], (), "text")}
    if not any(map(given.get, PARTS)) and {"text", "messages"} & {*columns}:
        return {"text": "text"} if "text" in columns else {}
    if parts := chat_parts(columns, {"prompt": "", **given}):
        return parts
    return {"text": text} if (text := named(columns, "", TEXTS, "text", needed=False)) else {}


def _names_all(columns: Sequence[str], parts: Mapping[str, Collection[str]]) -> bool:
    """Whether columns have the usual names of all these parts, and none holds messages."""
    known = {str(name).casefold() for name in columns}
    messages = known & {*NAMES["messages"]} - {*parts.get("conversation", ())}
    return not messages and all(known & {*names} for names in parts.values())


def exchange(row: Mapping[str, Any], parts: Mapping[str, str]) -> list[dict[str, Any]]:
    """The messages of an exchange in one row, with its system prompt and input. Raises BadData without a prompt."""
    cells = {str(name).casefold(): value for name, value in row.items()}
    system, more = (
        next((cells[name] for name in NAMES[what] if stated(cells.get(name))), None) for what in ("system", "input")
    )
    prompt = "\n\n".join(str(one) for one in (row.get(parts["prompt"]), more) if present(one))
    if not prompt.strip():
        raise BadData(f"it has no prompt: {parts['prompt']} is empty")
    before = [{"role": "system", "content": system}] if system else []
    answer = {"role": ASSISTANT, "content": row.get(parts["response"])}
    return [*before, {"role": "user", "content": prompt}, answer]


def turns_of(messages: Any) -> list[dict[str, Any]]:
    """The turns of a conversation: role, text, reasoning, and what else they hold. Raises BadData."""
    return [_turn(number, message) for number, message in enumerate(_messages(messages), 1)]


def _messages(messages: Any) -> list[Any]:
    if isinstance(messages, str):
        try:
            messages = listed(messages)
        except ValueError as error:
            raise BadData(f"its messages are a text that is not JSON ({str(error)[:80]})") from error
    if isinstance(messages, Mapping):
        messages = next((messages[name] for name in NAMES["messages"] if name in messages), None)
    if not isinstance(messages, list) or not messages:
        raise BadData("it has no list of messages")
    return messages


def last_answer(turns: Sequence[Mapping[str, Any]]) -> int:
    """The index of the assistant's last turn. Raises BadData."""
    last = max((at for at, turn in enumerate(turns) if turn["role"] == ASSISTANT), default=None)
    if last is None:
        raise BadData("no turn of the conversation is the assistant's")
    return last


def _turn(number: int, message: Any) -> dict[str, Any]:
    if not (role := _role(message)):
        raise BadData(f"message {number} has no role")
    content = message.get("content", message.get("value"))
    parts = content if isinstance(content, list) else [content]
    words = [part.get("text") if isinstance(part, Mapping) else part for part in parts if not is_reasoning(part)]
    text, thought = "\n".join(word for word in words if isinstance(word, str)), reasoning(message)
    if role == ASSISTANT and (tagged := split_reasoning(text)).reasoning and tagged.answer:
        text, thought = tagged.answer, "\n\n".join(part for part in (thought, tagged.reasoning) if part)
    called = [_called(call) for call in message.get("tool_calls") or ()]
    return {
        **message,
        "role": role,
        "text": "\n".join([*([text] if text or not called else []), *called]),
        "reasoning": thought,
    }


def _role(message: Any) -> str:
    """Whose a message is; "" where it does not say."""
    role = message.get("role", message.get("from")) if isinstance(message, Mapping) else None
    low = role.strip().casefold() if isinstance(role, str) else ""
    return _ROLES.get(low, low)


def _called(call: Any) -> str:
    """A call of a tool, as words."""
    call = call if isinstance(call, Mapping) else {}
    inner = call.get("function")
    own = inner if isinstance(inner, Mapping) else {**call, "name": inner or call.get("name")}
    name, given = own.get("name"), own.get("arguments")
    return f"[calls {name} with {given if isinstance(given, str) else json.dumps(given, default=str)}]"


def turn_cell(turn: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The name and value of the label of a turn of the assistant, if it has one."""
    name = next((one for one in turn if one in _TURN_LABELS and present(turn[one])), "")
    return (name, turn[name]) if name and _role(turn) == ASSISTANT else None


def turn_cells(messages: Any) -> list[tuple[str, Any]]:
    """`turn_cell` of each turn that has one."""
    try:
        return [cell for turn in _messages(messages) if isinstance(turn, Mapping) and (cell := turn_cell(turn))]
    except BadData:  # rejected when its turn comes
        return []
