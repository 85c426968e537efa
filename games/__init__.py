"""Rules of social-deduction games: pure, synchronous, no I/O."""

from games.core import Ask, AskKind, Assessment, Event, EventKind, Game, Outcome, Phase, Reply
from games.judging import JudgeSpec, Judging
from games.lessons import Lesson, LessonKind
from games.mafia import MINI_MAFIA, Mafia, MafiaSpec, MiniMafia
from games.record import GameRecord, Seat, Source, Status, record
from games.session import Session, drive, fork, replay, resume, start
from games.table import TableSpec
from games.werewolf import DYADIC_TABLE, WEREWOLF_TABLE, DyadicWerewolf, Werewolf, WerewolfSpec

__all__ = [
    "DYADIC_TABLE",
    "MINI_MAFIA",
    "WEREWOLF_TABLE",
    "Ask",
    "AskKind",
    "Assessment",
    "DyadicWerewolf",
    "Event",
    "EventKind",
    "Game",
    "GameRecord",
    "JudgeSpec",
    "Judging",
    "Lesson",
    "LessonKind",
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
    "TableSpec",
    "Werewolf",
    "WerewolfSpec",
    "drive",
    "fork",
    "record",
    "replay",
    "resume",
    "start",
]
