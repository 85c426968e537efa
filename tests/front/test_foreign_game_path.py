"""Games that Liescope cannot play, with private messages and without roles or winners, go through every room."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest

import liescope
from liescope import cli
from liescope.common.errors import UndeclaredGame, UsageError
from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.record import GameRecord, Seat, Source, Status
from liescope.generate.corpus.read import split_game, split_of
from liescope.generate.importers import IMPORTERS, Imported, Importer, Rejected
from liescope.labeling.label import NO_ROLE, statement_rows

NAMES = ("Ann", "Ben", "Cid")
GAMES, LETTERS = 40, 6


class Letters(Importer):
    """Letters between two of three players, every third one read by all; the liars own up, the readers guess."""

    format: ClassVar[str] = "letters"
    reads: ClassVar[str] = "any file"
    origin: ClassVar[str] = "this test"
    licence: ClassVar[str] = "Free for all."

    def game_texts(self) -> Mapping[str, str]:
        return {"letters": "Three players write letters to each other."}

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        for number in range(GAMES):
            yield Imported(number + 1, game(number))


def game(number: int) -> GameRecord:
    draw, events = random.Random(number), list[Event]()
    seats = tuple(Seat(name, "", "", None, "a person", Source.HUMAN) for name in NAMES)
    for place in range(LETTERS):
        (writer, reader), lies = draw.sample(NAMES, 2), draw.random() < 0.4
        text = f"{'I swear it' if lies else 'As you wish'}, {reader}, {number} {place}."
        at = Event(len(events), EventKind.STATEMENT, 1, Phase.DISCUSSION, actor=writer, text=text)
        events.append(at if place % 3 == 0 else replace(at, audience=(writer, reader)))
        for kind, who, flag in ((EventKind.SELF_REPORT, writer, lies), (EventKind.RATING, reader, draw.random() < 0.3)):
            said = {"assessment": {"deceptive": flag}}
            about = Event(len(events), kind, 1, Phase.DISCUSSION, 0, who, writer, about=at.index, audience=(who,))
            events.append(replace(about, data=said))
    outcome = Outcome("", (), "the source does not say", 1)
    meta = {"split": ("train", "train", "validation", "test")[number % 4]}
    return GameRecord(f"g-{number}", "letters", None, "", seats, tuple(events), Status.DONE, outcome, meta=meta)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("letters")
    (folder / "letters.txt").write_text("letters")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(IMPORTERS, Letters.format, Letters)
        liescope.import_games("letters", folder / "letters.txt", out=folder / "run")
    liescope.build(folder / "run", out=folder / "corpus", transcript=True)
    liescope.train("tfidf", folder / "corpus", target="self", context=2, out=folder / "model")
    return folder


def test_a_record_that_breaks_the_protocol_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stray = game(0)
    stranger = Event(len(stray.events), EventKind.STATEMENT, 1, Phase.DISCUSSION, actor="Zoe", text="?")
    read = [Imported(1, replace(stray, events=(*stray.events, stranger))), Imported(2, game(1))]
    monkeypatch.setitem(IMPORTERS, Letters.format, Letters)
    monkeypatch.setattr(Letters, "read", lambda self, source: iter(read))
    (tmp_path / "letters.txt").touch()
    result = liescope.import_games("letters", tmp_path / "letters.txt", out=tmp_path / "run")
    assert result.games == 1
    words = f"event {stranger.index} (statement): its actor 'Zoe' has no seat"
    assert result.rejected.row(0) == ("letters.txt", 1, "g-0", words)


def test_what_the_source_does_not_say_is_null_with_the_reason(folder: Path) -> None:
    statements = liescope.read(folder / "corpus", "statements").collect()
    assert statements.height == GAMES * LETTERS
    assert statements["label_role"].null_count() == statements.height
    assert statements["label_role_null"].unique().to_list() == [NO_ROLE]
    assert statements["label_self"].null_count() == 0
    games = liescope.read(folder / "corpus", "games").collect()
    assert (games["origin"].unique().to_list(), games["winner"].null_count()) == (["letters"], GAMES)
    seats = games["seats"].explode(empty_as_null=False).struct
    assert (seats.field("deceives").null_count(), seats.field("won").null_count()) == (3 * GAMES, 3 * GAMES)


def test_the_official_split_is_kept_and_no_held_out_model_breaks_it(folder: Path) -> None:
    games = liescope.read(folder / "corpus", "games").collect()
    kept = dict(zip(games["game_id"], games["split"], strict=True))
    assert kept == {game(number).game_id: game(number).meta["split"] for number in range(GAMES)}
    with pytest.raises(UsageError, match="its publishers put into train"):
        liescope.build(folder / "run", out=folder / "other", hold_out_models=["a person"])
    assert split_game(game(3), {"a person"}) == "test"
    assert split_game(replace(game(0), meta={}), ()) == split_of("g-0")


def test_a_statement_comes_with_what_its_audience_had_heard(folder: Path) -> None:
    for row in statement_rows(game(1), (), (), transcript=True):
        for line in (row.transcript or "").splitlines():
            writer, _, text = line.partition(": ")
            readers = {writer, text.split(", ")[1]}
            public = int(text.rstrip(".").split()[-1]) % 3 == 0
            assert public or (row.audience and {*row.audience} <= readers)
    model = liescope.load(folder / "model")
    statements = liescope.read(folder / "corpus", "statements", "test").sort("game_id", "position").collect()
    blind = statements.with_columns(audience=pl.lit([], pl.List(pl.String)))
    assert model.score(statements)["score"].to_list() != model.score(blind)["score"].to_list()


def test_detectors_and_analyses_say_what_they_lack(folder: Path) -> None:
    found = liescope.evaluate(folder / "model", folder / "corpus")
    (auroc,) = (row.value for row in found.rows if (row.scorer, row.metric) == ("model", "auroc"))
    assert auroc > 0.9
    assert "control:role_oracle" not in {row.scorer for row in found.rows}
    analyses = liescope.analyse(folder / "run", out=folder / "analyses")
    assert "statement_lengths" in analyses.tables
    assert analyses.nothing["win_rates"] == "the source does not say who won"
    with pytest.raises(UsageError, match="statements has a label"):
        liescope.train("tfidf", folder / "corpus", target="role", out=folder / "no-model")
    with pytest.raises(UsageError, match="has neither a mafioso"):
        liescope.fit(folder / "run")
    with pytest.raises(UndeclaredGame, match="'letters' has no prompts"):
        liescope.label(folder / "run", "scripted:bold", out=folder / "judged")


def test_the_card_and_the_game_speak_in_its_importers_words(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = (folder / "corpus" / "README.md").read_text(encoding="utf-8")
    assert "**letters** (40): Three players write letters to each other." in card
    assert "40 games keep the official split" in card
    assert cli.main(["show", str(folder / "run"), "g-1"]) == 0
    shown = capsys.readouterr().out
    assert all(words in shown for words in ("role not known", "(to ", "winner not known: the source does not say"))
