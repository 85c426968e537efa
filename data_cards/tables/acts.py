"""The tables about what was done: votes, night acts, bids for the floor, requests to players."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from liescope.data_cards.tables.declare import DAY, GAME_ID, Column

_NOT_REPORTED = "where the endpoint reports none"


@dataclass(frozen=True, slots=True)
class VoteRow:
    """One vote."""

    game_id: Annotated[str, GAME_ID]
    day: Annotated[int, DAY]
    ballot: Annotated[int, Column("1 for the first or only vote of the day, 2 for the revote")]
    voter: Annotated[str, Column("the voter's name in the game")]
    voter_role: Annotated[str, Column("the voter's hidden role")]
    voter_model: Annotated[str, Column("the model or script that plays the voter")]
    voter_source: Annotated[str, Column("where the voter's choices come from: scripted, model, human or imported")]
    target: Annotated[str, Column("who was voted for")]
    target_role: Annotated[str, Column("the target's hidden role")]
    fallback: Annotated[str, Column("why the rules drew this vote at random, empty if the player chose it")]
    suspicion_rank: Annotated[
        float | None,
        Column(
            "the target's rank among the other living players in the voter's own running suspicion when the vote "
            "opened: 1 for the most suspected, ties averaged",
            "where the voter had rated none of them",
        ),
    ]


@dataclass(frozen=True, slots=True)
class NightActRow:
    """One act of a night."""

    game_id: Annotated[str, GAME_ID]
    day: Annotated[int, Column("the day that follows the night, from 1")]
    act: Annotated[str, Column("proposal (of a victim, among werewolves), kill, protection or investigation")]
    round: Annotated[int, Column("the round of proposals; 0 for other acts")]
    actor: Annotated[str | None, Column("who acted", "where no single player did")]
    actor_role: Annotated[str | None, Column("the actor's hidden role", "where no single player acted")]
    target: Annotated[str | None, Column("the target of the act", "where it names nobody")]
    target_role: Annotated[str | None, Column("the target's hidden role", "where it names nobody")]
    died: Annotated[bool | None, Column("the target of a kill was found dead", "for other acts")]
    fallback: Annotated[str, Column("why the rules chose for the actor, empty if the actor chose")]


@dataclass(frozen=True, slots=True)
class BidRow:
    """One bid for the floor."""

    game_id: Annotated[str, GAME_ID]
    day: Annotated[int, DAY]
    phase: Annotated[str, Column("discussion or defence")]
    turn: Annotated[int, Column("the turn that was bid for, from 1 in each phase of a day")]
    bidder: Annotated[str, Column("who bids")]
    role: Annotated[str, Column("the bidder's hidden role")]
    bid: Annotated[int, Column("the bid, 0 to 10")]
    floor: Annotated[bool, Column("the bidder got the floor")]
    fallback: Annotated[str, Column("why the rules set this bid to 0, empty if the player bid")]


@dataclass(frozen=True, slots=True)
class CallRow:
    """One request to a player, retries included."""

    game_id: Annotated[str, GAME_ID]
    step: Annotated[int, Column("the step of the game, from 0")]
    seat: Annotated[str, Column("who was asked")]
    attempt: Annotated[int, Column("1 for the first request, 2 for the first retry")]
    kind: Annotated[str | None, Column("what was asked for", "where the request led to no reply")]
    model: Annotated[str | None, Column("the model or script that was asked", "where the request led to no reply")]
    problem: Annotated[str, Column("why the request gave no usable reply, else empty")]
    notes: Annotated[tuple[str, ...], Column("leniencies needed to read the reply")]
    raw: Annotated[str, Column("the raw response")]
    prompt_tokens: Annotated[int | None, Column("tokens of the prompt", _NOT_REPORTED)]
    cached_tokens: Annotated[int | None, Column("tokens of the prompt that were cached", _NOT_REPORTED)]
    completion_tokens: Annotated[int | None, Column("tokens of the response", _NOT_REPORTED)]
    cost: Annotated[float | None, Column("cost at the given prices", "without prices")]
    latency_ms: Annotated[float | None, Column("milliseconds until the response", "for players not behind a network")]
    response_id: Annotated[str | None, Column("the endpoint's own id of the response", _NOT_REPORTED)]
    served_model: Annotated[str | None, Column("the model that the endpoint says it served", _NOT_REPORTED)]
    via: Annotated[
        str | None,
        Column(
            "how the response came: cache, where it was kept from an earlier request and cost nothing now, or batch",
            "for a request of its own",
        ),
    ]
    reasoning: Annotated[
        str | None,
        Column(
            "what the model thought before it answered, as far as its endpoint shows that",
            "without such reasoning, and where the request led to no reply",
        ),
    ]


_KIND = Column("the list that the lesson is on: to_do, to_avoid or winning_tactic")


@dataclass(frozen=True, slots=True)
class LessonRow:
    """One lesson that a learning player wrote after a game, whether kept or not."""

    game_id: Annotated[str, GAME_ID]
    cell: Annotated[str, Column("the cell whose later games the lesson is for, empty if there is none")]
    author_model: Annotated[
        str | None, Column("the model that wrote the lesson", "where several models hold the learning role")
    ]
    turn: Annotated[int | None, Column("the number of its game within the cell, from 0", "where it is not known")]
    kind: Annotated[str, _KIND]
    text: Annotated[str, Column("the lesson")]
    kept: Annotated[bool, Column("it was added to the lesson book; the others nearly repeat one in the book")]
    nearest: Annotated[
        float | None, Column("its highest cosine similarity to a lesson in the book", "for the first lesson")
    ]
    categories: Annotated[tuple[str, ...], Column("its strategies, by rules on its words; can be empty")]
    order: Annotated[int, Column("its theory-of-mind order by rules on its words: 1, 2 or 3")]


@dataclass(frozen=True, slots=True)
class LessonTagRow:
    """A judge's tags of one lesson."""

    game_id: Annotated[str, GAME_ID]
    kind: Annotated[str, _KIND]
    text: Annotated[str, Column("the lesson")]
    judge: Annotated[str, Column("the judge")]
    categories: Annotated[tuple[str, ...], Column("the strategies that the judge sees in it; can be empty")]
    order: Annotated[
        int | None, Column("the theory-of-mind order that the judge gives it: 1, 2 or 3", "where it gave none")
    ]


@dataclass(frozen=True, slots=True)
class RoleGuessRow:
    """The role that a judge named for one player, from the seat of another."""

    game_id: Annotated[str, GAME_ID]
    judge: Annotated[str, Column("the judge")]
    observer: Annotated[str, Column("the player whose seat the judge looked from")]
    observer_role: Annotated[str, Column("the observer's hidden role")]
    target: Annotated[str, Column("the player whose role was named")]
    target_role: Annotated[str, Column("the target's hidden role")]
    guess: Annotated[str | None, Column("the role that the judge named", "where it named none")]
