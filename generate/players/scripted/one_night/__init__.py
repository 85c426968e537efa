"""Scripted players of one-night werewolf."""
