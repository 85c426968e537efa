"""Probes: what a language model's states tell of what it says."""
