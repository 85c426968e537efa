"""Counts of games, and the capability model of them: its sampler, what its posterior says, and its report."""
