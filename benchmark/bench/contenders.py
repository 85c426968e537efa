"""Who is measured: trained detectors, kinds that learn from each data set itself, and chat models as judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.detector_registry import DETECTORS
from liescope.detectors.examples import WORDS
from liescope.detectors.model_file import MODEL_FILE
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.beside_judges import JUDGE
from liescope.detectors.study.learned import load_all
from liescope.detectors.textualize import TextConfig, checked_view
from liescope.detectors.training import Recipe
from liescope.generate.corpus.hub import hub_repo


@dataclass(frozen=True, slots=True)
class Contenders:
    """models: trained detectors, by name; kinds: what learns from each data set, by name, with its recipe; judges:
    specs of chat models.
    """

    models: Mapping[str, LoadedDetector]
    kinds: Mapping[str, Recipe]
    judges: tuple[str, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)

    def recipes(self, target: str) -> dict[str, Recipe]:
        """What learns anew from a data set: the kinds, and the trained detectors of its target with their options."""
        found = dict(self.kinds)
        for name, model in self.models.items():
            file = model.file
            if file.target == target:
                found[name] = Recipe(file.kind, target, file.text, file.options, 0, file.training.seed)
        return found


def contenders(named: Sequence[object], context: int, views: Sequence[str], seed: int) -> Contenders:
    """What the names mean: "judge:openai:NAME" a chat model, "tfidf" or another kind one that learns, else a model's
    folder or its name on the Hub. context, views: what kinds read.

    Raises UsageError for none and for two of one name, UnknownName for a name that is nothing of these.
    """
    judges: list[str] = []
    kinds: dict[str, Recipe] = {}
    models: list[object] = []
    for one in named:
        words = str(one)
        if isinstance(one, LoadedDetector) or (Path(words) / MODEL_FILE).is_file():
            models.append(one)
        elif words.startswith(JUDGE):
            judges.append(words.removeprefix(JUDGE))
        elif words in DETECTORS:
            for view in views:
                text = TextConfig(context=context, view=checked_view(view))
                kinds[words if view == WORDS else f"{words} ({view})"] = _recipe(words, text, seed)
        elif hub_repo(words) and not Path(words).exists():
            models.append(words)
        else:
            raise UnknownName("detector", words, [*DETECTORS, "a model's folder", "judge:openai:NAME"])
    if not (models or kinds or judges):
        raise UsageError("name at least one detector: a model's folder, a kind such as tfidf, or judge:openai:NAME")
    loaded = load_all(models) if models else {}  # type: ignore[arg-type]
    if both := set(loaded) & set(kinds):
        raise UsageError(f"a model and a kind are both called {min(both)!r}; rename the model's folder")
    sizes = {
        name: sum(path.stat().st_size for path in model.folder.rglob("*") if path.is_file())
        for name, model in loaded.items()
    }
    return Contenders(loaded, kinds, tuple(judges), sizes)


def _recipe(kind: str, text: TextConfig, seed: int) -> Recipe:
    recipe = Recipe(kind, "", text, {}, 0, seed)
    recipe.untrained().prepare()
    return recipe
