"""What people and models write: specs, options, config files and replies are read, or refused in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from liescope import cli
from liescope.common.command_options import config_parameters
from liescope.common.config_file import read_config
from liescope.games import Ask, AskKind, Phase
from liescope.games.game_registry import find_game
from liescope.games.rated_game import RatingSpec
from liescope.generate.players.openai.spec import check_url, read_spec
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.player_registry import open_player
from liescope.generate.players.run_limits import check_allowed, read_prices, read_span
from liescope.generate.runs.plan_games import make_plan
from tests.fuzz.mutations import ESCAPES, HOSTILE, INPUTS, damaged_text, tried


def outcomes(readers: list[tuple[Callable[[str], Any], str]], count: int) -> Counter[str]:
    """What reading damaged words came to: each reader with words that it can read, which are damaged once or twice."""
    found: Counter[str] = Counter()
    for seed in range(count):
        random = Random(seed)
        read, words = readers[seed % len(readers)]
        for _ in range(random.choice([1, 1, 2])):
            words = damaged_text(words, random)
        found[tried(partial(read, words))] += 1
    return found


def test_specs() -> None:
    context = PlayerContext(lambda attempt: None, "mini-mafia")
    endpoint = "gpt-4.1-mini@http://localhost:8000/v1?temperature=0.7&key_env=MY_API_KEY&json=object&max_tokens=10"
    found = outcomes(
        [
            (lambda words: open_player(words, context), "scripted:bold?m=1.5&v=0.4"),
            (read_spec, endpoint),
            (lambda words: check_url(read_spec(words).base_url), endpoint),
            (lambda words: make_plan("mini-mafia", {}, [words], "self", [(words,) * 3], 1, 1), "scripted:steady"),
        ],
        INPUTS["specs"],
    )
    assert min(found["read"], found["refused"]) > INPUTS["specs"] // 10


def test_options() -> None:
    table = find_game("mini-mafia")
    found = outcomes(
        [
            (read_prices, "gpt-4.1-mini=0.4,1.6,0.1"),
            (lambda words: read_span(words, "--give-up-after"), "1.5h"),
            (lambda words: check_allowed([words]), "MY_API_KEY@api.example.org"),
            (lambda words: table.resolve({"names": words.split(","), "rounds": 3}), "Ann,Bob,Cleo,Dan"),
            (lambda words: RatingSpec(float(words) if words.isdecimal() else 0.5, True, True), "1"),
        ],
        INPUTS["options"],
    )
    assert min(found["read"], found["refused"]) > INPUTS["options"] // 10


@pytest.mark.parametrize("option", ["--games", "--seed", "--design", "--rounds", "--names", "--share", "--price"])
def test_a_hostile_value_of_an_option_of_a_command_is_one_line(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, value in enumerate(HOSTILE):
        words = ["label", f"{tmp_path}/none"] if option == "--share" else ["play", "mini-mafia", "--games", "1"]
        code = cli.main([*words, f"{option}={value}", "--out", f"{tmp_path}/{number}"])
        printed = capsys.readouterr()
        assert code == 0 or len([line for line in printed.err.splitlines() if line.startswith("error: ")]) == 1
        assert not {*(printed.out + printed.err)} & {*ESCAPES}


def test_config_files(tmp_path: Path) -> None:
    file, command = tmp_path / "run.toml", cli.command_line(["play"]).commands["play"]

    def read(words: str) -> None:
        file.write_bytes(words.encode("utf-8", "surrogatepass"))
        read_config(file, "play", config_parameters(command))

    found = outcomes(
        [(read, '[play]\ngame = "mini-mafia"\nplayers = ["scripted:bold"]\ngames = 2\n')], INPUTS["config files"]
    )
    assert min(found["read"], found["refused"]) > INPUTS["config files"] // 10


def test_replies() -> None:
    texts = [
        '"Hello, everyone."',
        "Bob\nThey keep contradicting themselves.",
        '{"deceptive": false, "type": "none", "confidence": 0.7, "suspicion": "3/10", "reason": "ok"}',
        "**Vote:** Alice <think>hm</think>",
        '```json\n{"bid": 7}\n```',
    ]
    for seed in range(INPUTS["replies"]):
        random = Random(seed)
        kind = random.choice(list(AskKind))
        options = tuple(map(str, range(11))) if kind is AskKind.BID else ("Alice", "Bob", "Diana")
        ask = Ask("g", 0, "Charlie", kind, 1, Phase.VOTING, options=options, limit=200)
        reply = read_reply(ask, damaged_text(damaged_text(random.choice(texts), random), random))
        assert reply.problem or reply.choice or reply.text is not None or reply.assessment or reply.form is not None
