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
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Strict, read_toml
from liescope.common.stores import local
from liescope.common.text import ASSISTANT
from liescope.detectors.own_rows import in_rows
from liescope.generate.corpus.read import CorpusInMemory
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.label_column import LabelColumn
from liescope.generate.importers.statement_rows import present
from liescope.generate.importers.tables import read_rows

BUNDLED = "bundled"
OURS = {"origin": "Liescope's own words", "licence": "apache-2.0", "language": ["en"]}
TURNS = 2
"""How many turns stand before a statement: the instruction and what the user says."""
_BUNDLED = Path(__file__).parent / "pairs.toml"
_ASKED = "Please make a statement."
_LARGEST, _ADVICE = 2**24, "write it as docs/guides/local.md shows"
_PARTS, _FEWEST = 4, 8  # one part in four is for validation; groups by instruction
_Words = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Pairs(Strict):
    honest: Annotated[list[_Words], Field(min_length=1)]
    deceptive: Annotated[list[_Words], Field(min_length=1)]
    statements: Annotated[
        list[_Words | Annotated[list[_Words], Field(min_length=2, max_length=2)]], Field(min_length=1)
    ]


class _Half(NamedTuple):
    user: str
    statement: str
    instruction: str
    deceptive: bool


def pairs(source: str) -> CorpusInMemory:
    """The pairs of a file, or the bundled ones, as conversations: an instruction as the system prompt, what the user
    says, and the statement as the assistant's; both of a pair are in one group.

    Raises UsageError if there is no such file, and BadData, with the place, for one that holds no pairs.
    """
    path = _BUNDLED if source == BUNDLED else local(source)
    if not path.is_file():
        raise UsageError(f"there is no file {path} of instructed pairs; name one, or {BUNDLED} for those of Liescope")
    told: dict[tuple[str, str], list[_Half]] = defaultdict(list)
    for half in _drawn(path) if path.suffix == ".toml" else _rows(path):
        told[half.user, half.statement].append(half)
    if not told:
        raise BadData(f"{path} has no pairs; {_ADVICE}")
    rows = []
    for number, (group, halves) in enumerate(zip(_groups([*told.values()]), told.values(), strict=True)):
        if len({half.deceptive for half in halves}) < 2:
            lacking, said = "honest" if halves[0].deceptive else "deceptive", halves[0].statement[:60]
            raise BadData(f"{path}: {said!r} stands after no {lacking} instruction; add one, or leave it out")
        split = "validation" if group % _PARTS == _PARTS - 1 else "train"
        rows += [{**_chat(half), "group": f"{group}", "task": f"{number}", "split": split} for half in halves]
    return replace(in_rows(rows, **(OURS if source == BUNDLED else {})), receipt=None)


def _groups(told: Sequence[Sequence[_Half]]) -> list[int]:
    """The group of each pair."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    place = {name: at for at, name in enumerate(dict.fromkeys(half.instruction for one in told for half in one))}
    links = [(place[one[0].instruction], place[half.instruction]) for one in told for half in one]
    count, group = connected_components(
        coo_array((np.ones(len(links)), tuple(zip(*links, strict=True))), (len(place),) * 2)
    )
    found = [int(group[place[one[0].instruction]]) for one in told]
    return found if count >= _FEWEST else [*range(len(told))]


def _chat(half: _Half) -> dict[str, Any]:
    said = (("system", half.instruction), ("user", half.user), (ASSISTANT, half.statement))
    return {"messages": [{"role": role, "content": text} for role, text in said], "deceptive": half.deceptive}


def _drawn(path: Path) -> Iterator[_Half]:
    found = read_toml(path, _Pairs, _LARGEST, _ADVICE)
    every = dict.fromkeys((_ASKED, one) if isinstance(one, str) else (one[0], one[1]) for one in found.statements)
    least = min(len(found.honest), len(found.deceptive))
    for number, (user, statement) in enumerate(every):
        for deceptive, instructions in ((False, found.honest), (True, found.deceptive)):
            own = instructions[number % least :: least]  # more of one side are shared out
            yield _Half(user, statement, own[number // least % len(own)], deceptive)


def _rows(path: Path) -> Iterator[_Half]:
    """The halves in a table. Raises BadData."""
    label = LabelColumn("deceptive")
    for line, row in read_rows(path):
        if isinstance(row, Rejected):
            raise BadData(f"{path}, line {line}: {row.reason}")
        said = {name: str(value) for name, value in row.items() if present(value) and str(value).strip()}
        sides = {one: f"{one}_instruction" for one in ("honest", "deceptive") if f"{one}_instruction" in said}
        value = label.of(row.get("deceptive"))
        if "statement" not in said or not (len(sides) == 2 or ("instruction" in said and value is not None)):
            raise BadData(
                f"{path}, line {line}: it lacks a statement, or its instruction with deceptive (true or false), or "
                f"both honest_instruction and deceptive_instruction; {_ADVICE}"
            )
        told = ((said[name], one == "deceptive") for one, name in sides.items())
        for instruction, deceptive in told if sides else ((said["instruction"], bool(value)),):
            yield _Half(said.get("user", _ASKED), said["statement"], instruction, deceptive)
