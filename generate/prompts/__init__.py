"""What a model is told: rules, memory and the question, from template files."""

from generate.prompts.render import Prompt, Prompts, load_prompts

__all__ = ["Prompt", "Prompts", "load_prompts"]
