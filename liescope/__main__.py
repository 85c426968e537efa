"""The `liescope` command, also as `python -m liescope`. Ctrl-C while it is loading ends it without a traceback."""

import sys


def main() -> int:
    """Run the command line; returns the exit code."""
    try:
        from liescope.cli import main as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
