"""The games of a run and the calls of a game, as lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.text import Text

from liescope.common.text import plain
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan import TABLE

_BEGUN = "begun"


@dataclass(frozen=True, slots=True)
class ListedGame:
    """One game. status: done, failed or begun (under way, or unfinished when the run stopped); players: its cell, in
    words.
    """

    game_id: str
    status: str
    cell: str = ""
    winner: str | None = None
    failure: str = ""
    replies: int | None = None
    players: str = ""

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "game_id": self.game_id,
            "cell": self.cell,
            "winner": self.winner,
            "status": self.status,
        }
        return row | ({} if self.replies is None else {"replies": self.replies})


@dataclass(frozen=True, slots=True)
class GameList:
    """The games of a run that have ended, in the run's order, followed by those that have begun. ahead: the number of
    games in its plan that have not begun; 0 for a run without a plan, such as imported or judged games.
    """

    path: Path
    name: str
    games: tuple[ListedGame, ...]
    ahead: int = 0

    def __repr__(self) -> str:
        return f"<GameList {self.name}: {len(self.games)} games>"

    def to_json(self) -> dict[str, Any]:
        return {"run": self.name, "games": [game.to_json() for game in self.games]}

    def lines(self) -> Iterator[Text]:
        """The list as text: a line for each game, then the total."""
        wide = max([len(plain(game.game_id)) for game in self.games] + [4])
        yield Text(f"{'game':{wide}}  {'status':6}  {'won by':10}  players, role by role", "bold")
        for game in self.games:
            what = game.players
            if game.replies is not None:
                what = f"{game.replies} replies so far"
            elif game.failure:
                what = f"{game.failure}; {what}"
            row = f"{game.game_id:{wide}}  {game.status:6}  {game.winner or '–':10}  {what}"
            yield Text(plain(row))
        statuses = sorted(game.status for game in self.games)
        counts = ", ".join(f"{len(list(same))} {status}" for status, same in groupby(statuses))
        if self.ahead:
            counts = f"{counts or 'no game has begun yet'}, {self.ahead} still to play"
        yield Text(f"{counts or 'no game has begun yet'}; one game in full:")
        yield Text(plain(f"liescope show {self.path} GAME_ID"), no_wrap=True)


def list_games(journal: Journal) -> GameList:
    """Every game of a run that has begun or ended. Raises BadData for a damaged journal."""
    ended = [
        ListedGame(
            game.game_id,
            game.status.value,
            game.cell,
            None if game.outcome is None else game.outcome.winner,
            " ".join(game.failure.split()),
            players=_players(game),
        )
        for game in journal.records()
    ]
    begun = [ListedGame(game_id, _BEGUN, replies=count) for game_id, count in sorted(journal.begun_replies().items())]
    games = (*ended, *begun)
    return GameList(journal.path, journal.name, games, max(0, journal.planned() - len(games)))


def _players(game: GameRecord) -> str:
    """The players of a game, those of one role after those of another; with the roles, where each seat was held."""
    names = game.cell.split(" | ")
    if game.cell == TABLE:
        names = sorted(f"{seat.role}: {seat.model}" for seat in game.seats)
    runs = [(len(list(same)), name) for name, same in groupby(names)]
    return " | ".join(f"{count} × {name}" if count > 1 else name for count, name in runs)


@dataclass(frozen=True, slots=True)
class CallList:
    """The calls of a game in the order of play, with the columns of the corpus's calls."""

    game_id: str
    calls: tuple[dict[str, Any], ...]

    def __repr__(self) -> str:
        return f"<CallList {self.game_id}: {len(self.calls)} calls>"

    def to_json(self) -> dict[str, Any]:
        return {"game_id": self.game_id, "calls": list(self.calls)}

    def lines(self) -> Iterator[Text]:
        """A line for each request: its place in the game, its kind, and whether it could be used."""
        yield Text(f"{'step':>4}  {'seat':12}  {'try':>3}  {'kind':15}  {'tokens':>11}  problem", "bold")
        for call in self.calls:
            tokens = "–" if call["prompt_tokens"] is None else f"{call['prompt_tokens']}+{call['completion_tokens']}"
            problem = " ".join(call["problem"].split())
            if call["via"] is not None:
                problem = "; ".join(filter(None, (f"from the {call['via']}", problem)))
            where = f"{call['step']:>4}  {call['seat']:12}  {call['attempt']:>3}  {call['kind'] or '–':15}"
            yield Text(plain(f"{where}  {tokens:>11}  {problem}"))
        yield Text(f"{len(self.calls)} calls; the prompt of one: --prompt STEP SEAT")


def list_calls(journal: Journal, game_id: str) -> CallList:
    """The calls of one game. Raises BadData for a damaged journal."""
    return CallList(game_id, tuple(journal.calls(game_id)))
