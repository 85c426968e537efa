"""Chat models as judges of statements and games: asked many at once, paid for once."""
