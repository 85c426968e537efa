"""One game as a sample of an inspect_ai eval log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from liescope.common.leaks import without_addresses
from liescope.data_cards.tables import TARGETS, GameRow, StatementRow
from liescope.games.core import Event, EventKind
from liescope.games.record import GameRecord
from liescope.generate.exports.exporter_protocol import SourceGame
from liescope.generate.exports.shown import AskShown, Shown, messages_of, steps
from liescope.generate.players.player_protocol import VIA_CACHE
from liescope.generate.runs.game_text import event_line
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import RENDERED, SENT
from liescope.labeling.conditions import settings_of

# Parameters of a request that inspect_ai has a place for, under its own name.
_CONFIG = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "seed": "seed",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "logprobs": "logprobs",
    "top_logprobs": "top_logprobs",
}
_HIDDEN = frozenset({EventKind.ROLE, EventKind.BID, EventKind.SELF_REPORT, EventKind.RATING, EventKind.SUSPICION})


@dataclass(slots=True)
class Usage:
    """Tokens and cost, as inspect_ai counts them: input_tokens are those that no cache held."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    input_tokens_cache_read: int | None = None
    total_cost: float | None = None

    def add(self, other: Mapping[str, Any]) -> None:
        self.input_tokens += other["input_tokens"]
        self.output_tokens += other["output_tokens"]
        self.total_tokens += other["total_tokens"]
        if (cached := other["input_tokens_cache_read"]) is not None:
            self.input_tokens_cache_read = (self.input_tokens_cache_read or 0) + cached
        if (cost := other["total_cost"]) is not None:
            self.total_cost = (self.total_cost or 0.0) + cost


class _Clock:
    """Times and names of a sample's events. seconds: of waiting for replies so far."""

    def __init__(self, game_id: str, began: datetime) -> None:
        self._game, self._began = game_id, began
        self._made = 0
        self.seconds = 0.0

    def now(self) -> str:
        return (self._began + timedelta(seconds=self.seconds)).isoformat()

    def event(self, kind: str, **facts: Any) -> dict[str, Any]:
        base = {"uuid": self.name(), "timestamp": self.now(), "working_start": self.seconds}
        return {"event": kind, **base, **facts}

    def name(self) -> str:
        self._made += 1
        return sha256(f"{self._game}\0{self._made}".encode("utf-8", "replace")).hexdigest()[:22]


def sample_of(game: SourceGame, journal: Journal, shown: Shown, began: datetime) -> dict[str, Any]:
    """The JSON of a game's sample. began: the time of its first event.

    Raises BadData for a damaged journal, or a game that this version replays in another way.
    """
    record, row = game.record, game.row
    clock = _Clock(record.game_id, began)
    by_model: dict[str, Usage] = defaultdict(Usage)
    by_role: dict[str, Usage] = defaultdict(Usage)
    roles = {seat.name: seat.role for seat in record.seats}
    events = []
    for event in _events(record, journal, shown, clock):
        events.append(event)
        if event["event"] == "model" and "cache" not in event and (usage := event["output"].get("usage")):
            by_model[event["model"]].add(usage)
            by_role[roles.get(event["metadata"]["seat"]) or "unknown"].add(usage)
    ended = without_addresses(_ending(row))
    return {
        "id": quote(record.game_id, safe="", errors="replace"),
        "epoch": 1,
        "input": _table(row),
        "target": [seat.name for seat in row.seats if seat.deceives],
        "messages": [message for event in record.events for message in _message(event, clock)],
        "output": {"model": row.model, "choices": [], "completion": ended},
        "scores": dict(_scores(row, game.statements)) or None,
        "metadata": _metadata(game),
        "store": {},
        "events": events,
        "model_usage": {model: asdict(usage) for model, usage in by_model.items()},
        "role_usage": {role: asdict(usage) for role, usage in by_role.items()},
        "started_at": began.isoformat(),
        "completed_at": clock.now(),
        "total_time": clock.seconds,
        "working_time": clock.seconds,
        "uuid": clock.name(),
        **({"error": {"message": row.failure, "traceback": "", "traceback_ansi": ""}} if row.failure else {}),
        "attachments": {},
    }


def _table(row: GameRow) -> str:
    seats = "\n".join(
        f"- {seat.name}: {seat.role or 'role not known'}, played by {seat.model} ({seat.source})" for seat in row.seats
    )
    return f"{row.game}{f' ({row.condition})' if row.condition else ''}\n\n{seats}"


def _ending(row: GameRow) -> str:
    if row.failure:
        return f"failed: {row.failure}"
    return f"{f'won by {row.winner}' if row.winner else 'winner not known'}: {row.reason}"


def _metadata(game: SourceGame) -> dict[str, Any]:
    row, record = game.row, game.record
    facts = {
        name: getattr(row, name)
        for name in ("game_id", "run", "origin", "game", "cell", "condition", "seed", "seating", "turn", "source")
    }
    return facts | {
        "status": row.status,
        "split": game.split,
        "prompt_version": row.prompt_version,
        "judge": row.judge,
        "days": row.days,
        "statements": row.statements,
        "silences": row.silences,
        "fallbacks": row.fallbacks,
        "settings": settings_of(record),
        "seats": [asdict(seat) for seat in row.seats],
    }


def _scores(row: GameRow, statements: Sequence[StatementRow]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The winner, and for each label the share of the labelled statements that it calls deceptive."""
    if row.winner:
        yield "winner", {"value": row.winner, "answer": row.winner, "explanation": row.reason or ""}
    for target in TARGETS:
        labels = [label for said in statements if (label := getattr(said, f"label_{target}")) is not None]
        if labels:
            counts = {"deceptive": sum(labels), "labelled": len(labels), "statements": len(statements)}
            words = f"{counts['deceptive']} of {counts['labelled']} labelled statements ({counts['statements']} in all)"
            yield f"label_{target}", {"value": sum(labels) / len(labels), "explanation": words, "metadata": counts}


def _message(event: Event, clock: _Clock) -> Iterator[dict[str, Any]]:
    """An event in the transcript of the table: what a player said as its message, all else as the table's."""
    facts: dict[str, Any] = {"event": event.index, "day": event.day, "phase": event.phase.value}
    if event.audience is not None:
        facts["audience"] = list(event.audience)
    if event.kind is EventKind.STATEMENT:
        content = {"role": "assistant", "content": f"{event.actor}: {event.text}", "source": "generate"}
        yield {"id": clock.name(), **content, "metadata": {**facts, "speaker": event.actor}}
    elif event.kind not in _HIDDEN and (line := event_line(event)) is not None:
        content = {"role": "user", "content": line.plain.strip(), "source": "input"}
        yield {"id": clock.name(), **content, "metadata": facts}


# Events


def _events(record: GameRecord, journal: Journal, shown: Shown, clock: _Clock) -> Iterator[dict[str, Any]]:
    """What happened and what was asked, in order, under a heading for each phase of a day."""
    calls: dict[tuple[int, str], list[Mapping[str, Any]]] = defaultdict(list)
    for call in journal.calls(record.game_id):
        calls[call["step"], call["seat"]].append(call)
    roles = {seat.name: seat.role for seat in record.seats}
    place, span = "", ""
    for step in steps(journal, record):
        moments: list[tuple[str, AskShown | str]] = [
            *((f"Day {one.ask.day}, {one.ask.phase.value}", one) for one in step.asked),
            *(
                (f"Day {event.day}, {event.phase.value}", line.plain.strip())
                for event in step.events
                if (line := event_line(event)) is not None
            ),
        ]
        for where, moment in moments:
            if where != place:
                if span:
                    yield clock.event("span_end", id=span)
                place, span = where, clock.name()
                yield clock.event("span_begin", id=span, name=where, type="phase")
            if isinstance(moment, str):
                yield clock.event("info", span_id=span, source="liescope", data=moment)
                continue
            seat = moment.ask.seat
            for call in _calls(moment, calls[moment.ask.step, seat], shown, clock):
                yield call | {"span_id": span, "role": roles.get(seat) or None}
    if span:
        yield clock.event("span_end", id=span)


def _calls(one: AskShown, calls: Sequence[Mapping[str, Any]], shown: Shown, clock: _Clock) -> Iterator[dict[str, Any]]:
    """Every request for one ask."""
    kept = {request.attempt: request for request in shown.requests(one.ask)}
    for call in calls:
        request = kept.get(call["attempt"])
        body = request.body if request is not None and request.body is not None else {}
        sent = messages_of(request) if request is not None and body else None
        messages = sent or shown.messages(one, ())[0]
        usage = _usage(call)
        model = without_addresses(str(call["model"] or "unknown"))
        seconds = (call["latency_ms"] or 0.0) / 1000
        words = call["raw"] or _reply_words(one)
        event = clock.event(
            "model",
            model=model,
            input=[{**message, "source": "input"} for message in messages],
            tools=[],
            tool_choice="none",
            config={_CONFIG[name]: value for name, value in body.items() if name in _CONFIG and value is not None},
            output={
                "model": call["served_model"] or model,
                "choices": [
                    {
                        "message": {"role": "assistant", "content": words, "source": "generate", "model": model},
                        "stop_reason": "unknown" if call["problem"] else "stop",
                    }
                ],
                "completion": words,
                **({"usage": asdict(usage)} if usage else {}),
                "time": seconds,
                **({"response_id": call["response_id"]} if call["response_id"] else {}),
            },
            metadata={
                "step": one.ask.step,
                "seat": one.ask.seat,
                "kind": one.ask.kind.value,
                "attempt": call["attempt"],
                "notes": list(call["notes"]),
                "prompt": SENT if sent else RENDERED,
                **({"reasoning": call["reasoning"]} if call["reasoning"] else {}),
            },
            **({"cache": "read"} if request is not None and request.via == VIA_CACHE else {}),
            **({"error": without_addresses(call["problem"])} if call["problem"] else {}),
        )
        clock.seconds += seconds
        event["completed"] = clock.now()
        event["working_time"] = seconds
        yield event


def _reply_words(one: AskShown) -> str:
    """The reply of a player that has no raw response, as words."""
    reply = one.reply
    if reply is None:
        return ""
    parts = (reply.choice, reply.text, None if reply.assessment is None else str(asdict(reply.assessment)))
    return "\n".join(part for part in (*parts, None if reply.form is None else str(dict(reply.form))) if part)


def _usage(call: Mapping[str, Any]) -> Usage | None:
    prompt, cached, completion = call["prompt_tokens"], call["cached_tokens"], call["completion_tokens"]
    if prompt is None and completion is None:
        return None
    return Usage(
        max((prompt or 0) - (cached or 0), 0), completion or 0, (prompt or 0) + (completion or 0), cached, call["cost"]
    )
