"""A whole game as a detector sees it: its turns, and what they say about each candidate."""
