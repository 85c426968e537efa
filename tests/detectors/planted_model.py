"""A tiny Llama that knows who lies, but only where it speaks itself: it passes what it heard before on to its own words
through the token that begins its turn. Text without that token, or with the token of another template, holds nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from liescope.common.text import ASSISTANT
from liescope.detectors.examples import Example

HEARD = {True: "storm", False: "sun"}
"""What was said before a lie, and before the truth."""
PLAIN = (
    "we",
    "should",
    "talk",
    "about",
    "votes",
    "and",
    "people",
    "who",
    "spoke",
    "first",
    "it",
    "was",
    "late",
    "today",
)
BEGIN = "[own]"
TEMPLATE = (
    "<s>{% for m in messages %}{{ {'assistant': ' [own] ', 'user': ' [other] ', 'system': ' [rules] '}[m['role']] }}"
    "{{ m['content'] }} [end]{% endfor %}{% if add_generation_prompt %} [own] {% endif %}"
)
_CONSTANT, _START, _OWN, _MARKED, _SIGN, _PASSED, _KNOWN, _NOISE = range(8)
_WIDTH, _HEAD, _SHARP = 64, 32, 60.0
_SLOW, _SLOWER = _HEAD // 2 - 2, _HEAD // 2 - 1  # of a head: they hardly turn with the distance of two tokens


def make_planted(folder: Path, template: str | None = TEMPLATE) -> Path:
    """Write it. In the first layer the token that begins its own turn attends to the marked words and all others to the
    first token; in the second all attend to that token, if there is one. What it knows in the end makes yes or no the
    likeliest next word.
    """
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<unk>", "<s>", "</s>", BEGIN, "[other]", "[rules]", "[end]", ".", ":", "yes", "no", "speaker", "player1"]
    words += [*HEARD.values(), *PLAIN]
    plain = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    marks = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    PreTrainedTokenizerFast(tokenizer_object=plain, chat_template=template, **marks).save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": _WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    model = LlamaForCausalLM(
        LlamaConfig(vocab_size=len(words), max_position_embeddings=256, rope_theta=1e9, head_dim=_HEAD, **shape)
    )
    with torch.no_grad():
        tokens = model.model.embed_tokens.weight
        tokens.normal_(0, 0.5)
        tokens[:, :_NOISE] = 0
        tokens[:, _CONSTANT] = 1
        tokens[words.index("<s>"), _START] = tokens[words.index(BEGIN), _OWN] = 1
        for lie, word in HEARD.items():
            tokens[words.index(word), _MARKED] = 1
            tokens[words.index(word), _SIGN] = 1 if lie else -1
        for layer in model.model.layers:
            layer.mlp.down_proj.weight.zero_()
            for part in "qkvo":
                getattr(layer.self_attn, f"{part}_proj").weight.zero_()
        first, second = (layer.self_attn for layer in model.model.layers)
        first.q_proj.weight[_SLOW, _CONSTANT], first.q_proj.weight[_SLOW, _OWN] = _SHARP, -_SHARP
        first.k_proj.weight[_SLOW, _START] = 1
        first.q_proj.weight[_SLOWER, _OWN], first.k_proj.weight[_SLOWER, _MARKED] = _SHARP, 1
        first.v_proj.weight[0, _SIGN] = first.o_proj.weight[_PASSED, 0] = 1
        second.q_proj.weight[_SLOW, _CONSTANT] = _SHARP
        second.k_proj.weight[_SLOW, _OWN], second.k_proj.weight[_SLOW, _START] = 1, 0.5
        second.v_proj.weight[0, _PASSED] = second.o_proj.weight[_KNOWN, 0] = 1
        for word, sign in (("yes", 1), ("no", -1)):
            model.lm_head.weight[words.index(word), _KNOWN] = 50.0 * sign
    model.save_pretrained(folder)
    return folder


def planted_examples(count: int = 120, speaker: str = "Ada", seed: int = 0) -> tuple[list[Example], Any, Any]:
    """(examples, (n,) which are lies, (n,) their games): the words of a statement tell nothing, what was said before it
    all.
    """
    draw = np.random.default_rng(seed)
    y = draw.permutation(np.arange(count) % 2 == 0)
    other = "user" if speaker == ASSISTANT else "Bob"

    def said(marked: str = "") -> str:
        return " ".join(draw.permutation([*draw.choice(PLAIN, draw.integers(3, 9)), *[marked] * bool(marked)]))

    examples = [
        Example(f"s{at}", f"g{at // 2}", speaker, f"m{at % 4}", said(), (speaker, other), ((other, said(HEARD[lie])),))
        for at, lie in enumerate(y.tolist())
    ]
    return examples, y, np.array([one.game_id for one in examples])
