"""The hidden states that a vLLM server writes beside its answers become those of a reply, as those of local players."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liescope.common.errors import BadData, UsageError
from liescope.games.core import AskKind
from liescope.generate.players.kept_states import read_states

MESSAGE = '"I am a villager."'
PROMPT, REPLY, LAYERS, WIDTH = 100, 6, 2, 8


def write(path: Path, tokens: int = PROMPT + REPLY, layers: int = LAYERS) -> np.ndarray:
    """What vLLM writes: bfloat16, of the prompt and the reply."""
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    states = torch.randn(tokens, layers, WIDTH, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    save_file({"hidden_states": states, "token_ids": torch.arange(tokens)}, path)
    found: np.ndarray = states.float().numpy()
    return found


def served(stubs: Any, path: Path | str, content: str = MESSAGE, **message: Any) -> Any:
    answer = stubs.says(content, **message)
    return stubs.Answer({**answer.body, "kv_transfer_params": {"hidden_states_path": str(path)}})


def test_the_states_of_a_reply_are_kept_without_those_of_its_prompt(serve, stubs, desk, asked, tmp_path: Path) -> None:
    path = tmp_path / "req-1.safetensors"
    states = write(path)
    stub = serve(served(stubs, path))
    one = desk(f"tiny@{stub.url}?states=12,20&states_to={tmp_path}/kept")
    (reply,) = one.ask(asked[AskKind.SPEAK])
    assert reply.text == "I am a villager."
    assert stub.requests[0].body["kv_transfer_params"] == {"include_output_tokens": True}
    (kept,) = read_states(tmp_path / "kept")
    ask, _ = asked[AskKind.SPEAK]
    assert (kept.game_id, kept.speaker, kept.kind, kept.day) == (ask.game, ask.seat, "speak", ask.day)
    assert (kept.layers, kept.model, kept.answer) == ((12, 20), "tiny", 0)
    assert kept.tokens.tolist() == list(range(PROMPT, PROMPT + REPLY))
    np.testing.assert_allclose(kept.states, states[PROMPT:], rtol=1e-2)
    assert path.exists()


def test_a_file_that_is_still_written_is_waited_for(serve, stubs, desk, asked, tmp_path: Path) -> None:
    path, lock = tmp_path / "late.safetensors", (tmp_path / "late.safetensors.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    path.write_bytes(b"half")

    def finish() -> None:
        write(path)
        lock.close()

    stub = serve(served(stubs, path))
    writer = threading.Timer(0.2, finish)
    writer.start()
    desk(f"tiny@{stub.url}?states=1,2&states_to={tmp_path}/kept").ask(asked[AskKind.SPEAK])
    writer.join()
    assert len(list(read_states(tmp_path / "kept"))) == 1


def test_a_reply_that_begins_with_reasoning_is_a_reply_without_states(
    serve, stubs, desk, asked, tmp_path: Path
) -> None:
    path = tmp_path / "req.safetensors"
    write(path)
    for answer in (
        served(stubs, path, f"<think>Bob lies.</think>\n{MESSAGE}"),
        served(stubs, path, reasoning_content="Bob lies."),
    ):
        one = desk(f"tiny@{serve(answer).url}?states=1,2&states_to={tmp_path}/kept")
        (reply,) = one.ask(asked[AskKind.SPEAK])
        assert reply.text == "I am a villager."
        assert not list(read_states(tmp_path / "kept"))


@pytest.mark.parametrize(
    ("shape", "error", "words"),
    [
        (None, UsageError, "keeps no hidden states"),
        ((PROMPT + REPLY, 3), UsageError, "names 2 layers; name those that the server extracts"),
        ((PROMPT, LAYERS), UsageError, "no states of the reply, only of its prompt"),
        ("text", BadData, "cannot be read"),
    ],
)
def test_a_server_that_keeps_none_or_others_is_told_at_the_first_reply(
    serve, stubs, desk, asked, tmp_path: Path, shape: Any, error: type[Exception], words: str
) -> None:
    path = tmp_path / "req.safetensors"
    if shape == "text":
        path.write_text("not tensors")
    elif shape:
        write(path, *shape)
    answer = served(stubs, path) if shape else stubs.says(MESSAGE)
    with pytest.raises(error, match=words):
        desk(f"tiny@{serve(answer).url}?states=1,2&states_to={tmp_path}/kept").ask(asked[AskKind.SPEAK])


def test_layers_and_their_folder_go_together(desk) -> None:
    for one in ("states=1", "states_to=kept"):
        with pytest.raises(UsageError, match=r"states .layers. and states_to .a folder. go together"):
            desk(f"tiny@http://localhost:1/v1?{one}")
