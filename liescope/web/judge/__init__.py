"""Judge mode: people read finished games, statement by statement, and say who deceives and how sure they are."""
