"""`liescope.fork`: play many continuations of one moment of a recorded game."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from liescope.common.errors import UnknownName, UsageError
from liescope.common.settings import Option, OptionsModel, Several, takes
from liescope.common.text import brief, plain
from liescope.games.core import AskKind, EventKind
from liescope.games.record import GameRecord
from liescope.games.session import Session
from liescope.generate.players.player_registry import files_of, player_names
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Forking
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import MOST_CONTINUATIONS, ForkPlan, answered, beginning
from liescope.generate.runs.plan_games import once, stored_templates, templates_for
from liescope.generate.runs.play import RunResult, run_job
from liescope.generate.runs.run_folder import RunConfig, folder_beside, handed_on
from liescope.generate.runs.run_plan import PEOPLE, Group, short_hash

if TYPE_CHECKING:
    import polars as pl

    from liescope.common.report.contents import Report


MEASURES = {"won": "its side won", "votes": "votes for it"}
Endings = dict[tuple[str, str], dict[int, float]]
"""By group and measure, the value of each continuation by its number."""


def endings(games: Iterable[GameRecord]) -> Endings:
    """How continuations ended for the replayed seat. won: 1.0 or 0.0; votes: the share of the others'
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
    """`ForkResult.effects`."""
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

        from liescope.common.report.contents import Column, Report, ReportTable, Section

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
        section = Section("effects", title, names, table=ReportTable.of(frame, columns), printed=True)
        return Report(sections=(section,), tables={"effects": self.effects})


_SHOWN = 200  # characters of a statement in the name of its group


class ContinuationSettings(OptionsModel):
    """What differs from the recorded game after the moment."""

    players: Annotated[Several, Option(flag="--player", shown="who played it", choices=player_names)] = Field(
        default=(), description="Who plays the seat; may be repeated."
    )
    seat: Annotated[str, Option(shown="who is asked", metavar="NAME")] = Field(
        default="", description="Who is played anew."
    )
    say: Several = Field(
        default=(), description="What the seat says at that moment; may be repeated, a group for each."
    )
    others: Annotated[str, Option(shown="who played them", choices=player_names)] = Field(
        default="", description="Who plays the other seats."
    )
    times: int = Field(default=20, ge=1, le=MOST_CONTINUATIONS, description="Continuations in each group.")
    seed: int = Field(default=0, description="Seed of what the rules draw from the moment on.")
    prompts: Annotated[str, Option(shown="those of the run")] = Field(
        default="", description="A set of prompts, or a folder."
    )


class ForkSettings(ContinuationSettings, Limits):
    """What `fork` takes."""


@takes(ForkSettings)
def fork(
    run: str | os.PathLike[str],
    game: str,
    step: int,
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> ForkResult:
    """Continue a recorded game from one of its moments, many times, or resume doing so. There is a group of
    continuations for each player and each text to say. Continuations with one number share their random draws, so
    groups are compared in pairs.

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
    source, own = Path(run), ForkSettings.of(settings)
    with Journal.open(source) as journal:
        of, name, recorded = journal.find(game), journal.name, journal.plan
        begin, kept = beginning(journal, of), stored_templates(journal)
        session, before = begin.session(), begin.plan
        specs = before.seats(begin.planned, session.game.roles)
        root, people = of, {seat: spec.removeprefix(PEOPLE) for seat, spec in specs.items() if spec.startswith(PEOPLE)}
        if isinstance(before, ForkPlan):
            root, people = before.root, before.people
        first = session.asks[0].step if session.asks else step
        if step < first:
            raise UsageError(f"game {plain(of)} goes on from step {first} of {plain(root)}; fork that game")
        moment = begin.then(answered(journal, of, session, step))
    if not session.asks:
        raise UsageError(f"game {plain(of)} is over after step {first + len(moment.replies) - 1}")
    folder = folder_beside(source, out, "fork", of.rpartition("-")[2].lstrip("0") or "0", str(step))
    seat = _seat(own.seat, session, specs)
    groups = _groups(once(own.players) or [specs[seat]], once(own.say))
    if own.say and [(ask.seat, ask.kind) for ask in session.asks] != [(seat, AskKind.SPEAK)]:
        asked = ", ".join(f"{ask.seat} to {ask.kind.value}" for ask in session.asks)
        raise UsageError(f"--say needs a step at which {seat} alone speaks; this one asks {asked}")
    others = {name: own.others or spec for name, spec in specs.items() if name != seat}
    templates = templates_for(own.prompts, before.game, folder) if own.prompts else kept
    plan = ForkPlan(
        game=before.game,
        options=before.options,
        names=before.names,
        seating=before.seating,
        fork=name,
        origin=short_hash(recorded),
        of=of,
        root=root,
        step=step,
        moment=moment.hash,
        learning=begin.planned.learning,
        lessons=before.lessons,
        people=people,
        seat=seat,
        groups=groups,
        others=others,
        files=_files([*((seat, group.player) for group in groups), *others.items()], seat, before.files, name),
        prompts=templates.name,
        templates=templates.hash,
        times=own.times,
        seed=own.seed,
        **handed_on(recorded),
    )
    options = {"run": source, "game": of, "step": step, **own.model_dump()}
    about = {"run": str(folder), "game": plan.game, "fork": plan.of, "step": step, "seat": seat}
    done = run_job(Forking(plan, moment, templates), folder, own, about, RunConfig("fork", options), progress)
    return ForkResult(done.folder, done.about, done.tally, done.seconds, done.currency)


def _seat(name: str, session: Session, specs: Mapping[str, str]) -> str:
    """The replayed seat: the one named, or the one that is asked. Raises UsageError."""
    asked = [ask.seat for ask in session.asks]
    if name and name not in specs:
        raise UnknownName("seat", name, specs)
    if not name and len(asked) > 1:
        raise UsageError(f"{len(asked)} seats are asked at once ({', '.join(asked)}); name one with --seat")
    return name or asked[0]


def _files(players: Sequence[tuple[str, str]], anew: str, known: Mapping[str, str], run: str) -> dict[str, str]:
    """The files that the players read. players: seats and specs; anew: the replayed seat; known: files of the run.
    Raises UsageError for a person, and for a file that has changed.
    """
    for seat, spec in players:
        if spec.startswith(PEOPLE):
            raise UsageError(
                f"{plain(seat)} was played by a person ({plain(spec.removeprefix(PEOPLE))}), who cannot be asked "
                f"again; name who plays on with {'--player' if seat == anew else '--others'}"
            )
    files = files_of([spec for _, spec in players])
    for file in files.keys() & known.keys():
        if files[file] != known[file]:
            raise UsageError(f"{plain(file)} has changed since {plain(run)} was played; name another file")
    return files


def _groups(players: Sequence[str], say: Sequence[str]) -> tuple[Group, ...]:
    """A group for each player and text; its label names what differs."""
    named, texts = len(players) > 1 or not say, list[str | None](say) or [None]
    found: dict[str, Group] = {}
    for player in players:
        for text in texts:
            label = ": ".join([player] * named + [f'"{brief(text or "", _SHOWN)}"'] * (text is not None))
            label = label if label not in found else f"{label} ({len(found) + 1})"
            found[label] = Group(label=label, player=player, say=text)
    return tuple(found.values())
