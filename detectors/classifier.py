"""Any kind of detector as a scikit-learn classifier, so that its methods, searches and folds work with texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from liescope.common.errors import MissingExtra, MissingKey, MissingPackage, UsageError
from liescope.common.statistics import Floats
from liescope.detectors.detector_registry import DETECTORS, make
from liescope.detectors.detector_settings import WORDS
from liescope.detectors.examples import GOLD, Example, target_column
from liescope.detectors.material import NOT_TO_BE_LEARNED
from liescope.detectors.statement_inputs import COLUMNS, OF_ANOTHER, StatementReader, each_statement
from liescope.detectors.text_form import SPEAKER_TOKEN, TextConfig
from liescope.generate.importers.column_names import canary_of
from liescope.generate.importers.conversations import EXCHANGE
from liescope.generate.importers.label_column import LabelColumn
from liescope.generate.importers.receipt import Receipt, as_value


class InputError(UsageError, ValueError):
    """Input that a scikit-learn classifier cannot use; a ValueError, as scikit-learn expects."""


class LieDetector(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A kind of detector as a classifier of scikit-learn.

    It learns from lists of texts, of conversations (lists of messages, whose last answer of the assistant is judged)
    or of mappings with `text` and, where known, `speaker`, `names`, `context` and `game_id`; and from frames of these.
    An empty text is one without words. Its probabilities are the kind's own: `liescope.train` calibrates them and
    chooses thresholds, here scikit-learn's `CalibratedClassifierCV` does.

    Parameters
    ----------
    kind : str
        "tfidf", "embedding", "linear" or any other in the registry.
    target : str
        What to predict; kinds that read whole games judge players for the target "role".
    context : int
        How many earlier turns stand before each text.
    mask_names, mask_role_words, speaker_tag : bool
        As for `liescope train`.
    view : str
        "words", "reasoning" or "both", of statements that keep what their speaker thought.
    deceptive : label, optional
        The label that means deceptive. Needed where neither label says so.
    seed : int
        For everything random.
    **options
        Those of the kind, as `liescope train --help` lists them; `get_params` has them all, and `GridSearchCV` finds
        them.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels, sorted. Deceptive is `deceptive`, or the one that says so ("lie", "deceptive", "true", True, 1);
        of two numbers, the greater.
    detector_ : Detector
        What has learned.
    receipt_ : Receipt
        How many texts came in, of how many groups, which columns are read, and which label means what.

    Examples
    --------
    >>> search = GridSearchCV(LieDetector("tfidf"), {"words": [1, 2, 3]}, cv=GroupKFold(5), scoring="roc_auc")
    >>> search.fit(texts, labels, groups=speakers).best_params_
    """

    def __init__(
        self,
        kind: str = "tfidf",
        *,
        target: str = GOLD,
        context: int = 0,
        mask_names: bool = True,
        mask_role_words: bool = False,
        speaker_tag: bool = False,
        view: str = WORDS,
        deceptive: Any = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        self.kind = kind
        self.target = target
        self.context = context
        self.mask_names = mask_names
        self.mask_role_words = mask_role_words
        self.speaker_tag = speaker_tag
        self.view = view
        self.deceptive = deceptive
        self.seed = seed
        self._options = options

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, every option of the kind among them."""
        return {**super().get_params(deep), **self._usual(), **self._options}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; a new kind brings its own options, given ones stay. Raises ValueError for unknown ones."""
        own = {name: value for name, value in params.items() if name in self._get_param_names()}
        usual = self._usual()
        super().set_params(**own)
        if "kind" in own:
            given = self._options.items()
            self._options = {name: value for name, value in given if name not in usual or value != usual[name]}
        options = {name: value for name, value in params.items() if name not in own}
        usual = self._usual()
        if usual and (odd := sorted(options.keys() - usual.keys() - self._options.keys())):
            takes = ", ".join(self.get_params())
            raise InputError(f"Invalid parameter {odd[0]!r} for a detector of the kind {self.kind}; it takes {takes}")
        self._options = {**self._options, **options}
        return self

    def _usual(self) -> dict[str, Any]:
        """The default of every option of the kind; none for an unknown kind, which `fit` reports."""
        try:
            fields = DETECTORS[self.kind].options_type.model_fields
        except (UsageError, AttributeError, TypeError):  # an unknown kind; not even a name
            return {}
        return {name: field.get_default(call_default_factory=True) for name, field in fields.items() if name != "seed"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = tags.input_tags.dict = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:  # noqa: N803
        """Learn.

        X: a list or frame of n texts, conversations or mappings; y: (n,) two labels; groups: (n,) what belongs
        together, for kinds that keep a part aside or cross-validate while they learn; the `game_id` of mappings where
        it is not given. `set_fit_request(groups=True)` routes it in searches.

        Raises InputError, a ValueError, for data that cannot be learned from and an option that no kind has.
        """
        with _value_errors():
            target_column(self.target)
            detector = make(self.kind, TextConfig.of(self.get_params()), {**self._options, "seed": self.seed})
            detector.prepare()
            if not (given := list(each_statement(X))):
                raise InputError("there are no texts to learn from")
            classes, place = _labels(y)
            check_consistent_length(given, place)
            if marked := sum(isinstance(one, Mapping) and bool(canary_of(one)) for one in given):
                raise InputError(f"{marked:,} conversations carry a canary: {NOT_TO_BE_LEARNED}")
            examples = self._examples(given)
            lies = _deceptive(classes, self.deceptive)
            examples = [e if e.game_id else replace(e, game_id=f"{row}") for row, e in enumerate(examples)]
            belongs = (
                np.array([e.game_id for e in examples]) if groups is None else column_or_1d(groups).astype(np.str_)
            )
            check_consistent_length(examples, belongs)
            detector.fit(examples, place == lies, belongs)
            named = zip(map(as_value, classes[place]), (place == lies).tolist(), strict=True)
            columns = dict.fromkeys(name for one in given if isinstance(one, Mapping) for name in map(str, one))
            told = Receipt("text", len(given), len(examples), texts=len(examples), labels=Counter(named))
            told.groups.update(map(hash, belongs.tolist()))
            told.reads(columns, {name: name for name in columns if name in COLUMNS or name.casefold() in EXCHANGE})
        self.classes_, self.detector_, self._lies, self.receipt_ = classes, detector, lies, told
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """(n, 2): the probability of each class, in the order of `classes_`."""
        check_is_fitted(self, "detector_")
        with _value_errors():
            examples = self._examples(each_statement(X))
            found = self.detector_.predict_proba(examples)
        return found if self._lies == 1 else found[:, ::-1]

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """(n,): the class that is more probable."""
        second = self.predict_proba(X)[:, 1] > 0.5
        return np.asarray(self.classes_[second.astype(int)])

    def _examples(self, given: Iterable[object]) -> list[Example]:
        read = StatementReader(self.context, target=self.target, view=self.view).read_all(enumerate(given))
        unread = sum(one.example is None for one in read)
        if unread and self.view != WORDS:
            raise InputError(f"{unread:,} of {len(read):,} texts have nothing of the view {self.view}; leave them out")
        if others := sum(one.null == OF_ANOTHER for one in read):
            raise InputError(f"{others:,} rows are not the assistant's turns; give each conversation as its messages")
        nothing = Example("", "", SPEAKER_TOKEN, "", "", (), target=self.target)
        return [one.example or nothing for one in read]


def _labels(y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """(the two classes, (n,) the index of each label's class). Raises ValueError."""
    if y is None:
        raise InputError("learning requires y to be passed, but the target y is None")
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    kind = type_of_target(labels, input_name="y")
    if kind != "binary":
        raise InputError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, place = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"all {len(labels)} labels are of one class, {classes[0]}; a detector needs both classes")
    return classes, place


def _deceptive(classes: NDArray[Any], given: Any) -> int:
    """The index of the class that means deceptive: as given, by its word, or the greater number. Raises InputError."""
    labels = classes.tolist()
    if given is not None:
        if given not in labels:
            raise InputError(f"deceptive={given!r} is none of the labels {labels[0]!r} and {labels[1]!r}")
        return int(labels.index(given))
    column = LabelColumn("deceptive")
    column.sees(*labels)
    said = [column.of(one) for one in labels]
    if said in ([True, False], [False, True], [True, None], [None, False], [False, None], [None, True]):
        return int(said[1] is True or said[0] is False)
    if not isinstance(labels[0], str):
        return 1
    raise InputError(
        f"the labels are {labels[0]!r} and {labels[1]!r}: say which one is the lie, as in "
        f"LieDetector(deceptive={labels[0]!r})"
    )


@contextmanager
def _value_errors() -> Iterator[None]:
    """Turn errors in the data or options into ValueErrors; not those about what has to be installed or set."""
    try:
        yield
    except (MissingExtra, MissingPackage, MissingKey, InputError):
        raise
    except UsageError as error:
        raise InputError(str(error)) from error
