"""A real Chromium, driven by Playwright in a thread of its own.

Playwright's synchronous API leaves an event loop running in the thread that started it, where `asyncio.run` then fails:
everything that a test says to the browser is therefore done in one thread, and the test keeps its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

from playwright.sync_api import expect, sync_playwright

from tests.common.browser import find_browser

PATIENCE_MS = 60_000  # a loaded machine is slow


class Remote:
    """An object of Playwright's, used from another thread: the same names, and what they give is wrapped likewise."""

    def __init__(self, inner: Any, thread: ThreadPoolExecutor) -> None:
        self.__dict__.update(_inner=inner, _thread=thread)

    def __getattr__(self, name: str) -> Any:
        return self._there(getattr, self._inner, name)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._there(self._inner, *args, **options)

    def __enter__(self) -> Any:
        return self._there(self._inner.__enter__)

    def __exit__(self, *raised: Any) -> Any:
        return self._there(self._inner.__exit__, *raised)

    def _there(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        plain = {name: _bare(value) for name, value in options.items()}
        done = self._thread.submit(partial(function, *map(_bare, args), **plain))
        return _wrapped(done.result(), self._thread)


def _bare(value: Any) -> Any:
    return value._inner if isinstance(value, Remote) else value


def _wrapped(value: Any, thread: ThreadPoolExecutor) -> Any:
    if isinstance(value, list):
        return [_wrapped(each, thread) for each in value]
    theirs = callable(value) or type(value).__module__.startswith("playwright.")
    return Remote(value, thread) if theirs else value


class Chromium:
    """A browser for a whole session of tests."""

    def __init__(self, launched: Remote, expects: Remote) -> None:
        self._launched = launched
        self.expect: Callable[..., Any] = expects

    def new_context(
        self, complaints: list[str], width: int = 1280, height: int = 844, dark: bool = False, **options: Any
    ) -> Any:
        """A person's browser: cookies of its own, as many pages as wanted. Returns Playwright's BrowserContext.

        width, height: in CSS pixels; below 500 it is a phone with a touch screen. complaints: gets what the console
        reports as an error (what a content security policy has blocked among it), and what a script raises.
        """
        options = {"viewport": {"width": width, "height": height}, "has_touch": width < 500, **options}
        context = self._launched.new_context(color_scheme="dark" if dark else "light", **options)
        context.set_default_timeout(PATIENCE_MS)
        context.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        context.on("weberror", lambda raised: complaints.append(str(raised.error)))
        return context


@contextmanager
def chromium() -> Iterator[Chromium]:
    """The system's browser, for the block. Where there is none, skips the test, or fails it in CI."""
    path = find_browser()
    with ThreadPoolExecutor(1, "playwright") as thread:
        playwright = Remote(sync_playwright, thread)().start()
        try:
            sandbox = os.geteuid() != 0  # root cannot have one
            browser = playwright.chromium.launch(executable_path=path, chromium_sandbox=sandbox)
            Remote(expect, thread).set_options(timeout=PATIENCE_MS)
            yield Chromium(browser, Remote(expect, thread))
            browser.close()
        finally:
            playwright.stop()
