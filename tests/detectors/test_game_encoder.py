"""The encoder that reads whole games: what it reads when not all of a game fits, and what it is taught."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from liescope.common.errors import UsageError
from liescope.detectors.detector_registry import make
from liescope.detectors.examples import labelled, read_statements
from liescope.detectors.fine_tuning.fine_tuned import held_out_rows
from liescope.detectors.kinds.game_encoder import (
    FALSE,
    MARKS,
    TRUE,
    UNTOLD,
    CandidateTable,
    add_marks,
    collate,
    fit_views,
    game_text,
    table_loss,
)
from liescope.detectors.kinds.whole_game import lesson
from liescope.detectors.textualize import GAP, TextConfig
from liescope.detectors.view.candidate import CLAIMS, FIELDS, Candidate
from liescope.detectors.view.claim_graph import claim_graph
from liescope.detectors.view.transcript import SAID, VOTED, GameMoment, Transcript, TranscriptTurn, read_transcripts
from tests.detectors.conftest import NAMES, SHARED, Corpus, Rows

LIMIT = 48
_said = st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from([*SHARED, *NAMES, "."]), max_size=12).map(" ".join))


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder: Path) -> Any:
    from transformers import AutoModel, AutoTokenizer

    found, model = AutoTokenizer.from_pretrained(tiny_encoder), AutoModel.from_pretrained(tiny_encoder)
    before = model.get_input_embeddings().num_embeddings
    add_marks(found, model)
    assert model.get_input_embeddings().num_embeddings == len(found) == before + len(MARKS)
    return found


def view_of(player: str, said: list[tuple[str, str]], *fields: str) -> Any:
    game = Transcript(
        "g", NAMES, tuple(TranscriptTurn(SAID, who, text, key=f"{at}") for at, (who, text) in enumerate(said))
    )
    return game_text(Candidate(GameMoment(game), player), claim_graph(game), fields, 10, True, False)


@given(said=st.lists(_said, max_size=9))
def test_the_rest_goes_first_then_what_is_said_about_the_candidate_and_own_words_never(
    tokenizer: Any, said: list[tuple[str, str]]
) -> None:
    text = view_of("Bob", said, *FIELDS)
    (row,), cut = fit_views([text], tokenizer, LIMIT)
    read, whole = row["input_ids"], tokenizer(text.whole)["input_ids"]
    own = tokenizer(text.own)["input_ids"]
    assert len(read) == min(LIMIT, len(whole))
    assert cut == (len(own) > LIMIT)
    if not cut:
        assert read[: len(own) - 1] == own[:-1]
        assert read[:-1] == whole[: len(read) - 1]
    about, rest = (tokenizer.convert_tokens_to_ids(MARKS[name]) for name in ("about", "rest"))
    assert rest not in read or read.count(about) == whole.count(about)


def test_the_latest_words_of_others_are_kept_and_the_middle_of_ones_own_is_left_out(tokenizer: Any) -> None:
    others = [("Alice", "look at this"), ("Diana", "before deciding")]
    assert view_of("Bob", others, *FIELDS).others == "[REST] before deciding [REST] look at this"
    text = view_of("Bob", [("Bob", f"evidence {'and ' * 90} night"), *others], *FIELDS)
    (row,), cut = fit_views([text], tokenizer, LIMIT)
    read = tokenizer.decode(row["input_ids"])
    assert cut == 1
    assert "evidence" in read
    assert "night" in read
    assert GAP.strip() not in text.whole


def test_claims_votes_and_roles_of_words_are_read_as_asked() -> None:
    said = TranscriptTurn(SAID, "Alice", "I investigated Bob. He is the mafioso. [OWN] trust me")
    game = Transcript("g", NAMES, (said, TranscriptTurn(VOTED, "Diana", target="Bob")), "mini-mafia")
    read = {
        votes: game_text(Candidate(GameMoment(game), "Bob"), claim_graph(game), (CLAIMS, "about"), 10, votes, True)
        for votes in (True, False)
    }
    assert "[CLAIMS]" in read[True].whole
    assert "about investigation evil" in read[True].whole
    assert "about voted" in read[True].whole
    assert "voted" not in read[False].whole
    assert "mafioso" not in read[True].whole.partition("[ABOUT]")[2]
    assert "[OWN]" not in read[True].whole


def test_with_one_deceiver_the_loss_is_that_of_a_softmax_at_the_table() -> None:
    logits = torch.randn(7, 1, requires_grad=True)
    first, second = (
        CandidateTable([{}] * 4, [FALSE, TRUE, FALSE, FALSE], 1),
        CandidateTable([{}] * 3, [TRUE, FALSE, UNTOLD], -1),
    )
    labels = torch.tensor([(n, t.deceivers, a) for n, t in enumerate((first, second)) for a in t.answers])
    loss = table_loss(SimpleNamespace(logits=logits), labels)
    loss.backward()
    ours = logits.grad
    again = logits.detach().clone().requires_grad_()
    softmax = -torch.log_softmax(again[:4, 0], 0)[1]
    alone = torch.nn.functional.binary_cross_entropy_with_logits(
        again[4:6, 0], torch.tensor([1.0, 0.0]), reduction="sum"
    )
    expected = (softmax + alone) / 7
    expected.backward()
    assert ours is not None
    assert torch.isclose(loss, expected)
    assert torch.allclose(ours, again.grad, atol=1e-6)


def test_the_epoch_is_chosen_on_tables_of_a_model_that_sits_at_none_of_the_others(make_corpus: Corpus) -> None:
    corpus = make_corpus(games=60, models=[f"model-{letter}" for letter in "abcdefghij"])
    data = labelled(read_statements(corpus, ["train"]), "role", 0, read_transcripts(corpus))
    learn, check = held_out_rows(data.examples, data.y, data.groups, 0.1, 0, whole_games=True)
    at = [{data.examples[i].speaker_model for i in rows} for rows in (learn, check)]
    assert at[1] - at[0]
    assert not {*data.groups[learn]} & {*data.groups[check]}
    assert len(lesson([data.examples[i] for i in check], data.y[check], 0).candidates) == 4 * len(
        np.unique(data.groups[check])
    )


def test_where_nobody_says_how_many_deceive_the_mean_probability_is_their_share(
    make_corpus: Corpus, tiny_encoder: Path
) -> None:
    corpus = make_corpus(games=20)
    data = labelled(read_statements(corpus, ["train"]), "role", 0, read_transcripts(corpus))
    options = {"encoder": str(tiny_encoder), "max_steps": 2, "moments": 0, "held_out": 0.0}
    detector = make("game-encoder", TextConfig(), options).fit(data.examples, data.y, data.groups)
    games = {e.game_id: e.seen.transcript for e in data.examples if e.seen}
    loose = [GameMoment(replace(game, deceivers=None)) for game in games.values()]
    found = [p for players in detector.player_posteriors(loose) for p in players.values()]
    assert np.mean(found) == pytest.approx(1 / 4, abs=1e-3)


def test_games_of_one_length_are_learned_together_so_that_little_is_padding(
    make_corpus: Corpus, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spread: list[int] = []

    def watched(tables: Any, tokenizer: Any) -> Any:
        longest = [max(len(row["input_ids"]) for row in table.rows) for table in tables]
        spread.append(max(longest) - min(longest))
        return collate(tables, tokenizer)

    def long(rows: Rows) -> None:
        for row in rows["statements"]:
            if int(row["game_id"].rpartition("-")[2] or 0) % 2:
                row["text"] = f"{row['text']} {' '.join(SHARED * 4)}"

    corpus = make_corpus(games=150, change=long)
    data = labelled(read_statements(corpus, ["train"]), "role", 0, read_transcripts(corpus))
    monkeypatch.setattr("liescope.detectors.kinds.game_encoder.collate", watched)
    options = {"encoder": str(tiny_encoder), "epochs": 1.0, "moments": 0, "batch_size": 2, "fields": "own"}
    make("game-encoder", TextConfig(), options).fit(data.examples, data.y, data.groups)
    assert np.mean([tokens > 16 for tokens in spread]) < 0.2  # half of them, if drawn at random


def test_fields_are_named_once_each() -> None:
    with pytest.raises(UsageError, match="name fields once each"):
        make("game-encoder", TextConfig(), {"fields": "own,own"})
