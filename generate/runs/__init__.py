"""Runs: the plan, the runner, the journal, and what the commands play, label and show do with them."""
