"""One boundary around libraries that read untrusted files, which may raise any exception."""

from __future__ import annotations

from types import TracebackType

from liescope.common.errors import BadData, LiescopeError

_LONGEST = 200


class Reading:
    """A block in which any exception of a library becomes one line of BadData; Liescope's own errors pass through.

    what: what is being read, as named in the message; advice: what to do next.
    """

    def __init__(self, what: object, advice: str) -> None:
        self._what, self._advice = what, advice

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: TracebackType | None) -> None:
        if isinstance(error, Exception) and not isinstance(error, LiescopeError):
            why = (str(error).strip() or type(error).__name__).splitlines()[0][:_LONGEST]
            raise BadData(f"{self._what} cannot be read ({why}); {self._advice}") from error
