"""What a model reads, from template files: the rules, what happened, what only it knows, and the question."""

from liescope.generate.players.prompts.render import (
    Prompt,
    Prompts,
    Templates,
    load_prompts,
    read_templates,
    template_folder,
)

__all__ = ["Prompt", "Prompts", "Templates", "load_prompts", "read_templates", "template_folder"]
