"""A candidate's view as one text for an encoder: its fields set apart by tokens of their own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from liescope.detectors.textualize import hide_roles
from liescope.detectors.truncation import fit_plain
from liescope.detectors.view.candidate import ABOUT, BEFORE, OWN, REST, Candidate, view
from liescope.detectors.view.claim_graph import ClaimGraph
from liescope.detectors.view.counted import CLAIMS

ORDER = (OWN, CLAIMS, BEFORE, ABOUT, REST)
"""What an encoder reads first; what does not fit is taken from the end."""

MARKS = {name: f"[{name.upper()}]" for name in ORDER}
_MARK = re.compile("|".join(map(re.escape, MARKS.values())), re.IGNORECASE)
_SIGNS = re.compile(r"[:=]")


@dataclass(frozen=True, slots=True)
class GameText:
    """What the candidate said, and the other fields in their order, each piece after the mark of its field."""

    own: str
    others: str

    @property
    def whole(self) -> str:
        return f"{self.own} {self.others}".strip()


def game_text(
    candidate: Candidate, graph: ClaimGraph, fields: Sequence[str], window: int, votes: bool, mask_role_words: bool
) -> GameText:
    """The view of a candidate. Words of others are latest first, so that the oldest are at the end. window, votes: see
    `view` and `ClaimGraph.relations`.
    """
    words: dict[str, list[str]] = defaultdict(list)
    for piece in view(candidate, window):
        text = _MARK.sub(lambda found: found.group()[1:-1], piece.text)  # nobody at the table can say a mark
        words[piece.field].append(hide_roles(text) if mask_role_words else text)
    relations = graph.relations(candidate.player, candidate.moment.upto, votes, candidate.focus)
    words[CLAIMS] = [", ".join(_SIGNS.sub(" ", relation) for relation in relations)]
    own = _marked(OWN, words[OWN]) if OWN in fields else ""
    others = [_marked(name, words[name][::-1]) for name in ORDER[1:] if name in fields and words[name]]
    return GameText(own, " ".join(others))


def fit_views(texts: Sequence[GameText], tokenizer: Any, limit: int) -> tuple[list[dict[str, list[int]]], int]:
    """(what the encoder reads of each, at most `limit` tokens; how many candidates lost words of their own). What is at
    the end goes first; of the candidate's words, the middle, if they are too long by themselves.
    """
    rows = _read([text.whole for text in texts], tokenizer, limit)
    full = [i for i, row in enumerate(rows) if len(row["input_ids"]) >= limit]
    own = fit_plain([texts[i].own for i in full], tokenizer, limit)
    shortened = [i for i, text in zip(full, own.texts, strict=True) if text != texts[i].own]
    kept = dict(zip(full, own.texts, strict=True))
    for i, row in zip(shortened, _read([kept[i] for i in shortened], tokenizer, limit), strict=True):
        rows[i] = row
    return rows, own.cut


def add_marks(tokenizer: Any, model: Any) -> None:
    """Teach a tokenizer the marks of the fields, and give the model embeddings for them."""
    tokenizer.add_tokens(list(MARKS.values()), special_tokens=True)
    if len(tokenizer) > model.get_input_embeddings().num_embeddings:
        model.resize_token_embeddings(len(tokenizer))


def _marked(name: str, pieces: Sequence[str]) -> str:
    return " ".join(f"{MARKS[name]} {piece}" for piece in pieces)


def _read(texts: Sequence[str], tokenizer: Any, limit: int) -> list[dict[str, list[int]]]:
    if not texts:
        return []
    tokenizer.truncation_side = "right"
    found = tokenizer(list(texts), truncation=True, max_length=limit, return_attention_mask=False)["input_ids"]
    return [{"input_ids": ids} for ids in found]
