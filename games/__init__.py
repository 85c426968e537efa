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
from liescope.games.game_registry import GAMES, find_game
from liescope.games.mafia.rules import MINI_MAFIA, Mafia, MafiaSpec, MiniMafia
from liescope.games.one_night.rules import OneNightSpec, OneNightWerewolf
from liescope.games.playable import PlayableGame
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.record import GameRecord, Seat, Source, Status, record
from liescope.games.session import Session, drive, fork, replay, resume, start
from liescope.games.werewolf.rules import DYADIC, TRIADIC, DyadicWerewolf, Werewolf, WerewolfSpec

__all__ = [
    "DYADIC",
    "GAMES",
    "MINI_MAFIA",
    "TRIADIC",
    "Ask",
    "AskKind",
    "Assessment",
    "BallotSpec",
    "DyadicWerewolf",
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
    "OneNightSpec",
    "OneNightWerewolf",
    "Outcome",
    "Phase",
    "PlayableGame",
    "RatedGame",
    "RatingSpec",
    "Reply",
    "Seat",
    "Session",
    "Source",
    "Status",
    "Werewolf",
    "WerewolfSpec",
    "drive",
    "find_game",
    "fork",
    "record",
    "replay",
    "resume",
    "start",
]
