"""A Llama with random weights and a tokenizer that knows the words of the prompts, made on the spot."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

CHAT = (
    "{% for m in messages %}<|turn|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor %}<|turn|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
)


def make(folder: Path, chat: str = CHAT, context: int = 4096) -> Path:
    """Write the model; it speaks gibberish."""
    import torch
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    signs = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=_tokenizer(), model_max_length=context, **signs)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|turn|>", "<|end|>"]})
    tokenizer.chat_template = chat or None
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=context,
        initializer_range=0.2,
        pad_token_id=0,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(pad_token_id=0, eos_token_id=tokenizer.eos_token_id)
    model.save_pretrained(folder)
    return folder


@cache
def _tokenizer() -> Any:
    """A byte-level BPE of 600 tokens, from the templates of prompts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    from liescope.generate.players.prompts.render import read_templates

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator(read_templates("full", "mini-mafia").sources.values(), trainer)
    return made
