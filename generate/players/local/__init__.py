"""Players that are a language model in this process."""
