"""Scripted players of Werewolf."""
