"""Instructed pairs: each statement stands once after an instruction to be honest and once after one to deceive, as in
Azaria and Mitchell (2023) and Goldowsky-Dill et al. (2025). The words are the same and true in both, so that only what
a model makes of the instruction tells them apart.

A file is TOML, with two lists of instructions, `honest` and `deceptive`, and a list `statements`: each a text, or what
the user says and the reply; the instructions are dealt to them in turn. Or it is JSON lines (or another table):
`statement`, `user` where there is one, and either `instruction` and `deceptive` (true or false), a row for each half of
a pair, or `honest_instruction` and `deceptive_instruction`.

Words of an instruction would give its statements away in every fold but for this: pairs that share one are a group,
held out together, where that makes at least eight groups; else each pair is a group. A quarter of them is for
validation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Strict, read_toml
from liescope.common.stores import local
from liescope.common.text import ASSISTANT
from liescope.detectors.material import in_rows
from liescope.generate.corpus.read import CorpusInMemory
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.label_column import LabelColumn
from liescope.generate.importers.statement_rows import present
from liescope.generate.importers.tables import read_rows

BUNDLED = "bundled"
OURS = {"origin": "Liescope's own words", "licence": "apache-2.0", "language": ["en"]}
TURNS = 2
"""How many turns stand before a statement: the instruction and what the user says."""
_ASKED = "Please make a statement."
_LARGEST, _ADVICE = 2**24, "write it as docs/guides/probe.md shows"
_PARTS, _FEWEST = 4, 8  # one part in four is for validation; groups by instruction
_Half = tuple[str, str, str, bool]  # what the user says, the statement, the instruction, whether it is to deceive
_Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Pairs(Strict):
    honest: Annotated[list[_Words], Field(min_length=1)]
    deceptive: Annotated[list[_Words], Field(min_length=1)]
    statements: list[_Words | Annotated[list[_Words], Field(min_length=2, max_length=2)]]


def pairs(source: str) -> CorpusInMemory:
    """The pairs of a file, or the bundled ones, as conversations: an instruction as the system prompt, what the user
    says, and the statement as the assistant's; both of a pair are in one group.

    Raises UsageError if there is no such file, and BadData, with the place, for one that holds no pairs.
    """
    path = Path(__file__).parent / "pairs.toml" if source == BUNDLED else local(source)
    if not path.is_file():
        raise UsageError(f"there is no file {path} of instructed pairs; name one, or {BUNDLED} for those of Liescope")
    after: dict[tuple[str, str], list[tuple[str, bool]]] = defaultdict(list)
    for user, statement, instruction, lies in _dealt(path) if path.suffix == ".toml" else _halves(path):
        after[user, statement].append((instruction, lies))
    if not after:
        raise BadData(f"{path} has no pairs; {_ADVICE}")
    rows, groups = [], _groups([[one for one, _ in told] for told in after.values()])
    for number, ((user, statement), told) in enumerate(after.items()):
        if len({lies for _, lies in told}) < 2:
            lacking = "honest" if told[0][1] else "deceptive"
            raise BadData(f"{path}: {statement[:60]!r} stands after no {lacking} instruction; add one, or leave it out")
        part = "validation" if groups[number] % _PARTS == _PARTS - 1 else "train"
        for instruction, lies in told:
            said = (("system", instruction), ("user", user), (ASSISTANT, statement))
            chat = [{"role": role, "content": text} for role, text in said]
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


def _dealt(path: Path) -> Iterator[_Half]:
    found = read_toml(path, _Pairs, _LARGEST, _ADVICE)
    least = min(len(found.honest), len(found.deceptive))
    every = dict.fromkeys((_ASKED, one) if isinstance(one, str) else (one[0], one[1]) for one in found.statements)
    for number, (user, statement) in enumerate(every):
        for lies, instructions in ((False, found.honest), (True, found.deceptive)):
            own = instructions[number % least :: least]  # more of one side are shared out
            yield user, statement, own[number // least % len(own)], lies


def _halves(path: Path) -> Iterator[_Half]:
    """The halves in a table. Raises BadData."""
    label = LabelColumn("deceptive")
    for line, row in read_rows(path):
        if isinstance(row, Rejected):
            raise BadData(f"{path}, line {line}: {row.reason}")
        said = {name: str(value) for name, value in row.items() if present(value) and str(value).strip()}
        told: dict[str, bool | None] = {"honest_instruction": False, "deceptive_instruction": True}
        if "instruction" in said:
            told = {"instruction": label.of(row.get("deceptive"))}
        for name, lies in told.items():
            if not {"statement", name} <= said.keys() or lies is None:
                raise BadData(
                    f"{path}, line {line}: it lacks a statement, or its instruction with deceptive (true or false), or "
                    f"both honest_instruction and deceptive_instruction; {_ADVICE}"
                )
            yield said.get("user", _ASKED), said["statement"], said[name], lies
