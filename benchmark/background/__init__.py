"""The second method of the Mini-Mafia paper: scores against fixed backgrounds, without a model of the roles."""
