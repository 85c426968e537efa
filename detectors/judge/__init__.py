"""Chat models as judges of statements and games: asked many at once, and paid for only once."""
