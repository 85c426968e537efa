"""Who is where: the rooms of the players at any moment of a QUACK game, which decide who sees and hears what."""

from __future__ import annotations

from collections.abc import Mapping


class Rooms:
    """Where the living players are. Between rooms, a player sees and hears nobody, and nobody sees it."""

    def __init__(self) -> None:
        self._room: dict[str, str] = {}
        self._way: dict[str, tuple[str, int]] = {}
        self._gone: set[str] = set()

    def place(self, rooms: Mapping[str, str]) -> None:
        """Put players into rooms."""
        self._room.update(rooms)

    def tick(self, now: int) -> None:
        """Let those arrive whose way ends at this tick."""
        for player, (room, arrival) in list(self._way.items()):
            if now >= arrival:
                self._room[player] = room
                del self._way[player]

    def move(self, player: str, room: str, arrival: int | None) -> None:
        """Start for a room; arrival: the tick of the arrival, None for at once."""
        if arrival is None:
            self._room[player] = room
        else:
            self._way[player] = (room, arrival)

    def meet(self) -> None:
        """A meeting ends every walk where it began."""
        self._way.clear()

    def leave(self, player: str) -> None:
        """A player is out of the game. QUACK lets one who was killed act once more in the same tick."""
        self._gone.add(player)

    def there(self, *rooms: str) -> set[str]:
        """Who is in one of these rooms."""
        away = self._way.keys() | self._gone
        return {player for player, room in self._room.items() if room in rooms and player not in away}
