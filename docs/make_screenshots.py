"""The pictures of pages in the README: a game in the viewer, a seat at a table.

Run: python docs/make_screenshots.py

Needs the development extras and a Chromium (`apt-get install chromium`). Scripts play the games on the spot. Writes
docs/images/view.png and seat.png.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import liescope

OUT = Path(__file__).parent / "images"
WIDE, NARROW = {"width": 1040, "height": 860}, {"width": 390, "height": 860}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch)
        run = folder / "first"
        liescope.play("mini-mafia", players=["scripted:bold"], games=4, seed=7, assess=True, out=run)
        browser = playwright.chromium.launch(executable_path=sys.argv[1] if sys.argv[1:] else "/usr/bin/chromium")
        view(browser, run)
        seat(browser, folder / "people")
        browser.close()


def view(browser: Browser, run: Path) -> None:
    written = liescope.view(run, out=run.with_suffix(".html"))
    page = opened(browser, written.path.as_uri(), WIDE)
    page.locator("table a").first.click()
    page.get_by_role("heading", name="night").evaluate("heading => heading.scrollIntoView()")
    page.screenshot(path=OUT / "view.png")


def seat(browser: Browser, out: Path) -> None:
    with served("serve", "--out", str(out), "--game", "mini-mafia", "--people", "1") as lines:
        link = next(address(line) for line in lines if line.startswith("seat:"))
        page = opened(browser, link, NARROW)
        page.fill("[name=pseudonym]", "quiet otter")
        page.check("[name=agree]")
        page.locator("form button").first.click()
        page.locator("#ask form").wait_for(timeout=60_000)
        page.fill("#text", "I was asleep all night. Who speaks so early has something to hide.")
        page.get_by_role("button", name="Say it").click()
        page.locator("#ask form").wait_for(timeout=60_000)
        page.screenshot(path=OUT / "seat.png")


@contextmanager
def served(*words: str) -> Iterator[Iterator[str]]:
    """The lines that a command prints, which runs for the block."""
    command = [sys.executable, "-m", "liescope", *words, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield iter(process.stdout)
        finally:
            process.terminate()


def opened(browser: Browser, address: str, size: dict[str, int]) -> Page:
    page = browser.new_context(viewport=size, device_scale_factor=1).new_page()
    page.goto(address)
    return page


def address(line: str) -> str:
    return next(word for word in line.split() if word.startswith("http"))


if __name__ == "__main__":
    main()
