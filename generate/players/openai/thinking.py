"""A budget of tokens for reasoning (`?thinking=2048`, `?thinking=0` for none), in the words of each provider.

OpenRouter normalises it as `reasoning`; Gemini takes a `thinking_config` inside `extra_body` and then puts its thoughts
into <thought> tags; Anthropic's compatible endpoint takes its own `thinking`; Alibaba takes `enable_thinking` and
`thinking_budget`. Servers of open models read the chat template's `enable_thinking`; of these, vLLM counts
`thinking_token_budget` (it wants --reasoning-config for that), llama.cpp `thinking_budget_tokens`, and Qwen's template
under SGLang `thinking_budget`. OpenAI takes no number: there is `?reasoning_effort=`.
"""

from __future__ import annotations

from typing import Any

from liescope.common.errors import UsageError
from liescope.generate.players.openai.key_rules import OPENAI_HOST


def thinking_fields(host: str, budget: int) -> dict[str, Any]:
    """The fields of a request that set the budget, at this host. Raises UsageError where there is no such thing."""
    name = host.rpartition(":")[0] or host
    if name == OPENAI_HOST:
        raise UsageError("OpenAI takes no budget of thinking tokens; use reasoning_effort=none, low, medium or high")
    if name == "openrouter.ai":
        return {"reasoning": {"max_tokens": budget} if budget else {"effort": "none"}}
    if name == "generativelanguage.googleapis.com":
        config = {"thinking_budget": budget, "include_thoughts": budget > 0}
        return {"extra_body": {"google": {"thinking_config": config}}}
    if name == "api.anthropic.com":
        return {"thinking": {"type": "enabled", "budget_tokens": budget} if budget else {"type": "disabled"}}
    if name.endswith(".aliyuncs.com"):
        return {"enable_thinking": budget > 0} | ({"thinking_budget": budget} if budget else {})
    template: dict[str, Any] = {"enable_thinking": budget > 0}
    if not budget:
        return {"chat_template_kwargs": template}
    counted = {"thinking_token_budget": budget, "thinking_budget_tokens": budget}
    return {"chat_template_kwargs": template | {"thinking_budget": budget}, **counted}
