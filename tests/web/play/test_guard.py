"""Who may send what to a table, and how much, also behind a proxy that shows the pages under a path of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import pytest

from liescope.common.errors import UsageError
from liescope.web.play.serving import public_address, told_of
from liescope.web.site import LARGEST_FORM
from tests.web.play.person import Host, said, sheets
from tests.web.play.seated import get, post
from tests.web.server import Server, free_port

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
    """The links of a new game's seats."""
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


@pytest.mark.parametrize("field", ["players", "filler"])
def test_a_key_in_the_form_of_a_host_is_neither_shown_nor_kept(
    field: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = "Zq81mNv7XxPp02LkTt94bRw"
    monkeypatch.setenv("MY_API_KEY", key)
    serving = Server(("liescope", "serve", "--out", str(tmp_path / "t"), "--port", "{port}"), tmp_path / "log")
    try:
        link = said(serving, "host")[0]
        sheet = next(one for one in sheets(Host(link).page("?game=mini-mafia")) if one.action.endswith("/add"))
        for spec in (f"local:{key}", f"scripted:{key.upper()}", f"{key}:x", f"local:x?device={key[2:19]}"):
            form = {**sheet.fixed, "people": "1", "players": "scripted:bold", field: spec}
            answer, text = ask(f"{link}/add", urlencode(form).encode())
            assert answer.status == 422
            assert "holds the value of MY_API_KEY" in text
            assert key[2:19].lower() not in text.lower()
    finally:
        serving.stop()
    for file in (file for file in tmp_path.rglob("*") if file.is_file()):
        assert key[2:19].lower().encode() not in file.read_bytes().lower(), file


def test_a_form_counts_only_from_its_own_page(seats: list[str]) -> None:
    mine, other, _ = seats
    good = form_of(mine)
    refused = [
        b"agree=yes&pseudonym=Eve",
        form_of(mine, form="0" * 32),
        form_of(mine, form="\ud800".encode("utf-8", "surrogatepass").decode("latin-1")),
        form_of(other),
    ]
    for body in refused:
        answer, text = ask(f"{mine}/take", body)
        assert answer.status == 403
        assert "Load the page again" in text
    assert ask(f"{mine}/take", good)[0].status == 303


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


def test_unknown_links_say_all_the_same(seats: list[str]) -> None:
    base = seats[0].rpartition("/seat/")[0]
    answers = [ask(f"{base}/{path}") for path in ("seat/AAAA", "seat/AAAA/ask", "seat/AAAA/log", f"seat/{'A' * 22}")]
    assert {(answer.status, text) for answer, text in answers} == {(404, answers[0][1])}
    assert ask(f"{base}/host/AAAA")[0].status == 404


def test_only_its_own_names_reach_the_server(seats: list[str]) -> None:
    assert ask(seats[0], headers={"Host": "evil.example"})[0].status == 400
    assert ask(seats[0], headers={"Host": "localhost:1"})[0].status == 200


def test_paths_lead_to_nothing_else(seats: list[str]) -> None:
    base = seats[0].rpartition("/seat/")[0]
    for path in ("/static/../site.py", "/static/%2e%2e/site.py", "/static/..%2f..%2fsite.py", "/static//etc/passwd",
                 "/static/", "/docs", "/openapi.json", "/seat", "/seat/", "/host/"):  # fmt: skip
        answer, text = ask(base + path)
        assert (answer.status, "make_site" in text) == (404, False), path
        assert re.search(r'href="/static/style\.css"', text)
    assert ask(f"{seats[0]}/take", method="DELETE")[0].status == 405


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


PREFIX = "/fun/games"
_ADDRESS = re.compile(r'(?:href|src|action|hx-get|hx-post)="([^"]+)"')


def test_pages_are_found_below_a_path_and_lead_nowhere_else(serve: Callable[..., Server], tmp_path: Path) -> None:
    port = free_port()
    public = f"http://127.0.0.1:{port}{PREFIX}"
    table = ("--game", "mini-mafia", "--people", "1", "--public", public)
    server = serve("liescope", "serve", "--out", str(tmp_path / "t"), "--port", "{port}", *table, port=port)
    (link,), (host,) = said(server, "seat"), said(server, "host")
    assert link.startswith(f"{public}/seat/")
    pages = [get(link), get(host), get(f"http://127.0.0.1:{port}{urlsplit(link).path.removeprefix(PREFIX)}")]
    assert "Take your seat" in pages[0]
    assert "Take your seat" in pages[2]
    taking = sheets(pages[0])[0]
    status, begun = post(link, taking.action, {**taking.fixed, "agree": "yes", "pseudonym": "Blue Otter"})
    assert (status, "You are <span" in begun) == (200, True)
    shown = {address for page in [*pages, begun] for address in _ADDRESS.findall(page) if address[0] not in "#d"}
    assert all(address.startswith((f"{PREFIX}/", f"{public}/seat/")) for address in shown)
    for address in (one for one in shown if "/static/" in one):
        with urlopen(f"http://127.0.0.1:{port}{address}") as answer:
            assert answer.headers["Cache-Control"] == "no-store"
    assert "open the link" in get(f"{public}/")
