"""A run goes on with the prompt templates that it began with, which its journal holds."""

from __future__ import annotations

from pathlib import Path

from liescope.common.errors import BadData
from liescope.common.text import plain
from liescope.generate.players.prompts import Templates, read_templates
from liescope.generate.players.prompts.families import FAMILIES
from liescope.generate.players.prompts.render import OWN
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import JournalReader


def stored_templates(journal: JournalReader) -> Templates:
    """The templates that a run began with. Raises BadData if its journal does not hold them."""
    digest, name = str(journal.plan.get("templates", "")), str(journal.plan.get("prompts", OWN))
    found = Templates(name, journal.templates(digest), journal.path)
    if not found.sources or found.hash != digest:
        raise BadData(
            f"{journal.path} does not hold the prompt templates that it began with ({plain(digest)}); "
            "restore it from a copy"
        )
    return found


def templates_for(prompts: str, game: str, out: Path | None) -> Templates:
    """The templates for a run in this folder: those asked for or, if the run in the folder began with the set of that
    name (or with a folder that is gone), those that it began with. Raises UsageError for prompts that do not exist.
    """
    if out is not None and (out / PLAN_FILE).exists():
        begun_with = prompts if prompts in FAMILIES[game].sets or Path(prompts).is_dir() else OWN
        with Journal.open(out) as journal:
            kept = journal.templates(str(journal.plan.get("templates")))
            if kept and journal.plan.get("prompts") == begun_with:  # a run killed at its start holds none yet
                return stored_templates(journal)
    return read_templates(prompts, game)
