"""Cheat, a card game of lies, also known as Bluff or I Doubt It; the manifest tells its rules in plain sentences.

A rank is due in each turn. The seat lays cards of it, of one other rank, or of both, then says something about them,
and the others call it or not. The cards decide the game, whatever was said; a statement's claim is checked by the cards
that were laid, and a statement that names no rank claims nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Any, ClassVar

from pydantic import Field

from liescope.common.errors import UsageError
from liescope.games.cheat.words import RANKS, cards, claims, plural, read_cards
from liescope.games.core import Asks, EventKind, Game, Phase, Play, Replies
from liescope.games.game_options import GameSpec
from liescope.games.shared_rules import choose, turn

PLAYER, PLAYERS = "player", "players"
MOST = 4  # cards laid in a turn
CALL, PASS = "call it a lie", "let it pass"


class CheatSpec(GameSpec):
    """The table and the pack; more options in `GameSpec`."""

    size: int = Field(default=3, ge=3, le=5, description="Number of players, 3 to 5.")
    ranks: int = Field(default=5, ge=2, le=len(RANKS), description="Ranks in the pack, from the aces down.")
    suits: int = Field(default=4, ge=1, description="Cards of each rank.")
    turns: int = Field(default=12, ge=1, description="Turns after which the fewest cards win.")

    def composition(self) -> dict[str, int]:
        return {PLAYER: self.size}

    def check(self) -> None:
        """Raises UsageError if no game can be played with these options."""
        if self.ranks * self.suits < self.size:
            raise UsageError(f"{self.ranks} ranks of {self.suits} cards are too few for {self.size} players")
        GameSpec.check(self)


class Cheat(Game):
    """One game of cheat. Raises UsageError if no game can be played with this spec."""

    name: ClassVar[str] = "cheat"
    options: CheatSpec

    def __init__(self, spec: CheatSpec, seed: int = 0, game_id: str | None = None) -> None:
        super().__init__(spec, seed, game_id)
        pack = [rank for rank in RANKS[: spec.ranks] for _ in range(spec.suits)]
        self.random.shuffle(pack)
        each = len(pack) // spec.size
        self._hands = {name: Counter(pack[each * n : each * (n + 1)]) for n, name in enumerate(self.names)}
        self._pile: Counter[str] = Counter()

    def team(self, role: str) -> str:
        return PLAYERS if role == PLAYER else ""

    def deceives(self, role: str) -> bool:
        return role == PLAYER  # everybody may have to lie

    def play(self) -> Play:
        self.begin(ranks=self.options.ranks, suits=self.options.suits, turns=self.options.turns)
        for name in self.names:
            self._show(name, Phase.SETUP)
        for number in range(self.options.turns):
            self.day += 1
            seat = self.names[number % len(self.names)]
            yield from self._turn(seat, RANKS[number % self.options.ranks])
            if not self._hands[seat].total():
                return self.end(PLAYERS, f"{seat} has no cards left", (seat,))
        left = {name: hand.total() for name, hand in self._hands.items()}
        winners = tuple(name for name, count in left.items() if count == min(left.values()))
        return self.end(PLAYERS, f"the turns are over, and {' and '.join(winners)} had the fewest cards", winners)

    def _turn(self, seat: str, due: str) -> Generator[Asks, Replies, None]:
        held = ", ".join(f"{name} {hand.total()}" for name, hand in self._hands.items())
        words = f"It is {seat}'s turn; {plural(due)} are due. Cards: {held}, in the pile {self._pile.total()}."
        self._tell(words, data={"due": due})
        self._show(seat)
        moves = [cards(lay) for lay in lays(self._hands[seat], due)]
        made = yield from choose(self, {seat: moves}, Phase.DISCUSSION, words="lays {}", secret=True)
        laid, evidence = read_cards(made[seat]), len(self.events) - 1
        self._hands[seat] -= laid
        self._pile += laid
        count = laid.total()
        self._tell(f"{seat} lays {count} card{'s' if count > 1 else ''} face down.", data={"laid": count})
        said = yield from turn(
            self, seat, Phase.DISCUSSION, 0, 0, lambda text, speaker: claims(text, speaker, laid, evidence)
        )
        place = self.names.index(seat)
        others = (*self.names[place + 1 :], *self.names[:place])
        about = said if said.kind is EventKind.STATEMENT else None
        called = yield from choose(
            self, dict.fromkeys(others, (CALL, PASS)), Phase.VOTING, words="decides to {}", about=about, doubt=CALL
        )
        caller = next((name for name in others if called[name] == CALL), "")
        if caller:
            taker = caller if laid.keys() == {due} else seat
            up = f"{caller} turns the cards up: {cards(laid)}"
            self._tell(f"{up}. {taker} takes the pile, {self._pile.total()} in all.", Phase.VOTING)
            self._hands[taker] += self._pile
            self._pile.clear()
            self._show(taker, Phase.VOTING)

    def _show(self, seat: str, phase: Phase = Phase.DISCUSSION) -> None:
        """Show a seat its own hand."""
        words, data = f"{seat} holds {cards(self._hands[seat]) or 'no cards'}.", {"hand": dict(self._hands[seat])}
        self._tell(words, phase, target=seat, audience=(seat,), data=data)

    def _tell(self, words: str, phase: Phase = Phase.DISCUSSION, **facts: Any) -> None:
        self.log(EventKind.ACT, phase, text=words, **facts)


def lays(hand: Counter[str], due: str) -> list[Counter[str]]:
    """What may be laid: up to four cards, of the rank that is due, of one other, or of both."""
    found = [Counter({due: number}) for number in range(1, min(hand[due], MOST) + 1)]
    for rank in RANKS:
        for number in range(min(hand[due], MOST) + 1) if rank != due else ():
            found += [
                Counter({due: number, rank: more}) if number else Counter({rank: more})
                for more in range(1, min(hand[rank], MOST - number) + 1)
            ]
    return found
