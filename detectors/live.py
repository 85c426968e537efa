"""A game followed as it is played: after each turn, what a saved detector makes of all that happened by then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from liescope.detectors.examples import examples_of
from liescope.detectors.view.reasons import Reason
from liescope.detectors.view.transcript import Moment, Transcript, Turn

if TYPE_CHECKING:
    from liescope.detectors.saved import LoadedDetector


@dataclass(frozen=True, slots=True)
class Followed:
    """A game after one turn. number: the turn's, from 1; score: the probability that the statement is deceptive, None
    for a turn without words; players: by living player, most suspect first, the probability that the player deceives,
    empty for a detector whose target is not the role; reasons: what weighs most in the score.
    """

    number: int
    turn: Turn
    score: float | None
    players: Mapping[str, float]
    reasons: tuple[Reason, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What `liescope score --live --json` prints."""
        return {
            "turn": self.number,
            "kind": self.turn.kind,
            "player": self.turn.player,
            "score": self.score,
            "players": dict(self.players),
            "reasons": [str(reason) for reason in self.reasons],
        }


def follow(model: LoadedDetector, game: Transcript, turns: Iterable[Turn], reasons: int = 0) -> Iterator[Followed]:
    """Follow a game; see `LoadedDetector.follow`."""
    if reasons:
        model.detector.explain([])
    for turn in turns:
        game = replace(game, turns=(*game.turns, turn))
        number = len(game.turns)
        asked = examples_of(Moment(game), model.file.text.context, model.file.target).get(number - 1)
        yield Followed(
            number,
            turn,
            None if asked is None else float(model.probabilities([asked])[0]),
            dict(model.predict_game(game).ranked()),
            tuple(model.detector.explain([asked], reasons)[0]) if asked and reasons else (),
        )
