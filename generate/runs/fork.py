"""`liescope.fork`: play many continuations of one moment of a recorded game."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from liescope.common.errors import UnknownName, UsageError
from liescope.common.settings import Setting, resolve, saved, takes
from liescope.common.text import plain
from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Source
from liescope.games.session import Session
from liescope.generate.players.player_registry import files_of, player_names
from liescope.generate.players.prompts import Templates
from liescope.generate.players.run_limits import RunSettings
from liescope.generate.runs.job import Forking
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import number_in
from liescope.generate.runs.moment import (
    MOST_CONTINUATIONS,
    Branch,
    ForkPlan,
    Moment,
    batch_of,
    check_group,
    forced,
    lessons_of,
    made,
    moment_of,
    planned_game,
    rebuild,
)
from liescope.generate.runs.plan_games import stored_templates, templates_for
from liescope.generate.runs.play import RunResult, run_job
from liescope.generate.runs.run_folder import RunConfig, handed_on
from liescope.generate.runs.run_plan import Group, short_hash

if TYPE_CHECKING:
    import polars as pl

    from liescope.common.report.contents import Report


MEASURES = {"won": "its side won", "votes": "votes for it"}
Endings = dict[tuple[str, str], dict[int, float]]
"""By group and measure, the value of each continuation by its number."""


def endings(games: Iterable[GameRecord]) -> Endings:
    """How continuations ended for the seat that was played anew. won: 1.0 or 0.0; votes: the share of the others'
    votes, from the moment on, that named it, without those that the rules drew; nothing where there are none.
    """
    found: Endings = defaultdict(dict)
    for game in games:
        fork = game.meta["fork"]
        if game.outcome is None:
            continue
        votes = [
            event.target == fork["seat"]
            for event in game.events[fork["events"] :]
            if event.kind is EventKind.VOTE and event.actor != fork["seat"] and not event.fallback
        ]
        found[fork["group"], "won"][fork["number"]] = float(fork["seat"] in game.outcome.winners)
        if votes:
            found[fork["group"], "votes"][fork["number"]] = fmean(votes)
    return found


def effects(groups: Sequence[str], endings: Endings) -> pl.DataFrame:
    """The table of `ForkResult.effects`."""
    import polars as pl

    from liescope.common.statistics import Rows, mean, paired

    rows = []
    for group in groups:
        for measure in MEASURES:
            own, first = (endings.get((name, measure), {}) for name in (group, groups[0]))
            values, shared = [own[number] for number in sorted(own)], sorted(own.keys() & first.keys())
            ones, others = [own[number] for number in shared], [first[number] for number in shared]
            less = [one - other for one, other in zip(ones, others, strict=True)]
            against = (len(shared), fmean(less) if less else None, *paired(ones, others))
            middle = fmean(values) if values else None
            none = (None,) * len(against)
            found = (len(values), middle, *mean(Rows.of(values)), *(none if group == groups[0] else against))
            rows.append((group, measure, *found))
    names = ("mean", "lo", "hi", "pairs", "difference", "difference_lo", "difference_hi")
    schema = {"group": pl.String, "measure": pl.String, "games": pl.Int64, **dict.fromkeys(names, pl.Float64)}
    return pl.DataFrame(rows, schema | {"pairs": pl.Int64}, orient="row")


@dataclass(frozen=True, repr=False)
class ForkResult(RunResult):
    """A run of continuations after `fork`; `effects` compares its groups."""

    @cached_property
    def effects(self) -> pl.DataFrame:
        """One row for each group and measure, in the order of the plan.

        Columns: group; measure: won (the seat's side won) or votes (the share of the others' votes, from the moment on,
        that named the seat); games: counted; mean, lo, hi: with a 95% interval (Wilson's for won, Student's for votes);
        pairs, difference, difference_lo, difference_hi: against the first group, over continuations of one number,
        which share their random draws (Newcombe's interval of paired shares for won, Student's of the differences for
        votes; null in the first group). Intervals are null with fewer than two games; see
        `liescope.common.statistics`.
        """
        with Journal.open(self.folder) as journal:
            return effects([group["label"] for group in journal.plan["groups"]], endings(journal.records()))

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"effects": self.effects.to_dicts()}

    @property
    def report(self) -> Report:
        """The effects as they are printed: what each group is, and its measures with 95% intervals."""
        import polars as pl

        from liescope.common.report.contents import Column, Report, Section, Table

        columns = (
            Column("group"),
            Column("measure"),
            Column("games"),
            Column("mean", "mean, 95%", format=".2f", interval=True),
            Column("difference", "less the first", format="+.2f", interval=True),
        )
        groups = {
            group: str(number) for number, group in enumerate(self.effects["group"].unique(maintain_order=True), 1)
        }
        frame = self.effects.rename({"lo": "mean_lo", "hi": "mean_hi"}).with_columns(
            pl.col("group").replace_strict(groups), pl.col("measure").replace_strict(MEASURES)
        )
        names = tuple(f"{number}: {group}" for group, number in groups.items())
        title = f"{self.about['seat']}, by group"
        section = Section("effects", title, names, table=Table.of(frame, columns), printed=True)
        return Report(sections=(section,), tables={"effects": self.effects})


_PERSON = "human:"  # the beginning of the specs of people


@dataclass(frozen=True)
class Recorded:
    """A recorded game, stopped at a moment. specs: of every seat; facts: what the plan of its continuations has of it;
    files: of its own plan; templates: those that it was played with.
    """

    moment: Moment
    session: Session
    specs: Mapping[str, str]
    facts: Mapping[str, Any]
    files: Mapping[str, str]
    templates: Templates

    @classmethod
    def read(cls, journal: Journal, game_id: str, step: int) -> Recorded:
        """Raises UsageError if nothing is asked at that step, or the recorded replies end before it; BadData for a run
        that was not played here.
        """
        session, of = rebuild(journal, game_id), journal.plan
        if ForkPlan.KEY in of:
            fork = ForkPlan.parse(of, journal.path)
            planned = fork.planned(number_in(game_id) or 0)
            assert planned.group is not None
            branches = (Branch(fork.step, game_id, planned.seed),)
            begin = moment_of(journal, fork).then(forced(planned.group), branches)
            root, learning, specs, people = fork.root, fork.learning, fork.seats(planned, {}), fork.people
        else:
            plan, first = planned_game(journal, game_id)
            begin, learning, root = made(plan, first, lessons_of(journal, first)), first.learning, game_id
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
        facts = {
            **{name: of[name] for name in ("game", "options", "seating")},
            **{"fork": journal.name, "origin": short_hash(of), "of": game_id, "root": root},
            **{"step": moment.step, "moment": moment.hash, "learning": learning, "people": dict(people)},
            **handed_on(of),
        }
        return cls(moment, session, specs, facts, of.get("files", {}), stored_templates(journal))

    def seat(self, name: str) -> str:
        """The seat that is played anew: the one named, or the one that is asked. Raises UsageError."""
        asked = [ask.seat for ask in self.session.asks]
        if name and name not in self.specs:
            raise UnknownName("seat", name, self.specs)
        if not name and len(asked) > 1:
            raise UsageError(f"{len(asked)} seats are asked at once ({', '.join(asked)}); name one with --seat")
        return name or asked[0]

    def plan(self, seat: str, groups: Sequence[Group], others: str, templates: Templates, **drawn: int) -> ForkPlan:
        """The plan of continuations. drawn: their times and seed."""
        specs = {name: others or spec for name, spec in self.specs.items() if name != seat}
        for name, spec in [*((seat, group.player) for group in groups), *specs.items()]:
            if spec.startswith(_PERSON):
                raise UsageError(
                    f"{plain(name)} was played by a person ({plain(spec.removeprefix(_PERSON))}), who cannot be asked "
                    f"again; name who plays on with {'--player' if name == seat else '--others'}"
                )
        files = files_of([*(group.player for group in groups), *specs.values()])
        for name in files.keys() & self.files.keys():
            if files[name] != self.files[name]:
                run = plain(self.facts["fork"])
                raise UsageError(f"{plain(name)} has changed since {run} was played; name another file")
        prompts = {"prompts": templates.name, "templates": templates.hash}
        who = {"seat": seat, "groups": tuple(groups), "others": specs, "files": files}
        return ForkPlan.model_validate({**self.facts, **who, **prompts, **drawn})


def _people(journal: Journal, game_id: str, specs: Mapping[str, str]) -> dict[str, str]:
    """The persons in the seats of a game played from its start, by seat."""
    if game_id not in journal.game_ids():
        return {seat: spec.removeprefix(_PERSON) for seat, spec in specs.items() if spec.startswith(_PERSON)}
    return {seat.name: seat.model for seat in journal.record(game_id).seats if seat.source is Source.HUMAN}


_SHOWN = 200  # characters of a statement in the name of its group


class ContinuationSettings(TypedDict, total=False):
    """What differs from the recorded game from the moment on."""

    players: Annotated[
        Sequence[str],
        Setting(
            "Who plays the seat; may be repeated.", (), shown="who played it", flag="--player", choices=player_names
        ),
    ]
    seat: Annotated[str, Setting("Who is played anew.", "", shown="who is asked", metavar="NAME")]
    say: Annotated[Sequence[str], Setting("What the seat says at that moment; may be repeated, a group for each.", ())]
    others: Annotated[str, Setting("Who plays the other seats.", "", shown="who played them", choices=player_names)]
    times: Annotated[int, Setting("Continuations in each group.", 20, at_least=1, at_most=MOST_CONTINUATIONS)]
    seed: Annotated[int, Setting("Seed of what the rules draw from the moment on.", 0)]
    prompts: Annotated[str, Setting("A set of prompts, or a folder.", "", shown="those of the run")]


class ForkSettings(ContinuationSettings, RunSettings, total=False):
    """What `fork` takes."""


@takes(ForkSettings)
def fork(
    run: str | os.PathLike[str],
    game: str,
    step: int,
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[ForkSettings],
) -> ForkResult:
    """Play a recorded game on from one of its moments, many times, or resume that.

    There is a group of continuations for each player and each text that is said. Those of one number share their
    random draws, so groups are compared in pairs.

    Parameters
    ----------
    run : str or path
        The folder of a run, which is only read.
    game : str
        The game's id, the beginning of it, or its number.
    step : int
        The step that is answered anew, as `liescope show RUN GAME --calls` counts them.
    out : str or path, optional
        The folder of the continuations, by default RUN-fork-GAME-STEP.
    progress : bool
        Show a live display on standard error.
    **settings

    Returns
    -------
    ForkResult
        Its `effects` compare the groups, and its `report` shows them.

    Raises
    ------
    UsageError
        For a moment that does not exist or at which the seat is not asked.
    BadData
        For a run that was not played here or cannot be read.
    PlanChanged
        If the folder holds other continuations.
    """
    source, own = Path(run), resolve(ForkSettings, settings)
    with Journal.open(source) as journal:
        recorded = Recorded.read(journal, journal.find(game), step)
    of = recorded.facts["of"]
    folder = Path(out) if out is not None else default_folder(source, of, step)
    if folder.resolve() == source.resolve():
        raise UsageError("the continuations need a folder of their own; choose another --out")
    asked = recorded.seat(own["seat"])
    groups = _groups(_once(own["players"]) or [recorded.specs[asked]], _once(own["say"]))
    for group in groups:
        check_group(recorded.session, asked, group)
    templates = templates_for(own["prompts"], recorded.facts["game"], folder) if own["prompts"] else recorded.templates
    plan = recorded.plan(asked, groups, own["others"], templates, times=own["times"], seed=own["seed"])
    options = {"run": source, "game": of, "step": step, **saved(ForkSettings, own)}
    about = {"run": str(folder), "game": plan.game, "fork": plan.of, "step": step, "seat": asked}
    job = Forking(plan, recorded.moment, templates)
    done = run_job(job, folder, own, about, RunConfig("fork", options), progress)
    return ForkResult(done.folder, done.about, done.tally, done.seconds, done.currency)


def default_folder(run: Path, game_id: str, step: int) -> Path:
    """The folder next to the run, named after the moment."""
    return run.with_name(f"{run.resolve().name}-fork-{game_id.rpartition('-')[2].lstrip('0') or '0'}-{step}")


def _groups(players: Sequence[str], say: Sequence[str]) -> tuple[Group, ...]:
    """A group for each player and text; its label names what differs."""
    named, texts = len(players) > 1 or not say, list[str | None](say) or [None]
    found: dict[str, Group] = {}
    for player in players:
        for text in texts:
            label = ": ".join([player] * named + [_quoted(text)] * (text is not None))
            label = label if label not in found else f"{label} ({len(found) + 1})"
            found[label] = Group(label=label, player=player, say=text)
    return tuple(found.values())


def _quoted(text: str | None) -> str:
    line = " ".join((text or "").split())
    return f'"{line}"' if len(line) <= _SHOWN else f'"{line[: _SHOWN - 1]}…"'


def _once(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(words))
