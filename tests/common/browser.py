"""A real Chromium, driven by Playwright in a thread of its own, and what is wrong with the pages that it shows.

Playwright's synchronous API leaves an event loop running in the thread that started it, where `asyncio.run` then fails:
everything that a test says to the browser is therefore done in one thread, and the test keeps its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.common.find_browser import MISSING, installed_browser
from tests.common.svg_text import smallest_text

PATIENCE_MS = 240_000  # only what hangs is given up: a loaded machine is slow
_FIGURES = """() => {
const rect = (node) => node.getBoundingClientRect();
const words = (node) => [...node.childNodes].filter((n) => n.nodeType === 8).map((n) => n.data.trim()).join(" ");
return [...document.images].map((img) => {
  const box = document.createElement("div");
  box.style.width = `${img.clientWidth}px`;
  const drawing = decodeURIComponent(img.src.slice(img.src.indexOf(",") + 1));
  box.innerHTML = drawing;
  document.body.append(box);
  const svg = box.querySelector("svg");
  svg.style.width = "100%";
  svg.style.height = "auto";
  const all = rect(svg), texts = [...svg.querySelectorAll("[id^=text_]")].map((node) => [words(node), rect(node)]);
  const outside = texts.filter(([, r]) => r.left < all.left - 1 || r.right > all.right + 1 || r.top < all.top - 1 ||
    r.bottom > all.bottom + 1).map(([name]) => name);
  const overlapping = [];
  texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    if (across > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) overlapping.push([one, other]);
  }));
  const found = { alt: img.alt, width: img.clientWidth, outside, overlapping, svg: drawing };
  box.remove();
  return found;
});
}"""


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


def find_browser() -> str:
    """The path of a browser. Where there is none, skips the test, or fails it in CI."""
    browser = installed_browser()
    if browser is None:
        pytest.fail(MISSING) if os.environ.get("CI") == "true" else pytest.skip(MISSING)
    return browser


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


@dataclass(frozen=True, slots=True)
class Seen:
    """One page. width: of its content in CSS pixels; unreadable: what is wrong with the text of its figures."""

    width: int
    figures: int
    unreadable: tuple[str, ...]


def look(pages: Mapping[str, str], folder: Path, width: int = 390) -> dict[str, Seen]:
    """Every page in a window of this width. Skips the test where there is no browser."""
    seen = {}
    with chromium() as browser:
        page = browser.new_context(
            [], width, bypass_csp=True
        ).new_page()  # the figures are measured outside their image
        for name, text in pages.items():
            (folder / "page.html").write_text(text, encoding="utf-8")
            page.goto((folder / "page.html").as_uri())
            wide, wrong, figures = page.evaluate("document.documentElement.scrollWidth"), [], page.evaluate(_FIGURES)
            for figure in figures:
                size = smallest_text(figure["svg"], figure["width"])
                wrong += [f"{figure['alt']}: text of {size:.1f} px"] if size < 9 else []
                wrong += [f"{figure['alt']}: {words!r} lies outside" for words in figure["outside"]]
                wrong += [f"{figure['alt']}: {one!r} and {other!r} overlap" for one, other in figure["overlapping"]]
            seen[name] = Seen(wide, len(figures), tuple(wrong))
    return seen
