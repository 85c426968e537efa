"""Labels made after the game: lessons by strategy and theory-of-mind order, hidden roles named, and agreement.

For lessons, the unit is the lesson. Only kept ones count: near duplicates were never shown to a player.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis, Means, Shares, each, in_order, long, told
from liescope.benchmark.analyses.analysis_figures import SHARE, Dots, cell_names, spelt
from liescope.benchmark.analyses.conditions_of_play import GAME, PLAYERS, RATER, united_roles
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, Zero, game_figure
from liescope.benchmark.capability.counts import schema
from liescope.common.statistics import CHANGE, kappa
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS, tag

AGREEMENT = schema(
    "text game condition one other question", "number share_one share_other raw kappa lo hi", "count n games"
)
RULES = "rules"
_LESSON = ["game_id", "kind", "text"]
QUESTIONS = ("report", "flag", "type", "role", "order", *CATEGORIES)
Answers = tuple[str, pl.DataFrame, list[str]]
"""A question, rows with an answer (family, game, condition, rater, answer), and the key of a unit."""


def rater_agreement(frames: Frames) -> pl.DataFrame:
    """Agreement of each pair of raters of the same games on the same questions (compare Appendix L, Table 21).

    question: "report" (is my statement deceptive?), "flag" (is this statement deceptive?, from the same seat), "type"
    (which kind of deception, where both flagged it), "role" (who holds which role, from the same seat). Columns: game,
    condition, one, other (raters; "players" reported and rated themselves), question, share_one and share_other (how
    often each answers yes; null for type and role), raw (share of equal answers), kappa (Cohen's; null if chance
    alone would agree fully), lo, hi (of kappa, over games), n (questions that both
    answered), games.
    """
    seen = ["game_id", "statement_id", "observer"]
    return _agreement(
        ("report", frames.statements.with_columns(answer=pl.col("label_self").cast(pl.String)), seen[:2]),
        ("flag", frames.ratings.with_columns(answer=pl.col("flag").cast(pl.String)), seen),
        ("type", frames.ratings.filter("flag").with_columns(answer="type"), seen),
        ("role", frames.guesses.with_columns(answer="guess"), ["game_id", "observer", "target"]),
    )


def lesson_agreement(frames: Frames) -> pl.DataFrame:
    """Agreement of the rules and the raters on the lessons that a rater tagged (Appendix L, Table 21); question:
    "order", or whether a lesson follows a strategy; the rest as in `rater_agreement`.
    """
    raters = _by_raters(frames)
    lessons = raters.drop("categories", "order").unique(_LESSON, maintain_order=True).with_columns(rater=pl.lit(RULES))
    tags = pl.concat([rows.select(raters.columns) for rows in (_with_rules(lessons), raters)])
    carries = {name: pl.col("categories").list.contains(name) for name in CATEGORIES}
    answers = {"order": pl.col("order"), **carries}
    return _agreement(
        *((name, tags.with_columns(answer=answer.cast(pl.String)), _LESSON) for name, answer in answers.items())
    )


def _agreement(*questions: Answers) -> pl.DataFrame:
    """A row of `AGREEMENT` for each question and pair of raters who answered it."""
    found = []
    for question, rows, unit in questions:
        answers = rows.drop_nulls("answer").select("family", *GAME, RATER, "answer", *unit)
        for key, part in answers.group_by(GAME, maintain_order=True):
            raters = sorted(part[RATER].unique(), key=lambda name: (name not in (PLAYERS, RULES), name))
            for one, other in combinations(raters, 2):
                both = part.filter(pl.col(RATER) == one).join(
                    part.filter(pl.col(RATER) == other).drop("family"), on=unit, suffix="_other"
                )
                if both.height:
                    found.append((*key, one, other, question, *_figures(both)))
    return pl.DataFrame(found, AGREEMENT, orient="row").sort(*GAME, "one", "other", in_order("question", QUESTIONS))


def _figures(both: pl.DataFrame) -> tuple[object, ...]:
    """share_one, share_other, raw, kappa, lo, hi, n, games of the answers in the columns answer and answer_other."""
    names = sorted({*both["answer"], *both["answer_other"]})
    square = (-1, len(names), len(names))
    cells = [(pl.col("answer") == one) & (pl.col("answer_other") == other) for one in names for other in names]
    table = both.select("game_id", "family", *(cell.cast(pl.Float64).alias(str(at)) for at, cell in enumerate(cells)))
    found = game_figure(table, lambda drawn: kappa(drawn.reshape(square))[1], CHANGE)
    yes = [int((both[column] == "true").sum()) / both.height for column in ("answer", "answer_other")]
    shares = yes if set(names) <= {"true", "false"} else [None, None]
    raw = (both["answer"] == both["answer_other"]).mean()
    return (*shares, raw, *found, both.height, both["game_id"].n_unique())


ANALYSES_OF_RATERS: tuple[Analysis, ...] = (
    told("rater_agreement", rater_agreement, interval=Interval.MEANS, corrections=(Zero("kappa"),)),
)


ALL = "all"


_NAMING = (*GAME, RATER, "observer_role", "target_role")


def _guesses(frames: Frames) -> pl.DataFrame:
    """A rater's guesses of hidden roles, with two chance levels: even_chance, one in the number of roles dealt (the
    paper's baseline); roster_chance, the accuracy of dealing the roster at random, ignoring what the observer knows.
    Each also with the role named, with the seat it looked from, and with both as "all".

    Everybody knows its own role and some roles know each other (`united_roles`), so their guesses about partners are
    left out.
    """
    dealt = frames.seats.group_by("game_id").agg(roles=pl.col("role").n_unique(), seats=pl.len())
    of_role = frames.seats.group_by("game_id", target_role="role").agg(of_role=pl.len())
    same = (pl.col("observer_role") == pl.col("target_role")).cast(pl.Int64)
    united = united_roles().rename({"role": "observer_role"}).with_columns(united=True)
    known = pl.when("united").then(pl.col("of_own")).otherwise(1)
    guesses = (
        frames.guesses.drop_nulls("guess")
        .join(united, on=["game", "observer_role"], how="left")
        .with_columns(pl.col("united").fill_null(False))
        .filter(~(pl.col("united") & (pl.col("observer_role") == pl.col("target_role"))))
        .join(dealt, on="game_id")
        .join(of_role, on=["game_id", "target_role"])
        .join(of_role.rename({"target_role": "observer_role", "of_role": "of_own"}), on=["game_id", "observer_role"])
        .select(
            "game_id",
            "family",
            *_NAMING,
            right=pl.col("guess") == pl.col("target_role"),
            even_chance=1 / pl.col("roles"),
            roster_chance=(pl.col("of_role").cast(pl.Int64) - same) / (pl.col("seats") - known),
        )
    )
    everyone = pl.lit(ALL)
    return pl.concat(
        [
            guesses.with_columns(observer_role=everyone, target_role=everyone),
            guesses.with_columns(observer_role=everyone),
            guesses.with_columns(target_role=everyone),
            guesses,
        ]
    )


ANALYSES_OF_NAMING: tuple[Analysis, ...] = (
    told(
        "named_roles",
        Means(
            _guesses,
            "right",
            _NAMING,
            also={name: pl.col(name).mean() for name in ("even_chance", "roster_chance")},
            sort=(*GAME, RATER, pl.col("observer_role") != ALL, pl.col("target_role") != ALL, *_NAMING[3:]),
        ),
    ),
)


TERMS = 12  # most distinctive words shown for each model
LEARNER = ("condition", "model")

# Words of the game, which every model's lessons use.
_GAME = re.compile(
    r"jesters?|(were)?wol(f|ves)|villagers?|village|doctors?|seers?|players?|rounds?|games?|days?|nights?|turns?"
)
_TOKEN = re.compile(r"[a-z]+(?:-[a-z]+)*")


def _categories(frames: Frames) -> pl.DataFrame:
    """Lessons by category; a lesson may have several or none."""
    carries = {category: pl.col("categories").list.contains(category) for category in CATEGORIES}
    return long(_tagged(frames).with_columns(**carries), tuple(carries), "category")


def _third_orders(frames: Frames) -> pl.DataFrame:
    """By labeller: the rules, or a rater by its name."""
    rules = _tagged(frames).select("family", *LEARNER, "order", labeller=pl.lit(RULES))
    raters = _by_raters(frames).select("family", *LEARNER, "order", labeller=RATER)
    return pl.concat([rules, raters]).drop_nulls("order")


VOCABULARY = schema("text condition model", "count rank", "text term", "count occurrences", "number excess")


def lesson_vocabulary(frames: Frames) -> pl.DataFrame:
    """The words that set one model's lessons apart: TF-IDF in its lessons minus the mean of the others' (Appendix N).

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


def _by_raters(frames: Frames) -> pl.DataFrame:
    """The raters' tags of the kept lessons, if any."""
    kept = _kept(frames).select(_LESSON).unique()
    tags = frames.tags.join(kept, on=_LESSON, how="semi")
    return tags.unique([*_LESSON, RATER], keep="first", maintain_order=True)


def _content_words(text: str, names: set[str]) -> list[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = _TOKEN.findall(text.lower().replace("‑", "-"))
    stop = ENGLISH_STOP_WORDS | names
    return [word for word in words if len(word) > 1 and word not in stop and not _GAME.fullmatch(word)]


def _dots(labels: Callable[[pl.DataFrame], list[str]]) -> Dots:
    """For each label, a dot per model with its interval."""
    return Dots(
        "share of the model's lessons",
        labels,
        "",
        lambda table: cell_names(table.with_columns(game=pl.lit(""))),
        "model",
        limits=SHARE,
    )


ANALYSES_OF_LESSONS = (
    told(
        "lesson_orders",
        Shares(
            lambda frames: each(_tagged(frames), "order", ORDERS),
            "value",
            (*LEARNER, "order"),
            "lessons",
            "n",
            interval=Interval.UNITS,
        ),
        _dots(lambda table: [f"order {order}" for order in table["order"]]),
    ),
    told(
        "lesson_categories",
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
    ),
    told(
        "lesson_third_order",
        Shares(
            _third_orders,
            pl.col("order") == 3,
            (*LEARNER, "labeller"),
            "third",
            "n",
            sort=(*LEARNER, pl.col("labeller") != RULES, "labeller"),
            interval=Interval.UNITS,
        ),
    ),
    told("lesson_agreement", lesson_agreement, interval=Interval.MEANS, corrections=(Zero("kappa"),)),
    told("lesson_vocabulary", lesson_vocabulary),
)
