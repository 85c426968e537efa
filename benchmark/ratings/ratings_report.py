"""The ratings of a set of games as a part of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from scipy.special import ndtri

from liescope.benchmark.analyses.analysis_figures import Dots, spelt
from liescope.benchmark.capability.counts import DECEIVER, DISCLOSER, JUDGE, PLAYERS
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.results import SURE, labelled
from liescope.benchmark.capability.variants import PARAMETERS
from liescope.benchmark.ratings.bradley_terry import OVERALL, Ratings, rate
from liescope.benchmark.ratings.nash import Nash, average, by_fit, by_ratings
from liescope.benchmark.ratings.rank_order import DRAWS, TAILS, JointScores, conflicts, pairs, ranked, ranks, taus
from liescope.benchmark.ratings.z_scores import score
from liescope.common.figures import MatrixCell, matrix, svg
from liescope.common.report.contents import Report, Section, with_interval

ELO = float(400 / np.log(10))  # points of a rating for one logit: 400 points are odds of ten to one
MIDDLE = 1500.0  # the mean rating of the models of a role

ELO_SCHEMA = pl.Schema(
    {
        "role": pl.String,
        "model": pl.String,
        "games": pl.Int64,
        "wins": pl.Int64,
        **dict.fromkeys(("rating", "lo", "hi", "logit"), pl.Float64),
    }
)
NASH_SCHEMA = pl.Schema(
    {
        "role": pl.String,
        "model": pl.String,
        **dict.fromkeys(("rating", "lo", "hi", "share"), pl.Float64),
    }
)


def elo_table(cells: pl.DataFrame, ratings: Ratings) -> pl.DataFrame:
    """Ratings on Elo's scale, best first within each role, columns of ELO_SCHEMA. Roles that one model alone held are
    left out.

    role: also "overall". games, wins: of the model in the role, wins of its side. lo, hi: the central 95% interval.
    logit: the rating in logits, 0 in the mean of the role.
    """
    rows = []
    for role, names in ratings.names.items():
        if len(names) < 2:
            continue
        place = ratings.place(role)
        half = ndtri(TAILS[1]) * np.sqrt(np.diag(ratings.covariance)[place])
        mean = ratings.mean[place]
        for at in np.argsort(-mean, kind="stable"):
            numbers = (mean[at], mean[at] - half[at], mean[at] + half[at])
            elo = (MIDDLE + ELO * float(number) for number in numbers)
            rows.append((role, names[at], *_record(cells, role, names[at]), *elo, float(mean[at])))
    return pl.DataFrame(rows, ELO_SCHEMA, orient="row")


def nash_table(nash: Nash) -> pl.DataFrame:
    """Ratings by Nash averaging, best first within each role, columns of NASH_SCHEMA.

    rating: the win rate of the model's side against, and beside, the equilibrium, its mean over the draws with the
    central 95% interval; share: the chance that the equilibrium chooses the model, over its draws too.
    """
    rows = []
    for role in PLAYERS:
        rating, share = nash.ratings[role], nash.shares[role]
        columns = [rating.mean, *rating.interval(), share.mean]
        rows += [(role, rating.names[at], *(float(column[at]) for column in columns)) for at in rating.order()]
    return pl.DataFrame(rows, NASH_SCHEMA, orient="row")


def _record(cells: pl.DataFrame, role: str, model: str) -> tuple[int, int]:
    """(games, wins of its side) of a model; overall, a game counts once for each role that it held."""
    games = wins = 0
    for held in PLAYERS if role == OVERALL else (role,):
        part = cells.filter(pl.col(held) == model)
        mafia, played = int(part["mafia_wins"].sum()), int(part["games"].sum())
        games += played
        wins += mafia if held == DECEIVER else played - mafia
    return games, wins


RATINGS = "Bradley-Terry ratings"
BY_NASH = "Nash averaging"
AHEAD = "Who is ahead of whom"
METHODS = "Ranks by each method"
CONFLICTS = "Pairs that methods order differently"

_ROLES = {
    **{role: f"as the {role}" for role in PLAYERS},
    OVERALL: "in all roles together",
}
_AHEAD = {"m": "Who deceives better", "d": "Who discloses better", "v": "Who responds more"}
_MOST = 12  # models in the figure of pairs


def ratings_section(elo: pl.DataFrame, by_role: Ratings, overall: Ratings) -> Section:
    """elo: `liescope.benchmark.ratings.ratings_report.elo_table` of both."""
    return Section(
        "ratings",
        RATINGS,
        (
            "The log-odds that the mafia wins are the rating of the "
            f"{DECEIVER} minus the mean rating of the {DISCLOSER} and "
            f"the {JUDGE}, plus an advantage of the side; 400 points are odds of ten to one. A model has a rating for "
            "each role, and one for all roles together. Compare within a role: each has the mean 1500.",
            _advantage(by_role),
            "All games are rated at once, so their order does not matter. Elo's update after each game would depend on "
            "it, and on the size of its steps: it is made for players who change.",
            _departure(by_role, overall),
        ),
        "lo to hi: central 95% intervals around the most probable ratings (Laplace), which allow for this departure.",
        svg(_dots("rating with its 95% interval", reference=MIDDLE)(elo), "ratings"),
        "Ratings with 95% intervals by model, a panel for each role and one for all roles together.",
        elo.drop("logit").with_columns(pl.col("rating", "^.*(lo|hi)$").round(0).cast(pl.Int64)),
        file="ratings.csv",
    )


def _advantage(by_role: Ratings) -> str:
    points = ELO * by_role.mean[0], float(ndtri(TAILS[1])) * ELO * float(np.sqrt(by_role.covariance[0, 0]))
    value, lo, hi = (points[0] + side * points[1] for side in (0, -1, 1))
    return f"Where all are average in their role, the mafia's advantage is {with_interval(value, lo, hi, 0)} points."


def _departure(by_role: Ratings, overall: Ratings) -> str:
    if by_role.rho is None:
        return (
            "These games cannot tell how far combinations of models depart from what their ratings predict; intervals "
            "take it as nothing, and may be too narrow."
        )
    text = (
        "Combinations of models depart from what the ratings predict by a standard deviation of "
        f"{_percent(by_role.rho)} around an even chance, beyond the luck of the games"
    )
    return text + (f" (one rating for all roles: {_percent(overall.rho)})." if overall.rho is not None else ".")


def _percent(rho: float) -> str:
    """The standard deviation of a win rate of 1/2 with this correlation between its games."""
    return f"{50 * rho**0.5:.0f} percentage points"


def nash_section(table: pl.DataFrame, found: Nash) -> Section:
    """table: `liescope.benchmark.ratings.ratings_report.nash_table`."""
    mean, lo, hi = (f"{share:.0%}" for share in (found.value.mean(), *np.quantile(found.value, TAILS)))
    seen = (
        f"{found.played} of {found.combinations} combinations were played; the others are drawn around what "
        f"{found.model} predict{'s' if found.model.endswith('model') else ''}."
    )
    return Section(
        "nash",
        BY_NASH,
        (
            "The mafia chooses its model and the town its two, each knowing how often every combination wins. At the "
            "shares given here, the equilibrium, neither side gains by another choice. A model's rating is how often "
            "its side wins when it takes its role and the others are chosen so: its worth against the best opponents "
            "and beside the best partner. It does not change when weak models, or copies of one, join.",
            f"In this equilibrium the mafia wins {mean} ({lo} to {hi}) of the games. {seen}",
        ),
        f"rating: the mean over {len(found.value)} draws of all win rates; lo to hi: its central 95% interval. share: "
        "the chance that the equilibrium chooses the model, over the draws too.",
        svg(_dots("win rate of its side, with its 95% interval")(table), "nash"),
        "Win rate with 95% intervals of each model's side against the equilibrium, a panel for each role.",
        table,
        source="Balduzzi et al. 2018, Re-evaluating evaluation",
        file="nash.csv",
    )


def ahead_section(parameter: str, scores: JointScores, ranks: pl.DataFrame) -> Section:
    """parameter: m, d or v; ranks: `liescope.benchmark.ratings.rank_order.ranks` of the scores."""
    ordered = [scores.names[at] for at in scores.order()]
    shown = ordered[:_MOST]
    chances = scores.ahead()
    places = {name: at for at, name in enumerate(scores.names)}
    cells = {
        (one, other): MatrixCell(float(chances[places[one], places[other]]))
        for one in shown
        for other in shown
        if one != other
    }
    some = f" The figure shows the first {_MOST} of {len(ordered)} models." if len(ordered) > _MOST else ""
    figure = matrix(shown, shown, cells, "chance that the row is ahead", middle=0.5, column_axis="ahead of")
    return Section(
        f"ahead-{parameter}",
        _AHEAD[parameter],
        (
            f"The chance that one model's {parameter} is higher than another's, from the draws of the fit, which know "
            f"how scores depend on each other; overlapping intervals do not tell it.{some} All pairs, with the "
            "difference of their scores, are in ahead.csv.",
        ),
        "rank: the mean over the draws, 1 is best; lo to hi: its central 95% interval; best: the chance to be first.",
        svg(figure, f"ahead-{parameter}"),
        f"For each pair of models the chance that the first has the higher {parameter}.",
        ranks,
        file="ranks.csv",
    )


def methods_section(table: pl.DataFrame, taus: pl.DataFrame) -> Section:
    """table: `liescope.benchmark.ratings.rank_order.ranked`, taus: `taus`, both with the column role."""
    methods = [f"{one} and {other}" for one, other in taus.select("one", "other").iter_rows()] if taus.height else []
    figure = Dots("Kendall's tau", methods, spelt("role", _ROLES), reference=0, limits=(-1.05, 1.05), value="tau")
    return Section(
        "methods",
        METHODS,
        (
            "All methods rank the same games. Kendall's tau is the share of pairs of models that two methods order "
            f"equally minus the share that they order differently. A {JUDGE}'s v is how much it responds to who speaks "
            "better, whichever side it leans to; the other methods rate how often the town wins with it.",
        ),
        "Interval of tau: 95% over models (Fieller, Hartley and Pearson 1957), none below five models or at 1 and -1.",
        svg(figure(taus), "tau") if methods else "",
        "Kendall's tau between every two methods, a panel for each role." if methods else "",
        table,
        file="rank_by_method.csv",
    )


def conflicts_section(table: pl.DataFrame, methods: Sequence[str]) -> Section:
    """table: `liescope.benchmark.ratings.rank_order.conflicts` with the column role."""
    if not table.height:
        text = "No method orders two models with a chance above 95% that another orders the other way around."
    else:
        certain = table.filter(pl.min_horizontal(methods) < 1 - SURE).height
        text = (
            f"Pairs that one method orders with a chance above 95% and another the other way around: {table.height}. "
            f"Pairs of which both are so sure, and at most one can be right: {certain}."
        )
    caption = "The chance that the first model is ahead of the second, by each method." if table.height else ""
    return Section(
        "conflicts", CONFLICTS, (text,), caption, table=table if table.height else None, file="conflicts.csv"
    )


def _dots(axis: str, reference: float | None = None) -> Dots:
    """Ratings by model, a panel for each role."""
    return Dots(axis, "model", spelt("role", _ROLES), colours="model", reference=reference, value="rating")


TABLES = ("ratings", "nash", "ahead", "ranks", "rank_by_method", "tau", "conflicts")
FIT, TERRY, NASH, BACKGROUND = "capability model", "Bradley-Terry", "Nash averaging", "background z"
_PARAMETER = dict(zip(PLAYERS, PARAMETERS, strict=True))
_CAPABILITY = dict(zip(PLAYERS, ("deceive", "disclose", "detect"), strict=True))  # of the background method


def part(cells: pl.DataFrame, posterior: Posterior | None = None) -> Report:
    """Bradley-Terry ratings, Nash averaging, who is ahead of whom, and where methods disagree, of one set of games.

    cells: counts as in `liescope.benchmark.capability.counts.Counts`. posterior: the fit of the same counts; without it
    the part holds what needs none, and says what is missing.
    """
    if reason := _nothing(cells):
        titles = (RATINGS, BY_NASH, AHEAD, METHODS)
        return Report(missing=dict.fromkeys(titles, reason))
    by_role, overall = rate(cells), rate(cells, overall=True)
    nash = average(cells, (posterior and by_fit(posterior)) or by_ratings(by_role))
    elo, shares = pl.concat([elo_table(cells, by_role), elo_table(cells, overall)]), nash_table(nash)
    found = [ratings_section(elo, by_role, overall), nash_section(shares, nash)]
    tables, missing = {"ratings": elo, "nash": shares}, {}
    if posterior is None:
        missing[AHEAD] = "there is no fit of the capability model, whose draws tell it"
    else:
        known = (name for name in PARAMETERS if name in posterior.draws and len(posterior.names[name]) > 1)
        drawn = {name: _drawn(posterior, name) for name in known}
        placed = {name: ranks(scores) for name, scores in drawn.items()}
        tables["ahead"] = labelled({name: pairs(scores) for name, scores in drawn.items()}, key="score")
        tables["ranks"] = labelled(placed, key="score")
        found += [ahead_section(name, scores, placed[name]) for name, scores in drawn.items()]
    methods = {role: _methods(role, posterior, by_role, nash) for role in PLAYERS if len(by_role.names[role]) > 1}
    background = score(cells)
    for role, scores in methods.items():
        if z := _background_scores(background.scores, _CAPABILITY[role]):
            scores[BACKGROUND] = z
    missing |= {f"{BACKGROUND} among the methods: {name}": reason for name, reason in background.missing.items()}
    tables["rank_by_method"] = labelled({role: ranked(one) for role, one in methods.items()}, key="role")
    tables["tau"] = labelled({role: taus(one) for role, one in methods.items()}, key="role")
    tables["conflicts"] = labelled({role: conflicts(one) for role, one in methods.items()}, key="role")
    if methods:
        found.append(methods_section(tables["rank_by_method"], tables["tau"]))
        found.append(conflicts_section(tables["conflicts"], tables["conflicts"].columns[3:]))
    else:
        missing[METHODS] = "no role was held by two models"
    shown = {name: table for name, table in tables.items() if table.height}
    return Report(sections=tuple(found), tables=shown, notes=tuple(_notes(cells, by_role)), missing=missing)


def _nothing(cells: pl.DataFrame) -> str:
    """Why these counts rate nobody, "" if they do."""
    models = set().union(*(cells[role] for role in PLAYERS))
    if len(models) < 2:
        return f"ratings compare models, and these games have {'one' if models else 'none'}"
    if cells["mafia_wins"].sum() in (0, cells["games"].sum()):
        return "one side won every game, which says nothing about how models differ"
    return ""


def _methods(role: str, posterior: Posterior | None, by_role: Ratings, nash: Nash) -> dict[str, JointScores]:
    known = posterior is not None and _PARAMETER[role] in posterior.draws
    fit = {FIT: _drawn(posterior, _PARAMETER[role])} if posterior and known else {}
    return {**fit, TERRY: by_role.scores(role), NASH: nash.ratings[role]}


def _drawn(posterior: Posterior, name: str) -> JointScores:
    names = posterior.names[name]
    return JointScores(names, posterior.draws[name].reshape(-1, len(names)))


def _background_scores(table: pl.DataFrame, capability: str) -> JointScores | None:
    """The z-scores of a capability, with draws from their normal distribution; None below two models."""
    rows = table.filter(pl.col("capability") == capability)
    if rows.height < 2:
        return None
    noise = np.random.default_rng(1).standard_normal((DRAWS, rows.height))
    return JointScores(rows["model"].to_list(), rows["z"].to_numpy() + rows["z_sd"].to_numpy() * noise)


def _notes(cells: pl.DataFrame, by_role: Ratings) -> Iterator[str]:
    if by_role.undetermined:
        yield (
            f"{by_role.undetermined} differences between ratings are told by no game, because models never met the "
            "same others: there the ratings are a guess with a wide interval."
        )
    alone = [f"{model} as the {role}" for role in PLAYERS for model in _one_sided(cells, role)]
    if alone:
        yield (
            f"Never won, or never lost: {', '.join(alone)}. Only the prior, Normal(0, 2) in logits, keeps such "
            "ratings finite."
        )


def _one_sided(cells: pl.DataFrame, role: str) -> list[str]:
    sums = cells.group_by(role).agg(pl.col("mafia_wins", "games").sum()).sort(role)
    return sums.filter((pl.col("mafia_wins") == 0) | (pl.col("mafia_wins") == pl.col("games")))[role].to_list()
