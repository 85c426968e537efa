"""Counts of games, and the capability model for them: its sampler, its posterior and its report."""
