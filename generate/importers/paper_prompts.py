"""Prompt templates in the form of the Mini-Mafia authors' batches, as a folder for `--prompts`.

A batch holds Python format strings: a frame around the memory and the question, and a question for each kind of ask.
Their texts stay word for word; what stands in braces is filled in by ours. The lines of the memory stay Liescope's, as
do the questions that assess statements, which the batches lack.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

from liescope.common.errors import BadData
from liescope.common.folders import replacing
from liescope.common.text import plain
from liescope.games.core import AskKind
from liescope.games.game_registry import PROMPTS
from liescope.games.narration import RULES
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.text_files import DAMAGED, read_objects
from liescope.generate.players.prompts.render import load_prompts

_GAME = "mini-mafia"
_FRAME, _MEMORY, _QUESTION = "base_prompt", "{memory}", "{action_specific_content}"
_LISTED = "|replace(' and ', ', ')"  # their lists have commas alone
_RULES = {"name": "name", "other_players": f"others{_LISTED}", "composition": f"composition{_LISTED}"}
_NIGHT = {"name": "name", "round_num": "day", "candidates": "options"}
_ASKS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    AskKind.SPEAK: ("discussion_suffix", {"name": "name", "round_num": "round", "discussion_rounds": "rounds"}),
    AskKind.VOTE: ("voting_suffix", _NIGHT),
    AskKind.KILL: ("night_action_suffix", _NIGHT | {"action": "'kill'"}),
    AskKind.INVESTIGATE: ("night_action_suffix", _NIGHT | {"action": "'investigate'"}),
}
"""Our templates: theirs, and our variable for each of its placeholders."""


def import_prompts(file: Path, out: Path) -> tuple[str, ...]:
    """Writes the templates of a file of batches (JSON Lines, may be gzipped) to a folder, and returns the names of
    those that are Liescope's own, as the batches have none.

    Raises BadData for a file without templates or with several sets of them, and for a placeholder that has no
    counterpart here; UsageError for a folder that holds something else.
    """
    found = _read(file)
    before, memory, rest = found[_FRAME].partition(_MEMORY)
    between, question, after = rest.partition(_QUESTION)
    if not memory or not question:
        raise BadData(f"{_FRAME} of {file} needs {_MEMORY}, and {_QUESTION} after it: a game grows between the two")
    made = {str(RULES): _jinja(before, _RULES, _FRAME, file)}
    for ask, (name, variables) in _ASKS.items():
        made[str(ask)] = _jinja(f"{between}{found[name]}{after}", variables, f"{_FRAME} or {name}", file)
    family = PROMPTS[_GAME]
    own = tuple(sorted(str(name) for name in family.variables.keys() - family.rating - made.keys()))
    with replacing(out, "folder without files", lambda _: False) as new:
        for name, text in made.items():
            (new / f"{name}.jinja").write_text(text, encoding="utf-8")
        for name in own:
            shutil.copy(family.folder / family.sets[0] / f"{name}.jinja", new)
        load_prompts(new, _GAME)
    return own


def _read(file: Path) -> Mapping[str, str]:
    """The one set of templates in a file of batches."""
    needed = {_FRAME, *(name for name, _ in _ASKS.values())}
    sets: dict[str, Mapping[str, str]] = {}
    try:
        for line, entry in read_objects(file):
            config = {} if isinstance(entry, Rejected) else entry.get("prompt_config")
            if not isinstance(config, dict) or not isinstance(config.get("templates"), dict):
                raise BadData(f"{file}, line {line}, is no batch whose prompt_config has templates; give batches.jsonl")
            sets[json.dumps(config["templates"], sort_keys=True)] = config["templates"]
    except DAMAGED as error:
        raise BadData(f"{file} cannot be read: {error}") from error
    if len(sets) != 1:
        raise BadData(f"{file} holds {len(sets)} different sets of templates; keep the batches of one")
    (found,) = sets.values()
    if lacking := [name for name in sorted(needed) if not isinstance(found.get(name), str)]:
        raise BadData(f"the templates of {file} lack {', '.join(lacking)}")
    return found


def _jinja(text: str, variables: Mapping[str, str], name: str, file: Path) -> str:
    """A format string as a template."""
    made = ""
    try:
        for words, field, form, conversion in Formatter().parse(text):
            if field is not None and (field not in variables or form or conversion):
                known = ", ".join(variables)
                raise BadData(f"{name} of {file} uses {{{plain(field)}}}, which nothing here fills in; known: {known}")
            made += words.replace("{", "{{ '{' }}") + (f"{{{{ {variables[field]} }}}}" if field else "")
    except ValueError as error:
        raise BadData(f"{name} of {file} is no Python format string: {error}") from error
    return made
