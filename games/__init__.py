"""Rules of social-deduction games: pure, synchronous, no I/O."""

from games.core import Ask, AskKind, Assessment, Event, EventKind, Game, Outcome, Phase, Reply
from games.mafia import MINI_MAFIA, Mafia, MafiaSpec, MiniMafia
from games.record import GameRecord, Seat, Source, Status, record
from games.session import Session, drive, fork, replay, resume, start

__all__ = [
    "MINI_MAFIA",
    "Ask",
    "AskKind",
    "Assessment",
    "Event",
    "EventKind",
    "Game",
    "GameRecord",
    "Mafia",
    "MafiaSpec",
    "MiniMafia",
    "Outcome",
    "Phase",
    "Reply",
    "Seat",
    "Session",
    "Source",
    "Status",
    "drive",
    "fork",
    "record",
    "replay",
    "resume",
    "start",
]
