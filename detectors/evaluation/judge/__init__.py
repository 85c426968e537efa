"""Chat models as judges of the same statements: asked zero-shot, paid for once."""
