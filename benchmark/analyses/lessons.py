"""Lessons that a jester's model wrote for its next games: strategies, theory-of-mind order, vocabulary, and judges.

The unit is the lesson. Only kept lessons count: near duplicates were never shown to a player.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

import polars as pl

from liescope.benchmark.analyses.analysis import LESSONS, TAGS, Analysis
from liescope.benchmark.analyses.analysis_figures import SHARE, Dots, cell_names, spelt
from liescope.benchmark.analyses.analysis_tables import Shares, each, long
from liescope.benchmark.analyses.conditions_of_play import RATER
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval
from liescope.common.agreement import agreement
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS, tag

TERMS = 12  # distinctive words shown for each model
RULES = "rules"
LEARNER = ("condition", "model")
_LESSON = ["game_id", "kind", "text"]
_TAGGED = ("categories", "categories_other")

# Words of the game, which every model's lessons use.
_GAME = re.compile(
    r"jesters?|(were)?wol(f|ves)|villagers?|village|doctors?|seers?|players?|rounds?|games?|days?|nights?|turns?"
)
_TOKEN = re.compile(r"[a-z]+(?:-[a-z]+)*")


def _orders(frames: Frames) -> pl.DataFrame:
    return each(_tagged(frames), "order", ORDERS)


def _categories(frames: Frames) -> pl.DataFrame:
    """A lesson may have several or none."""
    carries = {category: pl.col("categories").list.contains(category) for category in CATEGORIES}
    return long(_tagged(frames).with_columns(**carries), tuple(carries), "category")


def _third_orders(frames: Frames) -> pl.DataFrame:
    """By labeller: the rules, or a judge by its name."""
    rules = _tagged(frames).select("family", *LEARNER, "order", labeller=pl.lit(RULES))
    judges = _judged(frames).select("family", *LEARNER, "order", labeller=RATER)
    return pl.concat([rules, judges]).drop_nulls("order")


AGREEMENT = pl.Schema(
    {
        **dict.fromkeys(("one", "other", "axis"), pl.String()),
        "n": pl.Int64(),
        **dict.fromkeys(("share_one", "share_other", "raw", "kappa"), pl.Float64()),
    }
)


def lesson_agreement(frames: Frames) -> pl.DataFrame:
    """Pairwise agreement of the rules and the judges on the same lessons (Appendix L, Table 21).

    Columns: one, other (labellers), axis ("order", or a strategy), n (lessons that both tagged), share_one and
    share_other (how often each gives the strategy; null for the order), raw (share of equal tags), kappa (Cohen's; null
    where chance alone would agree fully).
    """
    judged = _judged(frames)
    found = [(*pair, *figures) for pair, both in _pairs(judged) for figures in _compared(both)]
    return pl.DataFrame(found, AGREEMENT, orient="row")


def _pairs(judged: pl.DataFrame) -> Iterator[tuple[tuple[str, str], pl.DataFrame]]:
    """Every two labellers with the lessons that both tagged: order, categories, order_other, categories_other."""
    rules = _with_rules(judged.select(*_LESSON).unique(maintain_order=True))
    labelled = {RULES: rules.select(*_LESSON, "order", "categories")}
    for judge in judged[RATER].unique(maintain_order=True):
        labelled[judge] = judged.filter(pl.col(RATER) == judge).select(*_LESSON, "order", "categories")
    for one, other in combinations(labelled, 2):
        yield (one, other), labelled[one].join(labelled[other], on=_LESSON, suffix="_other")


def _compared(both: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    """axis, n, share_one, share_other, raw, kappa of the order and of each strategy."""
    if both.is_empty():
        return
    order = agreement(both["order"].to_list(), both["order_other"].to_list())
    yield "order", order.pairs, None, None, order.raw, order.kappa
    for category in CATEGORIES:
        ones, others = ([category in names for names in both[column].to_list()] for column in _TAGGED)
        found = agreement(ones, others)
        shares = sum(ones) / len(ones), sum(others) / len(others)
        yield category, found.pairs, *shares, found.raw, found.kappa


VOCABULARY = pl.Schema(
    {
        **dict.fromkeys(LEARNER, pl.String()),
        "rank": pl.Int64(),
        "term": pl.String(),
        "occurrences": pl.Int64(),
        "excess": pl.Float64(),
    }
)


def lesson_vocabulary(frames: Frames) -> pl.DataFrame:
    """The words that set one model's lessons apart: TF-IDF in its lessons less the mean of the others' (Appendix N).

    Each model's lessons are one document; function words, words of the game and the seats' names do not count. Columns:
    condition, model, rank (1 = most distinctive, at most TERMS), term, occurrences (in the model's lessons), excess.
    Needs two models with lessons.
    """
    texts = {
        (str(condition), str(model)): " ".join(part["text"])
        for (condition, model), part in _kept(frames).sort(LEARNER).group_by(LEARNER, maintain_order=True)
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
        rows += [(*model, rank, term, counts[term], -value) for rank, (value, term) in enumerate(best, 1) if value < 0]
    return pl.DataFrame(rows, VOCABULARY, orient="row")


def _kept(frames: Frames) -> pl.DataFrame:
    return frames.lessons.filter(pl.col("kept"))


def _tagged(frames: Frames) -> pl.DataFrame:
    """The kept lessons, with the rules' categories and order."""
    return _with_rules(_kept(frames).select("family", *LEARNER, "text"))


def _with_rules(lessons: pl.DataFrame) -> pl.DataFrame:
    tags = [tag(text) for text in lessons["text"]]
    return lessons.with_columns(
        pl.Series("categories", [list(one.categories) for one in tags], pl.List(pl.String)),
        pl.Series("order", [one.order for one in tags], pl.Int64),
    )


def _judged(frames: Frames) -> pl.DataFrame:
    """The judges' tags of the kept lessons, if any."""
    kept = _kept(frames).select(_LESSON).unique()
    tags = frames.tags.join(kept, on=_LESSON, how="semi")
    return tags.unique([*_LESSON, RATER], keep="first", maintain_order=True)


def _content_words(text: str, names: set[str]) -> list[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = _TOKEN.findall(text.lower().replace("‑", "-"))
    stop = ENGLISH_STOP_WORDS | names
    return [word for word in words if len(word) > 1 and word not in stop and not _GAME.fullmatch(word)]


def _names(table: pl.DataFrame) -> list[str]:
    return cell_names(table.with_columns(game=pl.lit("")))


def _dots(labels: Callable[[pl.DataFrame], list[str]]) -> Dots:
    """For each label, a dot per model with its interval."""
    return Dots("share of the model's lessons", labels, "", _names, "model", limits=SHARE)


ANALYSES_OF_LESSONS = (
    Analysis(
        "lesson_orders",
        "Lessons by theory-of-mind order",
        Shares(_orders, "value", (*LEARNER, "order"), "lessons", "n", interval=Interval.UNITS),
        _dots(lambda table: [f"order {order}" for order in table["order"]]),
        needs=(LESSONS,),
        source="Figure 4a, section 5.6",
        note="Order 3 contrasts how two factions read the player; n counts lessons.",
        main=True,
    ),
    Analysis(
        "lesson_categories",
        "Lessons by strategy",
        Shares(
            _categories,
            "value",
            (*LEARNER, "category"),
            "lessons",
            "n",
            order={"category": CATEGORIES},
            interval=Interval.UNITS,
        ),
        _dots(spelt("category")),
        needs=(LESSONS,),
        source="Figure 4b",
        note="A lesson may follow several strategies or none; n counts lessons.",
    ),
    Analysis(
        "lesson_third_order",
        "Third-order lessons by labeller",
        Shares(
            _third_orders,
            pl.col("order") == 3,
            (*LEARNER, "labeller"),
            "third",
            "n",
            sort=(*LEARNER, pl.col("labeller") != RULES, "labeller"),
            interval=Interval.UNITS,
        ),
        needs=(LESSONS,),
        source="Table 21",
        note="Compare the ranking of models within a labeller, not rates across labellers; n counts lessons.",
        main=True,
    ),
    Analysis(
        "lesson_agreement",
        "Rules and judges on the same lessons",
        lesson_agreement,
        needs=(LESSONS, TAGS),
        otherwise="no judge tagged a kept lesson",
        source="Appendix L, Table 21",
        note="Cohen's kappa is 1 for full agreement and 0 for chance agreement.",
    ),
    Analysis(
        "lesson_vocabulary",
        "Words that set a model's lessons apart",
        lesson_vocabulary,
        needs=(LESSONS,),
        otherwise="only one model wrote lessons, or their words are all words of the game",
        source="Appendix N",
        note="A word's TF-IDF weight in the model's lessons minus its mean weight in the other models' lessons.",
    ),
)
