"""A process that labels blocks: python -m liescope.generate.corpus.labeller, lines of JSON on standard input."""

from __future__ import annotations

import json
import os
import sys

from liescope.generate.corpus.blocks import Block, LabelTask, answer


def main() -> None:
    """Read what is asked for all games, then answer each block."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed must not come between the answers
    asked = LabelTask.from_json(json.loads(sys.stdin.buffer.readline() or b"[[], [], false]"))
    for line in sys.stdin.buffer:
        for part in answer(Block(*json.loads(line)), asked):
            out.write(part)
        out.flush()


if __name__ == "__main__":
    main()
