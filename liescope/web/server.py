"""Listening for browsers: addresses and what they mean, connections that may not idle, and an end without delay."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from liescope.common.console import end_by, heeded, let_go_of_terminal
from liescope.common.errors import UsageError
from liescope.web.site import LOOPBACK, SLOWEST_S

MOST_CONNECTIONS = 900  # below the 1,024 files that a process may often have open
CROWDED = 700  # connections from which those give way that have waited longest for their client


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes any free one. Raises UsageError for one that cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # unnamed, asyncio would not send at once
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(1024)
    except (OSError, OverflowError, UnicodeError) as error:
        bound.close()
        why = error.strerror or error if isinstance(error, OSError) else error
        raise UsageError(f"cannot listen at {host}:{port} ({why}); choose another --host or --port") from error
    return bound


def public_address(address: str) -> str:
    """The address under which others reach a site, without a slash at its end. Raises UsageError for what is none."""
    try:
        parts = urlsplit(address)
        named = parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        named = None
    extra = parts.query or parts.fragment or parts.username if named else ""
    if not named or parts.scheme not in ("http", "https") or extra or not address.isascii() or " " in address:
        raise UsageError(f"--public is the address that people use, as https://example.org/games; this is {address!r}")
    return address.rstrip("/")


def told_of(host: str, public: str) -> str:
    """What listening at an address means, in a line for whoever starts a server; empty if it is this machine's own.
    Raises UsageError where others could come and it is not said by which address.
    """
    if host in LOOPBACK:
        return ""
    if not public:
        raise UsageError(
            f"at {host} others can reach this server; say by which address, with --public https://NAME, and let a "
            "proxy speak HTTPS there: whoever reads a seat's link on the way can play it"
        )
    if urlsplit(public).scheme == "http":
        return f"others can reach {host}, and links travel unencrypted:\n      only for a network that you trust"
    return f"others can reach {host}; a proxy must speak HTTPS for it at\n      {public}"


def run_server(site: FastAPI, bound: socket.socket, stop: Callable[[], None] = lambda: None) -> None:
    """Serve a site until a signal ends it. stop: called then, in the event loop, to let go of open streams.

    Raises what `end_by` gives for that signal, once all is tidied up.
    """
    config = uvicorn.Config(
        site,
        http=_Hasty,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=5,
        server_header=False,
        proxy_headers=False,
    )
    server = _Server(config, stop)
    asyncio.run(server.serve([bound]))
    if server.ended_by is not None:
        raise end_by(server.ended_by)


class _Server(uvicorn.Server):
    """Lets open event streams go as soon as it is to end, and ends in the same way for each signal that asks for it."""

    ended_by: int | None = None

    def __init__(self, config: uvicorn.Config, stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop = stop

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        numbers = heeded()
        for number in numbers:
            loop.add_signal_handler(number, self._asked, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    def _asked(self, number: signal.Signals) -> None:
        if number == signal.SIGHUP:
            let_go_of_terminal()
        self.ended_by = self.ended_by or number
        self._stop()
        self.handle_exit(number, None)


class _Hasty(H11Protocol):
    """Closes connections on which no request, or the next one too slowly, arrives, or whose client does not read.

    Where there are many connections, the one that has waited longest for its client gives way to a new one, whoever the
    client is: behind a proxy all have one address, and nobody's address is kept.
    """

    _look: asyncio.TimerHandle | None = None
    _found: object = ""  # at the last look: the exchange that had ended, None before the first, "" while one goes on
    _unread = 0  # bytes that the client had not taken at the last look
    _since = 0.0  # when it began to wait for a request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        if len(self.connections) > CROWDED:
            waiting = (each for each in self.connections if isinstance(each, _Hasty) and each.waits)
            min(waiting, key=lambda each: each._since).transport.abort()
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    @property
    def waits(self) -> bool:
        """Whether a request, or the rest of one, has yet to come, or its answer has yet to be read."""
        unread = self.transport.get_write_buffer_size() > 0
        return not self.transport.is_closing() and (unread or self.conn.their_state in (h11.IDLE, h11.SEND_BODY))

    def _look_later(self) -> None:
        self._look = self.loop.call_later(SLOWEST_S / 2, self._look_now)

    def _look_now(self) -> None:
        idle = self.cycle is None or self.cycle.response_complete
        unread = self.transport.get_write_buffer_size()
        if (idle and self._found is self.cycle) or (unread and unread >= self._unread > 0):
            self.transport.abort() if unread else self.transport.close()
            return
        self._found, self._unread = self.cycle if idle else "", unread
        self._look_later()
