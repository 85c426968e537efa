"""Unrelated questions to a suspect, and the models that answer them in its place."""
