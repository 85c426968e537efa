"""What a model reads: rules, what happened, what it alone knows and the question, from template files."""

from liescope.generate.players.prompts.render import Prompt, Prompts, load_prompts, template_folder

__all__ = ["Prompt", "Prompts", "load_prompts", "template_folder"]
