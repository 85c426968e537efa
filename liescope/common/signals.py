"""Signals that ask a program to end: Ctrl-C, SIGTERM (kill, docker stop, Slurm) and SIGHUP (a closed terminal)."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import TextIO


def heeded() -> tuple[signal.Signals, ...]:
    """Those that this process does not ignore: under nohup it ignores SIGHUP."""
    asking = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return tuple(each for each in asking if signal.getsignal(each) is not signal.SIG_IGN)


def end_by(number: int) -> BaseException:
    """What a program raises that a signal has ended, once it has tidied up. Its exit code is 128 and the number."""
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)


def let_go_of_terminal() -> None:
    """After SIGHUP: what is still said to a terminal that is gone goes nowhere, and raises no error."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        try:
            os.ttyname(number)
        except OSError as error:
            if error.errno == errno.EIO:
                os.dup2(nowhere, number)
    os.close(nowhere)


def standard_input(what: str) -> TextIO:
    """Standard input; a person at a terminal is told that it is read. what: to type."""
    if sys.stdin.isatty():
        sys.stderr.write(f"reading {what} from standard input; Ctrl-D ends it\n")
        sys.stderr.flush()
    return sys.stdin


def let_interrupts_end_reads() -> None:
    """Ctrl-C ends a wait for input also after polars has worked, whose handler of SIGINT lets reads go on."""
    signal.siginterrupt(signal.SIGINT, True)
