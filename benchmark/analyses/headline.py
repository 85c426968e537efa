"""What the games showed: three sentences, and a figure of the same by model.

Who won; whether those who deceive were found by votes; whether listeners' flags tell their statements from others'.
"""

from __future__ import annotations

import polars as pl

from liescope.benchmark.analyses.conditions_of_play import NOBODY, UNKNOWN
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import game_difference, game_means, shares
from liescope.benchmark.analyses.outcomes import wins_by
from liescope.benchmark.analyses.votes import honest_votes
from liescope.common.colours import model_colours
from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.statistics import CHANGE

DRAWN = 24  # models that a figure has room for
FIGURE_ALT = (
    "By model, with 95% intervals: wins in a role that deceives, votes for deceivers, flags of their statements."
)


def sentences(frames: Frames) -> tuple[str, str, str]:
    """Who won, whether those whose role deceives were voted for, whether their statements were noticed; each of every
    game, with 95% intervals (Wilson's for wins, else from a jackknife over games).
    """
    return _who_won(frames), _who_was_found(frames), _who_was_noticed(frames)


def figure(frames: Frames) -> str:
    """The three by model, as SVG; "" if there are too many models or nothing to show."""
    dots = [dot for name, part in _games(frames.seats) for dot in _wins(name, part)]
    dots += [dot for name, part in _games(honest_votes(frames)) for dot in _finds(name, part, frames.seats)]
    observers = _flags(frames).with_columns(model="observer_seat_model").drop_nulls("model")
    dots += [
        Dot(str(model), *_gap(mine)[2:], facet=f"{name}: deceivers' statements flagged, beyond others'")
        for name, part in _games(observers)
        for (model,), mine in part.sort("model").group_by("model", maintain_order=True)
        if _both(mine)
    ]
    models = list(dict.fromkeys(dot.label for dot in dots))
    if not 0 < len(models) <= DRAWN:
        return ""
    drawn = dots_with_intervals(dots, "share, or difference of shares", model_colours(models), reference=0)
    return svg(drawn, "headline")


def _games(rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [(part["game"].item(0), part) for part in rows.sort("game", maintain_order=True).partition_by("game")]


def _who_won(frames: Frames) -> str:
    said = []
    for name, part in _games(wins_by(frames, ["game"]).filter(pl.col("faction") != UNKNOWN)):
        ranked = shares(part, ["faction"], "won").sort("rate", descending=True, maintain_order=True)
        won = [
            f"{'nobody' if side == NOBODY else f'the {side}'} won {_share(*figures)}"
            for side, *figures in ranked.select("faction", "rate", "lo", "hi").iter_rows()
        ]
        games = frames.games.filter((pl.col("game") == name) & (pl.col("winner") != UNKNOWN)).height
        said.append(f"in {games} {'game' if games == 1 else 'games'} of {name}, {_listed(won)}")
    return _sentence(said) or "The sources do not say who won."


def _who_was_found(frames: Frames) -> str:
    said = []
    for name, part in _games(honest_votes(frames)):
        shares = [
            f"of the votes of the {row['voter_role']} {_share(row['mean'], row['lo'], row['hi'])}"
            for row in game_means(part, ["voter_role"], "hit").sort("n", descending=True).to_dicts()
        ]
        blind = float(part["chance"].to_numpy().mean())
        beyond = part.with_columns(beyond=pl.col("hit") - pl.col("chance"))
        open_ = [
            f"the {row['voter_role']}"
            for row in game_means(beyond, ["voter_role"], "beyond", CHANGE).sort("n", descending=True).to_dicts()
            if row["lo"] is None or row["lo"] <= 0 <= row["hi"]
        ]
        unsettled = f", and these games do not settle whether {_listed(open_)} did better" if open_ else ""
        said.append(
            f"in {name}, {_listed(shares)} went to a player whose role deceives; blind votes would give "
            f"{blind:.0%}{unsettled}{_drawn(frames, name)}"
        )
    return _sentence(said) or "Nobody chose whom to vote for, so these games do not show whether deceivers are found."


def _drawn(frames: Frames, name: str) -> str:
    """That votes which the rules drew do not count, and how many of all they are."""
    votes = frames.votes.filter(pl.col("game") == name)
    drawn = int(votes["drawn"].sum())
    return f" (votes that the rules drew, {drawn} of {votes.height}, do not count)" if drawn else ""


def _who_was_noticed(frames: Frames) -> str:
    said = []
    for name, part in _games(_flags(frames)):
        if _both(part):
            told, other, gap, lo, hi = _gap(part)
            settled = lo is not None and hi is not None and not lo <= 0 <= hi
            open_ = "" if settled else ", so these games do not settle whether they can tell the two apart"
            sign = "more" if gap >= 0 else "less"
            said.append(
                f"in {name}, listeners flagged what a role that deceives said in {told:.0%} of their ratings and what "
                f"the others said in {other:.0%}: {_points(gap, lo, hi)} {sign}{open_}"
            )
    return _sentence(said) or (
        "Nobody on the other side rated statements of both kinds, so these games do not show whether listeners notice "
        "deception."
    )


def _wins(name: str, seats: pl.DataFrame) -> list[Dot]:
    held = seats.filter(pl.col("deceives")).drop_nulls("won").with_columns(model="seat_model")
    return [
        Dot(row["model"], row["mean"], row["lo"], row["hi"], facet=f"{name}: wins in a role that deceives")
        for row in game_means(held, ["model"], "won").to_dicts()
    ]


def _finds(name: str, votes: pl.DataFrame, seats: pl.DataFrame) -> list[Dot]:
    """The votes of the role that most players have, of those whose role does not deceive: it knows least."""
    honest = seats.filter((pl.col("game") == name) & ~pl.col("deceives"))
    role = honest["role"].mode().sort().item(0)
    rows = votes.filter(pl.col("voter_role") == role).with_columns(beyond=pl.col("hit") - pl.col("chance"))
    facet = f"{name}: the {role}'s votes for deceivers, beyond blind votes"
    return [
        Dot(row["model"], row["mean"], row["lo"], row["hi"], facet=facet)
        for row in game_means(rows, ["model"], "beyond", CHANGE).to_dicts()
    ]


def _flags(frames: Frames) -> pl.DataFrame:
    """Ratings by players whose role does not deceive, of statements of known roles."""
    side = frames.seats.select("game_id", "name", _own="deceives")
    rated = frames.ratings.drop_nulls(["flag", "label_role"])
    return rated.join(side, left_on=["game_id", "observer"], right_on=["game_id", "name"]).filter(~pl.col("_own"))


def _both(flags: pl.DataFrame) -> bool:
    return flags["label_role"].n_unique() == 2


def _gap(flags: pl.DataFrame) -> tuple[float, float, float, float | None, float | None]:
    """The share flagged of deceivers' statements, of others', the first minus the second, and its interval."""
    sides = flags.filter("label_role"), flags.filter(~pl.col("label_role"))
    told, other = (float(side["flag"].to_numpy().mean()) for side in sides)
    _, lo, hi = game_difference(*sides, "flag")
    return told, other, told - other, lo, hi


def _share(value: float, lo: float | None, hi: float | None) -> str:
    return f"{value:.0%}" if lo is None or hi is None else f"{value:.0%} ({lo:.0%} to {hi:.0%})"


def _points(value: float, lo: float | None, hi: float | None) -> str:
    shown = f"{100 * abs(value):.0f} points"
    if lo is None or hi is None:
        return shown
    low, high = sorted((lo, hi) if value >= 0 else (-lo, -hi))
    return f"{shown} ({100 * low:.0f} to {100 * high:.0f})"


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _sentence(parts: list[str]) -> str:
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""
