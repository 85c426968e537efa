"""Who is measured: trained detectors, kinds that learn from each data set itself, and chat models as judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.detector_registry import DETECTORS, detector_class, kind_of, preset_options
from liescope.detectors.evaluation.beside_judges import JUDGE
from liescope.detectors.evaluation.evaluate import load_all
from liescope.detectors.examples import WORDS
from liescope.detectors.model_file import MODEL_FILE
from liescope.detectors.saved import LoadedDetector
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


def contenders(
    named: Sequence[object], context: int | None, views: Sequence[str], seed: int, preset: str | None = None
) -> Contenders:
    """What the names mean: "judge:openai:NAME" a chat model, "tfidf", "sklearn:module.Class" or another kind one that
    learns, else a model's folder or its name on the Hub. context, views: what kinds read, None for no context or the
    preset's; preset: of options, for kinds that have it.

    Raises UsageError for none, for two of one name, and for a preset that no kind has; UnknownName for a name that is
    nothing of these, or a preset that is none.
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
        elif kind_of(words) in DETECTORS:
            options = dict(preset_options(words, preset)) if preset and detector_class(words).presets else {}
            usual = options.pop("context", 0)
            for view in views:
                text = TextConfig(context=usual if context is None else context, view=checked_view(view))
                kinds[words if view == WORDS else f"{words} ({view})"] = _recipe(words, text, options, seed)
        elif hub_repo(words) and not Path(words).exists():
            models.append(words)
        else:
            raise UnknownName("detector", words, [*DETECTORS, "a model's folder", "judge:openai:NAME"])
    if not (models or kinds or judges):
        raise UsageError("name at least one detector: a model's folder, a kind such as tfidf, or judge:openai:NAME")
    if preset and not any(detector_class(recipe.kind).presets for recipe in kinds.values()):
        raise UsageError(f"nothing that learns here has presets; leave --preset {preset} out")
    loaded = load_all(models) if models else {}  # type: ignore[arg-type]
    if both := set(loaded) & set(kinds):
        raise UsageError(f"a model and a kind are both called {min(both)!r}; rename the model's folder")
    sizes = {
        name: sum(path.stat().st_size for path in model.folder.rglob("*") if path.is_file())
        for name, model in loaded.items()
    }
    return Contenders(loaded, kinds, tuple(judges), sizes)


def _recipe(kind: str, text: TextConfig, options: Mapping[str, Any], seed: int) -> Recipe:
    recipe = Recipe(kind, "", text, options, 0, seed)
    recipe.untrained().prepare()
    return recipe
