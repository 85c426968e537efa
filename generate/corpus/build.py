"""Builds a corpus folder from runs: stream the games, label them, write Parquet, count, write the card.

A run given where a corpus is expected serves as one, with equal results.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from liescope.common.console import progress as bar
from liescope.common.errors import UnknownName, UsageError
from liescope.common.folders import replacing
from liescope.common.key_finder import find_secret, secrets_of
from liescope.common.leaks import all_without_addresses, key_variables, texts_of
from liescope.common.model_names import spellings
from liescope.common.parts import Part
from liescope.common.settings import Option, OptionsModel, Several, Switch, takes
from liescope.common.stores import check_not_in_store, local, stored
from liescope.data_cards.cards import render_dataset_card
from liescope.data_cards.croissant import croissant
from liescope.data_cards.tables import TABLES
from liescope.games.game_registry import CARDS, GAMES
from liescope.generate.corpus.corpus_facts import CorpusFacts, Origin, count_facts
from liescope.generate.corpus.read import (
    CARD_FILE,
    CROISSANT_FILE,
    FACTS_FILE,
    RunFacts,
    is_corpus,
    read,
    read_built,
    siblings_of,
)
from liescope.generate.corpus.write import CorpusWriter, Games, Written, write_games
from liescope.generate.runs.journal import Journal, read_runs
from liescope.generate.runs.run_folder import PART, plan_changes, plan_terms, plan_texts, read_head
from liescope.generate.runs.run_plan import hash_of

if TYPE_CHECKING:
    import datasets
    import polars as pl


def write_papers(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write README.md, croissant.json and corpus.json. Raises CardError if the card would have a gap."""
    (folder / CARD_FILE).write_text(render_dataset_card(facts, CARDS), encoding="utf-8")
    for name, data in ((CROISSANT_FILE, croissant(facts)), (FACTS_FILE, facts)):
        (folder / name).write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


Write = Callable[[CorpusWriter], Written]
Head = tuple[Mapping[str, Any], Mapping[str, str]]  # the plan and the versions of a run.json
UNDESCRIBED = "A game from elsewhere, whose rules Liescope does not know."


@dataclass(frozen=True, repr=False)
class CorpusResult:
    """A built corpus. folder: its path; facts: its contents; unplayed: games of its runs that have not ended; notes:
    what the user should know.
    """

    folder: Path
    facts: CorpusFacts
    unplayed: int = 0
    notes: tuple[str, ...] = ()

    @cached_property
    def statements(self) -> pl.DataFrame:
        """The table of statements, all splits."""
        return self.read("statements")

    @cached_property
    def games(self) -> pl.DataFrame:
        """The table of games, all splits."""
        return self.read("games")

    def read(self, config: str, split: str | None = None) -> pl.DataFrame:
        """One table, of one split or of all. Raises as `liescope.read` does."""
        return read(self.folder, config, split).collect()

    def dataset(self, config: str) -> datasets.DatasetDict:
        """One table by split; labels and types of deception are `ClassLabel`. Raises UnknownName."""
        import datasets

        if config not in TABLES:
            raise UnknownName("config", config, TABLES)
        return datasets.load_dataset(str(local(self.folder)), config)

    def to_json(self) -> dict[str, Any]:
        """The folder and the facts as plain JSON data, as `--json` prints them."""
        return {"corpus": str(self.folder), **self.facts.to_json()}

    def __repr__(self) -> str:
        return f"<CorpusResult {self.folder}: {self.facts.statements:,} statements of {self.facts.games:,} games>"


class BuildSettings(OptionsModel):
    """What `build` takes."""

    hold_out_models: Annotated[Several, Option(flag="--hold-out-model")] = Field(
        default=(), description="A model whose games all go to the test split; may be repeated."
    )
    transcript: Switch = Field(default=False, description="Include in each row what was said before the statement.")
    partial: Switch = Field(default=False, description="Build even if parts of a run are missing.")
    overwrite: Switch = Field(default=False, description="Replace a corpus of other runs or options at --out.")


@takes(BuildSettings)
@stored
def build(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str],
    progress: bool = False,
    **settings: Any,
) -> CorpusResult:
    """Label the games of runs and package them as a corpus folder that `datasets.load_dataset` opens.

    The folder appears when it is complete. A corpus of the same runs and options, which may have grown since, is
    replaced, and a note says so. Runs played with `part` are joined into the corpus of the whole run. Games with an
    official split keep it; a held-out model is held out under all of its names. Memory use does not grow with the runs,
    except for ids and hashes. The same runs in the same order give the same Parquet, byte for byte.

    Parameters
    ----------
    sources : path, or several
        Run folders.
    out : str or path
        The corpus folder.
    progress : bool
        Show a bar on standard error.
    **settings

    Raises
    ------
    UsageError
        If a game id occurs twice, a part of a run is missing (and not `partial`), a log holds the value of a secret of
        the environment, a held-out model plays in a game of an official split, `out` holds something else that is not
        to be replaced or cannot be written, or another process is building there.
    UnknownName
        For a held-out model that does not occur in the runs.
    BadData
        For a run that cannot be read.
    """
    wanted = corpus_wanted(sources, Path(out), BuildSettings.of(settings))
    with bar(progress) as display:
        task = display.add_task("building", total=wanted.ended, note="games")
        return wanted.made_of(read_runs(wanted.runs), lambda done: display.update(task, completed=done))


@dataclass(frozen=True, slots=True)
class CorpusWanted:
    """A corpus before it is built. runs: the parts of one run together; heads: the plan and the versions of each, by
    its name; ended, unplayed: games; hold_out: every name of the models that are held out; siblings: as in
    `split_game`; notes: what the user should know.
    """

    out: Path
    runs: Sequence[Path | Sequence[Path]]
    heads: Mapping[str, Head]
    ended: int
    unplayed: int
    hold_out: frozenset[str]
    siblings: frozenset[str]
    transcript: bool
    notes: tuple[str, ...]

    def made_of(self, games: Games, watch: Callable[[int], None] = lambda _: None) -> CorpusResult:
        """The corpus of a stream of games. watch: called with the number of games packed so far."""
        held_out = self.hold_out, self.siblings
        return self.built(lambda writer: write_games(games, writer, held_out, self.transcript, watch))

    def built(self, write: Write) -> CorpusResult:
        """The corpus of the games that `write` writes."""
        built = datetime.now(UTC).date().isoformat()
        try:
            with replacing(self.out, "corpus", is_corpus) as folder:
                with CorpusWriter(folder) as writer:
                    written = write(writer)
                if not written.seen:
                    raise UsageError("the runs hold no finished game; play some first, then build again")
                origin = self._origin(written)
                terms = {name: plan_terms(self.heads[name][0]) for name in written.runs}
                facts = count_facts(folder, self.out.resolve().name, version("liescope"), built, origin, terms)
                write_papers(folder, facts.to_json())
                _check_no_key(folder, secrets_of(os.environ, origin.key_variables))
        except OSError as error:
            why = f"{error.strerror or error}; make room for it or choose another --out"
            raise UsageError(f"{self.out} cannot be written: {why}") from error
        return CorpusResult(self.out, facts, self.unplayed, self.notes)

    def _origin(self, written: Written) -> Origin:
        variables, texts = set[str](), dict[str, str]()
        for name in written.runs:
            variables |= key_variables(self.heads[name][0])
            texts |= plan_texts(self.heads[name][0])
        heads = ((name, *self.heads[name]) for name in written.runs)
        return Origin(
            runs=tuple(RunFacts(name, all_without_addresses(dict(plan)), dict(own)) for name, plan, own in heads),
            key_variables=tuple(sorted(variables)),
            hold_out=tuple(sorted(self.hold_out)),
            transcript=self.transcript,
            official_splits=written.official,
            game_texts={name: texts.get(name, UNDESCRIBED) for name in sorted(written.games - GAMES.keys())},
            withdrawn=written.withdrawn,
        )


def corpus_wanted(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], out: Path, chosen: BuildSettings
) -> CorpusWanted:
    """What to build. chosen: all settings. Raises as `build` does."""
    check_not_in_store(out)
    runs = [local(source) for source in ([sources] if isinstance(sources, str | os.PathLike) else sources)]
    if not runs:
        raise UsageError("name at least one run folder to build a corpus from")
    whole = joined(runs, chosen.partial)
    heads: dict[str, Head] = {}
    roots: dict[str, set[str]] = {}
    total = unplayed = 0
    for run in runs:
        with Journal.open(run) as journal:
            plan = {name: value for name, value in journal.plan.items() if name != PART}
            if plan_terms(heads.get(journal.name, ({}, {}))[0]) != plan_terms(plan) and journal.name in heads:
                raise UsageError(
                    f"two runs are called {journal.name!r} and come from different sources; rename one of the folders"
                )
            heads[journal.name] = plan, journal.versions
            ended = sum(journal.counts().values())
            total += ended
            unplayed += max(0, journal.planned() - ended)
            if chosen.hold_out_models:
                for game in journal.records():
                    for seat in game.seats:
                        roots.setdefault(seat.model, set()).add(siblings_of(game))
    notes = list[str]()
    for name in chosen.hold_out_models:
        if not spellings(name, roots):
            raise UnknownName("model", name, roots)
        if own := [other for other in spellings(name, sorted(roots)) if other != name]:
            notes.append(f"{', '.join(own)} may be the same model as {name}, and is held out with it")
    hold_out = frozenset(own for name in chosen.hold_out_models for own in spellings(name, roots))
    if is_corpus(out) and not chosen.overwrite:
        if not _same(read_built(out), heads, sorted(hold_out), chosen.transcript):
            raise UsageError(
                f"{out} holds a corpus of other runs or options; add --overwrite to replace it, or choose another --out"
            )
        notes.append(f"{out} held a corpus of the same runs, which is replaced")
    siblings = frozenset[str]().union(*(roots[name] for name in hold_out))
    return CorpusWanted(out, whole, heads, total, unplayed, hold_out, siblings, chosen.transcript, tuple(notes))


def _same(facts: Mapping[str, Any], heads: Mapping[str, Head], hold_out: Sequence[str], transcript: bool) -> bool:
    """Whether these facts describe a corpus built from these runs in the same way, apart from the number of games."""
    built: dict[Any, Mapping[str, Any]] = {}
    for run in facts.get("runs") or ():
        if isinstance(run, Mapping) and isinstance(plan := run.get("plan"), Mapping):
            built[run.get("name")] = plan
    now = {name: json.loads(json.dumps(all_without_addresses(dict(plan)))) for name, (plan, _) in heads.items()}
    of_both = [{name: {**plan, "games": None} for name, plan in plans.items()} for plans in (built, now)]
    held_out = facts.get("hold_out") == sorted(set(hold_out))
    return of_both[0] == of_both[1] and held_out and facts.get("transcript") is transcript


def _check_no_key(folder: Path, secrets: Mapping[str, str]) -> None:
    """Raises UsageError if a file holds the value of a secret of this machine, as an old log may."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()) if secrets else ():
        for text in texts_of(path):
            if what := find_secret(text, secrets, shapes=False):
                raise UsageError(
                    f"{path.relative_to(folder)} would hold {what}, which stands in the log of a run, so nothing was "
                    "built; revoke that secret, and take the variable out of the environment to build nevertheless"
                )


_NAMED = 5  # missing parts


def joined(runs: Iterable[Path], partial: bool) -> list[Path | Sequence[Path]]:
    """The runs in order, the parts of each run together at the place of the first. partial: parts may be missing.
    Raises UsageError for a repeated or missing part, and for parts of different plans or divisions.
    """
    found: list[Path | Sequence[Path]] = []
    wholes: dict[str, tuple[Mapping[str, Any], dict[Part, Path]]] = {}
    for run in runs:
        plan: Mapping[str, Any] = read_head(run).plan
        if PART not in plan:
            found.append(run)
            continue
        part, key = Part.read(plan[PART]), hash_of(plan)
        _, parts = wholes.setdefault(key, (plan, {}))
        for other, path in parts.items():
            if other == part or other.of != part.of:
                why = "leave one out" if other == part else "join the parts of one division"
                raise UsageError(f"{path} is part {other} of a run, and {run} is part {part} of the same; {why}")
        parts[part] = run
    for key, (plan, parts) in wholes.items():
        others = [whole for other, whole in wholes.items() if other != key]
        _check_complete(plan, parts, others, partial)
        found.append([parts[part] for part in sorted(parts)])
    return found


def _check_complete(
    plan: Mapping[str, Any],
    parts: Mapping[Part, Path],
    others: Sequence[tuple[Mapping[str, Any], Mapping[Part, Path]]],
    partial: bool,
) -> None:
    (of,), path = {part.of for part in parts}, next(iter(parts.values()))
    missing = [f"{number}/{of}" for number in range(1, of + 1) if Part(number, of) not in parts]
    if missing and others:
        other, there = others[0]
        changes = "; ".join(plan_changes(plan, {**other, PART: plan[PART]}))
        raise UsageError(
            f"{path} and {next(iter(there.values()))} are parts of different plans ({changes}), and {missing[0]} of "
            "the first is missing; build each plan from its own parts"
        )
    if missing and not partial:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise UsageError(
            f"{path} is a part of a run of which {', '.join(missing[:_NAMED])}{more} are not here; give all parts, or "
            "add --partial to build without them"
        )
