"""Whole runs with a model in this process."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liescope.common.errors import BadData, BudgetSpent, MissingExtra, PlayerFailed, UnknownName, UsageError
from liescope.games import Ask, AskKind, Mafia, MafiaSpec, Reply, start
from liescope.games.core import Phase
from liescope.generate.players.kept_states import keep_states, read_states
from liescope.generate.players.local import local_player
from liescope.generate.players.local.loading import Generated, Loaded, PromptRow, read_spec
from liescope.generate.players.local.local_player import LocalPlayer, open_local
from liescope.generate.players.player_protocol import Attempt, PlayerContext
from liescope.generate.players.player_registry import open_player
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from tests.generate.players.local import small_model

OPTIONS = "max_tokens=16"


def events(run: Path) -> list[Any]:
    with Journal.open(run) as journal:
        return sorted(((game.game_id, game.events) for game in journal.records()), key=lambda pair: pair[0])


def table(**options: Any) -> tuple[PlayerContext, list[Attempt]]:
    logged: list[Attempt] = []
    return PlayerContext(log=logged.append, game="mini-mafia", **options), logged


def opened(argument: str, context: PlayerContext | None = None) -> LocalPlayer:
    """The player, with its model loaded."""
    player = open_local(argument, context or table()[0])
    asyncio.run(player.prepare())
    return player


def ask_once(player: LocalPlayer, kind: AskKind = AskKind.SPEAK) -> Reply:
    session = start(
        lambda: Mafia(MafiaSpec(mafiosos=1, detectives=1, villagers=2, scripted_night=True, days=1), 0, "g")
    )
    while session.asks[0].kind is not kind:
        session.send(tuple(Reply(text="Hm.") for _ in session.asks))
    ask = session.asks[0]

    async def answered() -> Reply:
        try:
            return await player.answer(ask, session.game.view(ask.seat))
        finally:
            await player.close()

    return asyncio.run(answered())


Saying = Callable[..., list[PromptRow]]


@pytest.fixture
def saying(monkeypatch: pytest.MonkeyPatch) -> Saying:
    """saying(text, ended=…): models write this text; what they were asked."""

    def made(text: str, ended: bool = True) -> list[PromptRow]:
        asked: list[PromptRow] = []

        def wrote(loaded: Loaded, rows: Sequence[PromptRow]) -> list[Generated]:
            asked.extend(rows)
            ids = np.array(loaded.tokenizer(text, add_special_tokens=False)["input_ids"], dtype=np.int64)
            return [Generated(ids, ended) for _ in rows]

        monkeypatch.setattr(local_player, "write", wrote)
        return asked

    return made


def test_a_run_is_the_same_however_its_asks_were_batched_and_wherever_it_stopped(model: Path, tmp_path: Path) -> None:
    plan: dict[str, Any] = {"players": [f"local:{model}?{OPTIONS}"], "games": 1, "assess": True, "max_fallbacks": 1}
    whole = play("mini-mafia", out=tmp_path / "whole", **plan)
    assert whole.complete
    share = whole.tally.tokens // 4
    parts = tmp_path / "parts"
    stops, spent = 0, 0
    while not (part := play("mini-mafia", out=parts, concurrency=3, max_tokens=spent + share, **plan)).complete:
        assert isinstance(part.tally.stop, BudgetSpent)
        stops, spent = stops + 1, part.tally.tokens
    assert stops >= 2
    assert events(parts) == events(tmp_path / "whole")
    assert part.tally.tokens == whole.tally.tokens


def test_requests_and_tokens_are_recorded(model: Path, saying: Saying) -> None:
    context, logged = table()
    saying('"I trust Bob."')
    reply = ask_once(opened(f"{model}?temperature=0.5&top_k=40&max_tokens=50", context))
    (attempt,) = logged
    assert reply.text == "I trust Bob."
    assert attempt.raw == '"I trust Bob."'
    assert (attempt.cost, attempt.problem) == (None, "")
    json.dumps(attempt.request)
    wanted = {"temperature": 0.5, "top_p": 1.0, "top_k": 40, "max_tokens": 50, "seed": 0}
    assert attempt.request.items() >= wanted.items()
    prompt = attempt.request["messages"][0]["content"]
    assert "You are taking part in one game of Mafia" in prompt
    assert attempt.prompt_tokens is not None
    assert attempt.prompt_tokens > 100


@pytest.mark.parametrize("written", ['<think>Bob lies.</think>\n"I trust Bob."', '"I trust Bob."\nBob lies.'])
def test_reasoning_is_private(model: Path, saying: Saying, written: str) -> None:
    saying(written)
    reply = ask_once(opened(str(model)))
    assert (reply.text, reply.private["reasoning"]) == ("I trust Bob.", "Bob lies.")


def test_a_reply_that_was_cut_off_says_so(model: Path, saying: Saying) -> None:
    context, logged = table()
    saying('"I trust', ended=False)
    assert "cut off at the token limit" in ask_once(opened(str(model), context)).notes
    saying("", ended=False)
    empty = ask_once(opened(str(model), context))
    assert "cut off at the token limit" in empty.problem
    assert logged[1].problem == empty.problem


def test_the_template_is_told_whether_to_think(model: Path, loaded: Loaded, saying: Saying) -> None:
    asked = saying("Hm.")
    for think in ("true", "false"):
        ask_once(opened(f"{model}?think={think}"))
    thinks, not_so = asked
    assert loaded.tokenizer.decode(thinks.ids).endswith("assistant\n")
    assert loaded.tokenizer.decode(not_so.ids).endswith("<think></think>")
    assert thinks.most == not_so.most + 2048


def test_a_model_without_a_template_reads_the_prompt_as_it_is(tmp_path: Path) -> None:
    plain = small_model.make(tmp_path / "plain", chat="")
    context, logged = table()
    ask_once(opened(f"{plain}?{OPTIONS}", context))
    assert logged[0].prompt_tokens is not None


def test_a_prompt_longer_than_the_model_reads_fails_its_game_with_the_numbers(tmp_path: Path) -> None:
    short = small_model.make(tmp_path / "short", context=64)
    with pytest.raises(PlayerFailed, match=r"the prompt has [\d,]+ tokens, and the model takes 64 at most"):
        ask_once(opened(str(short)))


def test_hidden_states_are_kept_for_every_reply(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a draw depends on how the model is named, and an empty reply has no states
    Path("model").symlink_to(model)
    kept, run = Path("states"), tmp_path / "run"
    play(
        "mini-mafia", players=[f"local:model?{OPTIONS}&states=1,2&states_to={kept}"], games=1, out=run, max_fallbacks=1
    )
    found = list(read_states(kept))
    with Journal.open(run) as journal:
        statements = {
            (game.game_id, event.actor, event.day, event.phase.value, event.round)
            for game in journal.records()
            for event in game.events
            if event.kind.value in ("statement", "silence")
        }
    spoken = [one for one in found if one.kind == "speak"]
    assert {(one.game_id, one.speaker, one.day, one.phase, one.round) for one in spoken} == statements
    assert len(spoken) == len(statements)
    np.testing.assert_allclose(spoken[0].mean, spoken[0].states.astype(np.float32).mean(0))
    assert all(one.states.shape == (len(one.tokens), 2, 32) and one.layers == (1, 2) for one in found)
    damaged = next(kept.glob("*/*.safetensors"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.raises(BadData, match="cannot be read"):
        list(read_states(kept))


def test_the_states_of_an_answer_begin_after_the_reasoning(loaded: Loaded, tmp_path: Path) -> None:
    def ids(text: str) -> np.ndarray:
        return np.array(loaded.tokenizer(text, add_special_tokens=False)["input_ids"])

    thought, said = ids("<think>Bob lies: I must not.</think>\n"), ids('"I trust Bob."')
    both = np.concatenate([thought, said])
    assert [loaded.answer_at(one) for one in (both, said, thought)] == [len(thought), 0, len(thought)]
    states = np.arange(len(both) * 2, dtype=np.float16).reshape(-1, 1, 2)
    ask = Ask("../g", 3, "A/B", AskKind.SPEAK, 1, Phase.DISCUSSION, 2)
    keep_states(tmp_path / "states", ask, (5,), both, states, len(thought))
    keep_states(tmp_path / "states", replace(ask, step=4), (5,), thought, states[: len(thought)], len(thought))
    (kept,) = read_states(tmp_path / "states")
    assert (kept.game_id, kept.speaker, kept.step, kept.layers) == ("../g", "A/B", 3, (5,))
    np.testing.assert_allclose(kept.mean, states[len(thought) :].astype(np.float32).mean(0))
    assert [path.name for path in tmp_path.iterdir()] == ["states"]


def test_players_that_draw_differently_share_one_model(model: Path) -> None:
    context, _ = table()
    players = [opened(f"{model}?temperature={value}", context) for value in (0.5, 1)]
    assert players[0]._batcher is players[1]._batcher
    for player in players:
        asyncio.run(player.close())
    assert opened(str(model), context)._batcher is not players[0]._batcher


@pytest.mark.parametrize(
    ("argument", "error", "words"),
    [
        ("", UsageError, "needs a model"),
        ("nowhere/at/all", UsageError, "no such folder"),
        ("{model}?heat=1", UnknownName, "heat"),
        ("{model}?temperature=warm", UsageError, "temperature must be a number"),
        ("{model}?device=cuda:99", UsageError, "no device cuda:99"),
        ("{model}?device=fridge", UsageError, "device: "),
        ("{model}?states=1", UsageError, "go together"),
        ("{model}?states=9&states_to=x", UsageError, "layers 1 to 2"),
    ],
)
def test_a_spec_that_does_not_work_is_said_at_the_start(model: Path, argument: str, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        asyncio.run(open_player(f"local:{argument.format(model=model)}", table()[0]).prepare())


@pytest.mark.parametrize("name", ["{folder}", "{folder}/missing", "./missing"])
def test_a_folder_without_a_model_is_refused_before_any_library_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UsageError, match=r"cannot be loaded: .*give the Hub id of a causal language model"):
        open_player(f"local:{name.format(folder=tmp_path)}", table()[0])


def test_a_model_that_is_more_than_data_is_refused(model: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(model, tmp_path / "code"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"auto_map": {"AutoModelForCausalLM": "code.Model"}}))
    with pytest.raises(BadData, match="auto_map"):
        opened(str(folder))
    pickled = Path(shutil.copytree(model, tmp_path / "pickled"))
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(BadData, match="cannot be read"):
        opened(str(pickled))


def test_without_the_extra_the_pip_command_is_said(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"transformers.*\[train\]"):
        opened(str(model))


def test_kinds_of_asks_have_limits_of_their_own() -> None:
    spec = read_spec("m")
    most = {kind: spec.most_tokens(kind, thinks=False) for kind in AskKind}
    assert most[AskKind.VOTE] < most[AskKind.SPEAK] < most[AskKind.SELF_ASSESSMENT]
    assert all(spec.most_tokens(kind, thinks=True) > most[kind] for kind in AskKind)
    assert read_spec("m?max_tokens.speak=9").most_tokens(AskKind.SPEAK, thinks=True) == 9
