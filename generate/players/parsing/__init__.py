"""From a model's raw text to a reply: strict first, then lenient, with each leniency recorded in `Reply.notes`."""

from liescope.generate.players.parsing.read import read_reply

__all__ = ["read_reply"]
