"""How good a detector is on unseen games, compared with cheap controls and with the players themselves."""
