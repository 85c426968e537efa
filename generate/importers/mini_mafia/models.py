"""The Mini-Mafia paper's names for the models that its logs name by file or endpoint (Tables 2 to 4; Appendix E)."""

from __future__ import annotations

PAPER_NAMES = {
    "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf": "Llama 3.1 8B Instruct",
    "Mistral-7B-Instruct-v0.2-Q4_K_M.gguf": "Mistral 7B Instruct",
    "Mistral-7B-Instruct-v0.3-Q4_K_M.gguf": "Mistral 7B Instruct",
    "Qwen2.5-7B-Instruct-Q4_K_M.gguf": "Qwen2.5 7B Instruct",
    "claude-opus-4-1-20250805": "Claude Opus 4.1",
    "claude-sonnet-4-20250514": "Claude Sonnet 4",
    "deepseek-chat": "DeepSeek V3.1",
    "gemini-2.5-flash-lite": "Gemini 2.5 Flash Lite",
    "gpt-4.1-mini": "GPT-4.1 Mini",
    "gpt-5-mini": "GPT-5 Mini",
    "grok-3-mini": "Grok 3 Mini",
    "mistral.gguf": "Mistral 7B Instruct",  # in the earliest batches
    # The backgrounds of the games with people
    "deepseek": "DeepSeek V3.1",
    "mistral": "Mistral 7B Instruct",
}


def paper_name(logged: str) -> str:
    """The paper's name for a model, or the logged one if the paper has none.

    The database of games with people writes the older backgrounds as `detective_villager`, with "_" for "-" inside a
    name.
    """
    half, even = divmod(len(logged), 2)
    if even and logged[half] == "_" and logged[:half] == logged[half + 1 :]:
        logged = logged[:half]
    return PAPER_NAMES.get(logged) or PAPER_NAMES.get(logged.replace("_", "-"), logged)
