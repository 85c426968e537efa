"""Games with people: seats behind secret links, and each game a run like any other."""
