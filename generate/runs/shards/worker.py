"""The process of a worker: python -m liescope.generate.runs.shards.worker, with messages on its standard streams."""

from __future__ import annotations

import os
import signal
import sys
from typing import BinaryIO

from liescope.common.signals import heeded
from liescope.generate.runs.shards.local import SIZE
from liescope.generate.runs.shards.messages import pack, unpack
from liescope.generate.runs.shards.session import Session


def main() -> None:
    """Serve the run until the worker has told how it ended, or until the run is gone.

    Signals that ask a program to end are the run's to heed: who sends them to every process of a job, as Slurm does,
    would otherwise lose what is under way.
    """
    for number in heeded():
        signal.signal(number, signal.SIG_IGN)
    orders, news = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed must not come between the messages
    config = _read(orders)
    if config is None:
        return
    session = Session(unpack(config))
    while (message := _read(orders)) is not None:
        answer = session.exchange(unpack(message))
        data = pack(answer)
        try:
            news.write(len(data).to_bytes(SIZE) + data)
            news.flush()
        except BrokenPipeError:
            break
        if answer["end"] is not None:
            os._exit(1 if "died" in answer["end"] else 0)
    session.abandon()
    os._exit(0)  # threads that wait for nothing must not keep the process


def _read(stream: BinaryIO) -> bytes | None:
    """The next message; None once the run is gone."""
    size = stream.read(SIZE)
    data = stream.read(int.from_bytes(size)) if len(size) == SIZE else b""
    return data or None


if __name__ == "__main__":
    main()
