"""Where the browser is that pages are tested in. Run as a script it prints the path, or how to get one and fails."""

from __future__ import annotations

import os
import shutil
import sys

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MISSING = (
    "no Chromium to test pages in: install one (apt-get install chromium), or set LIESCOPE_CHROMIUM to the path of one"
)


def installed_browser() -> str | None:
    """The path that LIESCOPE_CHROMIUM names, else that of the first known browser; None where there is none."""
    return next(filter(None, map(shutil.which, (os.environ.get("LIESCOPE_CHROMIUM", ""), *BROWSERS))), None)


if __name__ == "__main__":
    sys.exit(print(installed_browser()) if installed_browser() else MISSING)
