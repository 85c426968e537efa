"""Eval logs of inspect_ai: a sample for each game, with its transcript, every call, the labels as scores, and usage.

The file is what inspect_ai 0.3 itself writes: a ZIP of JSON files, `header.json`, `summaries.json` and one for each
sample. It is written without that package, a game at a time.
"""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, ClassVar
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from liescope.common.leaks import all_without_addresses, without_addresses
from liescope.data_cards.tables import TARGETS
from liescope.data_cards.tables.rows import GameRow, StatementRow
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.exports.exporter_protocol import Exporter, GamesSource, SourceGame, Tally, json_line
from liescope.generate.players.player_protocol import VIA_CACHE
from liescope.generate.runs.game_text import event_line
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import RENDERED, SENT, AskShown, Shown, messages_of, steps
from liescope.generate.runs.run_folder import PLAN_FILE
from liescope.labeling.conditions import settings_of

_VERSION = 2  # version of the eval log layout
_SUMMARY = 1000  # characters of a text in a summary, as inspect_ai cuts them
Usage = Counter[str]
"""Tokens and cost, as inspect_ai counts them: input_tokens are those that no cache held."""


class InspectExporter(Exporter):
    """One `.eval` file for a run."""

    format: ClassVar[str] = "inspect"
    needs_run: ClassVar[bool] = True
    tabular: ClassVar[bool] = False

    def write(self, source: GamesSource, games: Iterator[SourceGame], folder: Path, tally: Tally) -> None:
        journal = source.journal
        assert journal is not None  # needs_run
        # Runs keep no clock times, and equal runs must give equal bytes.
        began = datetime.fromtimestamp((journal.path / PLAN_FILE).stat().st_mtime, UTC)
        name = quote(source.name, safe="")
        shown, sums = Shown(journal), _Sums()
        with ZipFile(folder / f"{name}.eval", "w") as log, TemporaryFile() as summaries:
            for game in games:
                sample = sample_of(game, journal, shown, began)
                _add(log, f"samples/{sample['id']}_epoch_1.json", BytesIO(json_line(sample)))
                summaries.write(b",\n" if tally.rows[name] else b"[")
                summaries.write(json_line(_summary(sample)))
                sums.add(sample)
                tally.rows[name] += 1
            summaries.write(b"]" if tally.rows[name] else b"[]")
            head = _head(source, began, tally.rows[name])
            _add(log, "summaries.json", summaries)
            _add(log, "header.json", BytesIO(json_line(_header(head, began, sums))))


class _Sums:
    """The header's totals over all samples."""

    def __init__(self) -> None:
        self.samples = self.completed = 0
        self.seconds = 0.0
        self.winners: Counter[str] = Counter()
        self.values: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])  # by score: count and sum
        self.by_model: dict[str, Usage] = defaultdict(Counter)

    def add(self, sample: Mapping[str, Any]) -> None:
        self.samples += 1
        self.completed += "error" not in sample
        self.seconds = max(self.seconds, sample["total_time"])
        for name, score in (sample["scores"] or {}).items():
            if isinstance(score["value"], str):
                self.winners[score["value"]] += 1
            else:
                self.values[name][0] += 1
                self.values[name][1] += score["value"]
        for name, usage in sample["model_usage"].items():
            self.by_model[name].update(usage)

    def scores(self) -> list[dict[str, Any]]:
        decided = sum(self.winners.values())
        won = {team: _metric(team, games / decided) for team, games in sorted(self.winners.items())}
        found = [self._score("winner", decided, won)] if decided else []
        for name, (count, total) in self.values.items():
            found.append(self._score(name, int(count), {"mean": _metric("mean", total / count)}))
        return found

    def _score(self, name: str, scored: int, metrics: Mapping[str, Any]) -> dict[str, Any]:
        counts = {"scored_samples": scored, "unscored_samples": self.samples - scored}
        return {"name": name, "scorer": name, **counts, "params": {}, "metrics": metrics}


def _metric(name: str, value: float) -> dict[str, Any]:
    return {"name": name, "value": value, "params": {}}


def _head(source: GamesSource, began: datetime, samples: int) -> dict[str, Any]:
    """The part of a log that says what was evaluated."""
    assert source.journal is not None
    plan = all_without_addresses(source.journal.plan)
    name = sha256(json_line({"run": source.name, "plan": plan})).hexdigest()
    players = plan.get("players") or ["imported"]
    return {
        "version": _VERSION,
        "eval": {
            "eval_id": name[:22],
            "run_id": name[22:44],
            "task_id": name[42:],
            "created": began.isoformat(timespec="seconds"),
            "task": str(plan.get("game") or plan.get("judged") or plan.get("import")),
            "task_version": 0,
            "task_attribs": {},
            "task_args": {key: value for key, value in plan.items() if key not in ("players", "cells")},
            "tags": ["liescope"],
            "dataset": {"name": source.name, "samples": samples, "shuffled": False},
            "model": " + ".join(map(str, players)),
            "model_generate_config": {},
            "model_args": {},
            "config": {"epochs": 1},
            "packages": {"liescope": version("liescope")},
            "metadata": {"licences": source.licences},
            "scorers": [{"name": name} for name in ("winner", *(f"label_{target}" for target in TARGETS))],
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
    }


def _header(head: Mapping[str, Any], began: datetime, sums: _Sums) -> dict[str, Any]:
    scores = sums.scores()
    return {
        **head,
        "status": "success",
        "results": {"total_samples": sums.samples, "completed_samples": sums.completed, "scores": scores},
        "stats": {
            "started_at": began.isoformat(timespec="seconds"),
            "completed_at": datetime.fromtimestamp(began.timestamp() + sums.seconds, UTC).isoformat(),
            "model_usage": sums.by_model,
        },
    }


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a sample in the viewer's list."""
    kept = ("id", "epoch", "input", "target", "model_usage", "started_at", "completed_at")
    few = {name: value for name, value in sample["metadata"].items() if not isinstance(value, dict | list)}
    return {
        **{name: sample[name] for name in (*kept, "total_time", "working_time", "uuid")},
        "input": sample["input"][:_SUMMARY],
        "metadata": {name: value[:_SUMMARY] if isinstance(value, str) else value for name, value in few.items()},
        "scores": sample["scores"],
        **({"error": sample["error"]["message"][:_SUMMARY]} if "error" in sample else {}),
        "completed": True,
        "message_count": len(sample["messages"]),
    }


def _add(log: ZipFile, name: str, content: IO[bytes]) -> None:
    """Add a file to the ZIP, without a date, so that equal runs give equal bytes."""
    info = ZipInfo(name)
    info.compress_type = ZIP_DEFLATED
    content.seek(0)
    with log.open(info, "w", force_zip64=True) as file:
        shutil.copyfileobj(content, file)


# One game


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
    by_model: dict[str, Usage] = defaultdict(Counter)
    events = []
    for event in _events(record, journal, shown, clock):
        events.append(event)
        if event["event"] == "model" and "cache" not in event and (usage := event["output"].get("usage")):
            by_model[event["model"]].update(usage)
    ended = without_addresses(_ending(row))
    return {
        "id": quote(record.game_id, safe="", errors="replace"),
        "epoch": 1,
        "input": _players(row),
        "target": [seat.name for seat in row.seats if seat.deceives],
        "messages": [{"id": clock.name(), **message} for message in transcript_of(record)],
        "output": {"model": row.model, "choices": [], "completion": ended},
        "scores": dict(_scores(row, game.statements)) or None,
        "metadata": _metadata(game),
        "store": {},
        "events": events,
        "model_usage": by_model,
        "started_at": began.isoformat(),
        "completed_at": clock.now(),
        "total_time": clock.seconds,
        "working_time": clock.seconds,
        "uuid": clock.name(),
        **({"error": {"message": row.failure, "traceback": "", "traceback_ansi": ""}} if row.failure else {}),
        "attachments": {},
    }


def _players(row: GameRow) -> str:
    seats = "\n".join(
        f"- {seat.name}: {seat.role or 'role not known'}, played by {seat.model} ({seat.source})" for seat in row.seats
    )
    return f"{row.game}{f' ({row.condition})' if row.condition else ''}\n\n{seats}"


def _ending(row: GameRow) -> str:
    if row.failure:
        return f"failed: {row.failure}"
    return f"{f'won by {row.winner}' if row.winner else 'winner not known'}: {row.reason}"


def _metadata(game: SourceGame) -> dict[str, Any]:
    own = (
        *("game_id", "run", "origin", "game", "cell", "condition", "seed", "seating", "turn", "source", "status"),
        *("prompt_version", "judge", "days", "statements", "silences", "fallbacks"),
    )
    facts = {name: getattr(game.row, name) for name in own}
    seats = [asdict(seat) for seat in game.row.seats]
    return {**facts, "split": game.split, "settings": settings_of(game.record), "seats": seats}


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


def transcript_of(record: GameRecord) -> Iterator[dict[str, Any]]:
    """The events of a game as the transcript that all share: what a player said as its message, all else as the
    game's.
    """
    for event in record.events:
        facts: dict[str, Any] = {"event": event.index, "day": event.day, "phase": event.phase.value}
        if event.audience is not None:
            facts["audience"] = list(event.audience)
        if event.kind is EventKind.STATEMENT:
            words, metadata = f"{event.actor}: {event.text}", {**facts, "speaker": event.actor}
            yield {"role": "assistant", "content": words, "source": "generate", "metadata": metadata}
        elif event.kind is not EventKind.SUMMARY and (line := event_line(event)) is not None:
            yield {"role": "user", "content": line.plain.strip(), "source": "input", "metadata": facts}


# Events


def _events(record: GameRecord, journal: Journal, shown: Shown, clock: _Clock) -> Iterator[dict[str, Any]]:
    """Every request to a player, in order."""
    calls: dict[tuple[int, str], list[Mapping[str, Any]]] = defaultdict(list)
    for call in journal.calls(record.game_id):
        calls[call["step"], call["seat"]].append(call)
    roles = {seat.name: seat.role for seat in record.seats}
    for one in (asked for step in steps(journal, record) for asked in step.asked):
        for call in _calls(one, calls[one.ask.step, one.ask.seat], shown, clock):
            yield call | {"role": roles.get(one.ask.seat) or None}


def _calls(one: AskShown, calls: Sequence[Mapping[str, Any]], shown: Shown, clock: _Clock) -> Iterator[dict[str, Any]]:
    """Every request for one ask."""
    kept = {request.attempt: request for request in shown.requests(one.ask)}
    for call in calls:
        request = kept.get(call["attempt"])
        sent = messages_of(request) if request is not None and request.body else None
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
            config={},
            output={
                "model": call["served_model"] or model,
                "choices": [
                    {
                        "message": {"role": "assistant", "content": words, "source": "generate", "model": model},
                        "stop_reason": "unknown" if call["problem"] else "stop",
                    }
                ],
                "completion": words,
                **({"usage": usage} if usage else {}),
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


def _usage(call: Mapping[str, Any]) -> dict[str, Any]:
    """As far as it is known."""
    prompt, cached, completion = call["prompt_tokens"], call["cached_tokens"], call["completion_tokens"]
    if prompt is None and completion is None:
        return {}
    tokens = {"input_tokens": max((prompt or 0) - (cached or 0), 0), "output_tokens": completion or 0}
    tokens |= {"total_tokens": (prompt or 0) + (completion or 0), "input_tokens_cache_read": cached}
    return {name: count for name, count in {**tokens, "total_cost": call["cost"]}.items() if count is not None}
