"""A server that speaks OpenAI's batch protocol, on loopback: it goes through the states of a batch, and counts.

What it answers to a request is a function of the request alone, as in `stub_server`, in a batch and outside.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.generate.players.openai.stub import Answer
from tests.generate.runs.stub_server import answer

STATES = ("validating", "in_progress", "finalizing", "completed")
DROPPED = Answer(raw=b"nothing that is HTTP")
Rows = list[dict[str, Any]]


def completion(body: dict[str, Any]) -> Any:
    """The answer to a request."""
    sent = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return json.loads(answer(sent).partition(b"\r\n\r\n")[2])


def done(row: dict[str, Any], answering: Callable[[dict[str, Any]], Any] = completion) -> dict[str, Any]:
    """The line that answers a line of a file."""
    response = {"status_code": 200, "request_id": "r", "body": answering(row["body"])}
    return {"id": "batch_req_1", "custom_id": row["custom_id"], "response": response, "error": None}


def failed(row: dict[str, Any], status: int, **error: Any) -> dict[str, Any]:
    """The line of a request that was answered with an error."""
    response = {"status_code": status, "request_id": "r", "body": {"error": {"message": "trouble", **error}}}
    return {"id": "batch_req_1", "custom_id": row["custom_id"], "response": response, "error": None}


def not_done(row: dict[str, Any], code: str = "batch_expired") -> dict[str, Any]:
    """The line of a request that was never answered."""
    error = {"code": code, "message": "This request could not be executed before the completion window expired."}
    return {"id": "batch_req_1", "custom_id": row["custom_id"], "response": None, "error": error}


@dataclass
class Batch:
    """One batch. states: the one it is in, and those to come; output: its files, once it has ended."""

    id: str
    file: str
    rows: Rows
    states: list[str]
    completed: int = 0
    output: dict[str, str] = field(default_factory=dict)


@dataclass
class Plan:
    """What happens to a batch. states: shown one after the other, the last from then on; results: the lines of its
    output and of its errors, by default an answer to each; errors: why it failed.
    """

    states: tuple[str, ...] = STATES
    results: Callable[[Rows], tuple[Rows, Rows]] | None = None
    errors: Any = None


class BatchServer:
    """The server under way. plan: for the n-th batch, from 0; fault: an answer in place of the usual one, by method,
    path and how often the path was asked for, given "before" anything is done or "after"; paid: requests answered, by
    id; alone: requests answered outside of batches; answering: the answer to a request.
    """

    def __init__(self) -> None:
        self.plan: Callable[[int, Rows], Plan] = lambda number, rows: Plan()
        self.fault: Callable[[str, str, int, str], Answer | None] = lambda method, path, number, when: None
        self.answering: Callable[[dict[str, Any]], Any] = completion
        self.held = threading.Event()  # cleared: no batch gets further
        self.held.set()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Batch] = {}
        self.paid: Counter[str] = Counter()
        self.alone = 0
        self.asked: Counter[str] = Counter()
        self.headers: list[dict[str, str]] = []
        self._plans: dict[str, Plan] = {}
        self._lock = threading.Lock()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                stub._serve(self, "POST")

            def do_GET(self) -> None:
                stub._serve(self, "GET")

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, http: BaseHTTPRequestHandler, method: str) -> None:
        sent = http.rfile.read(int(http.headers.get("Content-Length") or 0))
        if http.headers.get("Transfer-Encoding") == "chunked":
            sent = _chunks(http)
        path = http.path.partition("?")[0].removeprefix("/v1")
        with self._lock:
            self.headers.append({name.lower(): value for name, value in http.headers.items()})
            key = f"{method} {re.sub('/(batch|file)-[^/]*', '/ID', path)}"
            number = self.asked[key]
            self.asked[key] += 1
            found = self.fault(method, path, number, "before")
            if found is None:
                found = self._answer(method, path, sent, http.headers.get("Content-Type", ""))
                found = self.fault(method, path, number, "after") or found
        if found.raw:
            http.wfile.write(found.raw)
            http.close_connection = True
            return
        data = found.body if isinstance(found.body, bytes) else json.dumps(found.body).encode()
        http.send_response(found.status)
        for name, value in found.headers.items():
            http.send_header(name, value)
        http.send_header("Content-Length", str(len(data)))
        http.end_headers()
        http.wfile.write(data)

    def _answer(self, method: str, path: str, sent: bytes, kind: str) -> Answer:
        if (method, path) == ("POST", "/chat/completions"):
            self.alone += 1
            return Answer(self.answering(json.loads(sent)))
        if (method, path) == ("POST", "/files"):
            name = f"file-{len(self.files)}"
            self.files[name] = _uploaded(sent, kind)
            return Answer({"id": name, "object": "file", "bytes": len(sent), "purpose": "batch"})
        if (method, path) == ("POST", "/batches"):
            return self._make(json.loads(sent))
        if (method, path) == ("GET", "/batches"):
            newest = [_shown(batch, self._plans[batch.id]) for batch in reversed(self.batches.values())]
            return Answer({"object": "list", "data": newest, "has_more": False})
        if method == "GET" and (found := re.fullmatch(r"/batches/([^/]+)", path)) and found[1] in self.batches:
            return self._state(self.batches[found[1]])
        if method == "GET" and (found := re.fullmatch(r"/files/([^/]+)/content", path)) and found[1] in self.files:
            return Answer(self.files[found[1]])
        return Answer({"error": {"message": "Not Found"}}, 404)

    def _make(self, wanted: dict[str, Any]) -> Answer:
        assert wanted["endpoint"] == "/v1/chat/completions"
        assert wanted["completion_window"] == "24h"
        rows = [json.loads(line) for line in self.files[wanted["input_file_id"]].splitlines()]
        assert len({row["custom_id"] for row in rows}) == len(rows)
        assert {(row["method"], row["url"]) for row in rows} == {("POST", "/v1/chat/completions")}
        assert len({row["body"]["model"] for row in rows}) == 1
        plan = self.plan(len(self.batches), rows)
        batch = Batch(f"batch-{len(self.batches)}", wanted["input_file_id"], rows, list(plan.states))
        self.batches[batch.id] = batch
        self._plans[batch.id] = plan
        return Answer(_shown(batch, plan))

    def _state(self, batch: Batch) -> Answer:
        plan = self._plans[batch.id]
        if len(batch.states) > 1 and self.held.is_set():
            batch.states.pop(0)
        if len(batch.states) == 1 and not batch.output and batch.states[0] != "failed":
            every = [done(row, self.answering) for row in batch.rows] if plan.results is None else []
            output, errors = plan.results(batch.rows) if plan.results is not None else (every, [])
            answered = [row["custom_id"] for row in output if row.get("response")]
            self.paid.update(answered)
            batch.completed = len(answered)
            for name, rows in (("output", output), ("error", errors)):
                file = f"file-{name}-{batch.id}"
                if rows:
                    self.files[file] = b"".join(json.dumps(row).encode() + b"\n" for row in reversed(rows))
                batch.output[f"{name}_file_id"] = file if rows else ""
        return Answer(_shown(batch, plan))


def _shown(batch: Batch, plan: Plan) -> dict[str, Any]:
    ended = len(batch.states) == 1
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": batch.file,
        "completion_window": "24h",
        "status": batch.states[0],
        "errors": plan.errors if ended else None,
        "request_counts": {"total": len(batch.rows), "completed": batch.completed, "failed": 0},
        **(batch.output or {"output_file_id": None, "error_file_id": None}),
    }


def _uploaded(sent: bytes, kind: str) -> bytes:
    """The file in a form, with the purpose that a batch needs."""
    form = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + sent)
    fields = {str(part.get_param("name", header="content-disposition")): part for part in form.walk()}
    assert fields["purpose"].get_payload() == "batch"
    file = fields["file"].get_payload(decode=True)
    assert isinstance(file, bytes)
    return file


def _chunks(http: BaseHTTPRequestHandler) -> bytes:
    whole = b""
    while size := int(http.rfile.readline(), 16):
        whole += http.rfile.read(size)
        http.rfile.readline()
    http.rfile.readline()
    return whole
