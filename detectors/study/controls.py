"""Controls: scorers that know one thing about a statement, learn where a detector learns, and do not look for lies.
Whatever a control reaches, a detector may have reached in the same way. `k_of_n` knows how many of how many players
deceive in each game, or what share of a game's or task's statements, and reads no words: all its success is between
games. `role_oracle` knows the speaker's role, where a source says it, and shows how closely a target follows the role.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats, expit
from liescope.detectors.detector import ROLE
from liescope.detectors.examples import Example, make_examples, target_column
from liescope.detectors.folds import Rows
from liescope.detectors.kinds.tfidf import TfidfOptions, learned, resolved
from liescope.detectors.logistic import fit_logistic, one_thread
from liescope.detectors.study.schemes import Probe
from liescope.detectors.study.scores import CONTROL, compared_in, with_tasks
from liescope.detectors.text_form import TextConfig, textualize

LENGTH, BEST_WORD, BEST_MARK, K_OF_N, ROLE_ORACLE = "length", "best_word", "best_mark", "k_of_n", "role_oracle"
OPENINGS, OTHERS, REASONING_LENGTH = "openings", "others", "reasoning_length"
WORDS, WORDS_NAMED = "words", "words_named"
WORDS_WITHOUT_ROLES, NAME_AND_WORDS = "words_without_roles", "name_and_words"
OPENING = 3
"""How many words the control of openings reads."""
_CONTEXT, _LAST_PLACE, _MOST_LISTENERS = 10, 20, 20
Made = Callable[[pl.DataFrame, int], Probe]
"""What makes the probe of statements (rows of `read_statements`), with a seed."""
_TWICE = re.compile(r"[^\S\n]{2}")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_RARE = 5
"""What stands in fewer statements is not looked at."""
_SPACES = frozenset(" \t\n\r")
_UNUSUAL = frozenset(("Cf", "Cc", "Co", "Cn", "Zs", "Zl", "Zp"))
WORD, LETTER, MARK = "word", "letter", "mark"


@dataclass(frozen=True, slots=True)
class Token:
    """Something that a statement may contain. text: as it stands there, or the form; words: what to call it; kind:
    WORD, LETTER of the language, or MARK, which readers overlook or programs add.
    """

    text: str
    words: str
    kind: str

    @property
    def unusual(self) -> bool:
        """Whether it contains a character that nobody types: a format or control character, or an unusual space."""
        return any(unicodedata.category(char) in _UNUSUAL and char not in _SPACES for char in self.text)


def tokens_of(texts: Sequence[str], marks: bool = False) -> tuple[Any, list[Token]]:
    """(presence, tokens): a sparse matrix (statements, tokens) of 0 and 1, and the tokens of its columns, simplest
    first. marks: only marks. Words are looked for without format characters and in compatible composed form.
    """
    from scipy.sparse import csc_matrix, hstack
    from sklearn.feature_extraction.text import CountVectorizer

    parts, tokens, scripts = [csc_matrix((len(texts), 0))], list[Token](), Counter[str]()
    for char, number in Counter("".join(texts)).items():
        scripts[_script(char)] += number * char.isalpha()
    script = max(scripts, key=lambda one: scripts[one], default="")
    for found_in, words, kind_of in _KINDS[: -1 if marks else None]:  # no word is a mark
        counted = CountVectorizer(analyzer=found_in, binary=True, min_df=min(_RARE, len(texts)), dtype=np.int8)
        try:
            presence = csc_matrix(counted.fit_transform(texts))
        except ValueError:  # no such token is frequent enough
            continue
        found = [Token(text, words(text), kind_of(text, script)) for text in counted.get_feature_names_out()]
        kept = [at for at, token in enumerate(found) if token.kind == MARK or not marks]
        parts.append(presence[:, kept])
        tokens += [found[at] for at in kept]
    return hstack(parts, format="csc"), tokens


def _kind(char: str, script: str) -> str:
    return LETTER if char.isdigit() or (char.isalpha() and _script(char) == script) else MARK


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0] if char.isalpha() else ""


def _said(text: str) -> set[str]:
    composed = unicodedata.normalize("NFKC", text)
    found = _WORD.findall("".join(char for char in composed if unicodedata.category(char) != "Cf"))
    return {word.casefold() for word in found}


def _forms(text: str) -> list[str]:
    letters = "".join(filter(str.isalpha, text))
    forms = {
        "capitals in place of small letters": letters.isupper(),
        "ending in white space": text[-1:].isspace(),
        "ending without a mark": text[-1:].isalnum(),
        "letters that are not composed": not unicodedata.is_normalized("NFC", text),
        "no capital letter": bool(letters) and not any(map(str.isupper, letters)),
        "starting with a small letter": text[:1].islower(),
        "starting with white space": text[:1].isspace(),
        "white space twice in a row": bool(_TWICE.search(text)),
    }
    return [form for form, held in forms.items() if held]


def _character(char: str) -> str:
    code = f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
    if unicodedata.category(char) in _UNUSUAL or unicodedata.combining(char):
        return code
    return f'"{char}"' if char.isascii() else f'"{char}" ({code})'


_Kind = tuple[Callable[[str], Collection[str]], Callable[[str], str], Callable[[str, str], str]]
_KINDS: tuple[_Kind, ...] = (
    (set, lambda char: f"the character {_character(char)}", _kind),
    (_forms, str, lambda *_: MARK),
    (_said, lambda word: f'the word "{word}"', lambda *_: WORD),
)
"""What a text has, what each is called in a sentence, and its kind, given the script of most letters."""


@dataclass(frozen=True, slots=True)
class Control:
    """words: what it knows; reads: its columns; if they are missing or constant, it knows nothing."""

    words: str
    made: Made
    reads: tuple[str, ...] = ("text",)

    def knows(self, table: pl.DataFrame) -> bool:
        return set(self.reads) <= set(table.columns) and table.select(self.reads).unique().height > 1


def word_probe(texts: list[str], seed: int) -> Probe:
    """TF-IDF of texts as in the detector of that name. The words are counted once, over all texts and without labels;
    each call fits only the classifier. Without a word that occurs twice, every score is the prevalence.
    """
    options, _ = resolved(TfidfOptions(seed=seed), texts)
    try:
        features = learned(options, texts)[1]
    except UsageError:
        return lambda learn, score, y: np.full(len(score), y[learn].mean())

    def probe(learn: Rows, score: Rows, y: Bools) -> Floats:
        weights, offset = fit_logistic(features[learn], y[learn], options.strength)
        return expit(features[score] @ weights + offset)

    return probe


def deal_to_other_games(y: Bools, groups: NDArray[Any], seed: int) -> Bools:
    """Labels shuffled by game: each game's set of labels is dealt to a random game and shuffled. The prevalence and
    its spread over games stay; any link between a text and its label is gone.
    """
    rng = np.random.default_rng(seed)
    _, game = np.unique(groups, return_inverse=True)
    place = rng.permutation(game.max() + 1)[game]
    shuffled = np.empty_like(y)
    shuffled[np.argsort(game, kind="stable")] = y[np.lexsort((rng.random(len(game)), place))]
    return shuffled


def with_k_of_n(statements: pl.DataFrame, target: str) -> pl.DataFrame:
    """The statements with `k_of_n`, from `read_statements`: for the role, the share of deceivers among their game's
    players; for other targets, the share of deceptive ones among the game's, or task's, labelled statements; the mean
    share where it is unknown, and .5 for all where the share would give the label away.
    """
    label = pl.col(target_column(target))
    statements = with_tasks(statements, label)
    within = compared_in(statements)
    share = pl.col("deceiving") if target == ROLE else label.mean().over(within)
    if target != ROLE and not statements.select((label.drop_nulls().n_unique().over(within) > 1).any()).item():
        share = pl.lit(0.5)
    found = statements.with_columns(k_of_n=share.cast(pl.Float64))
    return found.with_columns(k_of_n=pl.col("k_of_n").fill_null(pl.col("k_of_n").mean()).fill_null(0.5))


def most_telling(statements: pl.DataFrame, target: str, marks: bool = False) -> tuple[Token, str, str] | None:
    """The word, character or form, or the mark alone, that best separates deceptive from honest statements, and how
    many of each contain it, as "3 of 40"; None where nothing is frequent enough.
    """
    known = statements.drop_nulls(target_column(target))
    found, tokens = tokens_of(known["text"].to_list(), marks)
    y = known[target_column(target)].to_numpy().astype(bool)
    if not tokens or y.all() or not y.any():
        return None
    presence = found.tocsr()
    letters = np.array([token.kind == LETTER for token in tokens])  # among equals the word, which a reader can find
    at = np.lexsort((letters, -_leans(presence, np.arange(len(y)), y)))[0]
    there = presence[:, [at]].toarray().ravel() > 0
    lies, others = (f"{there[side].sum():,} of {side.sum():,}" for side in (y, ~y))
    return tokens[at], lies, others


def _leans(presence: Any, learn: Rows, y: Bools) -> Floats:
    """(tokens,): the gap between the shares of deceptive and of honest statements that contain each."""
    rows = presence[learn]
    lies, others = (np.asarray(rows[y[learn] == side].mean(axis=0)).ravel() for side in (True, False))
    return np.asarray(np.abs(lies - others).round(9))


def _best_word(table: pl.DataFrame, _seed: int, marks: bool = False) -> Probe:
    found, tokens = tokens_of(table["text"].to_list(), marks)
    presence = found.tocsr()

    def probe(learn: Rows, score: Rows, y: Bools) -> Floats:
        usual = y[learn].mean()
        if not tokens:
            return np.full(len(score), usual)
        has = presence[:, [_leans(presence, learn, y).argmax()]].toarray().ravel() > 0
        own = [y[learn][has[learn] == there] for there in (False, True)]
        # One average statement is added to each side, so that a word seen only once is never certain.
        without, with_it = ((one.sum() + usual) / (len(one) + 1) for one in own)
        return np.asarray(np.where(has[score], with_it, without), dtype=np.float64)

    return probe


def fitted_on(*features: pl.Expr, one_hot: bool = False) -> Made:
    """A logistic regression on some columns made of the statements; one_hot: whether they are categories."""

    def made(table: pl.DataFrame, seed: int) -> Probe:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        columns = table.select(features).to_numpy()

        def probe(learn: Rows, score: Rows, y: Bools) -> Floats:
            scale = OneHotEncoder(handle_unknown="ignore") if one_hot else StandardScaler()
            solver = "lbfgs" if one_hot else "newton-cholesky"  # a solver for few columns
            head = LogisticRegression(C=10.0, max_iter=2000, random_state=seed, solver=solver)
            # If the classes separate perfectly, it warns and falls back to the usual solver.
            with one_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = make_pipeline(scale, head).fit(columns[learn], y[learn])
            return np.asarray(model.predict_proba(columns[score])[:, 1], dtype=np.float64)

        return probe

    return made


def _reading(read: Callable[[Example], str], context: int = 0) -> Made:
    return lambda table, seed: word_probe([read(one) for one in make_examples(table, context)], seed)


def reading(config: TextConfig) -> Made:
    """TF-IDF of statements in this form."""
    return _reading(lambda one: textualize(one, config))


def _opening(example: Example) -> str:
    return " ".join(textualize(example, TextConfig()).split()[:OPENING])


def _others_said(example: Example) -> str:
    """What the others had said, with the statement itself hidden: its speaker is `speaker` there."""
    said = tuple(turn for turn in example.context if turn[0] != example.speaker)
    return textualize(replace(example, text="", context=said), TextConfig(context=_CONTEXT)) if said else ""


def _sizes(column: str) -> tuple[pl.Expr, ...]:
    text = pl.col(column).fill_null("").str
    counts = {"characters": text.len_chars(), "words": text.count_matches(r"\S+")}
    return tuple(count.cast(pl.Float64).log1p().alias(name) for name, count in counts.items())


_SHAPES = (r"\p{Lu}", r"\p{Nd}", r"[\p{P}\p{S}]", r"\?", "!", r"[\"“”«»]", r"\n", r"[^\p{L}\p{N}\p{P}\p{S}\p{Z}\s]")
_FORM = (
    *(
        (pl.col("text").str.count_matches(shape) / pl.col("text").str.len_chars().clip(lower_bound=1)).alias(shape)
        for shape in _SHAPES
    ),
    pl.col("text").str.contains(r"[.!?…。\x{FF01}\x{FF1F}]\s*$").cast(pl.Float64).alias("ends"),
)
"""How a text is written, whatever it says: shares of its characters."""
_ROLE = pl.col("label_role").fill_null(False), pl.col("label_role").is_not_null().alias("known")


def _k_of_n(table: pl.DataFrame, _seed: int) -> Probe:
    share = table[K_OF_N].to_numpy()
    return lambda _learn, score, _y: share[score]


def _categories(words: str, *names: str) -> Control:
    return Control(words, fitted_on(pl.col(names).cast(pl.String).fill_null(""), one_hot=True), names)


_PLACE = pl.col("position").clip(upper_bound=_LAST_PLACE)
_LISTENERS = pl.col("audience").list.len().clip(upper_bound=_MOST_LISTENERS)
_NAMED = TextConfig(mask_names=False, speaker_tag=True)
CONTROLS: dict[str, Control] = {
    LENGTH: Control("length", fitted_on(*_sizes("text"))),
    "form": Control("capitals, marks", fitted_on(*_FORM)),
    BEST_WORD: Control("one word or mark", _best_word),
    BEST_MARK: Control("one mark", partial(_best_word, marks=True)),
    OPENINGS: Control(f"first {OPENING} words", _reading(_opening)),
    WORDS: Control("words alone", reading(TextConfig())),
    WORDS_NAMED: Control("words, names kept", reading(TextConfig(mask_names=False))),
    WORDS_WITHOUT_ROLES: Control("words, role words masked too", reading(TextConfig(mask_role_words=True))),
    NAME_AND_WORDS: Control("the speaker's name and words", reading(_NAMED), ("text", "speaker")),
    OTHERS: Control("what others said", _reading(_others_said, _CONTEXT), ("text", "position")),
    "position": Control("place in talk", fitted_on(_PLACE, one_hot=True), ("position",)),
    "round": _categories("day, phase and round", "day", "phase", "round"),
    "audience": Control("how many hear it", fitted_on(_LISTENERS, one_hot=True), ("audience",)),
    "model_identity": _categories("which model", "speaker_model"),
    "name": _categories("the speaker's name", "speaker"),
    "game": _categories("the game and its condition", "game", "condition", "run", "prompt_version"),
    "task": _categories("the task", "task"),
    K_OF_N: Control("how many deceive", _k_of_n, (K_OF_N,)),
    ROLE_ORACLE: Control("the true role", fitted_on(*(one.cast(pl.Float64) for one in _ROLE)), ("label_role",)),
    REASONING_LENGTH: Control("length of the reasoning", fitted_on(*_sizes("reasoning")), ("reasoning",)),
}
"""Every control, by name."""
BESIDE_DETECTORS = (LENGTH, "form", BEST_WORD, OPENINGS, "position", "model_identity", K_OF_N, ROLE_ORACLE)
"""Those that stand beside detectors."""
READINGS = (WORDS_NAMED, WORDS, WORDS_WITHOUT_ROLES, OPENINGS, NAME_AND_WORDS, BEST_WORD, BEST_MARK)
"""Those that read what is said."""
SHUFFLED, DETECTIVE_CLAIM = "shuffled", "detective_claim"
_WORDS = {SHUFFLED: "words, labels shuffled", DETECTIVE_CLAIM: "who claims least to be the detective"}


def scorer_words(name: str) -> str:
    """A scorer as a report names it: a control by what it knows."""
    control = name.removeprefix(CONTROL)
    if control == name:
        return name
    return f"control: {CONTROLS[control].words if control in CONTROLS else _WORDS.get(control, control)}"


def short_name(name: str) -> str:
    """A scorer in a table whose controls stand apart."""
    return scorer_words(name).removeprefix("control: ")
