"""Names of models: which are of one, and what is said of those that may be."""

from __future__ import annotations

from itertools import combinations

import pytest

from liescope.common.model_names import one_name, same_model, spellings, taken_as_one

SAME = [
    ("gpt-4.1-mini", "gpt-4.1_mini", "openai/gpt-4.1-mini", "openai:gpt-4.1-mini@https://a.example/v1", "GPT-4.1 mini"),
    ("gpt-4o-mini", "gpt-4o-mini-2024-07-18", "gpt-4o-mini-latest"),
    ("claude-sonnet-4", "claude-sonnet-4-20250514", "anthropic/claude-sonnet-4@20250514"),
    ("claude-3-5-sonnet-20241022", "claude-3.5-sonnet"),
    (
        "Mistral-7B-Instruct-v0.2-Q4_K_M.gguf",
        "mistralai/Mistral-7B-Instruct-v0.2",
        "mistral-7b-instruct-v0.2.Q8_0.gguf",
        "Mistral-7B-Instruct-v0.2-AWQ",
        "models/mistral-7b-instruct-v0.2.IQ3_XXS.gguf",
    ),
    ("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct-fp8"),
    ("Qwen2.5-7B-Instruct-Q4_K_M.gguf", "Qwen/Qwen2.5-7B-Instruct", "qwen-2.5-7b-instruct-bnb-4bit"),
    ("deepseek-chat", "deepseek-ai/deepseek-chat"),
    *(
        (name,)
        for name in ("grok-3-mini", "gpt-4.1-nano", "gpt-4.1", "Qwen2.5-7B", "Llama-3.1-70B-Instruct", "model-a")
    ),
    *((name,) for name in ("model-b", "scripted:bold", "scripted:novice", "unknown", "unknown-model")),
]


@pytest.mark.parametrize("names", SAME, ids=lambda names: names[0])
def test_providers_quantisation_dates_and_separators_tell_no_models_apart(names: tuple[str, ...]) -> None:
    assert all(same_model(one, other) for one, other in combinations(names, 2))
    assert len(set(one_name(names).values())) == 1
    assert len(taken_as_one(names)) == (len(names) > 1)


def test_sizes_versions_and_kinds_do() -> None:
    for own, others in combinations(SAME, 2):
        assert not any(same_model(one, other) for one in own for other in others)


def test_a_bare_family_may_be_any_model_of_it_and_is_said() -> None:
    two = ["mistral.gguf", "Mistral-7B-Instruct-v0.2-Q4_K_M.gguf", "Mistral-Small-24B"]
    assert spellings("mistral.gguf", two) == tuple(two)
    assert one_name(two)["mistral.gguf"] == "mistral.gguf"
    (apart,) = taken_as_one(two)
    assert apart.startswith("mistral.gguf may be any of")
    (words,) = taken_as_one(two[:2])
    assert all(name in words for name in two[:2])
    assert not same_model("mistral.gguf", "mistralite-7b")
