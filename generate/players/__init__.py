"""The players: scripted ones, models behind an endpoint or in this process, and people."""
