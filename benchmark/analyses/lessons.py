"""What a Jester's model wrote down for its next games: strategies, theory-of-mind order, vocabulary, and the judge.

The unit here is the lesson, and only lessons that were kept count: near duplicates were never read by anybody.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.figures import COLOURS, CYCLE, canvas, literal, tidy
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import with_wilson
from liescope.labeling.agreement import agreement
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS, tag

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TERMS = 12  # distinctive words shown for each model
RULES = "rules"

# Words of the game itself, which every model's lessons use.
_GAME = re.compile(
    r"jesters?|(were)?wol(f|ves)|villagers?|village|doctors?|seers?|players?|rounds?|games?|days?|nights?|turns?"
)
_TOKEN = re.compile(r"[a-z]+(?:-[a-z]+)*")


def lesson_orders(frames: Frames) -> pl.DataFrame:
    """Theory-of-mind order of each model's lessons by the rules (section 5.6, Figure 4a).

    Columns: model, order, lessons, n (of the model), rate, lo, hi (Wilson over lessons).
    """
    tagged = _tagged(frames)
    return _shares(tagged, ORDERS, "order", tagged)


def lesson_categories(frames: Frames) -> pl.DataFrame:
    """Strategies of each model's lessons by the rules; a lesson may have several or none (section 5.6, Figure 4b).

    Columns: model, category, lessons, n (of the model), rate, lo, hi (Wilson over lessons).
    """
    tagged = _tagged(frames)
    rows = tagged.filter(pl.col("categories").list.len() > 0).explode("categories").rename({"categories": "category"})
    return _shares(rows, CATEGORIES, "category", tagged)


def lesson_third_order(frames: Frames) -> pl.DataFrame:
    """The share of third-order lessons, by whoever labelled them: the rules, or a judge (Appendix L, Table 21).

    Columns: model, labeller, third, n (lessons that the labeller tagged), rate, lo, hi (Wilson over lessons).
    """
    rules = _tagged(frames).select("model", "order", labeller=pl.lit(RULES))
    judges = _judged(frames).select("model", "order", labeller="judge")
    counts = (
        pl.concat([rules, judges])
        .drop_nulls("order")
        .group_by("model", "labeller", maintain_order=True)
        .agg(third=(pl.col("order") == 3).sum().cast(pl.Int64), n=pl.len().cast(pl.Int64))
    )
    return with_wilson(counts, "third", "n").sort("model", pl.col("labeller") != RULES, "labeller")


AGREEMENT = pl.Schema(
    {
        "judge": pl.String,
        "axis": pl.String,
        "n": pl.Int64,
        "rules_share": pl.Float64,
        "judge_share": pl.Float64,
        "raw": pl.Float64,
        "kappa": pl.Float64,
    }
)


def lesson_agreement(frames: Frames) -> pl.DataFrame:
    """How far the rules and a judge tag the same lessons alike, for the order and for each strategy (Appendix L).

    Columns: judge, axis ("order", or a strategy), n (lessons that both tagged), rules_share and judge_share (how often
    each gives the strategy; null for the order), raw (share of equal tags), kappa (Cohen's; null where chance alone
    would agree fully).
    """
    rows: list[tuple[object, ...]] = []
    for (judge,), part in _judged(frames).group_by("judge", maintain_order=True):
        rules = [tag(text) for text in part["text"]]
        order = agreement([tags.order for tags in rules], part["order"].to_list())
        rows.append((judge, "order", order.pairs, None, None, order.raw, order.kappa))
        for category in CATEGORIES:
            ours = [category in tags.categories for tags in rules]
            theirs = [category in names for names in part["categories"].to_list()]
            found = agreement(ours, theirs)
            shares = sum(ours) / len(ours), sum(theirs) / len(theirs)
            rows.append((judge, category, found.pairs, *shares, found.raw, found.kappa))
    return pl.DataFrame(rows, AGREEMENT, orient="row")


VOCABULARY = pl.Schema(
    {"model": pl.String, "rank": pl.Int64, "term": pl.String, "occurrences": pl.Int64, "excess": pl.Float64}
)


def lesson_vocabulary(frames: Frames) -> pl.DataFrame:
    """The words that set one model's lessons apart: TF-IDF in its lessons less the mean of the others' (Appendix N).

    Each model's lessons are one document; function words, words of the game and the seats' names do not count.
    Columns: model, rank (1 = most distinctive, at most TERMS), term, occurrences (in the model's lessons), excess.
    Needs two models with lessons.
    """
    texts = {
        str(model): " ".join(part["text"])
        for (model,), part in _kept(frames).sort("model").group_by("model", maintain_order=True)
    }
    names = {word for name in frames.seats["name"].unique() for word in _TOKEN.findall(name.lower())}
    words = {model: _content_words(text, names) for model, text in texts.items()}
    if len(words) < 2 or not any(words.values()):
        return VOCABULARY.to_frame()
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=words.__getitem__)
    weights = vectorizer.fit_transform(list(words)).toarray()
    terms = vectorizer.get_feature_names_out()
    excess = weights - (weights.sum(axis=0) - weights) / (len(words) - 1)
    rows = []
    for model, values in zip(words, excess, strict=True):
        best = sorted(zip(-values, terms, strict=True))[:TERMS]
        counts = Counter(words[model])
        rows += [(model, rank, term, counts[term], -value) for rank, (value, term) in enumerate(best, 1) if value < 0]
    return pl.DataFrame(rows, VOCABULARY, orient="row")


def plot_lesson_orders(table: pl.DataFrame) -> Figure:
    """Figure 4a: one bar for each model and order, with intervals."""
    return _bars(table, {order: f"order {order}" for order in ORDERS})


def plot_lesson_categories(table: pl.DataFrame) -> Figure:
    """Figure 4b: one bar for each model and strategy, with intervals."""
    return _bars(table, {name: name.replace("_", " ") for name in CATEGORIES})


def _kept(frames: Frames) -> pl.DataFrame:
    return frames.lessons.filter(pl.col("kept"))


def _tagged(frames: Frames) -> pl.DataFrame:
    """The lessons that were kept, with the rules' categories and order."""
    kept = _kept(frames).select("model", "text")
    tags = [tag(text) for text in kept["text"]]
    return kept.with_columns(
        pl.Series("categories", [list(one.categories) for one in tags], pl.List(pl.String)),
        pl.Series("order", [one.order for one in tags], pl.Int64),
    )


def _judged(frames: Frames) -> pl.DataFrame:
    """The judges' tags of the lessons that were kept, where there are any."""
    kept = _kept(frames).select("game_id", "kind", "text").unique()
    tags = frames.tags.join(kept, on=["game_id", "kind", "text"], how="semi")
    return tags.unique(["game_id", "kind", "text", "judge"], keep="first", maintain_order=True)


def _shares(
    rows: pl.DataFrame, labels: Collection[str] | Collection[int], name: str, tagged: pl.DataFrame
) -> pl.DataFrame:
    """How many of each model's lessons carry each label, zeros included. rows: one for each lesson and label."""
    grid = tagged.group_by("model").agg(n=pl.len().cast(pl.Int64)).join(pl.DataFrame({name: list(labels)}), how="cross")
    found = rows.group_by("model", name).agg(lessons=pl.len().cast(pl.Int64))
    counts = grid.join(found, on=["model", name], how="left").with_columns(pl.col("lessons").fill_null(0))
    place = pl.col(name).replace_strict(list(labels), range(len(labels)))
    table = with_wilson(counts.sort("model", place), "lessons", "n")
    return table.select("model", name, "lessons", "n", "rate", "lo", "hi")


def _content_words(text: str, names: set[str]) -> list[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = _TOKEN.findall(text.lower().replace("‑", "-"))
    stop = ENGLISH_STOP_WORDS | names
    return [word for word in words if len(word) > 1 and word not in stop and not _GAME.fullmatch(word)]


def _bars(table: pl.DataFrame, labels: Mapping[int, str] | Mapping[str, str]) -> Figure:
    """For each label a bar a model, with its interval. table: as `_shares` gives it, labels in the same order."""
    models = table["model"].unique(maintain_order=True).to_list()
    figure, (panel,) = canvas(1, 0.4 + 0.2 * len(models) + len(labels) * (0.2 + 0.14 * len(models)))
    height = 0.8 / len(models)
    for place, model in enumerate(models):
        part = table.filter(pl.col("model") == model)
        at = [row + height * (place - (len(models) - 1) / 2) for row in range(part.height)]
        panel.barh(at, part["rate"], height, color=CYCLE[place % len(CYCLE)], alpha=0.75, label=literal(model))
        panel.hlines(at, part["lo"], part["hi"], color=COLOURS["ink"], linewidth=0.8)
    panel.set_yticks(range(len(labels)), list(labels.values()), fontsize=8)
    panel.invert_yaxis()
    panel.set_xlabel("share of the model's lessons", fontsize=9)
    tidy(panel)
    figure.legend(loc="outside upper left", frameon=False, fontsize=8)
    return figure


ANALYSES = (
    Analysis(
        "lesson_orders",
        "Lessons by theory-of-mind order",
        "Figure 4a, section 5.6",
        lesson_orders,
        plot_lesson_orders,
        "Order 3 sets how two factions read the player against each other; intervals are Wilson's over lessons.",
    ),
    Analysis(
        "lesson_categories",
        "Lessons by strategy",
        "Figure 4b",
        lesson_categories,
        plot_lesson_categories,
        "A lesson may follow several strategies or none; intervals are Wilson's over lessons.",
    ),
    Analysis(
        "lesson_third_order",
        "Third-order lessons by labeller",
        "Table 21",
        lesson_third_order,
        note="Compare the order of the models within a labeller, not rates across labellers; Wilson over lessons.",
    ),
    Analysis(
        "lesson_agreement",
        "Rules against the judge on lessons",
        "Appendix L",
        lesson_agreement,
        note="Cohen's kappa is 1 for full agreement and 0 for what chance gives.",
    ),
    Analysis(
        "lesson_vocabulary",
        "Words that set a model's lessons apart",
        "Appendix N",
        lesson_vocabulary,
        note="A word's TF-IDF weight in the model's lessons, less its mean weight in the other models'.",
    ),
)
