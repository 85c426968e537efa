"""How good a detector is, on games it has not seen, beside cheap controls and beside the players themselves."""
