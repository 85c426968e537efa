"""The tables of games, with their seats, and of events, which together hold a whole record; and of what was done:
votes, night acts, bids for the floor, lessons, requests to players.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from liescope.data_cards.tables.declare import DAY, GAME_ID, GAME_NAME, Meaning

_NOT_REPORTED = "where the endpoint reports none"


@dataclass(frozen=True, slots=True)
class VoteRow:
    """One vote."""

    game_id: Annotated[str, GAME_ID]
    day: Annotated[int, DAY]
    ballot: Annotated[int, Meaning("1 for the first or only vote of the day, 2 for the revote")]
    voter: Annotated[str, Meaning("the voter's name in the game")]
    voter_role: Annotated[str, Meaning("the voter's hidden role")]
    voter_model: Annotated[str, Meaning("the model or script that plays the voter")]
    voter_source: Annotated[str, Meaning("where the voter's choices come from: scripted, model, human or imported")]
    target: Annotated[str, Meaning("who was voted for")]
    target_role: Annotated[str, Meaning("the target's hidden role")]
    fallback: Annotated[str, Meaning("why the rules drew this vote at random, empty if the player chose it")]
    suspicion_rank: Annotated[
        float | None,
        Meaning(
            "the target's rank among the other living players in the voter's own running suspicion when the vote "
            "opened: 1 for the most suspected, ties averaged",
            "where the voter had rated none of them",
        ),
    ]


@dataclass(frozen=True, slots=True)
class NightActRow:
    """One act of a night."""

    game_id: Annotated[str, GAME_ID]
    day: Annotated[int, Meaning("the day that follows the night, from 1")]
    act: Annotated[str, Meaning("proposal (of a victim, among werewolves), kill, protection or investigation")]
    round: Annotated[int, Meaning("the round of proposals; 0 for other acts")]
    actor: Annotated[str | None, Meaning("who acted", "where no single player did")]
    actor_role: Annotated[str | None, Meaning("the actor's hidden role", "where no single player acted")]
    target: Annotated[str | None, Meaning("the target of the act", "where it names nobody")]
    target_role: Annotated[str | None, Meaning("the target's hidden role", "where it names nobody")]
    died: Annotated[bool | None, Meaning("the target of a kill was found dead", "for other acts")]
    fallback: Annotated[str, Meaning("why the rules chose for the actor, empty if the actor chose")]


@dataclass(frozen=True, slots=True)
class BidRow:
    """One bid for the floor."""

    game_id: Annotated[str, GAME_ID]
    day: Annotated[int, DAY]
    phase: Annotated[str, Meaning("discussion or defence")]
    turn: Annotated[int, Meaning("the turn that was bid for, from 1 in each phase of a day")]
    bidder: Annotated[str, Meaning("who bids")]
    role: Annotated[str, Meaning("the bidder's hidden role")]
    bid: Annotated[int, Meaning("the bid, 0 to 10")]
    floor: Annotated[bool, Meaning("the bidder got the floor")]
    fallback: Annotated[str, Meaning("why the rules set this bid to 0, empty if the player bid")]


@dataclass(frozen=True, slots=True)
class CallRow:
    """One request to a player, retries included."""

    game_id: Annotated[str, GAME_ID]
    step: Annotated[int, Meaning("the step of the {unit}, from 0")]
    seat: Annotated[str, Meaning("who was asked")]
    attempt: Annotated[int, Meaning("1 for the first request, 2 for the first retry")]
    kind: Annotated[str | None, Meaning("what was asked for", "where the request led to no reply")]
    model: Annotated[str | None, Meaning("the model or script that was asked", "where the request led to no reply")]
    problem: Annotated[str, Meaning("why the request gave no usable reply, else empty")]
    notes: Annotated[tuple[str, ...], Meaning("leniencies needed to read the reply")]
    raw: Annotated[str, Meaning("the raw response")]
    prompt_tokens: Annotated[int | None, Meaning("tokens of the prompt", _NOT_REPORTED)]
    cached_tokens: Annotated[int | None, Meaning("tokens of the prompt that were cached", _NOT_REPORTED)]
    completion_tokens: Annotated[int | None, Meaning("tokens of the response", _NOT_REPORTED)]
    cost: Annotated[float | None, Meaning("cost at the given prices", "without prices")]
    latency_ms: Annotated[float | None, Meaning("milliseconds until the response", "for players not behind a network")]
    response_id: Annotated[str | None, Meaning("the endpoint's own id of the response", _NOT_REPORTED)]
    served_model: Annotated[str | None, Meaning("the model that the endpoint says it served", _NOT_REPORTED)]
    via: Annotated[
        str | None,
        Meaning(
            "how the response came: cache, where it was kept from an earlier request and cost nothing now, or batch",
            "for a request of its own",
        ),
    ]
    reasoning: Annotated[
        str | None,
        Meaning(
            "what the model thought before it answered, as far as its endpoint shows that",
            "without such reasoning, and where the request led to no reply",
        ),
    ]


_KIND = Meaning("the list that the lesson is on: to_do, to_avoid or winning_tactic")


@dataclass(frozen=True, slots=True)
class LessonRow:
    """One lesson that a learning player wrote after a game, whether kept or not."""

    game_id: Annotated[str, GAME_ID]
    cell: Annotated[str, Meaning("the cell whose later games the lesson is for, empty if there is none")]
    author_model: Annotated[
        str | None, Meaning("the model that wrote the lesson", "where several models hold the learning role")
    ]
    turn: Annotated[int | None, Meaning("the number of its game within the cell, from 0", "where it is not known")]
    kind: Annotated[str, _KIND]
    text: Annotated[str, Meaning("the lesson")]
    kept: Annotated[bool, Meaning("it was added to the lesson book; the others nearly repeat one in the book")]
    nearest: Annotated[
        float | None, Meaning("its highest cosine similarity to a lesson in the book", "for the first lesson")
    ]
    categories: Annotated[tuple[str, ...], Meaning("its strategies, by rules on its words; can be empty")]
    order: Annotated[int, Meaning("its theory-of-mind order by rules on its words: 1, 2 or 3")]


@dataclass(frozen=True, slots=True)
class LessonTagRow:
    """A judge's tags of one lesson."""

    game_id: Annotated[str, GAME_ID]
    kind: Annotated[str, _KIND]
    text: Annotated[str, Meaning("the lesson")]
    judge: Annotated[str, Meaning("the judge")]
    categories: Annotated[tuple[str, ...], Meaning("the strategies that the judge sees in it; can be empty")]
    order: Annotated[
        int | None, Meaning("the theory-of-mind order that the judge gives it: 1, 2 or 3", "where it gave none")
    ]


@dataclass(frozen=True, slots=True)
class RoleGuessRow:
    """The role that a judge named for one player, from the seat of another."""

    game_id: Annotated[str, GAME_ID]
    judge: Annotated[str, Meaning("the judge")]
    observer: Annotated[str, Meaning("the player whose seat the judge looked from")]
    observer_role: Annotated[str, Meaning("the observer's hidden role")]
    target: Annotated[str, Meaning("the player whose role was named")]
    target_role: Annotated[str, Meaning("the target's hidden role")]
    guess: Annotated[str | None, Meaning("the role that the judge named", "where it named none")]


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One player of a game."""

    name: Annotated[str, Meaning("the name in the {unit}")]
    role: Annotated[
        str,
        Meaning("the hidden role (in a conversation: system, user, assistant or tool), empty where it is not known"),
    ]
    team: Annotated[str, Meaning("the team of the role, empty where it is not known", elsewhere=None)]
    deceives: Annotated[
        bool | None, Meaning("the role aims to deceive the others", "where that is not known", elsewhere=None)
    ]
    model: Annotated[
        str, Meaning("the model or script that plays, speaks or judges, unknown where the source names none")
    ]
    source: Annotated[str, Meaning("where the words come from: scripted, model, human or imported")]
    won: Annotated[bool | None, Meaning("the player won", "in failed games, and where it is not known", elsewhere=None)]
    fate: Annotated[str, Meaning("alive, killed (at night) or exiled (arrested or exiled by vote)", elsewhere=None)]
    day_out: Annotated[
        int | None, Meaning("the day on which the player left the game", "for those alive at its end", elsewhere=None)
    ]


@dataclass(frozen=True, slots=True)
class GameRow:
    """One game, finished or failed."""

    game_id: Annotated[str, GAME_ID]
    run: Annotated[str, Meaning("the run that the {unit} comes from")]
    origin: Annotated[str, Meaning("where the {unit} comes from: liescope, or the format that it was imported from")]
    game: Annotated[str, GAME_NAME]
    cell: Annotated[
        str, Meaning("the cell of the tournament's design, or the task of the source; empty if there is none")
    ]
    model: Annotated[
        str,
        Meaning(
            "who plays or speaks, in one name: the one model, or the model of each role, roles in alphabetical order, "
            'as in "A | B | A"; several models of one role are joined by +'
        ),
    ]
    condition: Annotated[
        str,
        Meaning(
            "how the game's settings differ from the defaults of its rules, as in "
            '"message_limit=500 rounds=8"; except players, learning and the text of prompts; empty for the defaults',
            elsewhere=None,
        ),
    ]
    settings: Annotated[
        str,
        Meaning(
            "all settings of the {unit} that can change what is said or done, or how it was imported, as a JSON object "
            "of strings; {} if not known"
        ),
    ]
    prompt_version: Annotated[
        str | None,
        Meaning(
            "the prompts that the players read: a hash, or the publisher's name",
            "where it is not known",
            elsewhere=None,
        ),
    ]
    learning: Annotated[bool, Meaning("the learning role's model learns across the games of its cell", elsewhere=None)]
    turn: Annotated[
        int | None, Meaning("the game's number within its cell, from 0", "where it is not known", elsewhere=None)
    ]
    seating: Annotated[
        str | None,
        Meaning("how roles were dealt to names: balanced, shuffled or fixed", "where it is not known", elsewhere=None),
    ]
    siblings: Annotated[
        str | None,
        Meaning(
            "the recorded game that this one goes on from or plays again; it shares its beginning with that game, and "
            "so do all games with the same value",
            "where there is none",
            elsewhere="the group that the source names, or else what stands for the words of the {unit}: the same for "
            "copies; nothing with the same value is parted by a split",
        ),
    ]
    fork_step: Annotated[
        int | None,
        Meaning(
            "the step of the recorded game at which this one goes on from it", "for all other games", elsewhere=None
        ),
    ]
    fork_group: Annotated[
        str | None,
        Meaning("who took over or what was said at that step, in words", "for all other games", elsewhere=None),
    ]
    fork_seat: Annotated[
        str | None, Meaning("the player who was played anew from that step on", "for all other games", elsewhere=None)
    ]
    fork_event: Annotated[
        int | None,
        Meaning(
            "the index of the first event of its own; what was said at that step has it at the end of its statement_id",
            "for all other games",
            elsewhere=None,
        ),
    ]
    seed: Annotated[int | None, Meaning("the seed of the game's random numbers", "for imported games", elsewhere=None)]
    source: Annotated[str, Meaning("the sources of all who speak, joined by + where they differ")]
    status: Annotated[str, Meaning("done or failed", elsewhere=None)]
    failure: Annotated[str, Meaning("why the game failed, else empty", elsewhere=None)]
    winner: Annotated[
        str | None, Meaning("the winning team", "for failed games, and where it is not known", elsewhere=None)
    ]
    reason: Annotated[str | None, Meaning("the rule that ended the game", "for failed games", elsewhere=None)]
    days: Annotated[int, Meaning("days played", elsewhere=None)]
    seats: Annotated[tuple[SeatRow, ...], Meaning("everybody in the {unit}, with roles, models and how they ended")]
    judge: Annotated[
        str | None,
        Meaning(
            "who gave the self-reports and ratings afterwards", "where they came with the {unit}, or there are none"
        ),
    ]
    killed: Annotated[tuple[str, ...], Meaning("who was found dead, in order", elsewhere=None)]
    voted_out: Annotated[tuple[str, ...], Meaning("who was arrested or exiled, in order", elsewhere=None)]
    last_speaker: Annotated[str | None, Meaning("who had the last turn to speak, used or not", "where nobody had one")]
    statements: Annotated[int, Meaning("statements made")]
    silences: Annotated[int, Meaning("turns to speak that passed in silence, deliberate or not", elsewhere=None)]
    fallbacks: Annotated[int, Meaning("decisions made by the rules because a reply was unusable", elsewhere=None)]
    winners: Annotated[
        tuple[str, ...], Meaning("the players who won, by name; empty where that is not known", elsewhere=None)
    ]
    meta: Annotated[str, Meaning("what else is known of the {unit}, as a JSON object; {} if nothing is")]


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event of a game. Together with the game's row in `games`, its events are the whole record."""

    game_id: Annotated[str, GAME_ID]
    index: Annotated[int, Meaning("the place of the event in its {unit}, from 0; a statement_id ends with it")]
    kind: Annotated[str, Meaning("what happened: setup, role, statement, silence, rating, vote, death and so on")]
    day: Annotated[int, Meaning("the day of the game, from 1; 0 before the first", elsewhere=None)]
    phase: Annotated[str, Meaning("setup, night, discussion, voting, defence, revote or end", elsewhere=None)]
    round: Annotated[
        int, Meaning("the round of discussion or turn, from 1; 0 where the rules count none", elsewhere=None)
    ]
    actor: Annotated[str | None, Meaning("who did it", "where nobody did")]
    target: Annotated[
        str | None,
        Meaning("to whom it was done, for whom a vote is, whose statement was rated", "where it is about nobody"),
    ]
    text: Annotated[str, Meaning("the words of a statement, lesson or act; else empty")]
    about: Annotated[int | None, Meaning("the index of the event that it judges", "for all that judge none")]
    audience: Annotated[
        tuple[str, ...] | None, Meaning("who saw it, by name; nobody if it is empty", "where everybody saw it")
    ]
    drawn: Annotated[bool, Meaning("the rules drew it, and asked nobody", elsewhere=None)]
    fallback: Annotated[str, Meaning("why the rules decided in place of the player, else empty", elsewhere=None)]
    reasoning: Annotated[str | None, Meaning("what the actor thought before it acted", "where that is not shown")]
    payload: Annotated[
        str,
        Meaning(
            "further facts of this kind of event, such as a judge's score or what the actor kept to itself, as a JSON "
            "object; {} if none"
        ),
    ]
