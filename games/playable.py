"""The manifest of a game: everything that any room must know about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from liescope.common.errors import UnknownName
from liescope.common.settings import Setting, settings_of
from liescope.games.core import Game
from liescope.games.game_options import BallotSpec, GameSpec
from liescope.games.narration import PromptFamily
from liescope.games.record import GameRecord
from liescope.games.script.persona import Script
from liescope.games.shared_rules import Contest, Tally
from liescope.games.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Sides:
    """Facts for figures and tables. colours: of each role and team; tally: how a decisive ballot ends;
    united: roles whose players know each other and attack together.
    """

    colours: Mapping[str, str]
    tally: Tally
    united: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PlayableGame:
    """A game that can be played by name.

    spec: its options with their defaults; make: from (spec, seed, game id) to the game; title: as a heading; design:
    the default design (`liescope.generate.runs.plan_games`); fixed: options of the spec that cannot be
    changed in this game; learner: the role that may learn from game to game, "" for none.

    Public knowledge of the rules: killers: roles that are never attacked at night; protector: the role that can save an
    attacked player, "" for none; end_when_exiled: roles whose exile ends the game; investigators: roles that learn what
    others are; bystanders: roles that know nothing but themselves.

    contests: who deceived whom in a finished game, for the capability model of games without its three roles; several
    contests of one pair of seats are one.

    states_claims: the rules know every truth, and write a statement's claims, with verdicts, to its event
    (`data["claims"]`), so that its words are not searched for any.

    rules: in plain sentences, paragraphs divided by an empty line; the default prompts and page tell them, with the
    game's options.

    Parts: words: of roles and claims; prompts: what models are told; script: how scripted players answer; page: a
    template with the macros `rules(t)` and `role(name, t)`, for people (t: the spec); card: a sentence for the dataset
    card; sides: colours, and how ballots end. All but words have a default, `liescope.games.defaults`. Code that needs
    words refuses a game without any; see `liescope.games.game_registry`.
    """

    name: str
    title: str
    spec: GameSpec
    make: Callable[[Any, int, str], Game]
    design: str = "background"
    fixed: frozenset[str] = frozenset()
    learner: str = ""
    killers: frozenset[str] = frozenset()
    protector: str = ""
    end_when_exiled: frozenset[str] = frozenset()
    investigators: frozenset[str] = frozenset()
    bystanders: frozenset[str] = frozenset()
    states_claims: bool = False
    contests: Callable[[GameRecord], Iterable[Contest]] | None = None
    rules: str = ""
    words: Vocabulary | None = None
    prompts: PromptFamily | None = None
    script: Script | None = None
    page: Path | None = None
    card: str | None = None
    sides: Sides | None = None

    @cached_property
    def options(self) -> tuple[Setting, ...]:
        """The options that can be changed, in the order of the spec's fields."""
        return tuple(
            replace(option, default=getattr(self.spec, name))
            for name, option in settings_of(type(self.spec)).items()
            if name not in self.fixed
        )

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role of the game, including those that nobody holds by default."""
        return tuple(self.spec.composition())

    @cached_property
    def teams(self) -> Mapping[str, str]:
        """The team of each role."""
        game = self.make(self.spec, 0, self.name)
        return {role: game.team(role) for role in self.roles}

    @cached_property
    def deceivers(self) -> frozenset[str]:
        """The roles that aim to deceive the others."""
        return frozenset(filter(self.make(self.spec, 0, self.name).deceives, self.roles))

    def told(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The game's own options in words, as far as they have a value here."""
        own = (option for option in self.options if option.name in values.keys() - BallotSpec.model_fields)
        return tuple(f"{option.help.rstrip('.')}: {values[option.name]}" for option in own)

    def resolve(self, options: Mapping[str, Any]) -> GameSpec:
        """The spec with these options. Names may be one comma-separated string; a message limit of 0 means no limit.

        Raises UnknownName for an unknown option, UsageError for options that make the game impossible.
        """
        known = {option.name for option in self.options}
        for name in options:
            if name not in known:
                raise UnknownName(
                    f"option of {self.name}", name.replace("_", "-"), [n.replace("_", "-") for n in known]
                )
        spec = self.spec.replaced(**options)
        spec.check()
        return spec


def roles_in_play(spec: GameSpec) -> tuple[str, ...]:
    """The roles with at least one card, in the game's order."""
    return tuple(role for role, count in spec.composition().items() if count)
