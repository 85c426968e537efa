"""`liescope.serve`: games with people, in a browser. Where it listens, who can reach it, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from liescope.common.console import end_by, heeded, let_go_of_terminal
from liescope.common.errors import MissingExtra, UsageError
from liescope.common.folders import take_lock
from liescope.common.settings import takes
from liescope.common.stores import check_not_in_store
from liescope.generate.players.run_limits import Limits
from liescope.web.web_settings import ServeSettings

try:
    import uvicorn
    from fastapi import APIRouter, FastAPI, Request
    from fastapi.responses import HTMLResponse

    from liescope.web.play import host_page, seat_routes
    from liescope.web.play.game_setup import check_players, make_setup, read_consent
    from liescope.web.play.hosted_games import Hub
    from liescope.web.site import LOOPBACK, Forms, make_site, page
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "fastapi", "web") from error


_front = APIRouter()


@_front.get("/")
async def front(request: Request) -> HTMLResponse:
    """Says how to get in, and nothing about what is there."""
    return page(request, "play/front.html")


def site_of(hub: Hub, public: str = "") -> FastAPI:
    """The site of a hub's games, which opens the hub and closes it. public: the address under which others reach it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        hub.open()
        try:
            yield
        finally:
            await hub.close()

    name = urlsplit(public).hostname
    hosts = [*LOOPBACK, name] if name else LOOPBACK
    routes = (_front, seat_routes.router, host_page.router)
    site = make_site(routes, hosts, lifespan, urlsplit(public).path)
    site.state.hub, site.state.public, site.state.forms = hub, public, Forms(hub.form_secret.encode())
    return site


@takes(ServeSettings, others="options")
def serve(
    out: str | os.PathLike[str],
    *,
    told: Callable[[str], None] = print,
    **settings: Any,
) -> None:
    """Serve games that people play, until Ctrl-C or another signal that asks to end. They become runs in `out`.

    A game of the kind `game` is opened, unless `out` has one with the same settings that is not closed: then that one
    continues with its links. The secret of the host's link is kept in `out`. Games whose nights are drawn kill programs
    rather than people while they can; such games are a condition of their own (`spared`).

    Parameters
    ----------
    out : str or path
        The folder for the games and their runs.
    told : callable
        Gets the lines that say where things are.
    **settings
    **options
        Those of the game.

    Raises
    ------
    UsageError
        For an impossible game, an address that cannot be listened on, or a folder that another server serves.
    MissingExtra
        Without the packages of the extra `web`.
    """
    check_not_in_store(out)
    own, options = ServeSettings.with_rest(settings)
    options |= {"assess": True} if own.assess else {}
    game, people, players = own.game, own.people, own.players
    host, public = own.host, own.public
    if game is None and (people != 1 or players or options):
        raise UsageError("people, players and options belong to a game: name it too (--game NAME)")
    public = public_address(public) if public else ""
    meant = told_of(host, public)
    terms = {} if own.consent is None else {"consent": read_consent(Path(own.consent))}
    limits = Limits.of({"give_up_after": own.give_up_after})
    hub = Hub(Path(out), limits, terms)
    with ExitStack() as stack:
        stack.callback(os.close, take_lock(Path(out)))  # two servers on one folder would each know half of the games
        hosted = None
        if game is not None:
            setup = make_setup(game, people, players, options, **terms)
            asyncio.run(check_players(setup))
            hosted = hub.find(setup) or hub.add(setup)
        bound = listen(host, own.port)
        name = f"[{host}]" if ":" in host else host
        origin = public or f"http://{name}:{bound.getsockname()[1]}"
        if meant:
            told(f"note: {meant}")
        told(f"host: {origin}/host/{hub.host_secret}")
        for seat in hosted.seats.values() if hosted else ():
            told(f"seat: {origin}/seat/{seat.kept.secret}")
        told("Open these addresses in a browser; Ctrl-C ends this.")
        try:
            run_server(site_of(hub, public), bound)
        finally:
            told("stopped: the same command goes on with every game, under the same links")


MOST_CONNECTIONS = 900  # below the 1,024 files that a process may often have open


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes any free port. Raises UsageError if the address is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only on a socket whose protocol is named
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
    """The address under which others reach a site, without a slash at its end. Raises UsageError for anything else."""
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
    """A line that says who can reach this address; empty if only this machine can. Raises UsageError if others could
    but their address is not given.
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
