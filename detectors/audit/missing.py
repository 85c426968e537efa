"""Who is missing, by model and role: statements without the label, lost texts, turns that passed in silence."""

from __future__ import annotations

import polars as pl

from liescope.detectors.audit import findings as f
from liescope.detectors.audit.association import cramers_v
from liescope.detectors.audit.bench import share_of
from liescope.detectors.audit.data import Audited
from liescope.detectors.audit.findings import AuditRow, Finding, graded

_ENOUGH = 30  # statements or turns of a group that a sentence names
_BY = {"speaker_model": "model", "speaker_role": "role"}


def missing(data: Audited, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """Rows for every model and role, and a sentence for each loss that is not alike for all."""
    rows: list[AuditRow] = []
    found: list[Finding] = []
    turns = silent_turns(data.spoken, data.games)
    for table, column, what, many in (
        (data.spoken.filter(~pl.col("lost")), "missing", f"no {data.target} label", "statements"),
        (data.spoken, "lost", "a lost text", "statements"),
        (turns, "silent", "silence instead of a statement", "turns to speak"),
    ):
        if table.is_empty() or not table[column].any():
            continue
        everyone = share_of(table, table[column].to_numpy(), draws, seed)
        rows.append(everyone.row("missing", f"{what}: all", "", "share"))
        for by, word in _BY.items():
            shares = {
                group: share_of(part, part[column].to_numpy(), draws, seed)
                for (group,), part in sorted(table.partition_by(by, as_dict=True).items())
            }
            rows += [figure.row("missing", f"{what}: {word} {group}", "", "share") for group, figure in shares.items()]
            value, lo, hi = cramers_v(table, by, column, draws, seed)
            counted = everyone.statements, everyone.games
            rows.append(AuditRow("missing", f"{what}: by {word}", "", "cramers_v", value, lo, hi, *counted))
            enough = {group: figure.value for group, figure in shares.items() if figure.statements >= _ENOUGH}
            severity = graded(lo, f.ASSOCIATED, f.LARGE_ASSOCIATION)
            if severity == f.PLAIN or len(enough) < 2:
                continue
            least, most = min(enough, key=lambda group: enough[group]), max(enough, key=lambda group: enough[group])
            words = (
                f"{everyone:.1%} of the {many} have {what}, and not alike for every {word}: {enough[most]:.0%} of "
                f"{most}'s, {enough[least]:.0%} of {least}'s (Cramér's V {value:.2f}, {lo:.2f} to {hi:.2f}). Figures "
                f"over the rest speak less for {most}."
            )
            found.append(Finding("missing", f"{what}: by {word}", severity, words))
    return rows, found


def silent_turns(spoken: pl.DataFrame, games: pl.DataFrame) -> pl.DataFrame:
    """One row per turn to speak in rounds of discussion (game_id, speaker_model, speaker_role, silent).

    A silence leaves no statement; it is found as a player who was in the game in a round without speaking. Only games
    in which this finds as many silences as the game counted are used: games with other ways to get the floor drop out.
    """
    talk = spoken.filter(pl.col("phase") == "discussion")
    rounds = talk.group_by("game_id", "day", "round").agg(
        speaker=pl.col("alive").explode(empty_as_null=False, keep_nulls=False).unique(), said=pl.col("speaker")
    )
    turns = rounds.explode("speaker", empty_as_null=False, keep_nulls=False).with_columns(
        silent=~pl.col("said").list.contains(pl.col("speaker"))
    )
    counted = turns.group_by("game_id").agg(derived=pl.col("silent").sum())
    sure = games.join(counted, on="game_id").filter(pl.col("derived") == pl.col("silences")).select("game_id", "seats")
    seats = (
        sure.explode("seats")
        .unnest("seats")
        .select("game_id", speaker="name", speaker_model="model", speaker_role="role")
    )
    return turns.join(seats, on=["game_id", "speaker"]).select("game_id", "speaker_model", "speaker_role", "silent")
