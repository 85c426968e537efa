"""Prompts from a file of batches: every text of theirs reaches the players, and what cannot be filled in is named."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from liescope.cli import main
from liescope.common.errors import BadData, UsageError
from liescope.games.core import CHOICES, AskKind
from liescope.generate.importers.paper_prompts import import_prompts
from liescope.generate.players.prompts.render import load_prompts, sample_asks

TEMPLATES = {
    "base_prompt": "<s>A {{tiny}} test {{% x %}}.\nPlayers: {composition}; {name} beside {other_players}.\n"
    "Seen:\n{memory}\n--\n{action_specific_content}</s>",
    "discussion_suffix": "Talk {round_num} of {discussion_rounds}, {name}.",
    "voting_suffix": "Vote among {candidates}.",
    "night_action_suffix": "Dark {round_num}: {action} one of {candidates}.",
}


def batches(folder: Path, *sets: object) -> Path:
    file = folder / "own.jsonl.gz"
    lines = [json.dumps({"batch_id": f"b{n}", "prompt_config": {"templates": one}}) for n, one in enumerate(sets)]
    file.write_bytes(gzip.compress("\n".join(lines).encode()))
    return file


def test_their_texts_are_read_word_for_word_with_our_values_in_place(tmp_path: Path) -> None:
    file, out = batches(tmp_path, TEMPLATES, dict(reversed(TEMPLATES.items()))), tmp_path / "prompts"
    assert main(["import", "prompts", str(file), "--out", str(out)]) == 0
    prompts, kinds = load_prompts(out, "mini-mafia"), set()
    for ask, view in sample_asks("mini-mafia"):
        if ask.kind not in CHOICES | {AskKind.SPEAK}:
            continue
        kinds.add(ask.kind)
        text = prompts.render(ask, view).text
        others = ", ".join(name for name in view[0].data["names"] if name != ask.seat)
        head = (
            f"<s>A {{tiny}} test {{% x %}}.\nPlayers: 1 mafioso, 1 detective, 2 villagers; {ask.seat} beside {others}."
        )
        assert text.startswith(f"{head}\nSeen:\nYou are {ask.seat}")
        question = {
            AskKind.SPEAK: f"Talk {ask.round} of {ask.rounds}, {ask.seat}.",
            AskKind.VOTE: f"Vote among {', '.join(ask.options)}.",
        }.get(ask.kind, f"Dark {ask.day}: {ask.kind.value} one of {', '.join(ask.options)}.")
        assert re.search(rf"\n--\n{re.escape(question)}</s>$", text)
    assert {AskKind.SPEAK, AskKind.VOTE} <= kinds
    assert "Dark {{ day }}: {{ 'investigate' }} one" in (out / "investigate.jinja").read_text()
    assert import_prompts(file, tmp_path / "again") == ("peer_assessment", "self_assessment")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"voting_suffix": "{candidates} {mood}"}, r"voting_suffix .* uses \{mood\}, which nothing here fills in"),
        ({"base_prompt": TEMPLATES["base_prompt"] + "{memory}"}, r"uses \{memory\}"),
        ({"base_prompt": "{action_specific_content}{memory}"}, r"base_prompt .* needs \{memory\}, and"),
        ({"voting_suffix": "{candidates"}, "no Python format string"),
        ({"night_action_suffix": None}, "lack night_action_suffix"),
    ],
)
def test_what_cannot_be_mapped_is_named_and_nothing_is_written(
    change: dict[str, object], words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadData, match=words):
        import_prompts(batches(tmp_path, {**TEMPLATES, **change}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_without_one_set_is_refused_and_a_folder_of_other_things_kept(tmp_path: Path) -> None:
    for sets, words in (((TEMPLATES, {**TEMPLATES, "more": "x"}), "2 different sets"), (([],), "line 1, is no batch")):
        with pytest.raises(BadData, match=words):
            import_prompts(batches(tmp_path, *sets), tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not a folder without files"):
        import_prompts(batches(tmp_path, TEMPLATES), tmp_path / "mine")
