"""Who may send what to a table, how much and how often."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlencode, urlsplit

import pytest

from liescope.common.errors import UsageError
from liescope.web.play.watching import MOST_PAGES
from liescope.web.server import public_address, told_of
from liescope.web.site import LARGEST_FORM, ONE, UNKNOWN
from tests.web.play.host import Host, said
from tests.web.play.person import sheets
from tests.web.server import Server

SECRETS = ("Content-Security-Policy", "Referrer-Policy", "X-Content-Type-Options")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """The host of one server for all tests."""
    folder = tmp_path_factory.mktemp("guarded")
    serving = Server(("liescope", "serve", "--out", str(folder / "t"), "--port", "{port}"), folder / "log")
    yield Host(said(serving, "host")[0])
    serving.stop()
    assert "Traceback" not in serving.said()


@pytest.fixture
def seats(host: Host) -> list[str]:
    """The links of a new table's seats."""
    return host.add("mini-mafia", 3)


def ask(
    link: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, method: str = ""
) -> tuple[HTTPResponse, str]:
    """What is answered to a request; every answer keeps strangers out and itself out of caches."""
    parts = urlsplit(link)
    line = HTTPConnection(parts.netloc, timeout=20)
    kind = {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
    line.request(method or ("GET" if body is None else "POST"), parts.path, body, {**kind, **(headers or {})})
    answer = line.getresponse()
    text = answer.read().decode()
    line.close()
    assert all(answer.headers[name] for name in SECRETS), answer.status
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Traceback" not in text
    return answer, text


def form_of(link: str, **more: str) -> bytes:
    return urlencode({**sheets(ask(link)[1])[0].fixed, "agree": "yes", "pseudonym": "Somebody", **more}).encode()


def test_a_form_counts_only_from_its_own_page(seats: list[str]) -> None:
    mine, other, _ = seats
    good, here = form_of(mine), f"http://{urlsplit(mine).netloc}"
    refused = [
        (b"agree=yes&pseudonym=Eve", {}),
        (form_of(mine, form="0" * 32), {}),
        (form_of(mine, form="\ud800".encode("utf-8", "surrogatepass").decode("latin-1")), {}),
        (form_of(other), {}),
        (good, {"Sec-Fetch-Site": "cross-site"}),
        (good, {"Sec-Fetch-Site": "same-site", "Origin": here}),
        (good, {"Origin": "https://evil.example"}),
        (good, {"Origin": ""}),
        (good, {"Origin": "http://127.0.0.1:1"}),
    ]
    for body, headers in refused:
        answer, text = ask(f"{mine}/take", body, headers)
        assert answer.status == 403, headers
        assert "Load the page again" in text or "from another site" in text
    assert ask(f"{mine}/take", good, {"Origin": "null", "Sec-Fetch-Site": "same-origin"})[0].status == 303
    assert ask(f"{other}/take", form_of(other, pseudonym="Other"), {"Origin": here})[0].status == 303


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"a" * (LARGEST_FORM + 1), {}, 413),
        (b"&".join(b"f%d=1" % number for number in range(100)), {}, 400),
        (b'--x\r\nContent-Disposition: form-data; name="form"; filename="f"\r\n\r\n1\r\n--x--\r\n',
         {"Content-Type": "multipart/form-data; boundary=x"}, 400),
        (b"\xff\xfe%zz%00=%ed%a0%80&&&==", {}, 403),
    ],
)  # fmt: skip
def test_what_is_no_form_of_ours_is_refused(
    seats: list[str], body: bytes, headers: Mapping[str, str], status: int
) -> None:
    assert ask(f"{seats[0]}/take", body, headers)[0].status == status


def test_a_pseudonym_is_short_and_plain(seats: list[str]) -> None:
    for name in ("x" * 33, "a\nb<script>", "\u202egnorw", "\u200b", "\x00", "👩‍🚀", " ", "human"):
        answer, text = ask(f"{seats[0]}/take", form_of(seats[0], pseudonym=name))
        assert answer.status == 422
        assert "a pseudonym has 1 to 32 letters" in text
        assert "<script>" not in text


def test_unknown_links_share_one_bucket_and_say_all_the_same(seats: list[str]) -> None:
    base = seats[0].rpartition("/seat/")[0]
    answers = [ask(f"{base}/{kind}/{'A' * number}{rest}")
               for number in range(int(UNKNOWN.burst // 4) + 8)
               for kind, rest in (("seat", ""), ("seat", "/events"), ("host", ""), ("seat", "/ask"))]  # fmt: skip
    first, late = answers[0], answers[-1]
    assert {answer.status for answer, _ in answers[: int(UNKNOWN.burst)]} == {404}
    assert late[0].status == 429
    assert int(late[0].headers["Retry-After"]) >= 1
    assert "Wait a moment" in late[1]
    assert "There is no such" in first[1]
    assert ask(seats[0])[0].status == 200  # those who have a link do not suffer for it


def test_one_link_asks_only_so_often(seats: list[str]) -> None:
    line = HTTPConnection(urlsplit(seats[0]).netloc)
    statuses = []
    for _ in range(int(ONE.burst) * 3):
        line.request("GET", urlsplit(seats[0]).path + "/again")
        answer = line.getresponse()
        answer.read()
        statuses.append(answer.status)
    line.close()
    assert statuses[: int(ONE.burst)] == [204] * int(ONE.burst)
    assert 429 in statuses
    assert ask(seats[1])[0].status == 200


def test_of_too_many_open_pages_the_oldest_ends(seats: list[str]) -> None:
    with ExitStack() as stack:
        pages: list[HTTPResponse] = []
        for _ in range(MOST_PAGES + 2):
            line = stack.enter_context(closing(HTTPConnection(urlsplit(seats[0]).netloc, timeout=20)))
            line.request("GET", urlsplit(seats[0]).path + "/events")
            pages.append(stack.enter_context(line.getresponse()))
            assert pages[-1].readline() == b"event: log\n"
        assert pages[0].read().endswith(b"event: ask\ndata: 1\n\n")  # to its end
        assert pages[0].headers["X-Accel-Buffering"] == "no"
        ask(f"{seats[1]}/take", form_of(seats[1]))
        assert b"event: page\n" in [pages[-1].readline() for _ in range(7)]


def test_only_its_own_names_reach_the_server(seats: list[str]) -> None:
    assert ask(seats[0], headers={"Host": "evil.example"})[0].status == 400
    assert ask(seats[0], headers={"Host": "localhost:1"})[0].status == 200


def test_paths_lead_to_nothing_else(seats: list[str]) -> None:
    base = seats[0].rpartition("/seat/")[0]
    for path in ("/static/../site.py", "/static/%2e%2e/site.py", "/static/..%2f..%2fsite.py", "/static//etc/passwd",
                 "/static/", "/docs", "/openapi.json", "/seat", "/seat/", "/host/", "/judge/"):  # fmt: skip
        answer, text = ask(base + path)
        assert (answer.status, "make_site" in text) == (404, False), path
        assert re.search(r'href="/static/style\.css\?v=\w+"', text)
    assert ask(f"{seats[0]}/take", method="DELETE")[0].status == 405


def test_who_is_silent_or_slow_is_let_go(serve: Callable[..., Server]) -> None:
    hasty = "127.0.0.1", serve("tests.web.play.hasty", "{port}", "0.3").port
    with ExitStack() as stack:
        silent, slow, half = (stack.enter_context(socket.create_connection(hasty, timeout=10)) for _ in range(3))
        half.sendall(b"POST /form HTTP/1.1\r\nHost: 127.0")
        slow.sendall(
            b"POST /form HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            b"Content-Length: 9\r\n\r\na="
        )
        assert (silent.recv(9), half.recv(9)) == (b"", b"")
        assert slow.recv(12) == b"HTTP/1.1 408"


def test_who_does_not_read_is_let_go(serve: Callable[..., Server]) -> None:
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", serve("tests.web.play.hasty", "{port}", "0.3").port))
        deaf.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(2)
        deaf.settimeout(10)
        got = 0
        with suppress(ConnectionResetError):
            while piece := deaf.recv(2**20):
                got += len(piece)
        assert got < 2**24


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0",
        b"POST /form HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\na=",
    ],
)
def test_slow_connections_give_way_to_new_ones(serve: Callable[..., Server], begun: bytes) -> None:
    """Whoever opens them: here more than the server takes, that nothing else would end for a minute."""
    server = serve("tests.web.play.hasty", "{port}", "60")
    with ExitStack() as stack:
        slow = []
        for _ in range(40):
            slow.append(stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=20)))
            slow[-1].sendall(begun)
        for oldest in slow[:20]:
            with suppress(ConnectionResetError):
                assert oldest.recv(1) == b""
        time.sleep(0.5)  # until what these had asked for has ended as well
        for _ in range(3):
            line = stack.enter_context(closing(HTTPConnection("127.0.0.1", server.port, timeout=10)))
            line.request("GET", "/large")
            assert line.getresponse().status == 200


def test_who_asks_whether_it_is_up_is_answered_whatever_others_do(host: Host) -> None:
    base = host.link.rpartition("/host/")[0]
    while ask(f"{base}/seat/unknown")[0].status != 429:
        pass
    assert ask(f"{base}/")[0].status == 200
    for _ in range(int(ONE.burst) + 50):
        answer, text = ask(f"{base}/healthz", headers={"Host": "10.0.0.7:8080"})
        assert (answer.status, text) == (200, "ok\n")
    assert ask(f"{base}/healthz", method="HEAD")[0].status == 200


def test_an_address_that_others_reach_needs_a_public_one() -> None:
    assert told_of("127.0.0.1", "") == ""
    with pytest.raises(UsageError, match="HTTPS"):
        told_of("0.0.0.0", "")
    assert "unencrypted" in told_of("0.0.0.0", "http://lab.example")
    assert "HTTPS" in told_of("0.0.0.0", "https://lab.example")
    assert public_address("https://lab.example:8443/games/") == "https://lab.example:8443/games"
    for wrong in (
        "lab.example",
        "https://",
        "ftp://lab",
        "https://a@lab",
        "https://lab/?a",
        "https://[",
        "https://l b",
    ):
        with pytest.raises(UsageError, match="--public is the address"):
            public_address(wrong)
