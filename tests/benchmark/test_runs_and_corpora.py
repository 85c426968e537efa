"""A run and the corpus that is built of it give the same figures, in `fit` and in `analyse`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from liescope.benchmark.analyses.frames import load_games, settings
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.common.errors import UsageError
from liescope.generate.corpus.build import build
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from liescope.generate.runs.rating import label
from tests.benchmark.analyses.made import SCHEMAS


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of Mini-Mafia in two conditions and of a learning Werewolf, one judged copy of each kind, and corpora."""
    out = tmp_path_factory.mktemp("made")
    pair = ("scripted:bold", "scripted:novice")
    for rounds in (1, 2):
        play("mini-mafia", out=out / f"mini-{rounds}", players=pair, games=2, rounds=rounds, assess=True)
    small = {"debate_turns": 3, "defence_turns": 2, "days": 3, "assess": True}
    play("werewolf", out=out / "wolves", games=2, learning="off,on", design="self", **small)
    label(out / "wolves", "scripted:steady", out=out / "judged", roles=True, lessons=True)
    for name, runs in {"mini": ["mini-1", "mini-2"], "wolves": ["wolves"], "judged": ["judged"]}.items():
        build([out / run for run in runs], out=out / "corpus" / name)
    return out


SETS = {
    "two conditions": (["mini-1", "mini-2"], ["mini"]),
    "learning": (["wolves"], ["wolves"]),
    "players and a judge": (["wolves", "judged"], ["wolves", "judged"]),
    "a run beside a corpus": (["wolves", "judged"], ["wolves", "RUN judged"]),
}


def named(made: Path, names: list[str]) -> list[Path]:
    return [made / name.removeprefix("RUN ") if "RUN" in name else made / "corpus" / name for name in names]


@pytest.mark.parametrize(("runs", "corpora"), SETS.values(), ids=SETS)
def test_the_frames_of_a_run_and_of_its_corpus_are_equal(runs: list[str], corpora: list[str], made: Path) -> None:
    played, packed = load_games([made / name for name in runs]), load_games(named(made, corpora))
    for name in SCHEMAS:
        assert getattr(played.frames, name).equals(getattr(packed.frames, name)), name
    assert played.sources == packed.sources
    assert [(run.finished, run.failed) for run in played.runs] == [(run.finished, run.failed) for run in packed.runs]
    assert settings(played.runs).drop("run").equals(settings(packed.runs).drop("run"))


def test_what_an_analysis_needs_is_in_the_corpus(made: Path) -> None:
    frames = load_games([made / "corpus" / "wolves", made / "corpus" / "judged"]).frames
    assert [name for name in SCHEMAS if getattr(frames, name).is_empty()] == []


def test_a_fit_counts_the_same_games(made: Path) -> None:
    played = load_conditions([made / "mini-1", made / "mini-2"])
    packed = load_conditions([made / "corpus" / "mini"])
    assert len(played) == 2
    assert played.keys() == packed.keys()
    for condition, counts in played.items():
        assert counts.cells.equals(packed[condition].cells)
        assert counts.undrawn.cells.equals(packed[condition].undrawn.cells)
        assert (counts.sources, counts.excluded) == (packed[condition].sources, packed[condition].excluded)


def test_a_run_and_its_corpus_side_by_side_would_count_twice(made: Path) -> None:
    with pytest.raises(UsageError, match="count"):
        load_conditions([made / "mini-1", made / "corpus" / "mini"])
    with pytest.raises(UsageError, match="count twice"):
        load_games([made / "wolves", made / "corpus" / "wolves"])


def test_second_order_beliefs_are_scored_alike_in_a_run_and_its_corpus_where_they_were_asked_for(
    tmp_path: Path,
) -> None:
    for asked in (True, False):
        run, corpus = tmp_path / f"run-{asked}", tmp_path / f"corpus-{asked}"
        play("mini-mafia", players=["scripted:bold"], games=2, second_order=asked, out=run)
        build([run], out=corpus)
        said = [[note for note in load_games([source]).notes if "Second-order" in note] for source in (run, corpus)]
        assert said[0] == said[1]
        assert bool(said[0]) == asked
        assert all(re.search(r"% \(\d.*% to \d.*%\) were right", note) for note in said[0])
        with Journal.open(run) as journal:
            assert not any("second_order" in game.meta["settings"] for game in journal.records())
