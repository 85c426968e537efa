"""The `liescope` command, also as `python -m liescope`. Ctrl-C while it is loading ends it without a traceback.
A traceback of anything unforeseen holds no key.
"""

import sys


def main() -> int:
    """Run the command line; returns the exit code."""
    try:
        from liescope.cli import main as run

        return run()
    except KeyboardInterrupt:
        return 130
    except Exception:  # noqa: BLE001 - unforeseen, and told in full
        from traceback import format_exc

        from liescope.common.key_finder import hide_secrets

        sys.stderr.write(hide_secrets(format_exc()))
        return 1


if __name__ == "__main__":
    sys.exit(main())
