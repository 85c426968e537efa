"""How scripted players play Werewolf."""

from liescope.generate.players.scripted.werewolf.player import answer_werewolf, plays_werewolf

__all__ = ["answer_werewolf", "plays_werewolf"]
