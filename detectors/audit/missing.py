"""Who is missing, by model and role: statements without the label, lost texts, turns that passed in silence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from liescope.detectors.audit import findings as f
from liescope.detectors.audit.association import cramers_v
from liescope.detectors.audit.bench import share_of
from liescope.detectors.audit.data import Audited
from liescope.detectors.audit.findings import AuditRow, Finding, graded
from liescope.generate.corpus.turns import silent_turns

_ENOUGH = 30  # statements or turns of a group that a sentence names
_BY = {"speaker_model": "model", "speaker_role": "role"}


@dataclass(frozen=True, slots=True)
class _Loss:
    """A column of flags that says what a row lacks. what, of: in words."""

    table: pl.DataFrame
    column: str
    what: str
    of: str


def missing(data: Audited, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """Rows for every model and role, and a sentence for each kind of loss; an alarm where it is not alike for all."""
    rows: list[AuditRow] = []
    found: list[Finding] = []
    for loss in (
        _Loss(data.spoken.filter(~pl.col("lost")), "missing", f"no {data.target} label", "statements"),
        _Loss(data.spoken, "lost", "a lost text", "statements"),
        _Loss(silent_turns(data.spoken, data.games), "silent", "silence instead of a statement", "turns to speak"),
    ):
        if loss.table.is_empty() or not loss.table[loss.column].any():
            continue
        everyone = share_of(loss.table, loss.table[loss.column].to_numpy(), draws, seed)
        rows.append(everyone.row("missing", f"{loss.what}: all", "", "share"))
        words = f"{everyone:.1%} of the {loss.of} have {loss.what}"
        uneven: list[Finding] = []
        for by, word in _BY.items():
            more, sentences = _by(loss, by, word, draws, seed)
            rows += more
            uneven += [replace(one, sentence=f"{words}, {one.sentence}") for one in sentences]
        plain = Finding("missing", loss.what, f.PLAIN, f"{words}, about alike for every model and role.")
        found += uneven or [plain]
    return rows, found


def _by(loss: _Loss, by: str, word: str, draws: int, seed: int) -> tuple[list[AuditRow], list[Finding]]:
    """Rows for every value of a column, and the end of a sentence if the loss is not alike for them."""
    table, column = loss.table, loss.column
    shares = {
        group or "unknown": share_of(part, part[column].to_numpy(), draws, seed)
        for (group,), part in sorted(table.partition_by(by, as_dict=True).items())
    }
    value, lo, hi = cramers_v(table, by, column, draws, seed)
    name = f"{loss.what}: by {word}"
    rows = [figure.row("missing", f"{loss.what}: {word} {group}", "", "share") for group, figure in shares.items()]
    rows.append(AuditRow("missing", name, "", "cramers_v", value, lo, hi, table.height, table["game_id"].n_unique()))
    enough = {group: figure.value for group, figure in shares.items() if figure.statements >= _ENOUGH}
    severity = graded(lo, f.ASSOCIATED, f.LARGE_ASSOCIATION)
    if severity == f.PLAIN or len(enough) < 2:
        return rows, []
    least, most = min(enough, key=lambda group: enough[group]), max(enough, key=lambda group: enough[group])
    words = (
        f"and not alike for every {word}: {enough[most]:.0%} of {most}'s, {enough[least]:.0%} of {least}'s (Cramér's V "
        f"{value:.2f}, {lo:.2f} to {hi:.2f}). Figures over the rest say least about {most}."
    )
    return rows, [Finding("missing", name, severity, words)]
