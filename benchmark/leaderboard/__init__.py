"""A leaderboard: static pages over many reports, with the data to compute them again."""
