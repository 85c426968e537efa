"""Statistics of games: who deceives, who discloses, who responds, and all analyses of a set of games."""
