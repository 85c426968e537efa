"""Ratings of the same games by other rules than the capability model, and where they order models differently."""
