"""Players behind any OpenAI-compatible endpoint."""
