"""The tables of games, with their seats, and of events: together they hold everything that a record does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from liescope.data_cards.tables.declare import GAME_ID, Column


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One player of a game."""

    name: Annotated[str, Column("the player's name in the game")]
    role: Annotated[str, Column("the hidden role, empty where it is not known")]
    team: Annotated[str, Column("the team of the role, empty where it is not known")]
    deceives: Annotated[bool | None, Column("the role aims to deceive the others", "where that is not known")]
    model: Annotated[str, Column("the model or script that plays the seat")]
    source: Annotated[str, Column("where the seat's words come from: scripted, model, human or imported")]
    won: Annotated[bool | None, Column("the player won", "in failed games, and where it is not known")]
    fate: Annotated[str, Column("alive, killed (at night) or exiled (arrested or exiled by vote)")]
    day_out: Annotated[int | None, Column("the day on which the player left the game", "for those alive at its end")]


@dataclass(frozen=True, slots=True)
class GameRow:
    """One game, finished or failed."""

    game_id: Annotated[str, GAME_ID]
    run: Annotated[str, Column("the run that the game comes from")]
    origin: Annotated[str, Column("where the game comes from: liescope, or the format that it was imported from")]
    game: Annotated[str, Column("the name of the game's rules")]
    cell: Annotated[str, Column("the cell of the tournament's design, empty if there is none")]
    model: Annotated[
        str,
        Column(
            "who plays the game, in one name: the one model in every seat, or the model of each role, roles in "
            'alphabetical order, as in "A | B | A"; several models of one role are joined by +'
        ),
    ]
    condition: Annotated[
        str,
        Column(
            "how the game's settings differ from the defaults of its rules, as in "
            '"message_limit=500 rounds=8"; except players, learning and the text of prompts; empty for the defaults'
        ),
    ]
    settings: Annotated[
        str, Column("all settings that can change what players do, as a JSON object of strings; {} if not known")
    ]
    prompt_version: Annotated[
        str | None,
        Column("the prompts that the players read: a hash, or the publisher's name", "where it is not known"),
    ]
    learning: Annotated[bool, Column("the learning role's model learns across the games of its cell")]
    turn: Annotated[int | None, Column("the game's number within its cell, from 0", "where it is not known")]
    seating: Annotated[
        str | None, Column("how roles were dealt to names: balanced, shuffled or fixed", "where it is not known")
    ]
    siblings: Annotated[
        str | None,
        Column(
            "the recorded game that this one goes on from or plays again; it shares its beginning with that game, and "
            "so do all games with the same value",
            "for games of their own",
        ),
    ]
    fork_step: Annotated[
        int | None,
        Column("the step of the recorded game at which this one goes on from it", "for all other games"),
    ]
    fork_group: Annotated[
        str | None,
        Column("who took over or what was said at that step, in words", "for all other games"),
    ]
    fork_seat: Annotated[str | None, Column("the player who was played anew from that step on", "for all other games")]
    fork_event: Annotated[
        int | None,
        Column(
            "the index of the first event of its own; what was said at that step has it at the end of its statement_id",
            "for all other games",
        ),
    ]
    seed: Annotated[int | None, Column("the seed of the game's random numbers", "for imported games")]
    source: Annotated[str, Column("the sources of the seats, joined by + where they differ")]
    status: Annotated[str, Column("done or failed")]
    failure: Annotated[str, Column("why the game failed, else empty")]
    winner: Annotated[str | None, Column("the winning team", "for failed games, and where it is not known")]
    reason: Annotated[str | None, Column("the rule that ended the game", "for failed games")]
    days: Annotated[int, Column("days played")]
    seats: Annotated[tuple[SeatRow, ...], Column("the players, with their roles, models and how they ended")]
    judge: Annotated[
        str | None,
        Column("who gave the self-reports and ratings after the game", "where the players did, or nobody"),
    ]
    killed: Annotated[tuple[str, ...], Column("who was found dead, in order")]
    voted_out: Annotated[tuple[str, ...], Column("who was arrested or exiled, in order")]
    last_speaker: Annotated[str | None, Column("who had the last turn to speak, used or not", "where nobody had one")]
    statements: Annotated[int, Column("statements made")]
    silences: Annotated[int, Column("turns to speak that passed in silence, deliberate or not")]
    fallbacks: Annotated[int, Column("decisions made by the rules because a reply was unusable")]
    winners: Annotated[tuple[str, ...], Column("the players who won, by name; empty where that is not known")]
    meta: Annotated[str, Column("what else is known of the game, as a JSON object; {} if nothing is")]


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event of a game. The rows of a game, with its row in `games`, are its whole record."""

    game_id: Annotated[str, GAME_ID]
    index: Annotated[int, Column("the place of the event in its game, from 0; a statement_id ends with it")]
    kind: Annotated[str, Column("what happened: setup, role, statement, silence, vote, death and so on")]
    day: Annotated[int, Column("the day of the game, from 1; 0 before the first")]
    phase: Annotated[str, Column("setup, night, discussion, voting, defence, revote or end")]
    round: Annotated[int, Column("the round of discussion or turn, from 1; 0 where the rules count none")]
    actor: Annotated[str | None, Column("who did it", "where nobody at the table did")]
    target: Annotated[str | None, Column("to whom it was done, for whom a vote is", "where it is about no player")]
    text: Annotated[str, Column("the words of a statement, lesson or act; else empty")]
    about: Annotated[int | None, Column("the index of the event that it judges", "for all that judge none")]
    audience: Annotated[
        tuple[str, ...] | None,
        Column("the players who saw it, by name; nobody if it is empty", "where everybody saw it"),
    ]
    drawn: Annotated[bool, Column("the rules drew it, and asked nobody")]
    fallback: Annotated[str, Column("why the rules decided in place of the player, else empty")]
    reasoning: Annotated[str | None, Column("what a model thought before it acted", "where it did not say")]
    payload: Annotated[
        str,
        Column("further facts of this kind of event, with what the actor kept to itself, as a JSON object; {} if none"),
    ]
