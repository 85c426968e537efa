"""Before the first game: every player is prepared, and what that brings is kept until there is a journal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from liescope.common.errors import BudgetSpent
from liescope.generate.players.protocol import Attempt, EndpointFacts, Player
from liescope.generate.runs.job import G, Job
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import JournalReader


@dataclass(frozen=True, slots=True)
class Early:
    """Stands for the journal of a run that has none yet."""

    attempts: list[Attempt] = field(default_factory=list)
    facts: list[EndpointFacts] = field(default_factory=list)

    def log_attempt(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    def record_endpoint(self, facts: EndpointFacts) -> None:
        self.facts.append(facts)

    def keep(self, journal: Journal) -> None:
        """Write down what came before there was this journal."""
        for attempt in self.attempts:
            journal.log_attempt(attempt)
        for facts in self.facts:
            journal.record_endpoint(facts)


def is_left(job: Job[G], journal: JournalReader | None, retry_failed: bool) -> bool:
    """Whether there is a game to play. journal: None for a new run."""
    ended = set[str]() if journal is None or retry_failed else set(journal.game_ids())
    return any(True for _ in job.chains(ended))


async def prepare(players: Iterable[Player]) -> None:
    """Prepare all players at once. Raises the first error, unless the budget is spent, which ends the run later."""
    errors = await asyncio.gather(*(player.prepare() for player in players), return_exceptions=True)
    for error in errors:
        if error is not None and not isinstance(error, BudgetSpent):
            raise error
