"""The recorded game that is continued: the moment, who played, and under which plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from liescope.common.errors import UnknownName, UsageError
from liescope.common.text import plain
from liescope.games.record import Source
from liescope.games.session import Session
from liescope.generate.players.prompts.render import hash_templates, version_of
from liescope.generate.players.registry import files_of
from liescope.generate.runs.fork_plan import KEY, ForkPlan, Group, read_fork_plan
from liescope.generate.runs.forking import forced
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import Branch, Moment, made
from liescope.generate.runs.plan import set_name
from liescope.generate.runs.rebuild import batch_of, lessons_of, moment_of, planned_game, rebuild
from liescope.generate.runs.terms import handed_on

_OWN = "own"  # the name, in a plan, of prompts from a folder
_PERSON = "human:"  # the beginning of the specs of people


@dataclass(frozen=True)
class Recorded:
    """A recorded game, stopped at a moment. root: the game played from its start that it goes back to; specs: of every
    seat; people: those of them who were persons, by seat; learning: whether its learner learns; run: its name;
    run_plan: the plan of its run.
    """

    game_id: str
    root: str
    moment: Moment
    session: Session
    specs: Mapping[str, str]
    people: Mapping[str, str]
    learning: bool
    run: str
    run_plan: Mapping[str, Any]

    @classmethod
    def read(cls, journal: Journal, game_id: str, step: int) -> Recorded:
        """Raises UsageError if nothing is asked at that step, or the recorded replies end before it; BadData for a run
        that was not played here.
        """
        session = rebuild(journal, game_id)
        if KEY in journal.plan:
            fork = read_fork_plan(journal.plan, journal.path)
            planned = fork.planned(int(game_id.rpartition("-")[2]))
            branches = (Branch(fork.step, game_id, planned.seed),)
            begin = moment_of(journal, fork).then(forced(planned.group), branches)
            root, learning = fork.root, fork.learning
            specs, people = fork.seats(planned.group), fork.people
        else:
            plan, first = planned_game(journal, game_id)
            lessons = tuple((lesson.kind.value, lesson.text) for lesson in lessons_of(journal, first))
            dealt = {"names": first.seats, "roles": first.roles, "learning": first.learning, "lessons": lessons}
            begin, learning = made(plan.game, game_id, first.seed, plan.options, **dealt), first.learning
            again = plan.dealt(first.number)
            root = again.root if again else game_id
            specs = plan.seats(first, session.game.roles)
            people = _people(journal, game_id, specs)
        if step < begin.step:
            raise UsageError(f"game {plain(game_id)} goes on from step {begin.step} of {plain(root)}; fork that game")
        answers, replies = journal.answers(game_id), []
        while session.asks and session.asks[0].step < step:
            replies.append(batch_of(session, answers, game_id))
            session.send(replies[-1])
        if not session.asks:
            raise UsageError(f"game {plain(game_id)} is over after step {begin.step + len(replies) - 1}")
        moment = begin.then(tuple(replies))
        return cls(game_id, root, moment, session, specs, people, learning, journal.name, journal.plan)

    @property
    def game(self) -> str:
        return str(self.run_plan["game"])

    @property
    def prompts(self) -> str:
        """The set that the run was played with, in its version. Raises UsageError if it was a folder."""
        name, hashed = str(self.run_plan.get("prompts")), str(self.run_plan.get("templates"))
        if name == _OWN:
            raise UsageError(f"{plain(self.run)} was played with prompts of its own; name their folder with --prompts")
        return version_of(name, self.game, hashed) if hash_templates(name, self.game) != hashed else name

    def seat(self, name: str) -> str:
        """The seat that is played anew: the one named, or the one that is asked. Raises UsageError."""
        asked = [ask.seat for ask in self.session.asks]
        if name and name not in self.specs:
            raise UnknownName("seat", name, self.specs)
        if not name and len(asked) > 1:
            raise UsageError(f"{len(asked)} seats are asked at once ({', '.join(asked)}); name one with --seat")
        return name or asked[0]

    def plan(self, seat: str, groups: Sequence[Group], others: str, times: int, seed: int, prompts: str) -> ForkPlan:
        """The plan of continuations. prompts: the set, or the folder."""
        specs = {name: others or spec for name, spec in self.specs.items() if name != seat}
        for name, spec in [*((seat, group.player) for group in groups), *specs.items()]:
            if spec.startswith(_PERSON):
                raise UsageError(
                    f"{plain(name)} was played by a person ({plain(spec.removeprefix(_PERSON))}), who cannot be asked "
                    f"again; name who plays on with {'--player' if name == seat else '--others'}"
                )
        files, then = files_of([*(group.player for group in groups), *specs.values()]), self.run_plan.get("files", {})
        for name in files.keys() & then.keys():
            if files[name] != then[name]:
                raise UsageError(f"{plain(name)} has changed since {plain(self.run)} was played; name another file")
        return ForkPlan(
            fork=self.run,
            origin=sha256(json.dumps(self.run_plan, sort_keys=True).encode()).hexdigest()[:16],
            of=self.game_id,
            root=self.root,
            step=self.moment.step,
            moment=self.moment.hash,
            game=self.game,
            seat=seat,
            groups=tuple(groups),
            others=specs,
            times=times,
            seed=seed,
            options=self.run_plan["options"],
            prompts=set_name(prompts, self.game),
            seating=str(self.run_plan["seating"]),
            templates=hash_templates(prompts, self.game),
            learning=self.learning,
            files=files,
            people=dict(self.people),
            **handed_on(self.run_plan),
        )


def _people(journal: Journal, game_id: str, specs: Mapping[str, str]) -> dict[str, str]:
    """The persons in the seats of a game played from its start, by seat."""
    if game_id not in journal.game_ids():
        return {seat: spec.removeprefix(_PERSON) for seat, spec in specs.items() if spec.startswith(_PERSON)}
    return {seat.name: seat.model for seat in journal.record(game_id).seats if seat.source is Source.HUMAN}
