"""A language model in this process as a judge: a tiny one, made to say yes the likelier the more often it reads certain
words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import liescope
from liescope.cli import main
from liescope.common.errors import UsageError
from liescope.detectors.detector import silent
from liescope.detectors.judge import local_model
from liescope.detectors.judge.asking import Answers, ask_judge
from liescope.detectors.judge.prompt import FRUITLESS, read_prompt
from liescope.generate.players.run_limits import Limits
from tests.detectors.conftest import TELLS

pytestmark = pytest.mark.usefixtures("own_cache")

CHAT = "{% for m in messages %}user : {{ m['content'] }} {% endfor %}assistant"
KNOWN = ["<unk>", "<s>", "</s>", "<think>", "</think>", "user", "assistant", "Yesterday"]
MARKS = sorted(TELLS[True])
THINKS = {"assistant": "<think>", "<think>": MARKS[0], MARKS[0]: "</think>", "Yes": "</s>", "No": "</s>"}
SAID = [f"Bob: {'well ' * number}{MARKS[0]} {'so ' * (number % 4)}." for number in range(9)]


def planted(
    folder: Path,
    chat: str = CHAT,
    labels: Sequence[str] = ("Yes", "No"),
    follows: Mapping[str, str] | None = None,
    context: int = 400,
) -> Path:
    """A Llama whose only layer averages over what it has read: the odds of yes are the share of the marks. follows:
    the token that it writes after another one.
    """
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = [*KNOWN, *labels, *MARKS]
    at = {word: number for number, word in enumerate(words)}
    plain = Tokenizer(models.WordLevel(at, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<think>", "</think>"]})
    tokenizer.chat_template = chat or None
    tokenizer.save_pretrained(folder)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    config = LlamaConfig(vocab_size=len(words), max_position_embeddings=context, eos_token_id=at["</s>"], **shape)
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "norm" in name else 0.0)
        attention, embedded, out = (
            model.model.layers[0].self_attn,
            model.model.embed_tokens.weight,
            model.lm_head.weight,
        )
        attention.o_proj.weight.copy_(torch.eye(32))
        attention.v_proj.weight[:2, :2] = torch.eye(2)
        embedded[:, 1] = 1.0
        embedded[at[MARKS[0]] :, 0] = 9.0
        for word, label in (("Yes", 0), ("No", 1)):
            out[at.get(word, 0), label] = 400.0 if word == "Yes" else 2.0
        out[at["Yesterday"], 1] = 9.0  # begins like a label and is none
        for dimension, (last, following) in enumerate((follows or {}).items(), 2):
            embedded[at[last], dimension], out[at[following], dimension] = 5.0, 3000.0
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def wise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted(tmp_path_factory.mktemp("models") / "wise")


def asked(spec: str, folder: Path, said: Sequence[str] = SAID) -> Answers:
    questions = [read_prompt().about_statement(one, "role") for one in said]
    return ask_judge(spec, questions, Limits(cache=folder), silent)


def odds(spec: str, folder: Path, said: Sequence[str] = SAID) -> list[float]:
    found = asked(spec, folder, said).answers
    return [float(np.log(found[at][0] / (1 - found[at][0]))) for at in range(len(said))]


def test_a_judge_in_this_process_is_trained_scored_and_evaluated_and_asks_no_one(
    wise: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, out = f"local:{wise}", tmp_path / "m"
    command = ["train", "judge", "--corpus", str(corpus), "--model", spec, "--fit-limit", "60", "--out", str(out)]
    assert main(command) == 0
    assert "requests" not in capsys.readouterr().err
    found = liescope.evaluate(out, corpus, split="test", judge=spec)
    aurocs = {row.scorer: row.value for row in found.rows if row.metric == "auroc" and row.where == "test"}
    assert aurocs["m"] == pytest.approx(aurocs["judge:wise"], abs=0.02)
    assert aurocs["judge:wise"] > 0.75
    (facts,) = found.judges
    assert (facts.how, facts.requests, facts.cost) == ("log-probability", 0, None)
    high, low = liescope.score(out, [f"I say {MARKS[0]} and {MARKS[1]}", "I say this and that"])["score"]
    assert high > low + 0.2


def test_answers_do_not_depend_on_the_batch(wise: Path, tmp_path: Path) -> None:
    alone, together = (odds(f"local:{wise}{more}", tmp_path / f"{len(more)}") for more in ("?batch=1", ""))
    assert len({round(one, 4) for one in together}) > 5
    assert alone == pytest.approx(together, abs=1e-3)


def test_answers_are_kept_and_no_model_is_loaded_for_them(
    wise: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = asked(f"local:{wise}", tmp_path)
    monkeypatch.setattr(local_model.loading, "load", lambda _: pytest.fail("it was loaded"))
    monkeypatch.setattr(local_model, "_held", {})
    assert asked(f"local:{wise}", tmp_path).answers == first.answers
    # Not those of another model in the same place.
    other = planted(tmp_path / wise.name, CHAT.replace("user", MARKS[0]))
    with pytest.raises(pytest.fail.Exception, match="it was loaded"):
        asked(f"local:{other}", tmp_path)


def test_the_prompt_is_read_as_the_chat_template_writes_it(wise: Path, tmp_path: Path) -> None:
    plain = odds(f"local:{wise}", tmp_path / "c")
    marked = planted(tmp_path / "marked", CHAT.replace("user", f"{MARKS[0]} {MARKS[0]}"))
    assert (np.array(odds(f"local:{marked}", tmp_path / "c")) > np.array(plain) + 0.5).all()
    bare = planted(tmp_path / "bare", "")
    assert len(odds(f"local:{bare}", tmp_path / "c")) == len(SAID)


def test_a_model_that_thinks_first_is_read_after_its_thoughts(tmp_path: Path) -> None:
    chat = CHAT + "{% if enable_thinking is defined and not enable_thinking %} <think> </think>{% endif %}"
    spec = f"local:{planted(tmp_path / 'thinker', chat, follows=THINKS)}"
    at_once, thought = odds(spec, tmp_path), odds(f"{spec}?think=true", tmp_path)
    assert (np.array(thought) > np.array(at_once) + 0.3).all()  # its thought holds a mark


@pytest.mark.parametrize("more", ["?think=true&max_tokens=6", ""])
def test_a_question_without_an_answer_is_counted_and_twenty_of_them_end_it(more: str, tmp_path: Path) -> None:
    endless = {**THINKS, MARKS[0]: MARKS[0]}
    spec = f"local:{planted(tmp_path / 'slow', follows=endless, context=200)}{more}"
    long = [f"Bob: {'well ' * 200} {number}" for number in range(FRUITLESS)]
    why = "did not end within 6 tokens" if more else "longer than the 200 tokens"
    said = SAID if more else [*SAID, *long]
    found = asked(spec, tmp_path, said)
    assert [reason for reason in found.failed if why in reason]
    assert found.failed.total() == len(said) - len(found.answers) == (len(SAID) if more else FRUITLESS)
    with pytest.raises(UsageError, match=f"slow.* answered none of {FRUITLESS} questions: .*{why}"):
        asked(spec, tmp_path / "new", long if not more else [f"{one} {n}" for one in SAID for n in range(3)])


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("local:", "needs a model"),
        ("local:no/such/folder", "no such folder"),
        ("local:{}?temperature=1", "temperature is an option of players"),
        ("local:{}?persona=liar.txt", "persona is an option of players"),
        ("scripted:steady", "such as openai:gpt-4.1-mini or local:FOLDER"),
    ],
)
def test_what_is_no_judge_is_said_before_the_corpus_is_opened(
    spec: str, said: str, wise: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "judge", "--corpus", str(tmp_path), "--model", spec.format(wise), "--out", str(tmp_path / "m")]
    assert main(command) == 1
    assert said in capsys.readouterr().err


def test_a_vocabulary_without_the_labels_is_said(tmp_path: Path) -> None:
    mute = planted(tmp_path / "mute", labels=())
    with pytest.raises(UsageError, match="mute begins the words for deceptive and for honest with the same token"):
        asked(f"local:{mute}", tmp_path)
