"""Instructed pairs: each statement stands once after an instruction to be honest and once after one to deceive, as in
Azaria and Mitchell (2023) and Goldowsky-Dill et al. (2025). The words are the same and true in both, so that only what
a model makes of the instruction tells them apart.

A file is TOML, with two lists of instructions, `honest` and `deceptive`, and a list `statements`: each a text, or what
the user says and the reply; the instructions are dealt to them in turn.

Words of an instruction would give its statements away in every fold but for this: pairs that share one are a group,
held out together, where that makes at least eight groups; else each pair is a group. A quarter of them is for
validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from liescope.common.errors import UsageError
from liescope.common.reading import Strict, read_toml
from liescope.common.stores import local
from liescope.common.text import ASSISTANT
from liescope.detectors.material import BUNDLED, in_rows
from liescope.generate.corpus.read import CorpusInMemory

OURS = {"origin": "Liescope's own words", "licence": "apache-2.0", "language": ["en"]}
TURNS = 2
"""How many turns stand before a statement: the instruction and what the user says."""
_ASKED = "Please make a statement."
_PARTS, _FEWEST = 4, 8  # one part in four is for validation; groups by instruction
_Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Pairs(Strict):
    honest: Annotated[list[_Words], Field(min_length=1)]
    deceptive: Annotated[list[_Words], Field(min_length=1)]
    statements: Annotated[list[_Words | tuple[_Words, _Words]], Field(min_length=1)]


def pairs(source: str) -> CorpusInMemory:
    """The pairs of a file, or the bundled ones, as conversations: an instruction as the system prompt, what the user
    says, and the statement as the assistant's; both of a pair are in one group.

    Raises UsageError if there is no such file, and BadData, with the place, for one that holds no pairs.
    """
    path = Path(__file__).parent / "pairs.toml" if source == BUNDLED else local(source)
    if not path.is_file():
        raise UsageError(f"there is no file {path} of instructed pairs; name one, or {BUNDLED} for those of Liescope")
    found = read_toml(path, _Pairs, 2**24, "write it as docs/guides/probe.md shows")
    said = dict.fromkeys((_ASKED, one) if isinstance(one, str) else one for one in found.statements)
    least, told, rows = min(len(found.honest), len(found.deceptive)), list[list[str]](), []
    for number in range(len(said)):
        each = [own[number % least :: least] for own in (found.honest, found.deceptive)]  # more of one are shared out
        told.append([own[number // least % len(own)] for own in each])
    groups = _groups(told)
    for number, (user, statement) in enumerate(said):
        part = "validation" if groups[number] % _PARTS == _PARTS - 1 else "train"
        for instruction, lies in zip(told[number], (False, True), strict=True):
            turns = (("system", instruction), ("user", user), (ASSISTANT, statement))
            chat = [{"role": role, "content": text} for role, text in turns]
            where = {"group": f"{groups[number]}", "task": f"{number}", "split": part}
            rows.append({"messages": chat, "deceptive": lies, **where})
    return replace(in_rows(rows, **(OURS if source == BUNDLED else {})), receipt=None)


def _groups(instructions: Sequence[Sequence[str]]) -> list[int]:
    """The group of each pair. instructions: of each pair."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    place = {name: at for at, name in enumerate(dict.fromkeys(one for own in instructions for one in own))}
    ends = np.array([(place[own[0]], place[one]) for own in instructions for one in own]).T
    count, group = connected_components(coo_array((np.ones(ends.shape[1]), ends), (len(place),) * 2))
    return [int(group[place[own[0]]]) for own in instructions] if count >= _FEWEST else [*range(len(instructions))]
