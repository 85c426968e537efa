"""Rules of social-deduction games: pure, synchronous, no I/O."""

from liescope.games.core import (
    Ask,
    AskKind,
    Assessment,
    Event,
    EventKind,
    Game,
    Lesson,
    LessonKind,
    Outcome,
    Phase,
    Reply,
)
from liescope.games.game_options import BallotSpec, GameSpec
from liescope.games.game_registry import GAMES
from liescope.games.mafia.rules import MINI_MAFIA, Mafia, MafiaSpec, MiniMafia
from liescope.games.record import GameRecord, Seat, Source, Status, record
from liescope.games.session import drive, start
from liescope.games.werewolf.rules import Werewolf, WerewolfSpec

__all__ = [
    "GAMES",
    "MINI_MAFIA",
    "Ask",
    "AskKind",
    "Assessment",
    "BallotSpec",
    "Event",
    "EventKind",
    "Game",
    "GameRecord",
    "GameSpec",
    "Lesson",
    "LessonKind",
    "Mafia",
    "MafiaSpec",
    "MiniMafia",
    "Outcome",
    "Phase",
    "Reply",
    "Seat",
    "Source",
    "Status",
    "Werewolf",
    "WerewolfSpec",
    "drive",
    "record",
    "start",
]
