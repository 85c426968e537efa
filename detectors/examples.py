"""What a detector learns from: statements of a corpus with their context, their game and one named target."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.selectors import matches

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.text import CHAT, OF_GAMES, TEXT, Units, number_of
from liescope.data_cards import tables
from liescope.data_cards.tables import SPLITS
from liescope.detectors.detector_settings import WORDS
from liescope.detectors.view.transcript import SAID, GameMoment, Transcript, TranscriptTurn
from liescope.games.core import Place
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.read import Corpus, collected, read
from liescope.labeling.label import LOST_TEXT, Heard, known_before, text_is_lost

TARGETS = tuple(tables.TARGETS)
GOLD = "gold"
# no detector reads it, and no study
_UNREAD = r"^(transcript|self_confidence|self_reason|self_notes|peer_.*|planted_type|speaker_team)$"
_ASSESSED = ("self", "peer")  # labels of games played with assessments
_BACKSLASH = "\\"
_NOTED = pl.col("read_notes").list.contains(LOST_TEXT).fill_null(value=False)
_LOST = (pl.col("text").str.strip_chars() == _BACKSLASH) | _NOTED


@dataclass(frozen=True, slots=True)
class Example:
    """One statement, as a detector may see it. names: every player of the game; context: the earlier statements that
    all who heard this one had heard, oldest first, as (speaker, text); target: what is asked about it; seen: its game
    up to and with it, if the game is at hand; reasoning: what the speaker thought before it spoke, which nobody at the
    table saw, "" where that is not known; deception: the type of it that the speaker reports, to learn from.
    """

    statement_id: str
    game_id: str
    speaker: str
    speaker_model: str
    text: str
    names: tuple[str, ...]
    context: tuple[tuple[str, str], ...] = ()
    target: str = "role"
    seen: GameMoment | None = field(default=None, compare=False, repr=False)
    reasoning: str = ""
    deception: str = field(default="", compare=False)

    def can_be_read(self, view: str) -> bool:
        """Whether the view can show it: a statement without reasoning can only be read by its words."""
        return view == WORDS or bool(self.reasoning.strip())


@dataclass(frozen=True, slots=True)
class Labelled:
    """Examples with their target. y: (n,) bool, True for deceptive; groups: (n,) game ids, one id for games that must
    stay together; dropped: statements whose target is null; others: how many statements have each label, by target;
    unread: statements with the target, but without the reasoning that the view needs; unlabelled: those without the
    target that the view could show.
    """

    examples: tuple[Example, ...]
    y: NDArray[np.bool_]
    groups: NDArray[np.str_]
    dropped: int
    others: Mapping[str, int] = field(default_factory=dict, compare=False)
    unread: int = 0
    unlabelled: tuple[Example, ...] = field(default=(), compare=False, repr=False)

    @property
    def games(self) -> int:
        return len(np.unique(self.groups))


def target_column(target: str) -> str:
    """The corpus column of a target. Raises UnknownName."""
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    return f"label_{target}"


def usual_target(corpus: Corpus) -> str:
    """The target if none is named: the role, or the source's label if there is no other."""
    labels = read(corpus, "statements").select(pl.col(*map(target_column, TARGETS)).count())
    counts = collected(labels, corpus).row(0, named=True)
    there = [target for target in TARGETS if counts[target_column(target)]]
    return GOLD if GOLD in there and "role" not in there else "role"


def read_statements(
    corpus: Corpus,
    splits: Sequence[str] = SPLITS,
    keep_lost: bool = False,
    games: pl.Series | None = None,
    columns: Sequence[str] | None = None,
) -> pl.DataFrame:
    """The statements of some splits, family by family and in order of play, with `names` and `models`, all players of
    their game, with `deceiving`, the share of these that deceive, null where it is not known of all, `siblings`: one
    name for games that must stay together, or the game itself; `parted`, whether its publishers gave it its split; and
    `task`, for texts and conversations.

    keep_lost: include those whose text was lost before publication; by default they are left out, as silences are.
    games: the ids of those to read, None for all; columns: those to read, None for all.

    Raises BadData if a game is in more than one split, since no evaluation on such a corpus is fair.
    """
    where = collected(read(corpus, "statements").select("game_id", "split").unique(), corpus)
    torn = where.filter(pl.col("game_id").is_duplicated()).sort("game_id")
    if not torn.is_empty():
        raise BadData(
            f"{corpus}: game {torn['game_id'][0]!r} has statements in the splits {', '.join(sorted(torn['split'][:2]))}"
            ", so that training on one would leak into the other; build the corpus again with `liescope build`"
        )
    seat = pl.element().struct
    seats = read(corpus, "games").select(
        "game_id",
        names=pl.col("seats").list.eval(seat.field("name")),
        models=pl.col("seats").list.eval(seat.field("model")),
        deceiving=_share_deceiving(),
        siblings=pl.col("siblings").fill_null(pl.col("game_id")),
        parted=pl.col("meta").str.contains('"split"', literal=True).fill_null(False),
        task=pl.when(pl.col("game").is_in([CHAT, TEXT])).then(pl.col("cell")),
    )
    here = True if games is None else pl.col("game_id").is_in(games.implode())
    slim = read(corpus, "statements").drop(matches(_UNREAD)).with_columns(matches("_null$").cast(pl.Categorical))
    wanted = slim.filter(pl.col("split").is_in(list(splits)), here)
    kept = wanted if keep_lost else wanted.filter(~_LOST)
    ordered = kept.join(seats, on="game_id", how="left").sort("siblings", "game_id", "position")
    return collected(ordered if columns is None else ordered.select(columns), corpus)


def _share_deceiving() -> pl.Expr:
    deceives = pl.col("seats").list.eval(pl.element().struct.field("deceives"))
    known = deceives.list.eval(pl.element().is_not_null()).list.all()
    return pl.when(known).then(deceives.list.eval(pl.element().cast(pl.Float64)).list.mean())


def count_lost(corpus: Corpus, splits: Sequence[str] = SPLITS) -> int:
    """How many statements of some splits `read_statements` leaves out."""
    wanted = read(corpus, "statements").filter(pl.col("split").is_in(list(splits)))
    return int(collected(wanted.select(_LOST.sum()), corpus).item())


def is_lost(text: str, read_notes: Iterable[str] = ()) -> bool:
    """Whether the words are lost: a lone backslash, or a note of the importer that says so."""
    return text.strip() == _BACKSLASH or text_is_lost(read_notes)


def corpus_id(corpus: Corpus) -> str:
    """A short fingerprint of the split: equal for two builds that put the same games in the same splits."""
    where = collected(read(corpus, "games").select("game_id", "split").unique(), corpus).sort("game_id", "split")
    return hashlib.sha256(where.write_csv().encode()).hexdigest()[:16]


def corpus_name(corpus: str | os.PathLike[str]) -> str:
    """The name of a corpus: its folder's, or USER/NAME on the Hub."""
    return Path(corpus).resolve().name if Path(corpus).exists() else hub_repo(corpus) or Path(corpus).name


def make_examples(
    statements: pl.DataFrame, context: int, target: str | None = None, games: Mapping[str, Transcript] | None = None
) -> tuple[Example, ...]:
    """One example per row of `read_statements`, with up to `context` earlier statements that its audience had heard,
    and its game, if `games` has it. target: what is asked about each; None for the column `target`, or the role.
    """
    asked = (
        [target or "role"] * statements.height if target or "target" not in statements.columns else statements["target"]
    )
    found: list[Example] = []
    game, said, kept = "", list[Heard[tuple[str, str]]](), dict[Any, Any]()
    whole, place = None, dict[str, int]()
    columns = ("statement_id", "game_id", "speaker", "speaker_model", "text", "names", "audience")
    rows = statements.select(columns).iter_rows()
    told = [
        statements[name] if name in statements.columns else repeat("", statements.height)
        for name in ("reasoning", "self_type")
    ]
    for row, about, thought, kind in zip(rows, asked, *told, strict=True):
        key, game_id, speaker, model, text, names, audience = row
        if game_id != game:
            game, said, whole = game_id, [], (games or {}).get(game_id)
            place = whole.places() if whole else {}
        heard_by = frozenset(audience or ())
        before = known_before(said, heard_by, context)
        seen = GameMoment(whole, place[key] + 1) if whole else None
        # what many say is in memory once
        speaker, model, who = (kept.setdefault(one, one) for one in (speaker, model, tuple(names or ())))
        found.append(Example(key, game, speaker, model, text, who, before, about, seen, thought or "", kind or ""))
        if context:
            said.append((heard_by, (speaker, text)))
    return tuple(found)


def keeps_reasoning() -> pl.Expr:
    """Whether it is known what the speaker of a statement thought."""
    return pl.col("reasoning").fill_null("").str.strip_chars() != ""


def examples_of(moment: GameMoment, context: int, target: str = "role", view: str = WORDS) -> dict[int, Example]:
    """By place among its turns, the statements of a game so far, without those lost or not in the view."""
    game, said, found = moment.transcript, list[Heard[tuple[str, str]]](), dict[int, Example]()
    for at, turn in game.said(moment.upto):
        if not turn.text.strip():
            continue
        before = known_before(said, turn.audience, context)
        who, seen = turn.player, GameMoment(game, at + 1)
        one = Example(turn.key, game.game_id, who, "", turn.text, game.names, before, target, seen, turn.reasoning)
        if one.can_be_read(view):
            found[at] = one
        said.append((turn.audience, (turn.player, turn.text)))
    return found


def moment_of(example: Example) -> GameMoment:
    """The game of a statement, up to and with it; without one, a game made of its context."""
    if example.seen:
        return example.seen
    said = [*example.context, (example.speaker, example.text)]
    names = tuple(dict.fromkeys([*example.names, *(who for who, _ in said)]))
    thoughts = [*("" for _ in example.context), example.reasoning]
    turns = tuple(
        TranscriptTurn(SAID, who, text, key=f"{at}", reasoning=thought)
        for at, ((who, text), thought) in enumerate(zip(said, thoughts, strict=True))
    )
    return GameMoment(Transcript(example.game_id, names, turns))


def place_of(example: Example) -> Place | None:
    """Where a statement was made, if its game is at hand."""
    if example.seen is None or example.seen.upto is None:
        return None
    turn = example.seen.transcript.turns[example.seen.upto - 1]
    return (example.game_id, turn.player, turn.day, turn.phase, turn.round) if turn.kind == SAID else None


def labelled(
    statements: pl.DataFrame,
    target: str,
    context: int,
    games: Mapping[str, Transcript] | None = None,
    view: str = WORDS,
) -> Labelled:
    """The examples with the target and what the view shows; their context is of all statements, labelled or not."""
    column, every = statements[target_column(target)], make_examples(statements, context, target, games)
    known = column.is_not_null().to_numpy()
    read = np.fromiter((example.can_be_read(view) for example in every), dtype=bool, count=len(every))
    examples, unlabelled = (tuple(every[at] for at in np.flatnonzero(rows & read)) for rows in (known, ~known))
    y = column.filter(known & read).to_numpy().astype(bool)
    alike = statements["siblings" if "siblings" in statements.columns else "game_id"]
    groups = alike.filter(known & read).to_numpy().astype(np.str_)
    left_out, unread = int((~known).sum()), int((known & ~read).sum())
    return Labelled(examples, y, groups, left_out, label_counts(statements), unread, unlabelled)


def label_counts(statements: pl.DataFrame) -> dict[str, int]:
    """How many statements have each label, by target, most first; targets that none has are left out."""
    counts = {
        target: statements[target_column(target)].count()
        for target in TARGETS
        if target_column(target) in statements.columns
    }
    return {target: count for target, count in sorted(counts.items(), key=lambda pair: -pair[1]) if count}


def labels_there_are(counts: Mapping[str, int]) -> str:
    """Which targets have labels, in words; for one without labels, what to do instead."""
    if not counts:
        return "no target has labels here; if the source has some, say where: --label or --map of import, or labels="
    return "labels there are: " + ", ".join(f"{target} {count:,}" for target, count in counts.items())


def check_trainable(
    data: Labelled, target: str, folds: int, where: str = "the training split", called: Units = OF_GAMES
) -> None:
    """Raises UsageError if these statements have only one class, or too few games for the folds, or without folds for
    any comparison. where: the statements come from; called: the words for them and their games.
    """
    where = f"{where}, target {target!r}"
    if not len(data.y) and data.unread:
        raise UsageError(
            f"{where}: none of {data.unread:,} labelled statements keeps what its speaker thought; train with the view "
            f"{WORDS}, or on a corpus that has reasoning"
        )
    if not len(data.y):
        advice = " (play with --assess for self and peer)" if target in _ASSESSED else ""
        raise UsageError(
            f"{where}: none of {number_of(data.dropped, called.statements[:-1])} has a label; "
            f"{labels_there_are(data.others)}{advice}"
        )
    if data.y.all() or not data.y.any():
        label, other = ("deceptive", "honest") if data.y[0] else ("honest", "deceptive")
        all_are = f"all {len(data.y):,} {called.statements} are" if len(data.y) > 1 else "its only statement is"
        advice = f"a detector needs both classes: add {other} {called.statements}"
        raise UsageError(f"{where}: {called.say(all_are)} {label}; {advice}")
    need = max(folds, 2)
    alone = called.statements == "texts" and len(np.unique(data.groups)) == len(data.y)
    units = called.statements if alone else called.games
    parts = (("deceptive", data.y), ("honest", ~data.y))
    games, label = min((len(np.unique(data.groups[rows])), label) for label, rows in parts)
    if games < need:
        one = games == 1
        holds = (
            f"{'is' if one else 'are'} {label}" if alone else f"{'has' if one else 'have'} {label} {called.statements}"
        )
        wanted = f"{need} folds need {need} such {units}" if folds else "2 are needed"
        remedy = f"add {units}" if one else f"lower --folds to {games}"
        raise UsageError(f"{where}: {number_of(games, units[:-1])} {holds}, and {wanted}; {remedy}")
