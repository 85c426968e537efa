"""A browser and servers for the tests of pages. What a page complains about fails its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.common.browser import Chromium, chromium
from tests.web.server import Server


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def expect(browser: Chromium) -> Callable[..., Any]:
    """Playwright's expect(page or locator), which waits for what is expected."""
    return browser.expect


@pytest.fixture
def complaints() -> list[str]:
    """Errors of the console, of scripts and of the content security policy. A test that causes one on purpose takes
    it out of the list.
    """
    return []


@pytest.fixture
def new_context(browser: Chromium, complaints: list[str]) -> Iterator[Callable[..., Any]]:
    """new_context(width=…, dark=…, …): a person's browser, with cookies of its own. See `Chromium.new_context`."""
    opened: list[Any] = []

    def new(**options: Any) -> Any:
        opened.append(browser.new_context(complaints, **options))
        return opened[-1]

    yield new
    for context in opened:
        context.close()
    assert complaints == []


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """serve("liescope", "view", "runs/first", "--port", "{port}"): a server in a process of its own. See `Server`."""
    servers: list[Server] = []

    def start(*words: str, port: int = 0) -> Server:
        servers.append(Server(words, tmp_path / f"server-{len(servers)}.log", port))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
    assert [server.said() for server in servers if "Traceback" in server.said()] == []
