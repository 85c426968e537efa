"""Listening for browsers: addresses and what they mean, and an end that is told from others."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI

from liescope.common.console import end_by, heeded, let_go_of_terminal
from liescope.common.errors import UsageError
from liescope.web.site import LOOPBACK

MOST_CONNECTIONS = 900  # below the 1,024 files that a process may often have open


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


def run_server(site: FastAPI, bound: socket.socket) -> None:
    """Serve a site until a signal ends it. Raises what `end_by` gives for that signal, once all is tidied up."""
    config = uvicorn.Config(
        site,
        http="h11",
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=5,
        server_header=False,
        proxy_headers=False,
    )
    server = _Server(config)
    asyncio.run(server.serve([bound]))
    if server.ended_by is not None:
        raise end_by(server.ended_by)


class _Server(uvicorn.Server):
    """Ends in the same way for each signal that asks for it."""

    ended_by: int | None = None

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
        self.handle_exit(number, None)
