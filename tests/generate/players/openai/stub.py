"""A small OpenAI-compatible server on loopback, whose answers a test scripts, down to the bytes on the wire."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """body: JSON data, or the text itself. cut: the connection closes after half of the body. silent: no byte comes
    until the stub closes. raw: these bytes and nothing else, not even HTTP. packed: the body is sent gzipped."""

    body: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    silent: bool = False
    raw: bytes = b""
    packed: bool = False


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


def says(content: Any, finish: str = "stop", usage: Mapping[str, Any] | None = None, **message: Any) -> Answer:
    """A chat completion with one choice."""
    counted = {"prompt_tokens": 100, "completion_tokens": 10} if usage is None else usage
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    return Answer({"id": "1", "object": "chat.completion", "choices": [choice], "usage": counted})


def fails(status: int, message: str = "trouble", headers: Mapping[str, str] | None = None, **error: Any) -> Answer:
    return Answer({"error": {"message": message, **error}}, status, headers or {})


Script = Callable[[Request, int], Answer]


def as_stream(answer: Answer, counted: bool = True) -> Answer:
    """A chat completion in pieces, its words two letters at a time, and its log-probabilities with the first. counted:
    the tokens come last.
    """
    (choice,) = answer.body["choices"]
    words = choice["message"]["content"]
    parts = [{"delta": {"content": words[at : at + 2]}} for at in range(0, len(words), 2)]
    parts[0]["logprobs"] = choice.get("logprobs")
    chunks = [{"choices": [part]} for part in (*parts, {"delta": {}, "finish_reason": choice["finish_reason"]})]
    chunks += [{"choices": [], "usage": answer.body["usage"]}] * counted
    return Answer("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n")


class Stub:
    """The server under way. script: the answer to the n-th request (from 0), called in that request's thread; models:
    the answer to a request for the list of models.
    """

    def __init__(self, script: Script) -> None:
        self.requests: list[Request] = []
        self.models = fails(404, "Not Found")
        self._script = script
        self._lock = threading.Lock()
        self._closing = threading.Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                stub._answer(self)

            def do_GET(self) -> None:
                stub._send(self, stub.models)

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
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, http: BaseHTTPRequestHandler) -> None:
        body = json.loads(http.rfile.read(int(http.headers["Content-Length"])))
        request = Request(http.path, {key.lower(): value for key, value in http.headers.items()}, body)
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        self._send(http, self._script(request, number))

    def _send(self, http: BaseHTTPRequestHandler, answer: Answer) -> None:
        if answer.silent:
            self._closing.wait()
            return
        if answer.raw:
            http.wfile.write(answer.raw)
            http.close_connection = True
            return
        data = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
        if answer.packed:
            data = gzip.compress(data)
        http.send_response(answer.status)
        if answer.packed:
            http.send_header("Content-Encoding", "gzip")
        for name, value in answer.headers.items():
            http.send_header(name, value)
        http.send_header("Content-Type", "application/json")
        http.send_header("Content-Length", str(len(data)))
        http.end_headers()
        http.wfile.write(data[: len(data) // 2] if answer.cut else data)
        if answer.cut:
            http.close_connection = True
