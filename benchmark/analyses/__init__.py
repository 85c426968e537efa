"""The analyses of Triadic Werewolf, each a pure function of the frames of a set of games; most work for every game."""
