"""A response has an end: whatever an endpoint sends, an attempt costs bounded memory and time, and is counted."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from liescope.games.core import AskKind
from liescope.generate.players.openai.wire import LARGEST

MESSAGE = '"I am a villager."'


def too_large(stubs, packed: bool):
    """A completion whose message alone is over the limit."""
    whole = stubs.says(f'"{"a" * LARGEST}"')
    return stubs.Answer(whole.body, packed=packed)


@pytest.mark.parametrize("packed", [False, True])
def test_a_response_that_is_too_large_is_dropped_counted_and_asked_for_again(
    serve, stubs, desk, asked, packed: bool
) -> None:
    stub = serve(too_large(stubs, packed), stubs.says(MESSAGE))
    one = desk(f"tiny@{stub.url}")
    (reply,) = one.ask(asked[AskKind.SPEAK])
    assert reply.text == "I am a villager."
    assert [attempt.problem for attempt in one.attempts] == ["the response is larger than 4 MiB", ""]
    assert one.attempts[0].raw == ""


def test_a_packed_response_of_ordinary_size_is_read(serve, stubs, desk, asked) -> None:
    whole = stubs.says(MESSAGE)
    (reply,) = desk(f"tiny@{serve(stubs.Answer(whole.body, packed=True)).url}").ask(asked[AskKind.SPEAK])
    assert reply.text == "I am a villager."


@pytest.mark.parametrize("headers", [{"X-Long": "a" * 100_000}, {f"X-{n}": "b" * 1000 for n in range(300)}])
def test_headers_without_end_are_a_counted_problem(serve, stubs, desk, asked, headers) -> None:
    stub = serve(stubs.Answer(stubs.says(MESSAGE).body, headers=headers), stubs.says(MESSAGE))
    one = desk(f"tiny@{stub.url}")
    one.ask(asked[AskKind.SPEAK])
    assert [bool(attempt.problem) for attempt in one.attempts] == [True, False]


BOMB = """
    import asyncio, json, resource, socket, threading, zlib

    from liescope.common.errors import EndpointSilent
    from liescope.games import AskKind, Mafia, MafiaSpec, start
    from liescope.generate.players.openai.openai_player import open_openai
    from liescope.generate.players.player_protocol import PlayerContext
    from liescope.generate.players.run_limits import Limits

    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    begin, block = (packer.compress(b"a" * 2**20) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    bomb = begin + block * 2400

    def serve(listener):
        while True:
            line, _ = listener.accept()
            line.recv(65536)
            head = f"HTTP/1.1 200 OK\\r\\nContent-Encoding: gzip\\r\\nContent-Length: {len(bomb)}\\r\\n\\r\\n"
            try:
                line.sendall(head.encode() + bomb)
            except OSError:
                pass
            line.close()

    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    problems = []
    limits = Limits(give_up_after=0.2)
    context = PlayerContext(log=lambda attempt: problems.append(attempt.problem), game="mafia", limits=limits)

    async def main():
        player = open_openai(f"m@http://127.0.0.1:{listener.getsockname()[1]}/v1", context)
        session = start(lambda: Mafia(MafiaSpec(1, 1, 2), 0, "g"))
        ask = session.asks[0]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            await player.answer(ask, session.game.view(ask.seat))
        except EndpointSilent:
            pass
        await player.close()
        print(json.dumps([len(bomb), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, problems[0]]))

    asyncio.run(main())
"""


def test_a_small_response_that_unpacks_to_gigabytes_costs_a_few_megabytes() -> None:
    code = [sys.executable, "-c", textwrap.dedent(BOMB)]
    ended = subprocess.run(code, capture_output=True, text=True, timeout=100, check=True)
    packed, grown, problem = json.loads(ended.stdout)
    unit = 1 if sys.platform == "darwin" else 1024  # bytes or kilobytes, as `resource` counts
    assert packed < 3_000_000
    assert grown * unit < 100_000_000
    assert problem == "the response is larger than 4 MiB"
