"""A run resumes with the prompts it began with, even after the set of that name has changed."""

from __future__ import annotations

from pathlib import Path

from liescope.generate.players.prompts.render import hash_templates, version_of
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.journal import Journal


def kept_prompts(prompts: str, game: str, out: Path) -> str:
    """The set to use for a run in this folder: the one asked for or, if the run in the folder began with an earlier
    version of it, that version ("full@HASH").
    """
    if not (out / PLAN_FILE).exists():
        return prompts
    with Journal.open(out) as journal:
        hashed = journal.plan.get("templates")
    if not isinstance(hashed, str) or hashed == hash_templates(prompts, game):
        return prompts
    return version_of(prompts, game, hashed)
